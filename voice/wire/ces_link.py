"""Google CES over WebSockets (`BidiRunSession`), in text: one session over as many connections as it takes.

1. Send `config`, complete, on every connection. It is not acknowledged: the link is up.
2. On the first one, variables and the opening event: the agent does not speak first.
3. Texts go out as they come. No frame accepts one; it counts as taken when output of a turn comes that had not begun
   before it. What was not taken when a connection is lost is sent again (see "unanswered" in the table of
   assumptions): the server may then get it twice, but never not at all.
4. `goAway`: the turn under way is finished, then the next connection is opened.
5. `endSession`: what is left is read, then `ConversationClosed`, and the link ends.

A turn that a lost connection broke off ends as failed, with what had come of it: the server replays nothing.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from voice.core.client_inputs import ClientInput, NamedEvent, ToolResponse, ToolResponses, Variables
from voice.core.diagnostics import ToolCall
from voice.core.events import Input, LinkUp, SendUserMessage
from voice.core.server_events import (
    ConversationClosed,
    GoingAway,
    ServerEvent,
    ServerFault,
    ToolCalls,
    TurnEnded,
    UserAccepted,
)
from voice.wire import ces_frames
from voice.wire.ces import CesCodec
from voice.wire.ces_frames import SessionConfig
from voice.wire.ces_spellings import assumed
from voice.wire.closing import SESSION_OVER, Lost, closed_by_google
from voice.wire.reconnect import LinkRules, Reconnecting, write_all
from voice.wire.token import TokenSource

ANSWERED_WITHIN = 60.0
"""Seconds from a text to the first output of its turn; twice what a server-side tool may take. A server that is slower
is asked again over a new connection."""

DRAIN = 2.0
"""Seconds of quiet after the session's end, in which the farewell may still come."""

FINISH_WITHIN = 20.0
"""Seconds that a turn may go on after `goAway`; the server closes the connection when it likes."""


class ToolRunner(Protocol):
    """Runs the tools that the server calls."""

    async def run(self, call: ToolCall) -> ToolResponse:
        """The answer, which may say that there is no such tool. Never raises."""
        ...


@dataclass(frozen=True, slots=True)
class Opening:
    """What begins a session: variables, then an event that lets the agent speak."""

    event: str = ""
    variables: Mapping[str, Any] = field(default_factory=dict)


