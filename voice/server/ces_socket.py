"""One WebSocket of Google CES (`BidiRunSession`), in text: config first, inputs in, outputs by turn.

It stays silent until the first input, as the real server does. Audio is refused: the local server has no ears.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from voice.core.diagnostics import TextChunk, ToolCall, TraceMessage, TraceSpan
from voice.core.server_events import (
    Citations,
    ConversationClosed,
    GoingAway,
    MessageCompleted,
    MessageDelta,
    Payload,
    SearchSuggestions,
    ToolCalls,
    TurnEnded,
)
from voice.server import ces_frames as frames
from voice.server import ces_inputs as inputs
from voice.server.ces_sessions import CesSession, CesSessions
from voice.server.events import Event, Malformed, Received
from voice.server.peer import Peer
from voice.server.rules import ServerRules
from voice.wire.assumptions import Assumptions
from voice.wire.protojson import flag, member, text

_INVALID = 1007
_NO_FIRST_FRAME = 1002
_LINGER = 5.0
"""Seconds that a client may take to close after the session's end."""


class CesSocket:
    """Serves the client at the other end of `peer` until it has gone. `location` is that of the path."""

    def __init__(
        self,
        peer: Peer,
        sessions: CesSessions,
        assumed: Assumptions,
        rules: ServerRules,
        location: str,
        now: Callable[[], int] = time.time_ns,
    ) -> None:
        self._peer, self._sessions, self._assumed, self._rules = peer, sessions, assumed, rules
        self._location, self._now = location, now
        self._lenient = assumed["unknown_field"] == "ignored"

    async def serve(self) -> None:
        """Raises ConnectionClosed at the end."""
        try:
            async with asyncio.timeout(self._rules.first_frame_timeout):
                first = await self._peer.receive()
        except TimeoutError:
            await self._peer.close(_NO_FIRST_FRAME)
            return
        try:
            config = inputs.config(inputs.frame(first), lenient=self._lenient)
            session = self._bound(config)
        except inputs.RefusedError as refused:
            await self._peer.close(self._code(refused), refused.close_reason)
            return
        teller = CesTeller(self._peer, session, self._assumed, flag(config, "enableTextStreaming"), self._now)
        session.conversation.follow(teller)
        writing = asyncio.create_task(self._peer.write())
        try:
            await self._take_all(session)
        finally:
            session.conversation.unfollow(teller)
            writing.cancel()
            await asyncio.wait([writing])

    def _bound(self, config: Mapping[str, Any]) -> CesSession:
        if member(config, "inputAudioConfig") is not None or member(config, "outputAudioConfig") is not None:
            raise inputs.RefusedError("unimplemented", "audio is not served here; leave the audio configs out")
        name = text(config, "session")
        match = inputs.SESSION.fullmatch(name)
        if self._assumed["location"] == "must_agree" and match is not None and match["location"] != self._location:
            raise inputs.RefusedError("invalid_argument", "the path's location is not the session's")
        return self._sessions.bind(name)

    def _code(self, refused: inputs.RefusedError) -> int:
        return int(self._assumed["end_session.code"]) if refused.status == "failed_precondition" else _INVALID

    async def _take_all(self, session: CesSession) -> None:
        loop = asyncio.get_running_loop()
        while True:
            frame = await self._peer.receive()
            if session.ended:  # nothing is taken any more; the client is expected to close
                continue
            try:
                found = inputs.frame(frame)
                if member(found, "config") is not None and self._assumed["second_config"] == "ignored":
                    continue
                session.take(inputs.realtime(found, lenient=self._lenient), loop.time())
            except inputs.RefusedError as refused:
                await self._peer.close(self._code(refused), refused.close_reason)
                return
            await asyncio.sleep(0)  # frames that are here already come without a pause, and others wait, too


