"""The server's side of Infermedica Conversational Triage v2: what frames mean, events as frames, the error envelope."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
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
)
from voice.core.widgets import Widget
from voice.server.events import Event, Malformed, Received
from voice.server.extras import EXTRA
from voice.server.inputs import (
    CONVERSATION_ID,
    ConversationInput,
    SettingsInput,
    UserMessageInput,
    details,
    too_long,
)
from voice.server.session import HostedConversation
from voice.wire.assumptions import Assumptions
from voice.wire.infermedica_widgets import encode_widget
from voice.wire.json_frame import BadFrameError, parse


class Refused(Exception):  # noqa: N818 - it names the outcome, an error for the client, not a fault of this program
    """What a client asked for is answered with an error of this `code`."""

    def __init__(self, code: str, message: str, details: list[dict[str, str]] | None = None) -> None:
        super().__init__(code)
        self.code, self.message, self.details = code, message, details

    def body(self) -> dict[str, Any]:
        """The error itself, as it stands in the envelope."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        return error if self.details is None else error | {"details": self.details}


def read_frame(text: str | bytes) -> dict[str, Any]:
    """The object in a client's frame. Raises Refused."""
    try:
        frame = parse(text)
    except BadFrameError as bad:
        raise Refused("invalid_payload", str(bad)) from None
    if not isinstance(frame.get("type"), str):
        raise Refused("invalid_payload", "no type")
    return frame


def invalid(code: str, error: ValidationError, *place: str) -> Refused:
    """The refusal of an input that failed validation; it was found at `place`."""
    found = details(error, *place)
    return Refused(code, f"{len(found)} validation error(s): {found[0]['location']}", found)


def user_message(code: str, given: Any, conversation: HostedConversation, *place: str) -> dict[str, Any]:
    """The validated `UserMessageInput`. Raises Refused: with `code` for a wrong field, found at `place`."""
    try:
        message = UserMessageInput.model_validate(given)
    except ValidationError as error:
        raise invalid(code, error, *place) from None
    limit = conversation.settings["max_message_length"]
    if len(message.content) > limit:
        found = too_long(limit, *place, "content")
        raise Refused(code, f"1 validation error(s): {found[0]['location']}", found)
    plain = message.model_dump(mode="json")
    if conversation.status == "completed" and not conversation.has(plain["id"]):
        terminated = conversation.is_terminated
        closed = "conversation_terminated" if terminated else "conversation_completed"
        raise Refused(closed, "the conversation takes no more messages")
    return plain


