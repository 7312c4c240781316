"""What a server tells of how it came to its answer: messages in all their parts, and spans of time.

Times are kept as the server wrote them, in nanoseconds since 1970 (UTC), so that nothing is lost of nine digits; None
where a time was absent or not a time. What a person said stands in the messages: none of this goes into a log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from voice.core.client_inputs import ToolResponse


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that is to run with `args`. Named by `tool`, or by `toolset` and `tool_id`; `display_name` is the
    function's name."""

    id: str
    tool: str
    toolset: str
    tool_id: str
    display_name: str
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TextChunk:
    """Written words."""

    text: str


@dataclass(frozen=True, slots=True)
class TranscriptChunk:
    """Spoken words."""

    text: str


@dataclass(frozen=True, slots=True)
class BytesChunk:
    """A blob, or a picture if `image`."""

    mime_type: str
    data: bytes
    image: bool = False


@dataclass(frozen=True, slots=True)
class PayloadChunk:
    """An object of the application's own."""

    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCallChunk:
    """A tool was called."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolResponseChunk:
    """A tool answered."""

    response: ToolResponse


@dataclass(frozen=True, slots=True)
class TransferChunk:
    """Another agent took over."""

    target_agent: str
    display_name: str


@dataclass(frozen=True, slots=True)
class VariablesChunk:
    """Variables that changed, or those at the start if `defaults`."""

    values: Mapping[str, Any]
    defaults: bool = False


@dataclass(frozen=True, slots=True)
class UnknownChunk:
    """A chunk of a kind that this program does not know, or one with nothing in it ("")."""

    kind: str


Chunk = (
    TextChunk
    | TranscriptChunk
    | BytesChunk
    | PayloadChunk
    | ToolCallChunk
    | ToolResponseChunk
    | TransferChunk
    | VariablesChunk
    | UnknownChunk
)


@dataclass(frozen=True, slots=True)
class TraceMessage:
    """One message of a turn, by `role` ("user", "agent" or an agent's name)."""

    role: str
    chunks: tuple[Chunk, ...]
    time: int | None = None

    @property
    def text(self) -> str:
        """Its words, written and spoken, in order and joined without a separator."""
        return "".join(chunk.text for chunk in self.chunks if isinstance(chunk, (TextChunk, TranscriptChunk)))


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """A stretch of the server's work. `duration` in nanoseconds."""

    name: str
    start: int | None = None
    end: int | None = None
    duration: int | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    children: tuple[TraceSpan, ...] = ()
