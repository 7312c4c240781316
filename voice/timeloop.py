"""An asyncio loop whose time is virtual: it jumps to the next timer as soon as nothing is left to do.

The same program runs on it as on an ordinary loop, as fast as the processor allows and without depending on its
speed. Sockets on the loopback interface and worker processes stay real. While work is under way outside the loop
(a worker process synthesises or decodes), time stands still: `outside()` marks it.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from voice.core.clock import ManualClock

T = TypeVar("T")

_STUCK_AFTER = 60.0
"""Real seconds without any event, timer or outside work after which the loop is declared stuck."""


class _JumpingSelector(selectors.BaseSelector):
    """Asks the real selector for what is ready; where the loop would wait for a timer, moves the clock instead."""

    def __init__(self, clock: ManualClock, pace: float | None) -> None:
        self._real = selectors.DefaultSelector()
        self._clock = clock
        self._pace = pace
        self._began: tuple[float, float] | None = None
        self.outside = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._real.select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if self.outside > 0 or timeout is None:
            ready = self._real.select(_STUCK_AFTER)
            if not ready:
                raise RuntimeError(
                    f"virtual time is stuck: nothing happened for {_STUCK_AFTER:.0f} s of real time with "
                    f"{self.outside} piece(s) of outside work under way and no timer to jump to"
                )
            return ready
        self._clock.advance(timeout)
        return self._real.select(self._early())

    def _early(self) -> float:
        """Real seconds by which virtual time is ahead of its pace; 0 without a pace."""
        if self._pace is None:
            return 0.0
        if self._began is None:
            self._began = (time.monotonic(), self._clock.now())
        real, virtual = self._began
        return max(0.0, real + (self._clock.now() - virtual) / self._pace - time.monotonic())

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def close(self) -> None:
        self._real.close()

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.get_key(fileobj)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop on a `ManualClock`.

    `pace`: virtual seconds that may go by in a real one, for people who watch; what happens is the same. None: no
    limit.
    """

    def __init__(self, clock: ManualClock | None = None, pace: float | None = None) -> None:
        self.clock = clock or ManualClock()
        self._jumper = _JumpingSelector(self.clock, pace)
        super().__init__(self._jumper)

    def time(self) -> float:
        """Virtual seconds."""
        return self.clock.now()

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]
        """As on any loop; what a thread does is outside work."""
        future = super().run_in_executor(executor, func, *args)
        self.work_began()
        future.add_done_callback(lambda _: self.work_ended())
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 (asyncio's own)
        """As on any loop; `timeout` would be one of virtual time, which has no say in how long a thread may take."""
        self.work_began()
        try:
            await super().shutdown_default_executor()
        finally:
            self.work_ended()

    def work_began(self) -> None:
        """Outside work began: time stands still until as many `work_ended` calls came."""
        self._jumper.outside += 1

    def work_ended(self) -> None:
        """Outside work ended."""
        self._jumper.outside -= 1


class LoopClock:
    """The running loop's time as a `Clock`: monotonic on an ordinary loop, virtual on a virtual one."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def now(self) -> float:
        """Seconds."""
        return self._loop.time()


@contextmanager
def outside() -> Iterator[None]:
    """Marks work outside the running loop, during which virtual time stands still (nothing on a real loop)."""
    loop = asyncio.get_running_loop()
    if not isinstance(loop, VirtualTimeLoop):
        yield
        return
    loop.work_began()
    try:
        yield
    finally:
        loop.work_ended()


def run_virtual(main: Coroutine[Any, Any, T], clock: ManualClock | None = None, pace: float | None = None) -> T:
    """Run `main` to its end on a virtual-time loop (as `asyncio.run` does on a real one)."""
    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(clock, pace)) as runner:
        return runner.run(main)
