from __future__ import annotations

import json
from typing import Any

import pytest

from voice.core.server_events import (
    AssessmentChanged,
    BadFrame,
    ConversationClosed,
    FaultDetail,
    HandoffRequested,
    HistoryRow,
    Ignored,
    MessageCompleted,
    MessageDelta,
    MessageWidget,
    Ping,
    ServerEvent,
    ServerFault,
    SettingsChanged,
    Snapshot,
    TurnEnded,
    UserAccepted,
)
from voice.core.widgets import Hints, UnknownWidget
from voice.wire.infermedica import decode

A, T, U, C = "9e1d4c77", "c2a9e7d0", "5a0b8c1e", "0b7c1f52"
HINTS = {"type": "hints", "hints": ["Today", "A few days", "Longer"]}


def one(frame: Any) -> ServerEvent:
    (event,) = decode(frame if isinstance(frame, str | bytes) else json.dumps(frame))
    return event


def message(**fields: Any) -> dict[str, Any]:
    return {"id": A, "turn_id": T, "kind": "follow_up", "can_interrupt": True, **fields}


def delta(**fields: Any) -> dict[str, Any]:
    return {"type": "conversation.assistant_message.delta", "assistant_message": message(**fields)}


def completed(*parts: Any, **fields: Any) -> dict[str, Any]:
    body = message(**{"content_parts": list(parts), **fields})
    return {"type": "conversation.assistant_message.completed", "assistant_message": body}


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


EVERY_FRAME: list[tuple[dict[str, Any], ServerEvent]] = [
    (
        {
            "type": "conversation.user_message.created",
            "user_message": {"id": U, "turn_id": T, "content": "Mine", "is_interrupted": True, "played_content": "It"},
        },
        UserAccepted(U, T, "Mine", True, "It"),
    ),
    (delta(delta="Since when "), MessageDelta(A, T, "follow_up", True, "Since when ")),
    (
        {
            "type": "conversation.assistant_message.ui_widget",
            "assistant_message": {"id": A, "turn_id": T, "widget": HINTS},
        },
        MessageWidget(A, T, Hints(("Today", "A few days", "Longer"))),
    ),
    (
        completed(text("Since "), {"type": "ui_widget", "widget": HINTS}, text("when?")),
        MessageCompleted(A, T, "follow_up", True, "Since when?", (Hints(("Today", "A few days", "Longer")),)),
    ),
    (
        {"type": "conversation.assessment.updated", "assessment": {"evidence": [], "sex": None}},
        AssessmentChanged({"evidence": [], "sex": None}),
    ),
    (
        {
            "type": "conversation.handoff.requested",
            "handoff": {"reason": "stop_intent_detected", "user_request": "A nurse"},
        },
        HandoffRequested("stop_intent_detected", "A nurse"),
    ),
    ({"type": "conversation.turn.completed", "turn_id": T}, TurnEnded(T, "completed")),
    ({"type": "conversation.turn.interrupted", "turn": {"id": T}}, TurnEnded(T, "interrupted")),
    ({"type": "conversation.turn.interrupted"}, TurnEnded(None, "interrupted")),
    (
        {"type": "conversation.turn.failed", "turn_id": T, "error": {"code": "engine_down", "message": "x"}},
        TurnEnded(T, "failed", "engine_down"),
    ),
    ({"type": "conversation.completed"}, ConversationClosed(terminated=False)),
    ({"type": "conversation.terminated", "anything": 1}, ConversationClosed(terminated=True)),
    (
        {"type": "conversation.settings.updated", "settings": {"language": "pl", "max_message_length": 900}},
        SettingsChanged({"language": "pl", "max_message_length": 900}, 900),
    ),
    ({"type": "ping"}, Ping()),
    ({"type": "ping", "at": 3}, Ping()),
    (
        {
            "type": "error",
            "error": {
                "code": "invalid_payload",
                "message": "too short",
                "details": [{"location": "user_message.content", "message": "at least 1", "type": "string_too_short"}],
            },
        },
        ServerFault(
            "invalid_payload", "too short", (FaultDetail("user_message.content", "at least 1", "string_too_short"),)
        ),
    ),
    ({"type": "error", "code": "x", "message": "flat"}, ServerFault("x", "flat")),
    ({"type": "error"}, ServerFault("unknown", "")),
]


