"""C5: whenever the program ends, nothing of the link is left running."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.wire.lab import (
    QUIET,
    TOKEN,
    Client,
    flow_server,
    said,
)
from voice.core.events import LinkUp
from voice.timeloop import run_virtual


def test_closing_twice_and_before_running_is_safe() -> None:
    """Shutdown comes from more than one side."""

    async def main() -> None:
        async with flow_server() as server:
            client = Client(server.url)
            await client.link.close()
            await client.link.close()
            await client.running
            await client.link.run()
            assert client.events == []
            other = Client(server.url)
            await other.until(LinkUp)
            await asyncio.gather(other.link.close(), other.link.close())
            assert other.running.done()
            assert other.running.exception() is None

    run_virtual(main())


class TestClosedAtEveryAwaitPoint:
    """C5: whenever the program ends, nothing of the link is left running."""

    class Steps:
        """Counts the suspensions of the link's own tasks; calls `cut` at the n-th."""

        def __init__(self, cut_at: int) -> None:
            self.left, self.cut = cut_at, lambda: None

        def factory(self, loop: asyncio.AbstractEventLoop, coro: Any, **how: Any) -> asyncio.Task[Any]:
            ours = getattr(coro, "__qualname__", "").startswith(("Connection.", "Reconnecting.", "write_all"))
            return asyncio.Task(self._counted(coro) if ours else coro, loop=loop, **how)

        async def _counted(self, coro: Any) -> Any:
            return await _Counted(coro, self)

        def step(self) -> None:
            self.left -= 1
            if self.left == 0:
                asyncio.get_running_loop().call_soon(self.cut)

    @staticmethod
    async def cut_short(at: int, how: str) -> bool:
        """One conversation with a reconnect, ended at the `at`-th await; whether it got that far."""
        async with flow_server("[step.faults]\ndrop_after = 3\n", token=TOKEN) as server:
            loop = asyncio.get_running_loop()
            steps = TestClosedAtEveryAwaitPoint.Steps(at)
            before = asyncio.all_tasks()
            loop.set_task_factory(steps.factory)
            client = Client(server.url, TOKEN, QUIET)
            closing: list[asyncio.Task[None]] = []
            if how == "cancel":
                steps.cut = client.running.cancel
            else:
                steps.cut = lambda: closing.append(asyncio.create_task(client.link.close()))
            client.link.send(said(1))
            await asyncio.wait([client.running], timeout=8)
            reached = steps.left <= 0
            loop.set_task_factory(None)
            if not reached:
                client.running.cancel()
            await asyncio.wait([client.running, *closing])
            assert client.running.cancelled() == (how == "cancel" or not reached)
            assert [task for task in asyncio.all_tasks() if task.get_name().startswith("voice.wire")] == []
            await asyncio.sleep(5)  # the server notices, and its turn ends by itself
            assert server.sockets == set()
            assert asyncio.all_tasks() == before
            return reached

    @pytest.mark.parametrize("how", ["cancel", "close"])
    def test_nothing_is_left(self, how: str) -> None:
        at = 1
        while run_virtual(self.cut_short(at, how)):
            at += 1
        assert at > 15  # the whole life was walked through: open, bind, a turn, a drop, a pause, a resume


class _Counted:
    """An awaitable that runs a coroutine and reports each of its suspensions."""

    def __init__(self, coro: Any, steps: TestClosedAtEveryAwaitPoint.Steps) -> None:
        self._coro, self._steps = coro, steps

    def __await__(self) -> Any:
        call, value = self._coro.send, None
        while True:
            try:
                waiting = call(value)
            except StopIteration as stop:
                return stop.value
            self._steps.step()
            try:
                call, value = self._coro.send, (yield waiting)
            except BaseException as error:
                call, value = self._coro.throw, error
