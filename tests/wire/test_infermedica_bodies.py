"""HTTP bodies mean what the frames of a WebSocket mean."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.core.events import SendUserMessage
from voice.core.server_events import (
    AssessmentChanged,
    BadFrame,
    FaultDetail,
    HandoffRequested,
    HistoryRow,
    MessageCompleted,
    ServerFault,
    Snapshot,
    TurnEnded,
    UserAccepted,
)
from voice.core.widgets import Hints
from voice.wire import infermedica
from voice.wire.infermedica_bodies import (
    decode_assessment,
    decode_conversation,
    decode_error,
    decode_turn,
    encode_conversation,
    encode_settings,
    encode_turn,
)

USER = {"id": "u1", "turn_id": "t1", "content": "My throat", "is_interrupted": False, "played_content": None}
ANSWER = {
    "id": "a1",
    "turn_id": "t1",
    "kind": "follow_up",
    "can_interrupt": True,
    "content_parts": [
        {"type": "text", "text": "Since when?"},
        {"type": "ui_widget", "widget": {"type": "hints", "hints": ["Today"]}},
    ],
}
CONVERSATION = {
    "id": "c1",
    "status": "completed",
    "settings": {"max_message_length": 900},
    "assessment": {"evidence": []},
    "messages": [
        {"role": "user", "id": "u1", "turn_id": "t1", "content": "My throat", "content_parts": [], "kind": "intro"},
        {"role": "assistant", "id": "a1", "turn_id": "t1", "kind": "follow_up", "content": "not this",
         "content_parts": [{"type": "text", "text": "Since when?"}]},
        {"id": "x", "turn_id": "t1", "kind": "follow_up", "content_parts": []},
    ],
    "is_terminated": True,
}  # fmt: skip


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


class TestTurn:
    def test_it_is_the_events_that_a_stream_tells(self) -> None:
        """Somebody behind a proxy would hear something else than the others."""
        assert decode_turn(
            body(
                {
                    "id": "t1",
                    "user_message": USER,
                    "assistant_messages": [ANSWER, ANSWER | {"id": "a2"}],
                    "handoff": None,
                }
            )
        ) == (
            UserAccepted("u1", "t1", "My throat"),
            MessageCompleted("a1", "t1", "follow_up", True, "Since when?", (Hints(("Today",)),)),
            MessageCompleted("a2", "t1", "follow_up", True, "Since when?", (Hints(("Today",)),)),
            TurnEnded("t1", "completed"),
        )

    def test_a_handoff_is_told(self) -> None:
        """Whoever asked for a nurse would not be noticed."""
        handoff = {"reason": "stop_intent_detected", "user_request": "a nurse"}
        told = decode_turn(body({"user_message": USER, "assistant_messages": [], "handoff": handoff}))
        assert told[1:] == (HandoffRequested("stop_intent_detected", "a nurse"), TurnEnded("t1", "completed"))

    def test_one_odd_message_costs_nothing_around_it(self) -> None:
        """The question behind it would not be heard."""
        told = decode_turn(body({"user_message": USER, "assistant_messages": [{"content_parts": []}, 5, ANSWER]}))
        bad = BadFrame("turn: assistant_messages: no id"), BadFrame("turn: assistant_messages: no list content_parts")
        assert told[1:3] == bad
        assert isinstance(told[3], MessageCompleted)

    def test_rows_of_the_history_are_no_messages_of_a_turn(self) -> None:
        """The commonest mistake on this API: reading `content` where there are only parts."""
        row = {"role": "assistant", "id": "a1", "turn_id": "t1", "kind": "intro", "content": "Hello"}
        told = decode_turn(body({"user_message": USER, "assistant_messages": [row]}))
        assert told[1] == BadFrame("turn: assistant_messages: no list content_parts")


class TestConversation:
    def test_it_is_the_snapshot_of_a_resume(self) -> None:
        """Rows are told apart by their role: each has only its own fields, and one without a role is none."""
        snapshot = decode_conversation(body(CONVERSATION), resumed=True)
        assert snapshot == Snapshot(
            "c1",
            resumed=True,
            completed=True,
            terminated=True,
            max_message_length=900,
            rows=(
                HistoryRow("user", "u1", "t1", "My throat"),
                HistoryRow("assistant", "a1", "t1", "Since when?", "follow_up"),
            ),
            settings={"max_message_length": 900},
            assessment={"evidence": []},
        )
        frame = json.dumps({"type": "conversation.resumed", "conversation": CONVERSATION})
        assert infermedica.decode(frame) == (snapshot,)

    @pytest.mark.parametrize(
        ("found", "reason"), [(b"<html>", "not JSON (character 0)"), (b"[]", "not a JSON object"), (b"{}", "no id")]
    )
    def test_what_is_no_conversation_is_named(self, found: bytes, reason: str) -> None:
        """A login page of a network would be taken for an answer."""
        assert decode_conversation(found, resumed=False) == BadFrame(f"conversation: {reason}")


def test_an_assessment_replaces() -> None:
    assert decode_assessment(body({"sex": "male"})) == AssessmentChanged({"sex": "male"})
    assert decode_assessment(b"") == BadFrame("assessment: not JSON (character 0)")


class TestError:
    def test_the_envelope_is_the_one_of_the_frames(self) -> None:
        """A refusal has one name, whichever way it came."""
        found = {"location": "body.user_message.content", "message": "too short", "type": "string_too_short"}
        error = {"code": "invalid_request", "message": "1 error", "details": [found, 7]}
        detail = FaultDetail("body.user_message.content", "too short", "string_too_short")
        assert decode_error(422, body({"error": error})) == ServerFault("invalid_request", "1 error", (detail,))

    @pytest.mark.parametrize("found", [b"", b"<html>502 Bad Gateway</html>", b"{}", b'{"error": "no"}', b"[]"])
    def test_without_an_envelope_the_status_is_the_code(self, found: bytes) -> None:
        """Nothing of a proxy's page belongs in a log."""
        assert decode_error(502, found) == ServerFault("http_502", "")


class TestBodies:
    def test_they_are_what_the_frames_carry(self) -> None:
        """The two ways to the server would say different things of the same interruption."""
        message = SendUserMessage("u1", "Hi", True, "Thanks. How", "00-a-b-01")
        frame = json.loads(infermedica.user_message(message))
        assert json.loads(encode_turn(message)) == {"user_message": frame["user_message"]}
        assert json.loads(encode_conversation({"settings": {"channel": "voice"}})) == {
            "settings": {"channel": "voice"},
            "assessment": {},
        }
        assert json.loads(encode_settings({"language": "pl"})) == {"language": "pl"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*ANSWER, *CONVERSATION, "user_message", "assistant_messages", "handoff", "error"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.binary(max_size=20) | VALUES.map(body))
def test_no_body_raises(found: bytes) -> None:
    """One odd answer would end a conversation."""
    assert decode_turn(found)
    assert isinstance(decode_conversation(found, resumed=True), (Snapshot, BadFrame))
    assert isinstance(decode_assessment(found), (AssessmentChanged, BadFrame))
    assert isinstance(decode_error(500, found), ServerFault)
