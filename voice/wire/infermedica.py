"""Codec of Infermedica Conversational Triage v2: frames to events and back, without I/O.

Plain typed parsing, no model classes. A client has to be lenient: unknown types, kinds, parts and fields pass
through or are left out, and one odd field must not cost the message around it. A model that rejects the whole and
quotes the offending input in its error does the opposite of both (the input is what a patient said). Reading each
field with its own fallback is also shorter here, and as fast as `json.loads`.

One frame gives exactly one event. A frame that cannot be used is a `BadFrame` with its cause in one line that
quotes nothing from the frame. A line of the NDJSON stream is a frame, too; the bodies of other HTTP answers are in
`voice.wire.infermedica_bodies`.
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
from voice.wire import infermedica_payloads as payloads
from voice.wire.json_frame import BadFrameError, parse
from voice.wire.lenient import clipped, mapping, text
from voice.wire.spellings import assumed, read, write

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
    try:
        return handler(frame)
    except BadFrameError as bad:
        raise BadFrameError(f"{kind}: {bad}") from None


def _delta(frame: Mapping[str, Any]) -> MessageDelta:
    return payloads.delta(payloads.required_object(frame.get("assistant_message"), "assistant_message"))


def _message_widget(frame: Mapping[str, Any]) -> MessageWidget:
    return payloads.message_widget(payloads.required_object(frame.get("assistant_message"), "assistant_message"))


def _completed(frame: Mapping[str, Any]) -> MessageCompleted:
    return payloads.completed(payloads.required_object(read(frame, "path.completed_message"), "assistant_message"))


def _accepted(frame: Mapping[str, Any]) -> UserAccepted:
    return payloads.accepted(payloads.required_object(frame.get("user_message"), "user_message"))


def _snapshot(frame: Mapping[str, Any]) -> Snapshot:
    conversation = payloads.required_object(read(frame, "path.snapshot"), assumed("path.snapshot"))
    return payloads.snapshot(conversation, resumed=frame["type"] == "conversation.resumed")


def _settings(frame: Mapping[str, Any]) -> SettingsChanged:
    settings = payloads.required_object(read(frame, "path.settings"), "settings")
    return SettingsChanged(settings, payloads.length_limit(settings))


def _assessment(frame: Mapping[str, Any]) -> AssessmentChanged:
    return AssessmentChanged(payloads.required_object(read(frame, "path.assessment"), "assessment"))


def _handoff(frame: Mapping[str, Any]) -> HandoffRequested:
    return payloads.handoff(payloads.required_object(frame.get("handoff"), "handoff"))


def _turn(outcome: Literal["completed", "interrupted", "failed"]) -> Callable[[Mapping[str, Any]], TurnEnded]:
    def ended(frame: Mapping[str, Any]) -> TurnEnded:
        code = text(mapping(read(frame, "path.failure")), "code")
        return TurnEnded(payloads.path_text(frame, "path.turn_id") or None, outcome, clipped(code))

    return ended


def _fault(frame: Mapping[str, Any]) -> ServerFault:
    return payloads.fault(mapping(read(frame, "path.error")))


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
    return json.dumps({"type": assumed("type.user_message"), "user_message": payloads.user_message_body(message)})


def settings_update(settings: Mapping[str, Any]) -> str:
    """A change of settings; fields left out keep their value."""
    frame: dict[str, Any] = {"type": assumed("type.settings_update")}
    write(frame, "path.settings_input", dict(settings))
    return json.dumps(frame)


def pong() -> str:
    """The answer to the JSON `ping`."""
    return json.dumps({"type": "pong"})
