"""Codec of Infermedica Conversational Triage v2: frames to events and back, without I/O.

Plain typed parsing, no model classes. A client has to be lenient: unknown types, kinds, parts and fields pass
through or are left out, and one odd field must not cost the message around it. A model that rejects the whole and
quotes the offending input in its error does the opposite of both (the input is what a patient said). Reading each
field with its own fallback is also shorter here, and as fast as `json.loads`.

One frame gives exactly one event. A frame that cannot be used is a `BadFrame` with its cause in one line that
quotes nothing from the frame.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

from voice.core.events import SendUserMessage
from voice.core.server_events import (
    AssessmentChanged,
    BadFrame,
    ConversationClosed,
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
    Widget,
)
from voice.wire.json_frame import BadFrameError, parse
from voice.wire.spellings import assumed, read, write

DEFAULT_MAX_MESSAGE_LENGTH = 1500
"""Unicode code points; the documented default, used where a snapshot does not say."""

_CLIP = 200
"""Characters of the server's own error text that are kept."""

_TYPE_NAME = re.compile(r"[\w.:/-]{1,80}")


# --------------------------------------------------------------------------- from the server


def decode(frame: str | bytes) -> tuple[ServerEvent, ...]:
    """The one event that a frame means. Never raises.

    Not a JSON object within the limits of `voice.wire.json_frame`, or without a part that cannot be done without:
    `BadFrame`. An unknown type: `Ignored`.
    """
    try:
        return (_event(parse(frame)),)
    except BadFrameError as bad:
        return (BadFrame(str(bad)),)


def _event(frame: dict[str, Any]) -> ServerEvent:
    kind = frame.get("type")
    if not isinstance(kind, str):
        raise BadFrameError('no "type"')
    handler = _HANDLERS.get(kind)
    if handler is None:
        return Ignored(kind if _TYPE_NAME.fullmatch(kind) else "(not a name)")
    return handler(frame)


