"""Infermedica's conversation over WebSockets: create, resume, and user messages that are kept until accepted.

1. Send create, or resume once the conversation has an id.
2. The snapshot binds the socket: `LinkUp`, then what was not yet accepted is sent again, under its own id.
3. Every frame goes through the codec to `emit`; heartbeats are answered here.

How sockets are opened and lost is in `voice.wire.reconnect`.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Mapping
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from voice.core.client_inputs import ClientInput
from voice.core.events import Input, LinkUp, SendUserMessage
from voice.core.server_events import BadFrame, ConversationClosed, Ping, ServerFault, Snapshot, UserAccepted
from voice.wire.closing import REFUSES_FIRST, REFUSES_MESSAGE, Lost, closed
from voice.wire.codec import Codec
from voice.wire.reconnect import LinkRules, Reconnecting, write_all
from voice.wire.token import TokenSource


class Connection(Reconnecting):
    """A conversation's link to its server. `run` it as a task; `send` at any time; `close` it.

    `first` is the `ConversationInput` (`settings`, `assessment`). `emit` gets every event on the running loop, in
    order, and must not block. `chance()` gives numbers from 0 to 1.
    """

    def __init__(
        self,
        url: str,
        token: TokenSource | str | None,
        first: Mapping[str, Any],
        emit: Callable[[Input], None],
        *,
        codec: Codec,
        rules: LinkRules | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(url, token, emit, rules=rules or LinkRules(), chance=chance)
        self._first, self._codec = first, codec
        self.conversation_id: str | None = None
        self._over = False
        self._unaccepted: dict[str, SendUserMessage] = {}
        self._settled = asyncio.Event()
        self._settled.set()
        self._sent: dict[str, float] = {}
        """Ids that went out on this socket and were not answered yet, in order, and when they did."""
        self._outbox: asyncio.Queue[str] | None = None

    def send(self, message: SendUserMessage) -> None:
        """Send a user message now, or as soon as the link is up. It is kept until the server has accepted it."""
        self._unaccepted[message.id] = message
        self._settled.clear()
        if self._outbox is not None:
            self._put(message)

    def send_input(self, given: ClientInput) -> None:
        """This protocol takes user messages only."""
        self._emit(BadFrame(f"this server takes no {type(given).__name__}"))

    def refresh(self) -> None:
        """Take the conversation up again over a new socket: its snapshot is the refreshed one."""
        self.abort()

    async def flushed(self) -> None:
        """Returns once the server has answered everything that was sent. Without a link that may be never."""
        await self._settled.wait()

    def _unsent(self) -> str:
        """For the operator, when the link will not come back: how much of what was sent may not have arrived."""
        count = len(self._unaccepted)
        return f"; {count} user message{'s were' if count > 1 else ' was'} not confirmed" if count else ""

    async def _talk(self, socket: ClientConnection) -> Lost:
        writer: asyncio.Task[None] | None = None
        loop = asyncio.get_running_loop()
        try:
            known = self.conversation_id
            await socket.send(self._codec.create(self._first) if known is None else self._codec.resume(known))
            bind_by = loop.time() + self._rules.bind_timeout
            while True:
                bound = self._outbox is not None
                silent_at = loop.time() + self._rules.silence
                try:
                    async with asyncio.timeout_at(min(silent_at, self._accepted_by() if bound else bind_by)):
                        frame = await socket.recv()
                except TimeoutError:
                    if not bound:
                        return Lost("the server did not answer the first frame")
                    silent = loop.time() >= silent_at
                    return Lost("the server fell silent" if silent else "the server did not accept a user message")
                for event in self._codec.decode(frame):
                    if isinstance(event, Ping):
                        if self._outbox is None:
                            await socket.send(self._codec.pong())
                        else:
                            self._outbox.put_nowait(self._codec.pong())
                        continue
                    if isinstance(event, ServerFault) and self._outbox is None:
                        self._emit(event)
                        return Lost(f"the server refused the conversation: {event.code}", event.code in REFUSES_FIRST)
                    if isinstance(event, Snapshot) and self._outbox is None:
                        self._take_up(event)
                        assert self._outbox is not None
                        writer = asyncio.create_task(write_all(socket, self._outbox), name="voice.wire.writer")
                    self._track(event)
                    self._emit(event)
        except ConnectionClosed as error:
            return closed(error, self._over)
        finally:
            if writer is not None:
                writer.cancel()
                await asyncio.wait([writer])

    def _take_up(self, snapshot: Snapshot) -> None:
        self.conversation_id = snapshot.conversation_id
        self._outbox = asyncio.Queue()
        self._sent = {}
        for row in snapshot.rows:
            self._settle(row.id)
        for message in self._unaccepted.values():
            self._put(message)
        self._emit(LinkUp(reconnects=self._ups))
        self._bound()

    def _put(self, message: SendUserMessage) -> None:
        assert self._outbox is not None
        self._outbox.put_nowait(self._codec.user_message(message))
        self._sent[message.id] = asyncio.get_running_loop().time()

    def _accepted_by(self) -> float:
        """When the first user message that went out on this socket should have been accepted."""
        return next(iter(self._sent.values()), math.inf) + self._rules.accept_within

    def _gone(self) -> None:
        self._outbox = None

    def _settle(self, message_id: str) -> None:
        self._unaccepted.pop(message_id, None)
        self._sent.pop(message_id, None)
        if not self._unaccepted:
            self._settled.set()

    def _track(self, event: object) -> None:
        match event:
            case UserAccepted(id=accepted):
                self._settle(accepted)
            case ServerFault(code=code) if code in REFUSES_MESSAGE:
                # The error names no message; frames are handled in order, so it is about the first one not accepted.
                refused = next(iter(self._sent), None)
                if refused is not None:
                    self._settle(refused)
            case ConversationClosed():
                self._over = True
