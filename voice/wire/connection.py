"""The socket loop: one conversation over as many sockets as it takes, one at a time.

1. Open a socket; send create, or resume once the conversation has an id.
2. The snapshot binds the socket: `LinkUp`, then what was not yet accepted is sent again, under its own id.
3. Every frame goes through the codec to `emit`; heartbeats are answered here.
4. When the socket goes: `LinkDown`, a pause with jitter, and from 1. When there is no use in that: a fatal
   `LinkDown`, and `run` returns.

What is fatal is decided in `voice.wire.closing`. The token is in no log and in no error text.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from voice.core.client_inputs import ClientInput
from voice.core.events import Input, LinkDown, LinkUp, SendUserMessage
from voice.core.server_events import BadFrame, ConversationClosed, Ping, ServerFault, Snapshot, UserAccepted
from voice.wire.closing import REFUSES_FIRST, REFUSES_MESSAGE, Lost, closed, is_loopback, not_opened, unusable
from voice.wire.codec import Codec
from voice.wire.json_frame import MAX_FRAME

_SILENT = logging.Logger("voice.wire.socket", logging.CRITICAL + 1)
"""The library logs headers (the token) and frames (what a patient said) at debug level: it gets no logger."""


@dataclass(frozen=True, slots=True)
class LinkRules:
    """How long to wait for what; seconds."""

    silence: float = 75.0
    """Without an inbound frame the link is dead: the server's heartbeat comes every 30 s, two may be missed."""
    open_timeout: float = 10.0
    bind_timeout: float = 20.0
    """From the first frame to the snapshot."""
    close_timeout: float = 2.0
    """For the closing handshake; then the socket is cut."""
    first_pause: float = 0.5
    pause_factor: float = 2.0
    longest_pause: float = 20.0
    """Pauses between attempts grow from `first_pause` by `pause_factor`, each times 0.5 to 1.5 by chance, so that a
    server that comes back is not met by all kiosks at once."""
    steady: float = 30.0
    """A socket that was bound for less is a success once. Again and again it is none, and pauses grow: else a frame
    too long for us would be asked for twice a second."""
    keepalive: float | None = 20.0
    """Control-frame pings: a server that stopped reading is noticed within twice this. None: none."""
    max_frame: int = MAX_FRAME
    """Bytes. A longer frame ends the socket; the snapshot of the next one makes up for it."""