@pytest.mark.parametrize(("frame", "event"), EVERY_FRAME, ids=lambda value: getattr(value, "get", {}.get)("type"))
def test_every_documented_frame_has_its_event(frame: dict[str, Any], event: ServerEvent) -> None:
    """Hurts every conversation."""
    assert one(frame) == event
    assert one(json.dumps(frame).encode()) == event


@pytest.mark.parametrize("kind", ["conversation.created", "conversation.resumed"])
def test_a_snapshot_has_the_history_by_role(kind: str) -> None:
    """Hurts whoever comes back after a lost link: content is the user's, content_parts the assistant's."""
    frame = {
        "type": kind,
        "conversation": {
            "id": C,
            "status": "completed",
            "is_terminated": True,
            "settings": {"language": "en", "max_message_length": 1200},
            "assessment": {"evidence": []},
            "messages": [
                {"role": "user", "id": U, "turn_id": T, "content": "My throat", "content_parts": [text("no")]},
                {
                    "role": "assistant",
                    "id": A,
                    "turn_id": T,
                    "kind": "intro",
                    "content": "no",
                    "content_parts": [text("Since "), text("when?")],
                },
                {"role": "system", "id": "x", "turn_id": T},
                {"role": "user", "turn_id": T, "content": "without id"},
                "not a row",
            ],
        },
    }
    assert one(frame) == Snapshot(
        conversation_id=C,
        resumed=kind == "conversation.resumed",
        completed=True,
        terminated=True,
        max_message_length=1200,
        rows=(
            HistoryRow("user", U, T, "My throat"),
            HistoryRow("assistant", A, T, "Since when?", "intro"),
        ),
        settings={"language": "en", "max_message_length": 1200},
        assessment={"evidence": []},
    )


@pytest.mark.parametrize("limit", [None, 0, -5, True, "1500", 3.5])
def test_a_missing_or_senseless_length_limit_is_the_documented_default(limit: Any) -> None:
    """Hurts whoever says something long: a limit of 0 would silence them."""
    settings = {} if limit is None else {"max_message_length": limit}
    snapshot = one({"type": "conversation.created", "conversation": {"id": C, "settings": settings}})
    assert isinstance(snapshot, Snapshot)
    assert snapshot.max_message_length == 1500


ASSISTANT = "conversation.assistant_message"

UNUSABLE: list[tuple[Any, str]] = [
    ("{}", 'no "type"'),
    ('{"type": null}', 'no "type"'),
    ('{"type": ["ping"]}', 'no "type"'),
    ({"type": "conversation.created"}, "conversation.created: no id"),
    ({"type": "conversation.created", "conversation": []}, "conversation.created: no object conversation"),
    ({"type": "conversation.resumed", "conversation": {}}, "conversation.resumed: no id"),
    ({"type": "conversation.settings.updated"}, "conversation.settings.updated: no object settings"),
    ({"type": "conversation.user_message.created"}, "conversation.user_message.created: no object user_message"),
    (
        {"type": "conversation.user_message.created", "user_message": {"content": "secret"}},
        "conversation.user_message.created: no id",
    ),
    (
        {"type": "conversation.assessment.updated", "assessment": None},
        "conversation.assessment.updated: no object assessment",
    ),
    ({"type": "conversation.handoff.requested"}, "conversation.handoff.requested: no object handoff"),
    (delta(), "conversation.assistant_message.delta: no text in delta"),
    (delta(delta=None), "conversation.assistant_message.delta: no text in delta"),
    (delta(delta="secret", id=None), "conversation.assistant_message.delta: no id"),
    (delta(delta="secret", id=""), "conversation.assistant_message.delta: no id"),
    (delta(delta="secret", id=7), "conversation.assistant_message.delta: no id"),
    (
        {"type": f"{ASSISTANT}.delta", "assistant_message": "secret"},
        "conversation.assistant_message.delta: no object assistant_message",
    ),
    (completed(text("secret"), id=None), "conversation.assistant_message.completed: no id"),
    (completed(content_parts="secret"), "conversation.assistant_message.completed: no list content_parts"),
    (
        {"type": f"{ASSISTANT}.ui_widget", "assistant_message": message()},
        "conversation.assistant_message.ui_widget: no object widget",
    ),
]