class CesTeller:
    """Follows a conversation and tells one client of it, turn by turn.

    A turn that had begun before the client came is not told: the real server replays nothing.
    """

    def __init__(
        self, peer: Peer, session: CesSession, assumed: Assumptions, streaming: bool, now: Callable[[], int]
    ) -> None:
        self._peer, self._session, self._assumed, self._streaming, self._now = peer, session, assumed, streaming, now
        self._missed = frozenset(session.turns)
        self._offset = len(session.turns) if assumed["turn_index.reconnect"] == "restarts" else 0
        self._said: dict[str, list[TraceMessage]] = {}
        self._begun: dict[str, int] = {}
        self._streamed = 0
        """Characters of the message under way that went out."""
        self._closing: ConversationClosed | None = None

    def put(self, event: Event) -> None:
        """Tell an event."""
        if isinstance(event, Malformed):
            self._peer.put_frame('{"sessionOutput": {')
            return
        turn_id = getattr(event, "turn_id", None)
        if turn_id is not None:
            if turn_id in self._missed:
                return
            self._session.index(turn_id)
            self._begun.setdefault(turn_id, self._now())
        for frame in self._frames(event):
            self._put(frame)
        if isinstance(event, GoingAway):
            self._peer.put_close(1001)

    def drop(self) -> None:
        """Cut the connection."""
        self._peer.drop()

    def _put(self, frame: Mapping[str, Any]) -> None:
        written = json.dumps(frame)
        self._peer.put_frame(written.encode() if self._assumed["frames"] == "binary" else written)

    def _turn(self, turn_id: str) -> int:
        return self._session.index(turn_id) - self._offset

    def _frames(self, event: Event) -> Iterator[Mapping[str, Any]]:
        match event:
            case Received():
                said = TraceMessage("user", (TextChunk(event.content),), self._now())
                self._said.setdefault(event.turn_id, []).append(said)
            case MessageDelta():
                if self._streaming:
                    blank = " " if not self._streamed and self._has_spoken(event.turn_id) else ""
                    self._streamed += len(event.text)
                    yield frames.output(self._turn(event.turn_id), frames.text(blank + event.text))
            case MessageCompleted():
                yield from self._completed(event)
            case Citations():
                yield self._member(event.turn_id, frames.citations(event.sources))
            case SearchSuggestions():
                yield self._member(event.turn_id, frames.suggestions(event.htmls, event.queries))
            case Payload():
                yield self._member(event.turn_id, frames.payload(event.data))
            case ToolCalls():
                yield self._member(event.turn_id, frames.tool_calls([self._call(call) for call in event.calls]))
            case GoingAway():
                yield frames.go_away()
            case ConversationClosed():
                self._closing = event
            case TurnEnded():
                yield from self._ended(event)
            case _:
                pass  # of the other protocol

    def _member(self, turn_id: str, member_of_union: Mapping[str, Any]) -> Mapping[str, Any]:
        return frames.output(self._turn(turn_id), member_of_union)

    def _has_spoken(self, turn_id: str) -> bool:
        return any(message.role == "agent" for message in self._said.get(turn_id, ()))

    def _completed(self, event: MessageCompleted) -> Iterator[Mapping[str, Any]]:
        sent, self._streamed = self._streamed, 0
        rest = event.text[sent:] if self._streaming else event.text
        if rest:
            yield self._member(event.turn_id, frames.text(rest))
        said = TraceMessage("agent", (TextChunk(event.text),), self._now())
        self._said.setdefault(event.turn_id, []).append(said)

    def _call(self, call: ToolCall) -> ToolCall:
        self._session.call(call.id)
        app = self._session.app
        if call.toolset:
            toolset = f"{app}/toolsets/{call.toolset}"
            return replace(call, tool="", toolset=toolset)
        return replace(call, tool=f"{app}/tools/{call.tool}", tool_id="")

    def _ended(self, event: TurnEnded) -> Iterator[Mapping[str, Any]]:
        turn_id = event.turn_id or ""
        self._streamed = 0
        begun, now = self._begun.pop(turn_id, self._now()), self._now()
        span = TraceSpan("turn", begun, now, now - begun, {"outcome": event.outcome})
        told = frames.diagnostics(self._said.pop(turn_id, []), span)
        index = self._turn(turn_id)
        if event.outcome == "interrupted":
            if self._assumed["new_text.signal"] == "yes":
                yield frames.interruption(barge_in=False)
            if self._assumed["interrupted.completed"] == "yes":
                yield frames.output(index, completed=True, diagnosticInfo=told)
            return
        closing, self._closing = self._closing, None
        at_top = self._assumed["end_session.place"] == "top_level"
        metadata = closing.metadata if closing is not None else {}
        last = frames.ended(metadata) if closing is not None and not at_top else None
        yield frames.output(index, last, completed=True, diagnosticInfo=told)
        if closing is not None:
            self._session.ended = True
            if at_top:
                yield frames.end_session(metadata)
            loop = asyncio.get_running_loop()
            loop.call_later(_LINGER, self._peer.put_close, 1000)
