"""The server's side of Infermedica Conversational Triage v2: events to frames, the first frame, the error envelope."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from voice.core.server_events import (
    AssessmentChanged,
    ConversationClosed,
    HandoffRequested,
    HistoryRow,
    MessageCompleted,
    MessageDelta,
    MessageWidget,
    Ping,
    ServerFault,
    SettingsChanged,
    TurnEnded,
    Widget,
)
from voice.server.events import Event, Malformed, Received
from voice.server.inputs import CONVERSATION_ID, ConversationInput, UserMessageInput, details, too_long
from voice.server.session import HostedConversation
from voice.wire.json_frame import BadFrameError, parse
from voice.wire.spellings import assumed, read, write


class Refused(Exception):  # noqa: N818 - it names the outcome, an error frame, not a fault of this program
    """A frame that is answered with an `error` event."""

    def __init__(self, code: str, message: str, details: list[dict[str, str]] | None = None) -> None:
        super().__init__(code)
        self.code, self.message, self.details = code, message, details

    def frame(self) -> str:
        """The error frame."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.details is not None:
            error["details"] = self.details
        frame: dict[str, Any] = {"type": "error"}
        write(frame, "path.error", error)
        return json.dumps(frame)


# --------------------------------------------------------------------------- from the client


def read_frame(text: str | bytes) -> dict[str, Any]:
    """The object in a client's frame. Raises Refused."""
    try:
        frame = parse(text)
    except BadFrameError as bad:
        raise Refused("invalid_payload", str(bad)) from None
    if not isinstance(frame.get("type"), str):
        raise Refused("invalid_payload", "no type")
    return frame


def first_frame(frame: Mapping[str, Any]) -> ConversationInput | str:
    """The input of a create, or the conversation id of a resume. Raises Refused."""
    if frame["type"] == "conversation.create":
        place = assumed("path.create_input")
        found = read(frame, "path.create_input")
        try:
            return ConversationInput.model_validate(found)
        except ValidationError as error:
            raise _invalid(error, place) from None
    if frame["type"] == "conversation.resume":
        try:
            return str(CONVERSATION_ID.validate_python(read(frame, "path.resume_id")))
        except ValidationError as error:
            raise _invalid(error, assumed("path.resume_id")) from None
    raise Refused("invalid_message_type", "the first frame has to create or resume a conversation")


def later_frame(frame: Mapping[str, Any]) -> str:
    """`message`, `settings` or `pong`. Raises Refused."""
    kinds = {assumed("type.user_message"): "message", assumed("type.settings_update"): "settings", "pong": "pong"}
    if frame["type"] not in kinds:
        raise Refused("invalid_message_type", "this type is not allowed here")
    return kinds[frame["type"]]


def user_message(frame: Mapping[str, Any], conversation: HostedConversation) -> dict[str, Any]:
    """The validated `UserMessageInput`. Raises Refused."""
    try:
        message = UserMessageInput.model_validate(frame.get("user_message"))
    except ValidationError as error:
        raise _invalid(error, "user_message") from None
    limit = conversation.settings["max_message_length"]
    if len(message.content) > limit:
        found = too_long(limit, assumed("location.prefix"), "user_message", "content")
        raise Refused("invalid_payload", f"1 validation error(s): {found[0]['location']}", found)
    plain = message.model_dump(mode="json")
    if conversation.status == "completed" and not conversation.has(plain["id"]):
        terminated = conversation.is_terminated
        code = "conversation_terminated" if terminated else "conversation_completed"
        raise Refused(code, "the conversation takes no more messages")
    return plain


def _invalid(error: ValidationError, *place: str) -> Refused:
    found = details(error, assumed("location.prefix"), *place)
    return Refused("invalid_payload", f"{len(found)} validation error(s): {found[0]['location']}", found)


# --------------------------------------------------------------------------- to the client


def snapshot(conversation: HostedConversation, *, resumed: bool) -> str:
    """`conversation.created` or `.resumed`, with the six fields of a conversation."""
    frame: dict[str, Any] = {"type": "conversation.resumed" if resumed else "conversation.created"}
    write(
        frame,
        "path.snapshot",
        {
            "id": conversation.id,
            "status": conversation.status,
            "settings": dict(conversation.settings),
            "assessment": conversation.assessment(),
            "messages": [_row(row) for row in conversation.rows],
            "is_terminated": conversation.is_terminated,
        },
    )
    return json.dumps(frame)


def frame_of(event: Event) -> str:
    """The frame that tells an event."""
    return event.text if isinstance(event, Malformed) else json.dumps(_frame(event))


def _frame(event: Event) -> dict[str, Any]:
    frame: dict[str, Any]
    match event:
        case Received():
            body: dict[str, Any] = {"id": event.id, "content": event.content, "is_interrupted": event.is_interrupted}
            body["played_content"] = event.played_content
            write(body, "path.user_turn_id", event.turn_id)
            return {"type": "conversation.user_message.created", "user_message": body}
        case MessageDelta():
            body = _head(event) | {"delta": event.text}
            return {"type": "conversation.assistant_message.delta", "assistant_message": body}
        case MessageWidget():
            body = {"id": event.id, "turn_id": event.turn_id, "widget": _widget(event.widget)}
            return {"type": "conversation.assistant_message.ui_widget", "assistant_message": body}
        case MessageCompleted():
            frame = {"type": "conversation.assistant_message.completed"}
            write(
                frame,
                "path.completed_message",
                _head(event) | {"content_parts": _parts(event.text, event.widgets)},
            )
            return frame
        case AssessmentChanged():
            frame = {"type": "conversation.assessment.updated"}
            write(frame, "path.assessment", dict(event.assessment))
            return frame
        case HandoffRequested():
            handoff = {"reason": event.reason, "user_request": event.user_request}
            return {"type": "conversation.handoff.requested", "handoff": handoff}
        case ConversationClosed():
            return {"type": "conversation.terminated" if event.terminated else "conversation.completed"}
        case TurnEnded():
            frame = {"type": f"conversation.turn.{event.outcome}"}
            write(frame, "path.turn_id", event.turn_id)
            if event.outcome == "failed":
                write(frame, "path.failure", {"code": event.code, "message": "the turn failed"})
            return frame
        case SettingsChanged():
            frame = {"type": "conversation.settings.updated"}
            write(frame, "path.settings", dict(event.settings))
            return frame
        case ServerFault():
            frame = {"type": "error"}
            write(frame, "path.error", {"code": event.code, "message": event.message})
            return frame
        case Ping():
            return {"type": "ping"}
    raise TypeError(f"no frame for {type(event).__name__}")


def _head(event: MessageDelta | MessageCompleted) -> dict[str, Any]:
    return {"id": event.id, "turn_id": event.turn_id, "kind": event.kind, "can_interrupt": event.can_interrupt}


def _widget(widget: Widget) -> dict[str, Any]:
    return {"type": widget.type, **widget.data}


def _parts(text: str, widgets: tuple[Widget, ...]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    return parts + [{"type": "ui_widget", "widget": _widget(widget)} for widget in widgets]


def _row(row: HistoryRow) -> dict[str, Any]:
    head = {"role": row.role, "id": row.id, "turn_id": row.turn_id}
    if row.role == "user":
        return head | {"content": row.text}
    return head | {"kind": row.kind, "content_parts": _parts(row.text, row.widgets)}