@pytest.mark.parametrize(("frame", "reason"), UNUSABLE, ids=[reason[:60] for _, reason in UNUSABLE])
def test_a_frame_that_cannot_be_used_is_named_in_one_line_without_what_it_said(frame: Any, reason: str) -> None:
    """Hurts the patient whose words would stand in a log, and everybody if the session went down with it."""
    assert one(frame) == BadFrame(reason)


@pytest.mark.parametrize(
    ("frame", "event"),
    [
        ({"type": "conversation.mood.changed", "mood": {}}, Ignored("conversation.mood.changed")),
        ({"type": "pong"}, Ignored("pong")),
        ({"type": "my throat hurts so much"}, Ignored("(not a name)")),
        ({"type": "x" * 5000}, Ignored("(not a name)")),
        ({"type": ""}, Ignored("(not a name)")),
    ],
)
def test_an_unknown_type_is_ignored_by_name(frame: Any, event: Ignored) -> None:
    """Hurts whoever runs this against next year's server."""
    assert one(frame) == event


def test_unknown_kinds_parts_fields_and_widgets_pass_through_or_are_left_out() -> None:
    """Hurts the listener who would miss a whole message because of one new part in it."""
    frame = completed(
        text("One "),
        {"type": "audio", "url": "x"},
        {"type": "text"},
        {"type": "text", "text": 5},
        {"type": "ui_widget"},
        {"type": "ui_widget", "widget": {"type": "hologram", "n": 1}},
        {"type": "ui_widget", "widget": {"n": 2}},
        "not a part",
        text("two"),
        kind="lullaby",
        can_interrupt="maybe",
        mood="calm",
    )
    widgets = (UnknownWidget("hologram", {"n": 1}), UnknownWidget("", {"n": 2}))
    assert one(frame) == MessageCompleted(A, T, "lullaby", None, "One two", widgets)


@pytest.mark.parametrize("absent", ["kind", "can_interrupt", "turn_id"])
def test_a_delta_needs_only_its_id_and_its_text(absent: str) -> None:
    """An opening message may belong to no turn; it is to be heard all the same."""
    frame = delta(delta="Hello")
    del frame["assistant_message"][absent]
    event = one(frame)
    assert isinstance(event, MessageDelta)
    assert (event.id, event.text) == (A, "Hello")
    assert getattr(event, absent) == (None if absent == "can_interrupt" else "")


ODD_TEXTS = [
    "",
    " ",
    "a" * 100_000,
    "\U0001f912 \U0001f468\u200d\u2695\ufe0f",
    "\u0645\u0631\u062d\u0628\u0627 \u202eabc\u202c",
    "tab\tnew\nline\x00\x07\x1b[31m",
    "\u4f60\u597d",
    "$42.50 \u2019s \u00a0",
]


@pytest.mark.parametrize("said", ODD_TEXTS, ids=range(len(ODD_TEXTS)))
def test_the_text_comes_through_to_the_letter(said: str) -> None:
    """What is claimed as heard has to be a verbatim prefix of what the server wrote."""
    for ascii_only in (True, False):
        event = one(json.dumps(delta(delta=said), ensure_ascii=ascii_only))
        assert event == MessageDelta(A, T, "follow_up", True, said)
        event = one(json.dumps(completed(text(said[:3]), text(said[3:])), ensure_ascii=ascii_only))
        assert event == MessageCompleted(A, T, "follow_up", True, said)


def test_an_error_of_many_lines_is_one_short_line() -> None:
    """Hurts the operator whose log is one line an event."""
    event = one({"type": "error", "error": {"code": "a\nb", "message": "m\r\n\x1b[2J" + "y" * 1000, "details": 3}})
    assert isinstance(event, ServerFault)
    assert event.code == "a b"
    assert event.message.isprintable()
    assert len(event.message) <= 200
