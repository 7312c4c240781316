"""A child process for native code that may crash or hang: recognisers and synthesisers.

The parent never waits on the child with anything but an awaitable: a writer thread takes requests to it, a reader
thread brings replies back and notices (in real time) a child that died or fell silent. Such a child is killed, the
requests under way fail with `WorkerError`, and the next request starts a new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing as mp
import os
import pickle
import queue
import select
import signal
import threading
import time
from collections.abc import AsyncGenerator, Callable
from multiprocessing.connection import Connection
from typing import Any

from voice.timeloop import VirtualTimeLoop

Reply = Callable[[Any], bool]
"""Called in the child with one payload of the answer; false: the request was cancelled, stop working on it."""

Servant = Callable[[Any, Reply], None]
"""In the child: does one request, replying any number of times; an exception fails the request."""


class WorkerError(Exception):
    """The child failed, died or hung; one line."""


_CONTEXT = mp.get_context("spawn")
_SHORT = 4096
"""Bytes of a request that a pipe which takes anything at all takes whole (PIPE_BUF, and less than a socket's space)."""
_POLL = 0.05
"""Seconds between two looks at the deadline while a child owes an answer."""

_SLOTS = 64
"""Cancellations that the child can tell apart at a time: far more requests than ever wait for one child."""


def _line(error: BaseException) -> str:
    """Type and message of `error` in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":")


def _end_with_the_parent() -> None:
    """Whatever native code is at work on: a parent that was killed leaves nobody behind."""
    if (parent := mp.parent_process()) is not None:
        parent.join()
        os._exit(0)


def _child(conn: Connection, cancelled: Any, make: Callable[..., Servant], args: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    with contextlib.suppress(BrokenPipeError):  # nobody is left to answer
        _serve(conn, cancelled, make, args)


def _serve(conn: Connection, cancelled: Any, make: Callable[..., Servant], args: tuple[Any, ...]) -> None:
    try:
        servant = make(*args)
    except BaseException as error:
        with contextlib.suppress(OSError):
            conn.send((0, "error", _line(error)))
        return
    conn.send((0, "ready", None))
    while True:
        try:
            number, request = conn.recv()
        except (EOFError, OSError):
            return
        if cancelled[number % _SLOTS] == number:
            conn.send((number, "end", None))
            continue

        def reply(payload: Any, number: int = number) -> bool:
            if cancelled[number % _SLOTS] == number:
                return False
            conn.send((number, "part", payload))
            return True

        try:
            servant(request, reply)
        except Exception as error:
            conn.send((number, "error", _line(error)))
        else:
            conn.send((number, "end", None))


class _Child:
    """One process with its two threads; used up when it dies."""

    def __init__(self, owner: Worker, loop: asyncio.AbstractEventLoop) -> None:
        self.owner, self.loop = owner, loop
        here, there = _CONTEXT.Pipe()
        self.conn = here
        self.cancelled = _CONTEXT.Array("q", _SLOTS, lock=False)
        self.process = _CONTEXT.Process(
            target=_child, args=(there, self.cancelled, owner.make, owner.args), name=owner.name, daemon=True
        )
        self.process.start()
        there.close()
        self.pending: dict[int, float] = {0: time.monotonic() + owner.start_timeout}
        self.dead = False
        self.outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.queued = self.written = 0
        """Requests that were put into the outbox, and those that the thread has written."""
        self.threads = [
            threading.Thread(target=self._write, name=f"{owner.name}-out", daemon=True),
            threading.Thread(target=self._read, name=f"{owner.name}-in", daemon=True),
        ]
        for thread in self.threads:
            thread.start()

    def send(self, number: int, request: Any) -> None:
        self.pending[number] = time.monotonic() + self.owner.timeout
        if self._send_at_once((number, request)):
            return
        self.queued += 1
        self.outbox.put((number, request))

    def _send_at_once(self, item: Any) -> bool:
        """Write a short request without the detour of a thread, if that cannot block: the pipe is empty enough, and
        nothing waits that was to go first."""
        packed = pickle.dumps(item)
        if len(packed) > _SHORT or self.queued != self.written:
            return False
        try:
            if not select.select([], [self.conn], [], 0)[1]:
                return False
            self.conn.send_bytes(packed)
        except (OSError, ValueError):
            return False  # the thread meets the same fault, and the reader tells of it
        return True

    def _write(self) -> None:
        while (item := self.outbox.get()) is not None:
            try:
                self.conn.send(item)
            except (OSError, ValueError):
                return
            self.written += 1

    def _read(self) -> None:
        reason = "the process ended"
        while True:
            try:
                if not self.conn.poll(_POLL):
                    deadline = min(list(self.pending.values()), default=None)
                    if deadline is not None and time.monotonic() > deadline:
                        limit = self.owner.start_timeout if 0 in self.pending else self.owner.timeout
                        reason = f"no answer for {limit:g} s"
                        break
                    continue
                number, what, payload = self.conn.recv()
            except (EOFError, OSError):
                break
            if what != "part":
                self.pending.pop(number, None)
            for other in list(self.pending):  # a sign of life extends what waits behind it, too
                self.pending[other] = time.monotonic() + self.owner.timeout
            self._post(self.owner._received, self, number, what, payload)
        self._post(self.owner._lost, self, reason)

    def _post(self, call: Callable[..., None], *args: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self.loop.call_soon_threadsafe(call, *args)

    def end(self) -> None:
        self.dead = True
        self.outbox.put(None)
        if self.process.is_alive():
            self.process.kill()

    @property
    def gone(self) -> bool:
        """The process and the threads have ended, so that `join` does not wait."""
        return not self.process.is_alive() and not any(thread.is_alive() for thread in self.threads)

    def join(self) -> None:
        self.process.join(5)
        for thread in self.threads:
            thread.join(5)
        self.conn.close()
        self.process.close()


class Worker:
    """A servant in a process of its own, replaced when it fails.

    `make(*args)` runs in the child and returns the servant; both must be importable at top level. `timeout` and
    `start_timeout` are real seconds without a sign of life.
    """

    def __init__(
        self,
        name: str,
        make: Callable[..., Servant],
        *args: Any,
        timeout: float = 10.0,
        start_timeout: float = 60.0,
    ) -> None:
        self.name, self.make, self.args = name, make, args
        self.timeout, self.start_timeout = timeout, start_timeout
        self.restarts = 0
        self._child: _Child | None = None
        self._graves: list[_Child] = []
        self._number = 0
        self._answers: dict[int, asyncio.Queue[tuple[str, Any]]] = {}
        self._ready: asyncio.Future[None] | None = None

    async def start(self) -> None:
        """Start the child and wait until its servant is made. Raises WorkerError."""
        if self._child is None:
            loop = asyncio.get_running_loop()
            self._child = _Child(self, loop)
            self._ready = loop.create_future()
            self._hold(loop, True)
        assert self._ready is not None
        await asyncio.shield(self._ready)

    async def request(self, request: Any) -> AsyncGenerator[Any, None]:
        """Send a request and yield the parts of its answer. Closing the iterator cancels it. Raises WorkerError."""
        await self.start()
        child = self._child
        if child is None:
            raise WorkerError(f"{self.name}: the process ended")
        loop = asyncio.get_running_loop()
        self._number += 1
        number = self._number
        answer: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self._answers[number] = answer
        self._hold(loop, True)
        child.send(number, request)
        try:
            while True:
                what, payload = await answer.get()
                if what == "end":
                    return
                if what == "error":
                    raise WorkerError(f"{self.name}: {payload}")
                yield payload
        finally:
            if self._answers.pop(number, None) is not None:
                self._hold(loop, False)
                child.cancelled[number % _SLOTS] = number

    async def ask(self, request: Any) -> Any:
        """Send a request and return the last part of its answer (None if it had none). Raises WorkerError."""
        last = None
        async for part in self.request(request):
            last = part
        return last

    @staticmethod
    def _hold(loop: asyncio.AbstractEventLoop, held: bool) -> None:
        if isinstance(loop, VirtualTimeLoop):
            loop.work_began() if held else loop.work_ended()

    def _received(self, child: _Child, number: int, what: str, payload: Any) -> None:
        if child is not self._child:
            return
        if number == 0:
            self._settle_ready(None if what == "ready" else f"{self.name}: {payload}")
            return
        if (answer := self._answers.get(number)) is None:
            return  # cancelled
        if what in ("end", "error"):
            del self._answers[number]
            self._hold(child.loop, False)
        answer.put_nowait((what, payload))

    def _settle_ready(self, error: str | None) -> None:
        if self._ready is None or self._ready.done():
            return
        self._hold(self._ready.get_loop(), False)
        if error is None:
            self._ready.set_result(None)
        else:
            self._ready.set_exception(WorkerError(error))
            self._ready.exception()  # it may be that nobody waits

    def _lost(self, child: _Child, reason: str) -> None:
        if child is not self._child:
            return  # closed already
        child.end()
        for grave in [grave for grave in self._graves if grave.gone]:
            self._graves.remove(grave)
            grave.join()
        self._graves.append(child)
        self._child = None
        self.restarts += 1
        self._settle_ready(f"{self.name}: {reason}")
        for number in list(self._answers):
            answer = self._answers.pop(number)
            self._hold(child.loop, False)
            answer.put_nowait(("error", reason))

    async def close(self) -> None:
        """End the child; requests under way fail. Safe to call twice."""
        child, self._child = self._child, None
        graves, self._graves = self._graves, []
        if child is not None:
            self._settle_ready(f"{self.name}: closed")
            for number in list(self._answers):
                self._hold(child.loop, False)
                self._answers.pop(number).put_nowait(("error", "closed"))
            child.end()
            graves.append(child)
        for grave in graves:
            await asyncio.get_running_loop().run_in_executor(None, grave.join)
