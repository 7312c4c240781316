"""`voice wire`: a line for every event, whatever comes in, and it never stops."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.test_cli import voice_reads
from voice.core.server_events import BadFrame, TurnEnded
from voice.wire.describe import FrameLines, as_json, as_text
from voice.wire.paths import BACKENDS, Backend

FRAMES = [
    json.dumps(json.loads(line)["frame"]).encode()
    for line in Path(__file__).with_name("documented_ces.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("backend", BACKENDS)
@given(lines=st.lists(st.binary(max_size=30) | st.sampled_from(FRAMES), max_size=8))
def test_every_line_becomes_lines(backend: Backend, lines: list[bytes]) -> None:
    """Hurts the integrator: one bad frame would hide all that follow."""
    whole = b"\n".join(lines)
    told = {number for number, _ in FrameLines(backend).read(io.BytesIO(whole))}
    assert told == {number for number, line in enumerate(whole.split(b"\n"), 1) if line.strip()}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_line_of_ten_megabytes_is_one_error_and_the_next_is_read(backend: Backend) -> None:
    source = io.BytesIO(b'"' + b"x" * 10_000_000 + b'"\n[]\n')
    events = list(FrameLines(backend).read(source))
    assert [number for number, _ in events] == [1, 2]
    assert all(isinstance(event, BadFrame) for _, event in events)


@given(st.sampled_from(FRAMES))
def test_an_event_is_one_line_in_both_forms(frame: bytes) -> None:
    for _, event in FrameLines("ces").read(io.BytesIO(frame)):
        assert as_text(event).splitlines() == [as_text(event)]
        assert json.loads(as_json(event))["event"] == type(event).__name__


def test_a_line_says_what_was_understood() -> None:
    assert as_text(TurnEnded("7", "completed")) == "TurnEnded turn_id=7 outcome=completed"
    assert as_text(BadFrame("not JSON (character 0)")) == 'BadFrame reason="not JSON (character 0)"'


def test_answers_over_http_are_read_too() -> None:
    body = b'{"outputs": [{"turnIndex": 1, "text": "Hi."}]}'
    ((_, event),) = FrameLines("ces").read(io.BytesIO(body))
    assert as_text(event) == "MessageDelta id=0.1.1 turn_id=0.1.1 kind=reply text=Hi."


class TestCommand:
    def test_it_reads_to_the_end_and_errors_are_lines(self) -> None:
        done = voice_reads(b'{"type": "ping"}\nx\n{"type": "pong"}\n', "wire")
        assert done.stdout.splitlines() == [
            "1: Ping",
            '2: BadFrame reason="not JSON (character 0)"',
            "3: Ignored type=pong",
        ]
        assert done.returncode == 0

    def test_json_is_json(self) -> None:
        done = voice_reads(b'{"goAway": {}}\n', "wire", "--backend", "ces", "--json")
        assert done.stdout == '{"event": "GoingAway"}\n'

    def test_an_unknown_server_is_one_line(self) -> None:
        done = voice_reads(b"", "wire", "--backend", "other")
        assert done.stderr == "voice: --backend other: no such server; it is infermedica or ces\n"
        assert done.returncode == 2