class Frames:
    """Frames in the spellings of `assumed`."""

    def __init__(self, assumed: Assumptions) -> None:
        self._assumed = assumed

    # ------------------------------------------------------------------ from the client

    def first(self, frame: Mapping[str, Any]) -> ConversationInput | str:
        """The input of a create, or the conversation id of a resume. Raises Refused."""
        if frame["type"] == "conversation.create":
            try:
                return ConversationInput.model_validate(self._assumed.read(frame, "path.create_input"))
            except ValidationError as error:
                raise self._invalid(error, "path.create_input") from None
        if frame["type"] == "conversation.resume":
            try:
                return str(CONVERSATION_ID.validate_python(self._assumed.read(frame, "path.resume_id")))
            except ValidationError as error:
                raise self._invalid(error, "path.resume_id") from None
        raise Refused("invalid_message_type", "the first frame has to create or resume a conversation")

    def later(self, frame: Mapping[str, Any]) -> str:
        """`message`, `settings` or `pong`. Raises Refused."""
        kinds = {
            self._assumed["type.user_message"]: "message",
            self._assumed["type.settings_update"]: "settings",
            "pong": "pong",
        }
        if frame["type"] not in kinds:
            raise Refused("invalid_message_type", "this type is not allowed here")
        return kinds[frame["type"]]

    def user_message(self, frame: Mapping[str, Any], conversation: HostedConversation) -> dict[str, Any]:
        """The validated `UserMessageInput`. Raises Refused."""
        place = (self._assumed["location.prefix"], "user_message")
        return user_message("invalid_payload", frame.get("user_message"), conversation, *place)

    def settings(self, frame: Mapping[str, Any]) -> SettingsInput:
        """The settings of an update. Raises Refused."""
        try:
            return SettingsInput.model_validate(self._assumed.read(frame, "path.settings_input"))
        except ValidationError as error:
            raise self._invalid(error, "path.settings_input") from None

    def _invalid(self, error: ValidationError, path: str) -> Refused:
        return invalid("invalid_payload", error, self._assumed["location.prefix"], self._assumed[path])

    # ------------------------------------------------------------------ to the client

    def error(self, refused: Refused) -> str:
        """The error frame."""
        return json.dumps(self._placed({"type": "error"}, "path.error", refused.body()))

    def snapshot(self, conversation: HostedConversation, *, resumed: bool) -> str:
        """`conversation.created` or `.resumed`."""
        kind = "conversation.resumed" if resumed else "conversation.created"
        return json.dumps(self._placed({"type": kind}, "path.snapshot", snapshot(conversation)))

    def frames_of(self, event: Event) -> tuple[str, ...]:
        """The frames that tell an event: one, or none for what this protocol cannot carry."""
        return () if isinstance(event, EXTRA) else (self.frame_of(event),)

    def frame_of(self, event: Event) -> str:
        """The frame that tells an event."""
        return event.text if isinstance(event, Malformed) else json.dumps(self._frame(event))

    def _placed(self, frame: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
        self._assumed.write(frame, path, value)
        return frame

    def received(self, event: Received) -> dict[str, Any]:
        """The `UserMessage` of a turn."""
        body: dict[str, Any] = {"id": event.id, "content": event.content, "is_interrupted": event.is_interrupted}
        return self._placed(body | {"played_content": event.played_content}, "path.user_turn_id", event.turn_id)

    def _frame(self, event: Event) -> dict[str, Any]:
        match event:
            case Received():
                return {"type": "conversation.user_message.created", "user_message": self.received(event)}
            case MessageDelta():
                body = _head(event) | {"delta": event.text}
                return {"type": "conversation.assistant_message.delta", "assistant_message": body}
            case MessageWidget():
                body = {"id": event.id, "turn_id": event.turn_id, "widget": encode_widget(event.widget)}
                return {"type": "conversation.assistant_message.ui_widget", "assistant_message": body}
            case MessageCompleted():
                frame = {"type": "conversation.assistant_message.completed"}
                return self._placed(frame, "path.completed_message", assistant_message(event))
            case AssessmentChanged():
                frame = {"type": "conversation.assessment.updated"}
                return self._placed(frame, "path.assessment", dict(event.assessment))
            case HandoffRequested():
                return {"type": "conversation.handoff.requested", "handoff": handoff(event)}
            case ConversationClosed():
                return {"type": "conversation.terminated" if event.terminated else "conversation.completed"}
            case TurnEnded():
                frame = self._placed({"type": f"conversation.turn.{event.outcome}"}, "path.turn_id", event.turn_id)
                if event.outcome == "failed":
                    self._placed(frame, "path.failure", {"code": event.code, "message": "the turn failed"})
                return frame
            case SettingsChanged():
                return self._placed({"type": "conversation.settings.updated"}, "path.settings", dict(event.settings))
            case ServerFault():
                body = {"code": event.code, "message": event.message}
                if event.details:
                    body["details"] = [asdict(detail) for detail in event.details]
                return self._placed({"type": "error"}, "path.error", body)
            case Ping():
                return {"type": "ping"}
        raise TypeError(f"no frame for {type(event).__name__}")


def snapshot(conversation: HostedConversation) -> dict[str, Any]:
    """The six fields of a conversation."""
    return {
        "id": conversation.id,
        "status": conversation.status,
        "settings": dict(conversation.settings),
        "assessment": conversation.assessment(),
        "messages": [_row(row) for row in conversation.rows],
        "is_terminated": conversation.is_terminated,
    }


def assistant_message(event: MessageCompleted) -> dict[str, Any]:
    """The `AssistantMessage` of a turn."""
    return _head(event) | {"content_parts": _parts(event.text, event.widgets)}


def handoff(event: HandoffRequested) -> dict[str, Any]:
    """The `handoff` of an event or a turn."""
    return {"reason": event.reason, "user_request": event.user_request}


def _head(event: MessageDelta | MessageCompleted) -> dict[str, Any]:
    return {"id": event.id, "turn_id": event.turn_id, "kind": event.kind, "can_interrupt": event.can_interrupt}


def _parts(text: str, widgets: tuple[Widget, ...]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    return parts + [{"type": "ui_widget", "widget": encode_widget(widget)} for widget in widgets]


def _row(row: HistoryRow) -> dict[str, Any]:
    head = {"role": row.role, "id": row.id, "turn_id": row.turn_id}
    if row.role == "user":
        return head | {"content": row.text}
    return head | {"kind": row.kind, "content_parts": _parts(row.text, row.widgets)}