class Connection:
    """A conversation's link to its server. `run` it as a task; `send` at any time; `close` it.

    `first` is the `ConversationInput` (`settings`, `assessment`). `emit` gets every event on the running loop, in
    order, and must not block. `chance()` gives numbers from 0 to 1.
    """

    def __init__(
        self,
        url: str,
        token: str | None,
        first: Mapping[str, Any],
        emit: Callable[[Input], None],
        *,
        codec: Codec,
        rules: LinkRules | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._url, self._token, self._first = url, token, first
        self._emit, self._codec, self._rules, self._chance = emit, codec, rules or LinkRules(), chance
        self.conversation_id: str | None = None
        self._ups = 0
        self._bound_at = 0.0
        self._over = False
        self._closing = False
        self._loop_task: asyncio.Task[None] | None = None
        self._unaccepted: dict[str, SendUserMessage] = {}
        self._settled = asyncio.Event()
        self._settled.set()
        self._sent: dict[str, None] = {}
        """Ids that went out on this socket and were not answered yet, in order."""
        self._outbox: asyncio.Queue[str] | None = None
        self._socket_now: ClientConnection | None = None

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
        if self._socket_now is not None:
            self._socket_now.transport.abort()

    async def flushed(self) -> None:
        """Returns once the server has answered everything that was sent. Without a link that may be never."""
        await self._settled.wait()

    async def run(self) -> None:
        """Hold the link until it is closed or fatally lost."""
        if self._closing:
            return
        self._loop_task = asyncio.create_task(self._loop(), name="voice.wire")
        try:
            await asyncio.shield(self._loop_task)
        except asyncio.CancelledError:
            me = asyncio.current_task()
            if not self._closing or (me is not None and me.cancelling()):
                raise
        finally:
            await self.close()

    async def close(self) -> None:
        """End the link; returns when its task is done and its socket closed. Safe to call twice."""
        self._closing = True
        task = self._loop_task
        if task is None:
            return
        task.cancel()
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:  # whoever cannot wait: no closing handshake then, but nothing is left behind
            task.cancel()
            await asyncio.wait([task])
            raise

    async def _loop(self) -> None:
        failures = brief = 0
        told = ""
        loop = asyncio.get_running_loop()
        while True:
            ups = self._ups
            lost = await self._socket()
            if self._ups > ups:
                told = ""
                brief = 0 if loop.time() - self._bound_at >= self._rules.steady else brief + 1
                failures = max(0, brief - 1)
            if lost.fatal or lost.reason != told:  # an outage of hours is told once, not at every attempt
                reason = lost.reason + self._unconfirmed() if lost.fatal else lost.reason
                self._emit(LinkDown(reason, lost.fatal))
                told = lost.reason
            if lost.fatal:
                return
            rules = self._rules
            pause = min(rules.longest_pause, rules.first_pause * rules.pause_factor ** min(failures, 32))
            failures += 1
            await asyncio.sleep(max(lost.retry_after, pause * (0.5 + self._chance())))

    def _unconfirmed(self) -> str:
        """For the operator, when the link will not come back: how much of what was sent may not have arrived."""
        count = len(self._unaccepted)
        return f"; {count} user message{'s were' if count > 1 else ' was'} not confirmed" if count else ""

    async def _socket(self) -> Lost:
        """One socket from its opening to its end; why it ended."""
        if problem := unusable(self._url, self._token):
            return Lost(problem, fatal=True)
        try:
            socket = await self._open()
        except Exception as error:
            return not_opened(error, self._url)
        self._socket_now = socket
        try:
            return await self._talk(socket)
        finally:
            self._outbox = self._socket_now = None
            await _shut(socket)

    async def _open(self) -> ClientConnection:
        rules = self._rules
        return await connect(
            self._url,
            additional_headers={"Authorization": f"Bearer {self._token}"} if self._token else None,
            open_timeout=rules.open_timeout,
            close_timeout=rules.close_timeout,
            ping_interval=rules.keepalive,
            ping_timeout=rules.keepalive,
            max_size=rules.max_frame,
            proxy=None if is_loopback(urlsplit(self._url).hostname or "") else True,  # a proxy is another machine
            logger=_SILENT,
        )

    async def _talk(self, socket: ClientConnection) -> Lost:
        writer: asyncio.Task[None] | None = None
        loop = asyncio.get_running_loop()
        try:
            known = self.conversation_id
            await socket.send(self._codec.create(self._first) if known is None else self._codec.resume(known))
            bind_by = loop.time() + self._rules.bind_timeout
            while True:
                bound = self._outbox is not None
                deadline = loop.time() + self._rules.silence
                try:
                    async with asyncio.timeout_at(deadline if bound else min(deadline, bind_by)):
                        frame = await socket.recv()
                except TimeoutError:
                    return Lost("the server fell silent" if bound else "the server did not answer the first frame")
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
                        self._bind(event)
                        assert self._outbox is not None
                        writer = asyncio.create_task(_write(socket, self._outbox), name="voice.wire.writer")
                    self._track(event)
                    self._emit(event)
        except ConnectionClosed as error:
            return closed(error, self._over)
        finally:
            if writer is not None:
                writer.cancel()
                await asyncio.wait([writer])

    def _bind(self, snapshot: Snapshot) -> None:
        self.conversation_id = snapshot.conversation_id
        self._outbox = asyncio.Queue()
        self._sent = {}
        for row in snapshot.rows:
            self._settle(row.id)
        for message in self._unaccepted.values():
            self._put(message)
        self._emit(LinkUp(reconnects=self._ups))
        self._ups += 1
        self._bound_at = asyncio.get_running_loop().time()

    def _put(self, message: SendUserMessage) -> None:
        assert self._outbox is not None
        self._outbox.put_nowait(self._codec.user_message(message))
        self._sent[message.id] = None

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


async def _write(socket: ClientConnection, outbox: asyncio.Queue[str]) -> None:
    with contextlib.suppress(ConnectionClosed):  # the reader learns of it, too
        while True:
            await socket.send(await outbox.get())


async def _shut(socket: ClientConnection) -> None:
    """Close politely within the socket's own time-out; in any case the transport is gone afterwards."""
    try:
        await socket.close()
    finally:
        socket.transport.abort()
