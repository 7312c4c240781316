"""The objects that Infermedica's frames and HTTP bodies have in common, as events.

There are two families, which look alike and are not. History rows stand in a conversation only; `role` tells them
apart. Messages of a turn have no role. Each family is read by its own functions here, from its own fields.

Every function takes an object of the server's and raises BadFrameError for one that has no use, naming what is
missing and quoting nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voice.core.events import SendUserMessage
from voice.core.server_events import (
    FaultDetail,
    HandoffRequested,
    HistoryRow,
    MessageCompleted,
    MessageDelta,
    MessageWidget,
    ServerFault,
    Snapshot,
    UserAccepted,
)
from voice.core.widgets import Widget
from voice.wire.infermedica_widgets import decode_widget
from voice.wire.json_frame import BadFrameError
from voice.wire.lenient import clipped, entries, flag, mapping, objects, text
from voice.wire.spellings import read

DEFAULT_MAX_MESSAGE_LENGTH = 1500
"""Unicode code points; the documented default, used where a snapshot does not say."""


def required_object(found: Any, name: str) -> Mapping[str, Any]:
    """`found` if it is an object; `name` is what it is called in the error."""
    if not isinstance(found, dict):
        raise BadFrameError(f"no object {name}")
    return found


def required_id(holder: Mapping[str, Any]) -> str:
    """The id of this object."""
    if not (found := text(holder, "id")):
        raise BadFrameError("no id")
    return found


def path_text(holder: Mapping[str, Any], name: str) -> str:
    """The string at the path `name` of the table, else ""."""
    found = read(holder, name)
    return found if isinstance(found, str) else ""


# --------------------------------------------------------------------------- messages of a turn


def delta(message: Mapping[str, Any]) -> MessageDelta:
    """An `AssistantMessageDelta`."""
    if not isinstance(message.get("delta"), str):
        raise BadFrameError("no text in delta")
    head = (required_id(message), text(message, "turn_id"), text(message, "kind"), flag(message, "can_interrupt"))
    return MessageDelta(*head, message["delta"])


def message_widget(message: Mapping[str, Any]) -> MessageWidget:
    """The message of a widget event."""
    widget = required_object(message.get("widget"), "widget")
    return MessageWidget(required_id(message), text(message, "turn_id"), decode_widget(widget))


def completed(message: Mapping[str, Any]) -> MessageCompleted:
    """An `AssistantMessage`."""
    if not isinstance(message.get("content_parts"), list):
        raise BadFrameError("no list content_parts")
    head = (required_id(message), text(message, "turn_id"), text(message, "kind"), flag(message, "can_interrupt"))
    return MessageCompleted(*head, *_parts(message))


def accepted(message: Mapping[str, Any]) -> UserAccepted:
    """A `UserMessage`."""
    played = message.get("played_content")
    return UserAccepted(
        required_id(message),
        path_text(message, "path.user_turn_id"),
        text(message, "content"),
        flag(message, "is_interrupted") is True,
        played if isinstance(played, str) else None,
    )


def _parts(message: Mapping[str, Any]) -> tuple[str, tuple[Widget, ...]]:
    """The text parts joined without a separator, and the widgets; parts of other types are left out."""
    texts: list[str] = []
    widgets: list[Widget] = []
    for part in objects(message, "content_parts"):
        if part.get("type") == "text":
            texts.append(text(part, "text"))
        elif part.get("type") == "ui_widget" and isinstance(part.get("widget"), dict):
            widgets.append(decode_widget(part["widget"]))
    return "".join(texts), tuple(widgets)


def user_message_body(message: SendUserMessage) -> dict[str, Any]:
    """A `UserMessageInput`. `played_content` goes out only with an interruption, and then even when it is empty."""
    body: dict[str, Any] = {"id": message.id, "content": message.content, "is_interrupted": message.is_interrupted}
    if message.is_interrupted and message.played_content is not None:
        body["played_content"] = message.played_content
    if message.traceparent:
        body["traceparent"] = message.traceparent
    return body


# --------------------------------------------------------------------------- the conversation and its history


def snapshot(conversation: Mapping[str, Any], *, resumed: bool) -> Snapshot:
    """A `Conversation`."""
    settings = mapping(conversation.get("settings"))
    rows = [_row(row) for row in entries(conversation, "messages")]
    return Snapshot(
        conversation_id=required_id(conversation),
        resumed=resumed,
        completed=conversation.get("status") == "completed",
        terminated=flag(conversation, "is_terminated") is True,
        max_message_length=length_limit(settings),
        rows=tuple(row for row in rows if row is not None),
        settings=settings,
        assessment=mapping(conversation.get("assessment")),
    )


def _row(found: Any) -> HistoryRow | None:
    """None for a row of an unknown role and for one without id, which nothing could refer to."""
    row = mapping(found)
    head = (text(row, "id"), text(row, "turn_id"))
    if not head[0]:
        return None
    if row.get("role") == "user":
        return HistoryRow("user", *head, text(row, "content"))
    if row.get("role") == "assistant":
        said, widgets = _parts(row)
        return HistoryRow("assistant", *head, said, text(row, "kind"), widgets)
    return None


def length_limit(settings: Mapping[str, Any]) -> int:
    """The longest user message, in code points."""
    found = settings.get("max_message_length")
    if isinstance(found, int) and not isinstance(found, bool) and found > 0:
        return found
    return DEFAULT_MAX_MESSAGE_LENGTH


# --------------------------------------------------------------------------- handoff and errors


def handoff(found: Mapping[str, Any]) -> HandoffRequested:
    """What the user asked for instead."""
    return HandoffRequested(text(found, "reason"), text(found, "user_request"))


def fault(error: Mapping[str, Any], code: str = "unknown") -> ServerFault:
    """The object in an error envelope; `code` stands in where it has none."""
    details = tuple(
        FaultDetail(clipped(text(entry, "location")), clipped(text(entry, "message")), clipped(text(entry, "type")))
        for entry in objects(error, "details")
    )
    return ServerFault(clipped(text(error, "code")) or code, clipped(text(error, "message")), details)
