"""One conversation on its event loop: the session, and the shells that do what it asks.

Every input goes through `feed`, on the loop's thread, one at a time: the session decides, the observers see the input
and each output in order, and the outputs are carried out. `StopVoice` is answered at once with the player's ledger,
before any other input is looked at. What goes wrong unexpectedly, wherever it does, ends `run` with that error.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, aclosing
from typing import Any, Protocol

from voice.audio.base import Device, DeviceError
from voice.audio.chain import Chain
from voice.audio.player import Player
from voice.core.client_inputs import ClientInput
from voice.core.clock import Clock
from voice.core.events import (
    ClauseFailed,
    ClauseVoiced,
    DeviceLost,
    Duck,
    Ended,
    Expect,
    Input,
    Notice,
    Output,
    RefreshSnapshot,
    SendInput,
    SendUserMessage,
    Shutdown,
    Speak,
    StopVoice,
)
from voice.core.session import Session
from voice.stt.listener import Listener
from voice.timeloop import VirtualTimeLoop
from voice.tts.base import Voice, VoiceError

TICK = 0.02
"""Seconds between two looks at the player's ledger: captions and the end of a message are this late at most; what
was heard is not, it is computed from the ledger."""

REOPEN_EVERY = 1.0
"""Seconds between two tries to open a device that was lost."""

FLUSH_WITHIN = 2.0
"""Seconds that the last user message may take to reach the server when the conversation ends."""

Observer = Callable[[float, Input | Output], None]
"""Sees every input and output with its time, in order; must neither block nor raise."""


class Link(Protocol):
    """What a conversation needs of its way to the server; see `voice.wire.connection.Connection`."""

    async def run(self) -> None:
        """Hold the link until it is closed or lost."""
        ...

    def send(self, message: SendUserMessage) -> None:
        """Send a user message, now or as soon as that is possible."""
        ...

    def send_input(self, given: ClientInput) -> None:
        """Send something else than an utterance. A protocol that has no frame for it tells a notice."""
        ...

    def refresh(self) -> None:
        """Fetch the conversation anew; a `Snapshot` follows, or nothing where the protocol has none."""
        ...

    async def flushed(self) -> None:
        """Returns when everything that was sent has arrived."""
        ...

    async def close(self) -> None:
        """End the link. Safe to call twice."""
        ...


class Conversation:
    """The wiring. `run` holds one conversation from the first frame to the last sample."""

    def __init__(
        self,
        session: Session,
        *,
        clock: Clock,
        player: Player,
        chain: Chain,
        device: Device,
        voice: Voice,
        listener: Listener,
        connection: Link,
        observers: Sequence[Observer] = (),
    ) -> None:
        self.session = session
        self._clock, self._player, self._chain, self._device = clock, player, chain, device
        self._voice, self._listener, self._connection = voice, listener, connection
        self._observers = tuple(observers)
        self._inbox: deque[Input] = deque()
        self._feeding = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._speaking: asyncio.Task[None] | None = None
        self._reopening: asyncio.Task[None] | None = None
        self._device_gone = False
        self._closed = False
        self._over = asyncio.Event()
        self._reason = ""
        self._fault: BaseException | None = None

    # ------------------------------------------------------------------ the one entrance

    def feed(self, event: Input) -> None:
        """Take an input, now, on the loop's thread; what it leads to is done when this returns."""
        if self._closed:
            return
        self._inbox.append(event)
        if self._feeding:
            return
        self._feeding = True
        try:
            while self._inbox:
                self._handle(self._inbox.popleft())
        except Exception as error:  # whoever fed it (a socket, a timer, the ears) is not to blame, and could not tell
            self._fail(error)
        finally:
            self._feeding = False

    def _handle(self, event: Input) -> None:
        now = self._clock.now()
        outputs = self.session.handle(event, now)
        self._show(now, event)
        for output in outputs:
            self._show(now, output)
            self._carry_out(output)

    def _show(self, now: float, item: Input | Output) -> None:
        for observer in self._observers:
            observer(now, item)

    def notice(self, code: str, text: str) -> None:
        """Tell the observers of something that no input stands for."""
        self._show(self._clock.now(), Notice(code, text))

    def _carry_out(self, output: Output) -> None:
        match output:
            case Speak():
                self._speaking = self._launch(self._speak(output), "speak")
            case StopVoice():
                stopped = self._player.stop()
                if self._speaking is not None:
                    self._speaking.cancel()
                self._inbox.appendleft(stopped)
            case Duck(down=down):
                self._player.duck(down)
            case SendUserMessage():
                self._connection.send(output)
            case SendInput(input=given):
                self._connection.send_input(given)
            case RefreshSnapshot():
                self._connection.refresh()
            case Expect(expectation=expectation):
                self._listener.expect(expectation)
            case Ended(reason=reason):
                self._reason = self._reason or reason
                self._over.set()
            case _:
                pass  # for the observers

    # ------------------------------------------------------------------ the voice

    async def _speak(self, asked: Speak) -> None:
        generation, samples = self._player.generation, 0
        try:
            async with aclosing(self._voice.speak(asked.text, asked.rate)) as pieces:
                async for piece in pieces:
                    if not self._player.enqueue(asked.message_id, asked.clause, piece.pcm, generation):
                        return
                    samples += piece.pcm.size
                    self.feed(
                        ClauseVoiced(
                            asked.message_id, asked.clause, piece.marks, samples, piece.final, self._voice.estimated
                        )
                    )
        except VoiceError as error:
            self.feed(ClauseFailed(asked.message_id, asked.clause, str(error)))

    # ------------------------------------------------------------------ the device

    async def _open_device(self) -> None:
        loop = asyncio.get_running_loop()

        def lost(reason: str) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to tell
                loop.call_soon_threadsafe(self._device_lost, reason)

        await self._with_device(self._device.open, self._chain.render, self._chain.capture, lost)

    @staticmethod
    async def _with_device(call: Callable[..., None], *args: Any) -> None:
        """A sound server may take its time, and the session goes on meanwhile; a room on virtual time takes none and
        belongs to the loop."""
        if isinstance(asyncio.get_running_loop(), VirtualTimeLoop):
            call(*args)
        else:
            await _to_its_end(asyncio.to_thread(call, *args))

    def _device_lost(self, reason: str) -> None:
        if self._closed:
            return
        self._device_gone = True
        self.feed(DeviceLost(reason))
        if self._reopening is None or self._reopening.done():
            self._reopening = self._launch(self._reopen(), "reopen device")

    async def _reopen(self) -> None:
        told = ""
        while self._device_gone:
            self._device_gone = False
            await self._with_device(self._device.close)
            try:
                await self._open_device()
            except DeviceError as error:
                self._device_gone = True
                if str(error) != told:
                    told = str(error)
                    self.notice("device.missing", told)
                await asyncio.sleep(REOPEN_EVERY)
            else:
                self.notice("device.back", f"sound goes on through {self._device.name}")

    # ------------------------------------------------------------------ life

    async def run(self) -> str:
        """Hold the conversation; returns why it ended.

        Raises VoiceError, RecogniserError or DeviceError when a part cannot be started. However it ends, nothing is
        left running.
        """
        try:
            self._launch(self._start(), "start")
            await self._over.wait()
            if self._fault is not None:
                raise self._fault
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_WITHIN):
                    await self._connection.flushed()
            return self._reason
        finally:
            await _to_its_end(self._close())

    async def _start(self) -> None:
        await asyncio.gather(self._voice.start(self._player.rate), self._listener.start())
        await self._open_device()
        self._launch(self._tick(), "tick")
        self._launch(self._connection.run(), "link")

    async def _close(self) -> None:
        self._closed = True
        running = list(self._tasks)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        async with AsyncExitStack() as parts:  # all of them are closed, even if closing one fails
            for part in (self._voice, self._listener, self._connection):
                parts.push_async_callback(part.close)
            parts.callback(self._chain.close)
            parts.callback(self._device.close)

    def _launch(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Run `work` beside the rest for as long as the conversation lasts."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if not self._over.is_set():
            self._fault = error
            self._over.set()

    def shut_down(self) -> None:
        """End the conversation from outside: the voice stops, the reports are made, `run` returns."""
        self.feed(Shutdown())

    async def _tick(self) -> None:
        while True:
            self.feed(self._player.played())
            await asyncio.sleep(TICK)


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Wait until `work` is done, even if whoever waits is cancelled meanwhile; a thread cannot be called back."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # nobody asks for it any more
        raise cancelled
    task.result()
