from __future__ import annotations

from typing import Any

import pytest

from voice.wire.json_frame import BadFrameError, parse

REFUSED: list[tuple[Any, str]] = [
    ("", "not JSON (character 0)"),
    ("{", "not JSON (character 1)"),
    ('{"type": "ping"} x', "not JSON (character 17)"),
    ("\ufeff{}", "not JSON (character 0)"),
    (b"\xff\xfe\x00", "not UTF-8 (byte 0)"),
    ("[1, 2]", "not a JSON object"),
    ("null", "not a JSON object"),
    ('"ping"', "not a JSON object"),
    ("12", "not a JSON object"),
    ('{"type": "ping", "x": NaN}', "NaN and Infinity are not JSON"),
    ('{"type": "ping", "x": -Infinity}', "NaN and Infinity are not JSON"),
    ('{"type": "ping", "x": 1e999}', "a number is too large"),
    ('{"type": "ping", "x": ' + "9" * 5000 + "}", "a number is too long"),
    ('{"type": "ping", "x": ' + "[" * 70 + "]" * 70 + "}", "nested deeper than 64 levels"),
    ('{"x": ' * 100_000, "nested deeper than 64 levels"),
    ('{"type": "ping", "x": "' + "a" * 10_000_000 + '"}', "a frame of 10000025 bytes is longer than 1048576"),
]


@pytest.mark.parametrize(("frame", "reason"), REFUSED, ids=[reason[:40] for _, reason in REFUSED])
def test_what_is_no_usable_json_object_is_refused_in_one_line_without_what_it_said(frame: Any, reason: str) -> None:
    """Hurts the patient whose words would stand in a log, and everybody if the session went down with it."""
    with pytest.raises(BadFrameError) as refused:
        parse(frame)
    assert str(refused.value) == reason


def test_half_a_surrogate_pair_becomes_a_character_that_can_be_stored() -> None:
    """A server that cuts deltas by UTF-16 units splits emoji; a text that cannot be encoded would stop the screen."""
    assert parse('{"delta": "x\\ud83d", "\\udc00": ["\\uDE00"]}') == {"delta": "x\ufffd", "\ufffd": ["\ufffd"]}
    assert parse('{"delta": "x\\ud83d\\ude00"}') == {"delta": "x\U0001f600"}


def test_of_a_key_that_occurs_twice_the_last_counts() -> None:
    """Defined, so that two ends do not differ from run to run."""
    assert parse('{"type": "x", "type": "ping"}') == {"type": "ping"}


def test_nesting_up_to_the_limit_is_kept() -> None:
    """A summary of findings is nested, and many small objects are not deep."""
    deep = "[" * 62 + "]" * 62
    assert parse('{"x": [' + deep + "]}") is not None
    assert len(parse('{"x": [' + ", ".join(["[]"] * 500) + "]}")["x"]) == 500
