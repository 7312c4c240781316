"""The shipped flows, walked with answers as a recogniser writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from voice.server.engine import Engine, Reply
from voice.server.flow_file import load
from voice.server.redact import redact

FLOWS = Path(__file__).resolve().parents[2] / "config" / "flows"


def walk(name: str, *answers: str) -> list[Reply]:
    engine = Engine(load(FLOWS / f"{name}.toml"))
    replies = [engine.opening(engine.start())]
    for answer in answers:
        replies.append(engine.answer(replies[-1].state, redact(answer)))
    return replies


def steps(replies: list[Reply]) -> list[str]:
    return [reply.state.step for reply in replies]


@pytest.mark.parametrize(
    ("answers", "path"),
    [
        (
            ["My throat is sore.", "About three days.", "No, I don't.", "No.", "Four."],
            ["welcome", "duration", "danger", "fever", "pain", "advice_home"],
        ),
        (
            ["I have a headache.", "Since yesterday.", "No, none of them.", "Yes, I think so.", "It's an eight."],
            ["welcome", "duration", "danger", "fever", "pain", "advice_doctor"],
        ),
        (["I've got a cough.", "2 weeks", "Yes."], ["welcome", "duration", "danger", "urgent"]),
        (["My stomach hurts.", "A few days.", "My neck is stiff."], ["welcome", "duration", "danger", "urgent"]),
        (["My throat.", "3 days", "I don't have a stiff neck."], ["welcome", "duration", "danger", "fever"]),
        (["My throat.", "3 days", "No, but my neck is stiff."], ["welcome", "duration", "danger", "urgent"]),
        (
            ["My throat.", "3 days", "No trouble breathing, but chest pain."],
            ["welcome", "duration", "danger", "urgent"],
        ),
        (["My throat.", "3 days", "I'm not sure."], ["welcome", "duration", "danger", "fever"]),
        (["My throat.", "Stop.", "No."], ["welcome", "duration", "paused", "farewell"]),
        (["My throat.", "Stop.", "Yes, please.", "3 days"], ["welcome", "duration", "paused", "duration", "danger"]),
        (["My knee.", "3 days"], ["welcome", "duration", "danger"]),
        (["", "", "3 days"], ["welcome", "welcome", "duration", "danger"]),
    ],
)
def test_the_triage_interview_goes_where_the_answers_lead(answers: list[str], path: list[str]) -> None:
    """Hurts whoever is shown the demo, and whoever takes it for a pattern."""
    assert steps(walk("triage", *answers)) == path


def test_the_triage_interview_has_every_kind_of_message() -> None:
    """A kind that the demo does not have is a kind that nobody has heard."""
    said = walk("triage", "My throat.", "Three days, and I have a rash.", "No.", "No.", "Four.")
    kinds = {line.kind for reply in said for line in reply.lines}
    assert kinds == {"intro", "acknowledgement", "follow_up", "bridge", "filler", "read_back"}
    acknowledgement = said[1].lines[0].text
    assert 8 <= len(acknowledgement.split()) <= 12
    longest = max((line.text for line in said[2].lines if line.kind == "follow_up"), key=len)
    assert len(longest.split()) > 20  # long enough to be interrupted in its middle


@pytest.mark.parametrize(
    ("answers", "path"),
    [
        (
            ["A checkup, please.", "Wednesday.", "In the morning.", "My name is Anna Smith.", "555 123 4567", "Yes."],
            ["welcome", "day", "time", "name", "phone", "confirm", "done"],
        ),
        (
            ["I need my flu shot.", "The earliest.", "afternoon", "Bo", "five five five one two three four", "No."],
            ["welcome", "day", "time", "name", "phone", "confirm", "day"],
        ),
        (["A refill.", "What?", "Friday, the 24th."], ["welcome", "day", "day", "time"]),
    ],
)
def test_the_desk_books_what_was_chosen(answers: list[str], path: list[str]) -> None:
    """Hurts whoever comes on the wrong day."""
    assert steps(walk("desk", *answers)) == path


def test_the_desk_names_the_choice_and_never_the_person() -> None:
    """The name and the number are gone before the desk sees them."""
    said = walk("desk", "A vaccination.", "Friday.", "Two forty.", "My name is Anna Smith.", "555 123 4567", "Yes.")
    confirm = said[5].lines[-1].text
    assert "a vaccination with Dr. Lee, on Friday, October 24th, at 2:40 p.m." in confirm
    assert "$18" in confirm
    everything = " ".join(line.text for reply in said for line in reply.lines)
    assert "Anna" not in everything
    assert "4567" not in everything


@pytest.mark.parametrize("name", ["triage", "desk"])
def test_no_path_is_without_a_way_out(name: str) -> None:
    """Hurts whoever says nothing that it understands: it has to end all the same."""
    flow = load(FLOWS / f"{name}.toml")
    engine = Engine(flow)
    for step in flow.steps.values():
        reply = Reply((), engine.start(), step)
        state = reply.state
        for _ in range(60):
            if state.ended is not None:
                break
            state = engine.answer(state, "blah blah").state
        assert state.ended is not None, step.id
