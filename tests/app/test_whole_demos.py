"""Whole demos on virtual time: everybody is understood, nothing is said or sent twice, and nothing of it leaks."""

from __future__ import annotations

import json
import logging
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.app.stage import FLOW
from voice.app.demo import TOKEN, DemoOptions, run_demo
from voice.config import HOME
from voice.core.events import SendUserMessage
from voice.core.server_events import UserAccepted
from voice.server.redact import redact


@dataclass
class Told:
    """What a demo left behind."""

    summary: dict[str, Any]
    seen: list[Any]
    logged: str
    """Everything that was logged, and all that the process and its workers wrote to standard error and output."""


@contextmanager
def all_that_is_written(into: Path) -> Iterator[None]:
    """Both standard streams, as the operating system knows them, and the log at its most talkative."""
    file = os.open(into, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    kept = [os.dup(number) for number in (1, 2)]
    handler = logging.FileHandler(into)
    root = logging.getLogger()
    level = root.level
    try:
        for number in (1, 2):
            os.dup2(file, number)
        root.addHandler(handler)
        root.setLevel(logging.DEBUG)
        yield
    finally:
        root.setLevel(level)
        root.removeHandler(handler)
        handler.close()
        for number, descriptor in zip((1, 2), kept, strict=True):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.close(file)


def demo(flow: str) -> Told:
    seen: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with all_that_is_written(log):
            options = DemoOptions(flow=HOME / "flows" / f"{flow}.toml", out=Path(folder) / "out")
            written = run_demo(options, (lambda t, item: seen.append(item),))
        return Told(json.loads(written.summary.read_text()), seen, log.read_text())


@pytest.fixture(scope="module")
def triage() -> Told:
    return demo("triage")


@pytest.fixture(scope="module")
def desk() -> Told:
    return demo("desk")


@pytest.fixture(params=["triage", "desk"])
def told(request: pytest.FixtureRequest) -> Told:
    return request.getfixturevalue(request.param)


def heard_of(told: Told, beginning: str) -> list[dict[str, Any]]:
    return [message for message in told.summary["messages"] if message["source"].startswith(beginning)]


def said(told: Told, meant: str) -> dict[str, Any]:
    [utterance] = [u for u in told.summary["utterances"] if meant in (u.get("meant") or "")]
    return utterance


class TestEveryConversation:
    def test_what_is_sent_arrives_once(self, told):
        """A patient's answer that counts twice, or not at all, makes another interview of it."""
        sent = [item for item in told.seen if isinstance(item, SendUserMessage)]
        accepted = [item for item in told.seen if isinstance(item, UserAccepted)]
        assert [item.id for item in accepted] == [item.id for item in sent]
        assert len({item.id for item in sent}) == len(sent) >= 6
        assert [item.content for item in accepted] == [redact(item.content) for item in sent]

    def test_what_was_not_cut_was_heard_whole(self, told):
        """The summary is what a clinic would look at: it must not say less or more than what sounded."""
        for message in told.summary["messages"]:
            assert message["source"].startswith(message["heard"])
            assert (message["cut"] is None) == (message["heard"] == message["source"])
            assert not (message["cut"] and not message["can_interrupt"])
        assert told.summary["errors"] == []
        assert told.summary["reconnects"] == 0

    def test_nobody_elses_log_has_the_words(self, told):
        """Health data and tokens belong into the report that was asked for, and nowhere else."""
        words = {
            word
            for text in (
                *(message["source"] for message in told.summary["messages"]),
                *(utterance["recognised"] or "" for utterance in told.summary["utterances"]),
            )
            for word in re.findall(r"\w{5,}", text.lower())
        }
        assert len(words) > 30
        logged = set(re.findall(r"\w{5,}", told.logged.lower()))
        assert words & logged <= {"start", "voice", "other"}, "names of the program's own"
        assert TOKEN not in told.logged


class TestTriage:
    def test_a_cough_cuts_nothing(self, triage):
        """People cough in a waiting room; the greeting goes on."""
        [intro] = heard_of(triage, "Hello, and welcome")
        assert intro["cut"] is None

    def test_an_acknowledgement_is_heard_to_its_end(self, triage):
        """It may not be interrupted: what is said over it waits, and is sent once."""
        [thanks] = heard_of(triage, "Thank you. I have written down")
        assert (thanks["cut"], thanks["can_interrupt"]) == (None, False)
        early = said(triage, "three days ago")
        assert early["held_ms"] > 0
        assert "three days" in early["sent"]

    def test_an_early_answer_is_heeded(self, triage):
        """The list of warning signs stops when the patient answers, and the server knows which they had heard."""
        [signs] = heard_of(triage, "Please tell me if you have any of these")
        assert signs["cut"] == "voice"
        assert signs["heard"].endswith("a stiff neck,")
        answer = said(triage, "do not have any")
        assert answer["is_interrupted"]
        assert answer["played_content"].endswith(signs["heard"])

    def test_a_stop_phrase_stops(self, triage):
        """Whoever says stop is obeyed, and asked again when they are ready."""
        first, again = heard_of(triage, "On a scale from zero to ten")
        assert first["cut"] == "stop_phrase"
        assert again["cut"] is None
        assert said(triage, "Stop")["is_interrupted"]

    def test_the_right_advice_is_given(self, triage):
        """Three of ten, three days, no warning sign: care at home, and heard whole."""
        last = triage.summary["messages"][-1]
        assert "care for at home" in last["heard"]
        assert last["cut"] is None


class TestDesk:
    def test_the_right_appointment_is_booked(self, desk):
        """A vaccination on Wednesday morning, not what another branch would have booked."""
        last = desk.summary["messages"][-1]["heard"]
        assert last.startswith("We will see you on Wednesday, October 15th at 9:15 a.m., in room 12")
        [question] = heard_of(desk, "So that is")
        assert question["heard"].startswith("So that is a vaccination with Dr. Lee")

    def test_the_days_are_not_read_to_somebody_who_has_chosen(self, desk):
        """The list stops at the second day, and a key dropped on the desk stops nothing."""
        cut = [message["source"] for message in desk.summary["messages"] if message["cut"]]
        assert [text[:7] for text in cut] == ["Dr. Lee"]

    def test_an_answer_in_other_words_is_the_clinics_answer(self, desk):
        """A server that knows its own labels only would ask again; the report keeps what was said."""
        chosen = said(desk, "The second one")
        assert chosen["sent"] == "Wednesday"
        assert "second" in chosen["recognised"]

    def test_names_and_numbers_stay_at_home(self, desk):
        """The server keeps neither."""
        kept = " ".join(item.content for item in desk.seen if isinstance(item, UserAccepted))
        assert "Smith" not in kept
        assert "nine" not in kept.lower()


def test_the_same_seed_gives_the_same_conversation(tmp_path):
    """A designer who changes one sentence sees what that changed, and nothing else."""
    flow = tmp_path / "small.toml"
    flow.write_text(FLOW)
    flow.with_suffix(".visitor.toml").write_text(
        '[[line]]\nhears = "Do you?"\nsay = "No, I do not have any of these."\n'
    )
    first, second = (
        json.loads(run_demo(DemoOptions(flow=flow, out=tmp_path / name, seed=5)).summary.read_text())
        for name in ("first", "second")
    )
    assert first == second
    assert first["utterances"]
