"""Frames that the local server sends when it speaks the CES protocol: one member of each union, no default values.

Names are those of `google/cloud/ces/v1`; a test parses every frame here strictly with the types of Google's package.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, assert_never

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
from voice.wire.ces_frames import tool_response
from voice.wire.protojson import base64_of, duration_text, timestamp_text

Frame = dict[str, Any]


def recognised(transcript: str) -> Frame:
    """What was understood of the user's turn so far."""
    return {"recognitionResult": {"transcript": transcript}}


def interruption(barge_in: bool) -> Frame:
    """The word to stop; an empty object where the user did not speak."""
    return {"interruptionSignal": {"bargeIn": True} if barge_in else {}}


def go_away() -> Frame:
    """The connection will be closed soon."""
    return {"goAway": {}}


def end_session(metadata: Mapping[str, Any]) -> Frame:
    """The session is over, at the top level."""
    return {"endSession": {"metadata": dict(metadata)} if metadata else {}}


def output(turn: int, member: Mapping[str, Any] | None = None, *, completed: bool = False, **extra: Any) -> Frame:
    """A SessionOutput of turn `turn` with at most one `member` of its union."""
    found: Frame = {"turnIndex": turn, **(member or {}), **extra}
    if completed:
        found["turnCompleted"] = True
    return {"sessionOutput": found}


def text(words: str) -> Frame:
    """Member: words, whole or the next fragment."""
    return {"text": words}


def audio(data: bytes) -> Frame:
    """Member: the next stretch of speech."""
    return {"audio": base64_of(data)}


def tool_calls(calls: Iterable[ToolCall]) -> Frame:
    """Member: tools that the client is to run."""
    return {"toolCalls": {"toolCalls": [tool_call(call) for call in calls]}}


def citations(sources: Iterable[Source]) -> Frame:
    """Member: what the answer relies on."""
    return {"citations": {"citedChunks": [_source(source) for source in sources]}}


def suggestions(htmls: Sequence[str], queries: Iterable[tuple[str, str]]) -> Frame:
    """Member: searches to offer."""
    found: Frame = {"htmls": list(htmls)} if htmls else {}
    pairs = [{"query": query, "uri": uri} for query, uri in queries]
    return {"googleSearchSuggestions": {**found, **({"webSearchQueries": pairs} if pairs else {})}}


def payload(data: Mapping[str, Any]) -> Frame:
    """Member: the application's own."""
    return {"payload": dict(data)}


def ended(metadata: Mapping[str, Any]) -> Frame:
    """Member: the session is over."""
    return end_session(metadata)


def diagnostics(messages: Iterable[TraceMessage], root: TraceSpan | None) -> Frame:
    """The DiagnosticInfo of a turn's last output."""
    told = [trace_message(message) for message in messages]
    found: Frame = {"messages": told} if told else {}
    return {**found, "rootSpan": span(root)} if root is not None else found


def tool_call(call: ToolCall) -> Frame:
    """A ToolCall."""
    found: Frame = {"id": call.id}
    if call.toolset or call.tool_id:
        found["toolsetTool"] = {"toolset": call.toolset, "toolId": call.tool_id}
    elif call.tool:
        found["tool"] = call.tool
    return {**found, "displayName": call.display_name, "args": dict(call.args)}


def trace_message(message: TraceMessage) -> Frame:
    """A Message."""
    found: Frame = {"role": message.role}
    if message.time is not None:
        found["eventTime"] = timestamp_text(message.time)
    return {**found, "chunks": [chunk(one) for one in message.chunks]}


def chunk(part: Chunk) -> Frame:
    """A Chunk with its one member; of an unknown kind an empty one."""
    match part:
        case TextChunk():
            return {"text": part.text}
        case TranscriptChunk():
            return {"transcript": part.text}
        case BytesChunk():
            kind = "image" if part.image else "blob"
            return {kind: {"mimeType": part.mime_type, "data": base64_of(part.data)}}
        case PayloadChunk():
            return {"payload": dict(part.data)}
        case ToolCallChunk():
            return {"toolCall": tool_call(part.call)}
        case ToolResponseChunk():
            return {"toolResponse": tool_response(part.response)}
        case TransferChunk():
            return {"agentTransfer": {"targetAgent": part.target_agent, "displayName": part.display_name}}
        case VariablesChunk():
            return {"defaultVariables" if part.defaults else "updatedVariables": dict(part.values)}
        case UnknownChunk():
            return {}
    assert_never(part)


def span(part: TraceSpan) -> Frame:
    """A Span."""
    found: Frame = {"name": part.name}
    if part.start is not None:
        found["startTime"] = timestamp_text(part.start)
    if part.end is not None:
        found["endTime"] = timestamp_text(part.end)
    if part.duration is not None:
        found["duration"] = duration_text(part.duration)
    if part.attributes:
        found["attributes"] = dict(part.attributes)
    if part.children:
        found["childSpans"] = [span(child) for child in part.children]
    return found


def _source(source: Source) -> Frame:
    found: Frame = {"uri": source.uri, "title": source.title, "text": source.text}
    return {**found, "requiresAttribution": True} if source.requires_attribution else found