class CesLink(Reconnecting):
    """One CES session. `run` it as a task; `send` at any time; `close` it. `emit` gets every event, in order.

    `heard_variable`: a variable of the application that is set to what was heard before each text that interrupts;
    the protocol itself has no place for it. "" sends none.
    """

    def __init__(
        self,
        url: str,
        token: TokenSource | str | None,
        session: SessionConfig,
        emit: Callable[[Input], None],
        *,
        opening: Opening | None = None,
        tools: ToolRunner | None = None,
        heard_variable: str = "",
        headers: Mapping[str, str] | None = None,
        rules: LinkRules | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(url, token, emit, rules=rules or LinkRules(), chance=chance)
        self._session, self._opening, self._tools = session, opening or Opening(), tools
        self._heard_variable, self._extra_headers = heard_variable, dict(headers or {})
        self._codec = CesCodec()
        self._opened = False
        """The agent has said something: it is not greeted again."""
        self._untaken: dict[str, SendUserMessage] = {}
        self._waiting: list[str] = []
        """Other frames that were given while no connection stood."""
        self._sent_at: dict[str, float] = {}
        """Texts that went out on this connection and were not taken yet, and when they did."""
        self._known_turns: set[str] = set()
        self._outbox: asyncio.Queue[str] | None = None
        self._settled = asyncio.Event()
        self._settled.set()
        self._closed: ConversationClosed | None = None
        self._leave_by = math.inf
        self._jobs: set[asyncio.Task[None]] = set()
        self._called: set[str] = set()
        """Tool calls that came: a frame that comes twice runs nothing twice."""
        self._carried = False
        """Something from before this connection went out on it: what the server refuses may be that."""

    # ------------------------------------------------------------------ to the server

    def send(self, message: SendUserMessage) -> None:
        """Send a text now, or as soon as the link is up. It is kept until its turn has begun."""
        self._untaken[message.id] = message
        self._settled.clear()
        if self._outbox is not None:
            self._put(message)

    def send_input(self, given: ClientInput) -> None:
        """Send something else, now or as soon as the link is up."""
        frame = ces_frames.given(given)
        if self._outbox is not None:
            self._outbox.put_nowait(frame)
        else:
            self._waiting.append(frame)

    def refresh(self) -> None:
        """The protocol has no history to fetch."""

    async def flushed(self) -> None:
        """Returns once every text was taken. Without a link that may be never."""
        await self._settled.wait()

    async def close(self) -> None:
        """End the link and the tools that run. Safe to call twice."""
        for job in list(self._jobs):
            job.cancel()
        await super().close()

    def _put(self, message: SendUserMessage) -> None:
        assert self._outbox is not None
        if self._heard_variable and message.played_content is not None:
            self._outbox.put_nowait(ces_frames.given(Variables({self._heard_variable: message.played_content})))
        self._outbox.put_nowait(ces_frames.text(message.content))
        self._sent_at[message.id] = asyncio.get_running_loop().time()

    # ------------------------------------------------------------------ one connection

    def _headers(self) -> Mapping[str, str]:
        return self._extra_headers

    def _gone(self) -> None:
        self._outbox = None
        self._sent_at = {}
        self._leave_by = math.inf
        for event in self._codec.broken_off():
            self._take(event)
        if assumed("unanswered") == "forget":
            self._untaken.clear()
            self._settled.set()

    def _unsent(self) -> str:
        count = len(self._untaken)
        return f"; {count} user message{'s were' if count > 1 else ' was'} not confirmed" if count else ""

    async def _talk(self, socket: ClientConnection) -> Lost:
        self._codec = CesCodec(self._ups, streaming=self._session.text_streaming)
        first = self._codec
        writer: asyncio.Task[None] | None = None
        try:
            await socket.send(ces_frames.config(self._session))
            self._take_up()
            assert self._outbox is not None
            writer = asyncio.create_task(write_all(socket, self._outbox), name="voice.wire.writer")
            while True:
                try:
                    async with asyncio.timeout_at(self._patience()):
                        frame = await socket.recv()
                except TimeoutError:
                    return self._out_of_patience()
                for event in self._codec.decode(frame):
                    self._take(event)
                if self._closed is not None and assumed("half_close") == "close":
                    return self._over()
                if self._leave_by < math.inf and not self._codec.turn_open and not self._untaken:
                    return Lost("the server asked for another connection")
        except ConnectionClosed as error:
            if self._closed is not None:
                return self._over()
            lost = closed_by_google(error, answered=first.newest_turn > 0 or self._carried, again=self._opened)
            if lost.reason == SESSION_OVER:
                self._closed = ConversationClosed(terminated=False)
                return self._over()
            return lost
        finally:
            if writer is not None:
                writer.cancel()
                await asyncio.wait([writer])

    def _take_up(self) -> None:
        """The connection stands: what waits goes out, in the order in which it was given."""
        outbox = self._outbox = asyncio.Queue()
        if not self._opened:
            if self._opening.variables:
                outbox.put_nowait(ces_frames.given(Variables(self._opening.variables)))
            if self._opening.event:
                outbox.put_nowait(ces_frames.given(NamedEvent(self._opening.event)))
        self._carried = bool(self._waiting) and self._ups > 0
        for frame in self._waiting:
            outbox.put_nowait(frame)
        self._waiting = []
        for message in self._untaken.values():
            self._put(message)
        self._emit(LinkUp(reconnects=self._ups, restored=True))
        self._bound()

    def _patience(self) -> float:
        """The moment until which the next frame is waited for."""
        now = asyncio.get_running_loop().time()
        if self._closed is not None:
            return now + DRAIN
        oldest = next(iter(self._sent_at.values()), math.inf)
        return min(oldest + ANSWERED_WITHIN, self._leave_by)

    def _out_of_patience(self) -> Lost:
        if self._closed is not None:
            return self._over()
        if self._leave_by < math.inf:
            return Lost("the server asked for another connection")
        return Lost("the server did not answer a text")

    def _over(self) -> Lost:
        """Everything was read: now the conversation is told to be over, and what it never took."""
        for event in self._codec.broken_off():
            self._take(event)
        for _ in self._untaken:
            self._emit(ServerFault("conversation_completed", "a text came too late: the session was over"))
        if self._closed is not None:
            self._emit(self._closed)
        return Lost("the conversation is over and the server closed the link", fatal=True)

    # ------------------------------------------------------------------ from the server

    def _take(self, event: ServerEvent) -> None:
        turn = getattr(event, "turn_id", None)
        if turn and turn not in self._known_turns and not isinstance(event, TurnEnded):
            self._known_turns.add(turn)
            self._opened = True
            self._begun(turn)
        match event:
            case ConversationClosed():
                self._closed = event
                return
            case GoingAway():
                self._leave_by = asyncio.get_running_loop().time() + FINISH_WITHIN
            case ToolCalls():
                for call in event.calls:
                    if call.id in self._called:
                        continue
                    self._called.add(call.id)
                    job = asyncio.create_task(self._run(call), name="voice.wire.tool")
                    self._jobs.add(job)
                    job.add_done_callback(self._jobs.discard)
        self._emit(event)

    def _begun(self, turn: str) -> None:
        """Output of a new turn: the first text that waits is taken."""
        message_id = next(iter(self._sent_at), None)
        if message_id is None:
            return
        message = self._untaken.pop(message_id)
        del self._sent_at[message_id]
        if not self._untaken:
            self._settled.set()
        told = (message.id, turn, message.content, message.is_interrupted, message.played_content)
        self._emit(UserAccepted(*told))

    async def _run(self, call: ToolCall) -> None:
        if self._tools is not None:
            response = await self._tools.run(call)
        else:
            error = {"error": "this client runs no tools"}
            response = ToolResponse(call.id, call.tool, call.toolset, call.tool_id, call.display_name, error)
        self.send_input(ToolResponses((response,)))