def _object(frame: Mapping[str, Any], found: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(found, dict):
        raise BadFrameError(f"{frame['type']}: no object {name}")
    return found


def _id(frame: Mapping[str, Any], holder: Mapping[str, Any]) -> str:
    found = holder.get("id")
    if not isinstance(found, str) or not found:
        raise BadFrameError(f"{frame['type']}: no id")
    return found


def _text(holder: Mapping[str, Any], key: str) -> str:
    found = holder.get(key)
    return found if isinstance(found, str) else ""


def _interruptible(message: Mapping[str, Any]) -> bool | None:
    found = message.get("can_interrupt")
    return found if isinstance(found, bool) else None


def _widget(found: Mapping[str, Any]) -> Widget:
    return Widget(_text(found, "type"), {key: value for key, value in found.items() if key != "type"})


def _parts(found: Any) -> tuple[str, tuple[Widget, ...]]:
    """The text parts joined without a separator, and the widgets; parts of other types are left out."""
    texts: list[str] = []
    widgets: list[Widget] = []
    for part in found if isinstance(found, list) else ():
        if not isinstance(part, dict):
            continue
        if part.get("type") == "text":
            texts.append(_text(part, "text"))
        elif part.get("type") == "ui_widget" and isinstance(part.get("widget"), dict):
            widgets.append(_widget(part["widget"]))
    return "".join(texts), tuple(widgets)


def _delta(frame: Mapping[str, Any]) -> MessageDelta:
    message = _object(frame, frame.get("assistant_message"), "assistant_message")
    text = message.get("delta")
    if not isinstance(text, str):
        raise BadFrameError(f"{frame['type']}: no text in delta")
    return MessageDelta(
        _id(frame, message), _text(message, "turn_id"), _text(message, "kind"), _interruptible(message), text
    )


def _message_widget(frame: Mapping[str, Any]) -> MessageWidget:
    message = _object(frame, frame.get("assistant_message"), "assistant_message")
    widget = _object(frame, message.get("widget"), "widget")
    return MessageWidget(_id(frame, message), _text(message, "turn_id"), _widget(widget))


def _completed(frame: Mapping[str, Any]) -> MessageCompleted:
    message = _object(frame, read(frame, "path.completed_message"), "assistant_message")
    if not isinstance(message.get("content_parts"), list):
        raise BadFrameError(f"{frame['type']}: no list content_parts")
    text, widgets = _parts(message["content_parts"])
    return MessageCompleted(
        _id(frame, message), _text(message, "turn_id"), _text(message, "kind"), _interruptible(message), text, widgets
    )


def _accepted(frame: Mapping[str, Any]) -> UserAccepted:
    message = _object(frame, frame.get("user_message"), "user_message")
    return UserAccepted(_id(frame, message), _path_text(message, "path.user_turn_id"), _text(message, "content"))


def _path_text(holder: Mapping[str, Any], name: str) -> str:
    found = read(holder, name)
    return found if isinstance(found, str) else ""


def _row(found: Any) -> HistoryRow | None:
    """None for a row of an unknown role and for one without id, which nothing could refer to."""
    if not isinstance(found, dict) or not _text(found, "id"):
        return None
    common = (_text(found, "id"), _text(found, "turn_id"))
    if found.get("role") == "user":
        return HistoryRow("user", *common, _text(found, "content"))
    if found.get("role") == "assistant":
        text, widgets = _parts(found.get("content_parts"))
        return HistoryRow("assistant", *common, text, _text(found, "kind"), widgets)
    return None


def _length_limit(settings: Mapping[str, Any]) -> int:
    found = settings.get("max_message_length")
    if isinstance(found, int) and not isinstance(found, bool) and found > 0:
        return found
    return DEFAULT_MAX_MESSAGE_LENGTH


def _mapping(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}


def _snapshot(frame: Mapping[str, Any]) -> Snapshot:
    conversation = _object(frame, read(frame, "path.snapshot"), assumed("path.snapshot"))
    settings = _mapping(conversation.get("settings"))
    messages = conversation.get("messages")
    rows = [_row(found) for found in messages] if isinstance(messages, list) else []
    return Snapshot(
        conversation_id=_id(frame, conversation),
        resumed=frame["type"] == "conversation.resumed",
        completed=conversation.get("status") == "completed",
        terminated=conversation.get("is_terminated") is True,
        max_message_length=_length_limit(settings),
        rows=tuple(row for row in rows if row is not None),
        settings=settings,
        assessment=_mapping(conversation.get("assessment")),
    )


def _settings(frame: Mapping[str, Any]) -> SettingsChanged:
    settings = _object(frame, read(frame, "path.settings"), "settings")
    return SettingsChanged(settings, _length_limit(settings))


def _assessment(frame: Mapping[str, Any]) -> AssessmentChanged:
    return AssessmentChanged(_object(frame, read(frame, "path.assessment"), "assessment"))


def _handoff(frame: Mapping[str, Any]) -> HandoffRequested:
    handoff = _object(frame, frame.get("handoff"), "handoff")
    return HandoffRequested(_text(handoff, "reason"), _text(handoff, "user_request"))


def _turn(outcome: Literal["completed", "interrupted", "failed"]) -> Callable[[Mapping[str, Any]], TurnEnded]:
    def ended(frame: Mapping[str, Any]) -> TurnEnded:
        failure = _mapping(read(frame, "path.failure"))
        return TurnEnded(_path_text(frame, "path.turn_id") or None, outcome, _clipped(_text(failure, "code")))

    return ended


def _fault(frame: Mapping[str, Any]) -> ServerFault:
    error = _mapping(read(frame, "path.error"))
    found = error.get("details")
    details = [_mapping(detail) for detail in found] if isinstance(found, list) else []
    lines = [f"{_text(detail, 'location')}: {_text(detail, 'message')}" for detail in details if detail]
    return ServerFault(
        _clipped(_text(error, "code")) or "unknown",
        _clipped(_text(error, "message")),
        tuple(_clipped(line) for line in lines),
    )


def _clipped(text: str) -> str:
    """One printable line of at most `_CLIP` characters."""
    return "".join(char if char.isprintable() else " " for char in text[:_CLIP])


_HANDLERS: dict[str, Callable[[Mapping[str, Any]], ServerEvent]] = {
    "conversation.created": _snapshot,
    "conversation.resumed": _snapshot,
    "conversation.settings.updated": _settings,
    "conversation.user_message.created": _accepted,
    "conversation.assistant_message.delta": _delta,
    "conversation.assistant_message.ui_widget": _message_widget,
    "conversation.assistant_message.completed": _completed,
    "conversation.assessment.updated": _assessment,
    "conversation.handoff.requested": _handoff,
    "conversation.terminated": lambda frame: ConversationClosed(terminated=True),
    "conversation.completed": lambda frame: ConversationClosed(terminated=False),
    "conversation.turn.completed": _turn("completed"),
    "conversation.turn.interrupted": _turn("interrupted"),
    "conversation.turn.failed": _turn("failed"),
    "error": _fault,
    "ping": lambda frame: Ping(),
}


# --------------------------------------------------------------------------- to the server


def create(conversation_input: Mapping[str, Any]) -> str:
    """`conversation.create` with a `ConversationInput`: the objects `settings` and `assessment`, empty if absent."""
    frame: dict[str, Any] = {"type": "conversation.create"}
    write(frame, "path.create_input", {"settings": {}, "assessment": {}, **conversation_input})
    return json.dumps(frame)


def resume(conversation_id: str) -> str:
    """`conversation.resume` of the conversation with this id."""
    frame: dict[str, Any] = {"type": "conversation.resume"}
    write(frame, "path.resume_id", conversation_id)
    return json.dumps(frame)


def user_message(message: SendUserMessage) -> str:
    """A user message. `played_content` goes out only with an interruption, and then even when it is empty."""
    body: dict[str, Any] = {"id": message.id, "content": message.content, "is_interrupted": message.is_interrupted}
    if message.is_interrupted and message.played_content is not None:
        body["played_content"] = message.played_content
    if message.traceparent:
        body["traceparent"] = message.traceparent
    return json.dumps({"type": assumed("type.user_message"), "user_message": body})


def settings_update(settings: Mapping[str, Any]) -> str:
    """A change of settings; fields left out keep their value."""
    frame: dict[str, Any] = {"type": assumed("type.settings_update")}
    write(frame, "path.settings_input", dict(settings))
    return json.dumps(frame)


def pong() -> str:
    """The answer to the JSON `ping`."""
    return json.dumps({"type": "pong"})
