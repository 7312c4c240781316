"""One connection of the local server, and the seam where a fault may happen to each of its frames.

Every frame that goes out passes `FramePlan.outgoing`, every frame that comes in `FramePlan.incoming`, in both protocols
and on HTTP, too (there a frame is a line of a streamed body, or a whole body). A plan answers with deeds, which are
carried out in order, so it stays a pure function of what it saw:

| fault | deeds |
| --- | --- |
| none | `[Pass(frame)]` |
| lost frame | `[]` |
| delay | `[Wait(3.0), Pass(frame)]` (those behind it wait, too) |
| duplicate | `[Pass(frame), Pass(frame)]` |
| reorder | `[]` for the first, `[Pass(second), Pass(first)]` for the second |
| truncate | `[Pass(frame[:7])]` |
| a bad frame in between | `[Pass("{"), Pass(frame)]` |
| dropped socket | `[Cut()]`: no closing handshake; `[Pass(frame), Cut()]`: after the frame |
| closed socket | `[Close(1011, "reason")]` |
| stops reading | `[StopReading()]`: the client's frames pile up in the buffers of the network |
| half-open | `[Stall()]`: nothing is read or written any more, and the connection stays |

A plan is made for each connection by what `FlowServer(plan=...)` was given: a function of the `Arrival`, which may
return None for a connection without faults. Times are seconds of the running loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.protocol import State

from voice.server.events import Event

Frame = str | bytes
"""Text, or binary."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A new connection. `number` counts them from 0; `path` is that of the upgrade or of the HTTP request."""

    transport: Literal["websocket", "http"]
    path: str
    number: int


@dataclass(frozen=True, slots=True)
class Pass:
    """Let this frame through."""

    frame: Frame


@dataclass(frozen=True, slots=True)
class Wait:
    """Do nothing for so many seconds; what comes behind waits, too."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Cut:
    """Drop the connection without a word."""


@dataclass(frozen=True, slots=True)
class Close:
    """A closing handshake."""

    code: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StopReading:
    """Read nothing from now on; writing goes on."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Neither read nor write from now on, and keep the connection: it is half-open."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer with this HTTP status; of use for `opened` only, where it comes before the upgrade."""

    status: int


Deed = Pass | Wait | Cut | Close | StopReading | Stall | Refuse


class FramePlan(Protocol):
    """What becomes of the frames of one connection."""

    def opened(self) -> Sequence[Deed]:
        """Before anything is read or written; for a WebSocket, before the upgrade is answered."""
        ...

    def outgoing(self, frame: Frame) -> Sequence[Deed]:
        """For a frame that the server wants to send."""
        ...

    def incoming(self, frame: Frame) -> Sequence[Deed]:
        """For a frame that the client sent."""
        ...


class Faultless:
    """The plan of a connection to which nothing happens."""

    def opened(self) -> Sequence[Deed]:
        """Nothing."""
        return ()

    def outgoing(self, frame: Frame) -> Sequence[Deed]:
        """The frame."""
        return (Pass(frame),)

    def incoming(self, frame: Frame) -> Sequence[Deed]:
        """The frame."""
        return (Pass(frame),)


Planner = Callable[[Arrival], FramePlan | None]
"""Makes the plan of a new connection; None: no faults."""


class Peer:
    """The other end of one WebSocket: frames wait in a queue, and a task (`write`) sends them.

    `encode` makes frames of a conversation's events. More than `most_queued` waiting frames cut the connection.
    """

    def __init__(
        self,
        socket: ServerConnection,
        plan: FramePlan,
        encode: Callable[[Event], Sequence[Frame]],
        most_queued: int,
    ) -> None:
        self._socket, self._plan, self._encode = socket, plan, encode
        self._queue: asyncio.Queue[Frame | Close] = asyncio.Queue(most_queued)
        self._arrived: deque[Frame] = deque()
        self._stalled = False
        self._over = False
        """Nothing more goes out or comes in, though the network may still hold some."""

    # ------------------------------------------------------------------ out

    def put(self, event: Event) -> None:
        """Queue what tells an event."""
        for frame in self._encode(event):
            self.put_frame(frame)

    def put_frame(self, frame: Frame) -> None:
        """Queue a frame."""
        self._put(frame)

    def put_close(self, code: int, reason: str = "") -> None:
        """Queue the closing handshake behind the frames that were put before."""
        self._put(Close(code, reason))

    def _put(self, entry: Frame | Close) -> None:
        try:
            self._queue.put_nowait(entry)
        except asyncio.QueueFull:
            self.drop()

    async def write(self) -> None:
        """Send what was put, until the connection is closed."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                entry = await self._queue.get()
                if isinstance(entry, Close):
                    await self._do(entry)
                    return
                for deed in self._plan.outgoing(entry):
                    if self._stalled:
                        await self._socket.wait_closed()
                    elif isinstance(deed, Pass):
                        await self._socket.send(deed.frame)
                    else:
                        await self._do(deed)

    def drop(self) -> None:
        """Cut the connection, after what was put before (a dropped link has usually carried it)."""
        with contextlib.suppress(ConnectionClosed):
            while not (self._stalled or self._over or self._queue.empty()):
                entry = self._queue.get_nowait()
                deeds = () if isinstance(entry, Close) else self._plan.outgoing(entry)
                for deed in deeds:
                    if isinstance(deed, Pass):
                        self._send_now(deed.frame)
        self._socket.transport.abort()

    def _send_now(self, frame: Frame) -> None:
        if self._socket.state is not State.OPEN:
            return
        if isinstance(frame, str):
            self._socket.protocol.send_text(frame.encode())
        else:
            self._socket.protocol.send_binary(frame)
        self._socket.send_data()

    # ------------------------------------------------------------------ in

    async def receive(self) -> Frame:
        """The next frame. Raises ConnectionClosed."""
        while not self._arrived:
            frame = await self._socket.recv()
            if self._stalled or self._over:  # what the network held back until the connection was lost is lost, too
                await self._socket.wait_closed()
                continue
            for deed in self._plan.incoming(frame):
                if isinstance(deed, Pass):
                    self._arrived.append(deed.frame)
                else:
                    await self._do(deed)
        return self._arrived.popleft()

    async def close(self, code: int, reason: str = "") -> None:
        """Close with a handshake, now. A half-open connection stays until the client ends it."""
        if self._stalled:
            await self._socket.wait_closed()
        else:
            await self._socket.close(code, reason)

    async def _do(self, deed: Deed) -> None:
        match deed:
            case Wait():
                with contextlib.suppress(TimeoutError):  # nobody waits for a connection that is closed
                    async with asyncio.timeout(deed.seconds):
                        await self._socket.wait_closed()
            case Cut() | Refuse():
                self._over = True
                self._socket.transport.abort()
                await self._socket.wait_closed()
            case Close():
                self._over = True
                await self._socket.close(deed.code, deed.reason)
            case StopReading():
                self._socket.transport.pause_reading()
            case Stall():
                self._stalled = True
                self._socket.transport.pause_reading()
                await self._socket.wait_closed()
