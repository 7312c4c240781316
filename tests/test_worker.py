"""Native code in a process of its own: it may crash and hang, and the conversation goes on."""

from __future__ import annotations

import asyncio
import multiprocessing as mp
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from tests import servants
from voice.core.clock import ManualClock
from voice.timeloop import run_virtual
from voice.worker import Worker, WorkerError

NAME = "test-worker"
ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """C5. A process or a thread left behind by each restart: the kiosk dies at night."""
    yield
    assert [child.name for child in mp.active_children() if child.name == NAME] == []
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith(NAME)] == []


def useful(**limits: float) -> Worker:
    return Worker(NAME, servants.useful, **limits)


async def parts(worker: Worker, *request: Any) -> list[Any]:
    return [part async for part in worker.request(request)]


class TestAnswers:
    async def test_parts_come_in_order_and_the_last_one_is_the_answer(self) -> None:
        """Sound in the wrong order."""
        worker = useful()
        try:
            assert await parts(worker, "echo", 1, 2, 3) == [1, 2, 3]
            assert await worker.ask(("echo", 1, 2)) == 2
            assert await worker.ask(("echo",)) is None
            assert worker.restarts == 0
        finally:
            await worker.close()

    async def test_requests_at_the_same_time_get_their_own_answers(self) -> None:
        """The words of one utterance in another."""
        worker = useful()
        try:
            answers = await asyncio.gather(*(parts(worker, "echo", n, n + 1) for n in range(20)))
            assert answers == [[n, n + 1] for n in range(20)]
        finally:
            await worker.close()

    async def test_an_exception_fails_its_request_alone_in_one_line(self) -> None:
        """The operator's log would hold half a traceback, and the program would not speak any more."""
        worker = useful()
        try:
            with pytest.raises(WorkerError, match=rf"^{NAME}: ValueError: first second$"):
                await worker.ask(("raise", "first\n  second\n"))
            assert await worker.ask(("echo", 1)) == 1
            assert worker.restarts == 0
        finally:
            await worker.close()

    async def test_ctrl_c_does_not_kill_the_child(self) -> None:
        """The last report would be lost when the operator ends the program."""
        worker = useful()
        try:
            os.kill(await worker.ask(("pid",)), signal.SIGINT)
            assert await worker.ask(("echo", 1)) == 1
        finally:
            await worker.close()


class TestCancel:
    async def test_closing_the_answer_stops_the_work(self) -> None:
        """A cut sentence would be synthesised to its end before the answer to the cut can begin."""
        worker = useful()
        try:
            async with aclosing(worker.request(("endless",))) as answer:
                async for _ in answer:
                    break
            assert await worker.ask(("stopped",)) == 1
        finally:
            await worker.close()

    async def test_cancelling_a_later_request_leaves_the_earlier_one_whole(self) -> None:
        """The recognition of what was said would lose its end because a guess behind it was called off."""
        worker = useful()
        try:
            async with aclosing(worker.request(("slowly", 20))) as answer:
                got = [await anext(answer)]
                later = asyncio.create_task(parts(worker, "echo", 1))
                await asyncio.sleep(0)
                later.cancel()
                await asyncio.gather(later, return_exceptions=True)
                got += [part async for part in answer]
            assert got == list(range(20))
        finally:
            await worker.close()

    async def test_a_cancelled_request_that_waits_is_not_begun(self) -> None:
        """The engine would speak a clause that nobody wants before the one that is wanted."""
        worker = useful()
        try:
            async with aclosing(worker.request(("slowly", 20))) as answer:
                await anext(answer)
                waiting = asyncio.create_task(parts(worker, "endless"))
                await asyncio.sleep(0)
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
                async for _ in answer:
                    pass
            assert await worker.ask(("stopped",)) == 0
        finally:
            await worker.close()


class TestFaults:
    async def test_a_crash_fails_what_is_under_way_and_the_next_request_works(self) -> None:
        """D7. One crash of the recogniser, and the program is deaf."""
        worker = useful()
        try:
            answer = worker.request(("crash after", "a"))
            assert await anext(answer) == "a"
            with pytest.raises(WorkerError, match=rf"^{NAME}: the process ended$"):
                await anext(answer)
            assert await worker.ask(("echo", 1)) == 1
            assert worker.restarts == 1
        finally:
            await worker.close()

    async def test_a_crash_fails_what_waits_behind_it_too(self) -> None:
        """A request that nobody will answer would be waited for without end."""
        worker = useful()
        try:
            await worker.start()
            results = await asyncio.gather(
                worker.ask(("crash",)), worker.ask(("echo", 1)), worker.ask(("echo", 2)), return_exceptions=True
            )
            assert all(isinstance(result, WorkerError) for result in results)
        finally:
            await worker.close()

    async def test_a_hang_is_noticed_and_ended(self) -> None:
        """D7. The engine hangs for half a minute, and so does the conversation."""
        worker = useful(timeout=0.3)
        try:
            with pytest.raises(WorkerError, match=r"no answer for 0\.3 s$"):
                await worker.ask(("sleep", 60))
            worker.timeout = 30
            assert await worker.ask(("echo", 1)) == 1
        finally:
            await worker.close()

    async def test_waiting_behind_slow_work_is_no_hang(self) -> None:
        """A healthy engine would be killed because somebody stood in the queue."""
        worker = useful(timeout=2.0)
        try:
            assert await asyncio.gather(worker.ask(("sleep", 1.2)), worker.ask(("sleep", 1.2))) == ["slept", "slept"]
            assert worker.restarts == 0
        finally:
            await worker.close()

    async def test_crash_after_crash_does_not_pile_up(self) -> None:
        """C3. Each crash would keep its pipes open, until the program may open nothing any more."""
        worker = useful()
        try:
            for _ in range(4):
                with pytest.raises(WorkerError):
                    await worker.ask(("crash",))
            assert worker.restarts == 4
            assert len(worker._graves) <= 2
        finally:
            await worker.close()


