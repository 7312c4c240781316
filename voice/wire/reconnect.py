"""A link over as many WebSockets as it takes, one at a time: what every protocol over WebSocket has in common.

1. Fetch the token, open a socket, and let the protocol talk over it (`_talk`) until it is lost.
2. `LinkDown`, a pause with jitter, and from 1. When there is no use in that: a fatal `LinkDown`, and `run` returns.
3. A refused token is tried once more where its source can give a fresh one.

What is fatal is decided in `voice.wire.closing`. The token is in no log and in no error text.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from voice.core.events import Input, LinkDown
from voice.wire.closing import Lost, is_loopback, not_opened, unusable
from voice.wire.json_frame import MAX_FRAME
from voice.wire.token import GivenToken, TokenError, TokenSource

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
    accept_within: float = 15.0
    """From a user message to its acceptance. On a link that stands but has lost it, it is sent over the next one."""
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


class Reconnecting(ABC):
    """The part of a link that opens sockets. `run` it as a task; `close` it at any time.

    `emit` gets every event on the running loop, in order, and must not block. `chance()` gives numbers from 0 to 1.
    """

    def __init__(
        self,
        url: str,
        token: TokenSource | str | None,
        emit: Callable[[Input], None],
        *,
        rules: LinkRules,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._url, self._emit, self._rules, self._chance = url, emit, rules, chance
        self._token: TokenSource = GivenToken(token) if token is None or isinstance(token, str) else token
        self._ups = 0
        """Sockets that the server has taken so far."""
        self._bound_at = 0.0
        self._closing = False
        self._loop_task: asyncio.Task[None] | None = None
        self._socket_now: ClientConnection | None = None

    # ------------------------------------------------------------------ what a protocol adds

    @abstractmethod
    async def _talk(self, socket: ClientConnection) -> Lost:
        """Hold the conversation over this socket until it is lost; why it was. Calls `_bound` when it is taken."""

    @abstractmethod
    def _gone(self) -> None:
        """The socket is gone, and nothing can be sent until the next one is bound."""

    def _unsent(self) -> str:
        """For the operator, when the link will not come back: what may not have arrived."""
        return ""

    def _headers(self) -> Mapping[str, str]:
        """Headers of the upgrade beside the token's."""
        return {}

    def _bound(self) -> None:
        self._ups += 1
        self._bound_at = asyncio.get_running_loop().time()

    def abort(self) -> None:
        """Cut the socket; the next one is opened as after any loss."""
        if self._socket_now is not None:
            self._socket_now.transport.abort()

    # ------------------------------------------------------------------ the loop

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
        renewed = False
        loop = asyncio.get_running_loop()
        while True:
            ups = self._ups
            lost = await self._socket()
            if self._ups > ups:
                told = ""
                steady = loop.time() - self._bound_at >= self._rules.steady
                brief = 0 if steady else brief + 1
                failures = max(0, brief - 1)
                renewed = renewed and not steady
            if lost.refused_token and self._token.renewable and not renewed:
                renewed, lost = True, replace(lost, fatal=False)
            if lost.fatal or lost.reason != told:  # an outage of hours is told once, not at every attempt
                reason = lost.reason + self._unsent() if lost.fatal else lost.reason
                self._emit(LinkDown(reason, lost.fatal))
                told = lost.reason
            if lost.fatal:
                return
            rules = self._rules
            pause = min(rules.longest_pause, rules.first_pause * rules.pause_factor ** min(failures, 32))
            failures += 1
            await asyncio.sleep(max(lost.retry_after, pause * (0.5 + self._chance())))

    async def _socket(self) -> Lost:
        """One socket from its opening to its end; why it ended."""
        try:
            token = await self._token.fetch()
        except TokenError as error:
            return Lost(str(error), fatal=not self._ups)  # in mid-conversation it may come back
        if problem := unusable(self._url, token):
            return Lost(problem, fatal=True)
        try:
            socket = await self._open(token)
        except Exception as error:
            return not_opened(error, self._url)
        self._socket_now = socket
        try:
            return await self._talk(socket)
        finally:
            self._socket_now = None
            self._gone()
            await _shut(socket)

    async def _open(self, token: str | None) -> ClientConnection:
        rules = self._rules
        authorised = {"Authorization": f"Bearer {token}"} if token else {}
        return await connect(
            self._url,
            additional_headers={**authorised, **self._headers()} or None,
            open_timeout=rules.open_timeout,
            close_timeout=rules.close_timeout,
            ping_interval=rules.keepalive,
            ping_timeout=rules.keepalive,
            max_size=rules.max_frame,
            proxy=None if is_loopback(urlsplit(self._url).hostname or "") else True,  # a proxy is another machine
            logger=_SILENT,
        )


async def write_all(socket: ClientConnection, outbox: asyncio.Queue[str]) -> None:
    """Send what is put into `outbox`, until the socket is closed."""
    with contextlib.suppress(ConnectionClosed):  # the reader learns of it, too
        while True:
            await socket.send(await outbox.get())


async def _shut(socket: ClientConnection) -> None:
    """Close politely within the socket's own time-out; in any case the transport is gone afterwards."""
    try:
        await socket.close()
    finally:
        socket.transport.abort()
