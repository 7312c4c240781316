"""Parts of CES frames that have a shape of their own: tool calls, messages with their chunks, spans, citations.

Every reader takes any JSON value. What is missing or of another type is empty; what breaks the rule of a union (at
most one member) is told to `tell`, in words that quote nothing from the frame, and its first member counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from voice.core.client_inputs import ToolResponse
from voice.core.diagnostics import (
    BytesChunk,
    Chunk,
    PayloadChunk,
    TextChunk,
    ToolCall,
    ToolCallChunk,
    ToolResponseChunk,
    TraceMessage,
    TraceSpan,
    TranscriptChunk,
    TransferChunk,
    UnknownChunk,
    VariablesChunk,
)
from voice.core.server_events import Source
from voice.wire.lenient import clipped
from voice.wire.protojson import duration, flag, member, messages, octets, struct, text, timestamp

Tell = Callable[[str], None]
"""Takes one line about something that was wrong in a frame and did not cost the rest of it."""


def tool_call(found: Mapping[str, Any], tell: Tell) -> ToolCall:
    """A ToolCall."""
    tool, toolset = _named_tool(found, tell)
    return ToolCall(
        text(found, "id"),
        tool,
        text(toolset, "toolset"),
        text(toolset, "toolId"),
        text(found, "displayName"),
        struct(member(found, "args")),
    )


def tool_response(found: Mapping[str, Any], tell: Tell) -> ToolResponse:
    """A ToolResponse, as the server tells it of its own tools."""
    tool, toolset = _named_tool(found, tell)
    return ToolResponse(
        text(found, "id"),
        tool,
        text(toolset, "toolset"),
        text(toolset, "toolId"),
        text(found, "displayName"),
        struct(member(found, "response")),
    )


def _named_tool(found: Mapping[str, Any], tell: Tell) -> tuple[str, Mapping[str, Any]]:
    only_one(found, ("tool", "toolsetTool"), "tool identifier", tell)
    return text(found, "tool"), struct(member(found, "toolsetTool"))


def only_one(found: Mapping[str, Any], names: tuple[str, ...], where: str, tell: Tell) -> None:
    """Tell when more than one member of a union is set."""
    if len(found) < 2:  # the usual frame
        return
    there = [name for name in names if member(found, name) is not None]
    if len(there) > 1:
        tell(f"{where}: {' and '.join(there)} are both set; at most one may be")


def sources(found: Any) -> tuple[Source, ...]:
    """What `citations` holds."""
    return tuple(
        Source(text(one, "uri"), text(one, "title"), text(one, "text"), flag(one, "requiresAttribution"))
        for one in messages(struct(found), "citedChunks")
    )


def queries(found: Any) -> tuple[tuple[str, str], ...]:
    """The (query, uri) pairs of `googleSearchSuggestions`."""
    return tuple((text(one, "query"), text(one, "uri")) for one in messages(struct(found), "webSearchQueries"))


def trace_message(found: Mapping[str, Any], tell: Tell) -> TraceMessage:
    """A Message: who, what, and when to the nanosecond."""
    chunks = tuple(chunk(one, tell) for one in messages(found, "chunks"))
    return TraceMessage(text(found, "role"), chunks, timestamp(member(found, "eventTime")))


def chunk(found: Mapping[str, Any], tell: Tell) -> Chunk:
    """A Chunk, of whichever of the ten kinds that the protocol has."""
    only_one(found, tuple(_CHUNKS), "chunk", tell)
    for name, read in _CHUNKS.items():
        value = member(found, name)
        if value is not None:
            return read(value, tell)
    return UnknownChunk(clipped(next(iter(found), "")))


def _words(make: type[TextChunk] | type[TranscriptChunk]) -> Callable[[Any, Tell], Chunk]:
    return lambda value, _: make(value if isinstance(value, str) else "")


def _data(value: Any, image: bool) -> Chunk:
    found = struct(value)
    return BytesChunk(text(found, "mimeType"), octets(member(found, "data")) or b"", image)


_CHUNKS: Mapping[str, Callable[[Any, Tell], Chunk]] = {
    "text": _words(TextChunk),
    "transcript": _words(TranscriptChunk),
    "blob": lambda value, _: _data(value, image=False),
    "payload": lambda value, _: PayloadChunk(struct(value)),
    "image": lambda value, _: _data(value, image=True),
    "toolCall": lambda value, tell: ToolCallChunk(tool_call(struct(value), tell)),
    "toolResponse": lambda value, tell: ToolResponseChunk(tool_response(struct(value), tell)),
    "agentTransfer": lambda value, _: TransferChunk(
        text(struct(value), "targetAgent"), text(struct(value), "displayName")
    ),
    "updatedVariables": lambda value, _: VariablesChunk(struct(value)),
    "defaultVariables": lambda value, _: VariablesChunk(struct(value), defaults=True),
}

CHUNK_KINDS = tuple(_CHUNKS)
"""The members of Chunk's union."""


def span(found: Mapping[str, Any]) -> TraceSpan:
    """A Span with the spans in it. The depth of a frame is limited where it is parsed."""
    return TraceSpan(
        text(found, "name"),
        timestamp(member(found, "startTime")),
        timestamp(member(found, "endTime")),
        duration(member(found, "duration")),
        struct(member(found, "attributes")),
        tuple(span(one) for one in messages(found, "childSpans")),
    )
