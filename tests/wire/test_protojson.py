"""Protocol buffers as JSON: times to the nanosecond, bytes in every alphabet, names in both spellings."""

from __future__ import annotations

import base64
import json

import pytest
from google.protobuf import duration_pb2, json_format, timestamp_pb2
from hypothesis import given
from hypothesis import strategies as st

from voice.wire.protojson import (
    base64_of,
    count,
    duration,
    duration_text,
    member,
    octets,
    timestamp,
    timestamp_text,
)

YEAR_1, YEAR_10000 = -62_135_596_800, 253_402_300_800
NANOS = st.integers(YEAR_1 * 10**9, YEAR_10000 * 10**9 - 1)


class TestTimes:
    @pytest.mark.parametrize(
        ("text", "nanos"),
        [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:01.250Z", 1_250_000_000),
            ("1970-01-01T00:00:00.000001Z", 1_000),
            ("1970-01-01T00:00:00.123456789Z", 123_456_789),
            ("1970-01-01T05:30:00+05:30", 0),
            ("1969-12-31T19:00:00.5-05:00", 500_000_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000_000_000),
        ],
    )
    def test_every_form_is_read_to_the_nanosecond(self, text: str, nanos: int) -> None:
        """Hurts whoever looks for the slow step of a turn: `datetime` keeps microseconds only."""
        assert timestamp(text) == nanos

    @pytest.mark.parametrize(
        "text", ["", "1970-01-01", "1970-01-01T00:00:00", "1970-13-01T00:00:00Z", "1970-01-01T00:00:00.Z", 5, None]
    )
    def test_what_is_no_time_is_none(self, text: object) -> None:
        assert timestamp(text) is None

    @given(NANOS)
    def test_they_are_written_as_google_writes_them(self, nanos: int) -> None:
        theirs = timestamp_pb2.Timestamp(seconds=nanos // 10**9, nanos=nanos % 10**9)
        assert timestamp_text(nanos) == json.loads(json_format.MessageToJson(theirs))
        assert timestamp(timestamp_text(nanos)) == nanos

    @given(st.integers(-(10**18), 10**18))
    def test_durations_too(self, nanos: int) -> None:
        theirs = duration_pb2.Duration()
        theirs.FromNanoseconds(nanos)
        assert duration_text(nanos) == json.loads(json_format.MessageToJson(theirs))
        assert duration(duration_text(nanos)) == nanos


class TestBytes:
    @given(st.binary())
    def test_any_alphabet_with_or_without_padding(self, data: bytes) -> None:
        """Hurts the ear: a stretch of speech would be missing."""
        urlsafe = base64.urlsafe_b64encode(data).decode()
        for text in (base64_of(data), urlsafe, urlsafe.rstrip("=")):
            assert octets(text) == data

    @given(st.text())
    def test_what_is_not_base64_is_none_and_no_error(self, text: str) -> None:
        found = octets(text)
        assert found is None or isinstance(found, bytes)


def test_a_member_has_two_spellings_and_null_is_absent() -> None:
    assert member({"mime_type": "a"}, "mimeType") == "a"
    assert member({"mimeType": None, "mime_type": "a"}, "mimeType") == "a"
    assert member({"goAway": {}}, "goAway") == {}
    assert member({}, "goAway") is None


@pytest.mark.parametrize(("value", "found"), [(3, 3), (3.0, 3), ("3", 3), (-1, 0), (3.5, 0), (True, 0), (2**40, 0)])
def test_a_number_may_be_written_in_three_ways(value: object, found: int) -> None:
    assert count({"turnIndex": value}, "turnIndex") == found
