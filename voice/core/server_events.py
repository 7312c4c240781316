"""What a server says, free of any protocol: the one set of events that every codec decodes into.

docs/protocol.md has the table of what each backend's frame becomes. Times are none here: an event has happened when it
arrives. Texts are the server's own; what a person said or was told stands in them, so none of them goes into a log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from voice.core.diagnostics import ToolCall, TraceMessage, TraceSpan
from voice.core.widgets import Widget


@dataclass(frozen=True, slots=True)
class MessageDelta:
    """A chunk of text to append to the assistant message `id`."""

    id: str
    turn_id: str
    kind: str
    can_interrupt: bool | None
    """The wire's value; None where it was absent (the pacing table then decides)."""
    text: str


@dataclass(frozen=True, slots=True)
class MessageWidget:
    """A transient widget of the assistant message `id`."""

    id: str
    turn_id: str
    widget: Widget


@dataclass(frozen=True, slots=True)
class MessageCompleted:
    """The final, durable form of an assistant message; `text` is its text parts joined without a separator."""

    id: str
    turn_id: str
    kind: str
    can_interrupt: bool | None
    text: str
    widgets: tuple[Widget, ...] = ()


@dataclass(frozen=True, slots=True)
class UserAccepted:
    """The server took a user message; `content` is the redacted text, the only one that is safe to keep."""

    id: str
    turn_id: str
    content: str
    is_interrupted: bool = False
    played_content: str | None = None
    """What was heard before, redacted; None where nothing was interrupted."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn reached its terminal event."""

    turn_id: str | None
    """None: the turn believed to be active."""
    outcome: Literal["completed", "interrupted", "failed"]
    code: str = ""


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One row of a snapshot's history. User rows have `content`; assistant rows have `kind` and `text`."""

    role: Literal["user", "assistant"]
    id: str
    turn_id: str
    text: str
    kind: str = ""
    widgets: tuple[Widget, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole conversation as the server holds it, after create or resume: it replaces what we had."""

    conversation_id: str
    resumed: bool
    completed: bool
    terminated: bool
    max_message_length: int
    """Unicode code points."""
    rows: tuple[HistoryRow, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    assessment: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """The effective settings after an update."""

    settings: Mapping[str, Any]
    max_message_length: int


@dataclass(frozen=True, slots=True)
class AssessmentChanged:
    """A full assessment; it replaces the one before."""

    assessment: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HandoffRequested:
    """The user asked for something else than this conversation; it stays open."""

    reason: str
    user_request: str


@dataclass(frozen=True, slots=True)
class ConversationClosed:
    """The conversation takes no more messages."""

    terminated: bool
    """True: closed for another reason than a finished interview."""
    reason: str = ""
    """In the server's words; may be private."""
    escalated: bool = False
    """A person takes over."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FaultDetail:
    """One field that failed the server's validation: where it stands, what is wrong, and the name of the rule."""

    location: str
    message: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class ServerFault:
    """The server's error envelope. `code` is stable; `message` is for the operator, never for the user."""

    code: str
    message: str
    details: tuple[FaultDetail, ...] = ()


@dataclass(frozen=True, slots=True)
class BadFrame:
    """A frame that could not be used, with the cause in one line and no private text in it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Ping:
    """The server's heartbeat; answered by the connection itself."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A well-formed frame of a type that this program does not know; named so that an operator can see it."""

    type: str


@dataclass(frozen=True, slots=True)
class Transcribed:
    """What the server's recogniser understood of the utterance under way; it replaces what it told before."""

    text: str


@dataclass(frozen=True, slots=True)
class AudioChunk:
    """The next stretch of the server's own speech, in the encoding that the session asked for."""

    turn_id: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Interruption:
    """Stop playing at once, and drop what is buffered. `barge_in`: the user spoke; else another answer replaces it."""

    barge_in: bool
    turn_id: str
    """The newest turn that was told of; "" for none."""


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """Run these tools here, and answer every one."""

    turn_id: str
    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A text that an answer cites."""

    uri: str
    title: str
    text: str
    requires_attribution: bool = False


@dataclass(frozen=True, slots=True)
class Citations:
    """What an answer relies on; for a screen."""

    turn_id: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class SearchSuggestions:
    """Searches to offer on a screen: HTML as it came, not yet sanitised, and (query, uri) pairs."""

    turn_id: str
    htmls: tuple[str, ...]
    queries: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Payload:
    """Structured output of the application's own."""

    turn_id: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class GoingAway:
    """The server will close this connection soon; the session goes on over the next one."""


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """How the server came to the answer of a turn."""

    turn_id: str
    messages: tuple[TraceMessage, ...]
    root: TraceSpan | None


ServerEvent = (
    MessageDelta
    | MessageWidget
    | MessageCompleted
    | UserAccepted
    | TurnEnded
    | Snapshot
    | SettingsChanged
    | AssessmentChanged
    | HandoffRequested
    | ConversationClosed
    | ServerFault
    | Transcribed
    | AudioChunk
    | Interruption
    | ToolCalls
    | Citations
    | SearchSuggestions
    | Payload
    | GoingAway
    | Diagnostics
    | BadFrame
    | Ping
    | Ignored
)
"""What a codec can make of one frame."""