class TestStart:
    @pytest.mark.parametrize(
        ("make", "args", "reason"),
        [
            (servants.cannot_be_made, ("no model\nat all",), "OSError: no model at all"),
            (servants.cannot_be_made, ("",), "OSError"),
            (servants.dies_while_made, (), "the process ended"),
            (servants.never_made, (), "no answer for 1.5 s"),
        ],
    )
    async def test_a_failed_start_gives_one_line_each_time(self, make: Any, args: tuple[str, ...], reason: str) -> None:
        """The operator would look for the missing model in a traceback of the wrong process."""
        worker = Worker(NAME, make, *args, start_timeout=1.5 if make is servants.never_made else 60)
        try:
            for attempt in (worker.start, lambda: worker.ask(("echo", 1))):
                with pytest.raises(WorkerError) as caught:
                    await attempt()
                assert str(caught.value) == f"{NAME}: {reason}"
                if make is servants.never_made:
                    break
        finally:
            await worker.close()


class TestClose:
    @pytest.mark.parametrize("moment", ["new", "starting", "idle", "working", "waiting", "crashed", "just crashed"])
    async def test_at_any_moment(self, moment: str) -> None:
        """C5. `nothing_is_left` looks for what this leaves behind; requests under way must fail, not hang."""
        worker = useful()
        tasks: list[asyncio.Task[Any]] = []
        match moment:
            case "starting":
                tasks.append(asyncio.create_task(worker.start()))
                await asyncio.sleep(0.01)
            case "idle":
                await worker.ask(("echo", 1))
            case "working" | "waiting":
                await worker.start()
                tasks.append(asyncio.create_task(worker.ask(("sleep", 60))))
                if moment == "waiting":
                    tasks.append(asyncio.create_task(worker.ask(("echo", 1))))
                await asyncio.sleep(0.01)
            case "crashed":
                with pytest.raises(WorkerError):
                    await worker.ask(("crash",))
            case "just crashed":
                await worker.start()
                tasks.append(asyncio.create_task(worker.ask(("crash",))))
                await asyncio.sleep(0)
        await worker.close()
        await worker.close()
        results = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 30)
        assert all(isinstance(result, WorkerError) for result in results)

    async def test_a_start_that_is_cancelled_can_be_closed(self) -> None:
        """C5. Ctrl-C while the models load."""
        worker = useful()
        starting = asyncio.create_task(worker.start())
        await asyncio.sleep(0.01)
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        await worker.close()

    async def test_it_can_be_used_again(self) -> None:
        """A language is changed, and back again."""
        worker = useful()
        await worker.ask(("echo", 1))
        await worker.close()
        assert await worker.ask(("echo", 2)) == 2
        await worker.close()


class TestVirtualTime:
    def test_time_stands_still_for_the_child_and_goes_on_behind_it(self) -> None:
        """The speed of this machine would decide what a simulated conversation does."""

        async def main() -> list[float]:
            loop, worker, times = asyncio.get_running_loop(), useful(), []
            try:
                await worker.ask(("sleep", 0.1))
                times.append(loop.time())
                async with aclosing(worker.request(("endless",))) as answer:
                    await anext(answer)
                times.append(loop.time())
                with pytest.raises(WorkerError):
                    await worker.ask(("crash",))
                times.append(loop.time())
                await asyncio.sleep(5)
                times.append(loop.time())
            finally:
                await worker.close()
            await asyncio.sleep(5)
            return [*times, loop.time()]

        assert run_virtual(main(), ManualClock()) == [0, 0, 0, 5, 10]

    def test_a_start_that_fails_or_is_closed_sets_time_free(self) -> None:
        """A missing model would freeze the simulation instead of ending it."""

        async def main() -> float:
            broken, closed = Worker(NAME, servants.cannot_be_made, "x"), useful()
            with pytest.raises(WorkerError):
                await broken.start()
            starting = asyncio.create_task(closed.start())
            await asyncio.sleep(0)
            await closed.close()
            await asyncio.gather(starting, return_exceptions=True)
            await broken.close()
            await asyncio.sleep(5)
            return asyncio.get_running_loop().time()

        assert run_virtual(main(), ManualClock()) == 5


PARENT = """
import asyncio
from tests import servants
from voice.worker import Worker

async def main():
    worker = Worker("orphan", servants.{servant})
    starting = asyncio.ensure_future(worker.start())
    await asyncio.sleep(0)
    print("the child runs", flush=True)
    await starting
    await worker.ask(("sleep", 60))

asyncio.run(main())
"""


class TestAParentThatIsKilled:
    @pytest.mark.parametrize("servant", ["never_made", "useful"])
    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
    def test_leaves_nobody_behind(self, servant: str, number: signal.Signals) -> None:
        """A recogniser for each conversation that was ended by force: the kiosk's memory is full one day."""
        code = PARENT.format(servant=servant)
        with subprocess.Popen([sys.executable, "-c", code], stdout=PIPE, stderr=PIPE, cwd=ROOT) as parent:
            assert parent.stdout is not None
            parent.stdout.readline()
            parent.send_signal(number)
            _, told = parent.communicate(timeout=30)  # the pipes end when the last process that holds them does
        assert told == b""
