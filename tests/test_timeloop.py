"""Virtual time: a conversation of an hour is tested in a second, and never on the speed of the machine."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from voice import timeloop
from voice.core.clock import ManualClock
from voice.timeloop import LoopClock, VirtualTimeLoop, outside, run_virtual


class TestJumping:
    def test_an_hour_takes_no_time(self) -> None:
        """Tests of idle timers and heartbeats would never be run."""

        async def main() -> float:
            begin = asyncio.get_running_loop().time()
            await asyncio.sleep(3600)
            return asyncio.get_running_loop().time() - begin

        assert run_virtual(main()) == pytest.approx(3600)

    def test_timers_fire_in_their_order_and_at_their_times(self) -> None:
        """A test would pass with an order of events that no user ever sees."""
        clock, fired = ManualClock(100.0), []

        async def wait(name: str, seconds: float) -> None:
            await asyncio.sleep(seconds)
            fired.append((name, round(clock.now() - 100.0, 6)))

        async def main() -> None:
            await asyncio.gather(wait("c", 3), wait("a", 1), wait("b", 2), wait("day", 86400 * 3))

        run_virtual(main(), clock)
        assert fired == [("a", 1), ("b", 2), ("c", 3), ("day", 259200)]

    def test_what_is_ready_runs_before_time_moves(self) -> None:
        """Work that takes a while on a slow machine would seem to take virtual seconds."""

        async def main() -> list[float]:
            loop, times = asyncio.get_running_loop(), []
            sleeper = asyncio.create_task(asyncio.sleep(1))
            for _ in range(1000):
                await asyncio.sleep(0)
                times.append(loop.time())
            await sleeper
            return times

        times = run_virtual(main())
        assert len(set(times)) == 1

    def test_timeouts_work(self) -> None:
        """A server that never answers would hang the test instead of failing it."""

        async def main() -> float:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(30):
                    await asyncio.Event().wait()
            return asyncio.get_running_loop().time()

        assert run_virtual(main(), ManualClock()) == pytest.approx(30)

    def test_the_loops_clock_is_the_given_clock(self) -> None:
        """The session and its timers would live in two different times."""
        clock = ManualClock(7.0)

        async def main() -> tuple[float, float]:
            await asyncio.sleep(2)
            return LoopClock(asyncio.get_running_loop()).now(), clock.now()

        assert run_virtual(main(), clock) == (9.0, 9.0)

    def test_sockets_are_real(self) -> None:
        """The whole client is tested against a real server on the loopback interface."""

        async def main() -> bytes:
            async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                writer.write(await reader.readline())
                writer.close()

            async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
                reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
                writer.write(b"hello\n")
                answer = await reader.read()
                writer.close()
                return answer

        assert run_virtual(main()) == b"hello\n"

    def test_errors_and_results_come_through(self) -> None:
        """A test that cannot fail."""

        async def fails() -> None:
            await asyncio.sleep(1)
            raise KeyError("x")

        with pytest.raises(KeyError):
            run_virtual(fails())


class TestOutside:
    def test_time_stands_still_while_work_is_outside(self) -> None:
        """The speed of a recogniser on this machine would decide what the session does."""
        release = threading.Event()

        async def main() -> tuple[float, list[float]]:
            loop, ticks = asyncio.get_running_loop(), []

            async def tick() -> None:
                while True:
                    await asyncio.sleep(1)
                    ticks.append(loop.time())

            ticking = asyncio.create_task(tick())
            await asyncio.sleep(2.5)
            with outside():
                before = loop.time()
                loop.call_soon(release.set)
                await loop.run_in_executor(None, work)
            during = loop.time() - before
            ticking.cancel()
            return during, ticks

        def work() -> None:
            release.wait(10)
            time.sleep(0.05)

        assert run_virtual(main(), ManualClock()) == (0.0, [1.0, 2.0])

    def test_time_goes_on_when_all_of_it_has_ended(self) -> None:
        """One recogniser and one synthesiser: the first to end must not set time free for the other."""

        async def main() -> list[float]:
            loop = asyncio.get_running_loop()
            assert isinstance(loop, VirtualTimeLoop)
            begin, seen = loop.time(), []
            loop.work_began()
            loop.work_began()
            sleeper = asyncio.create_task(asyncio.sleep(1))
            for _ in range(2):
                await loop.run_in_executor(None, time.sleep, 0.01)
                loop.work_ended()
                await asyncio.sleep(0)
                seen.append(loop.time() - begin)
            await sleeper
            return [*seen, loop.time() - begin]

        assert run_virtual(main(), ManualClock()) == [0.0, 0.0, 1.0]

    async def test_on_an_ordinary_loop_it_is_nothing(self) -> None:
        """The program itself runs on real time."""
        with outside():
            await asyncio.sleep(0)

    def test_work_that_fails_sets_time_free(self) -> None:
        """One crash of a recogniser would freeze every test behind it."""

        async def main() -> float:
            with pytest.raises(ZeroDivisionError), outside():
                raise ZeroDivisionError
            await asyncio.sleep(5)
            return asyncio.get_running_loop().time()

        assert run_virtual(main(), ManualClock()) == 5.0


class TestStuck:
    @pytest.mark.parametrize("outside_work", [True, False])
    def test_a_loop_that_waits_for_nothing_says_so(self, outside_work: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        """The test run would hang until somebody kills it, and tell nothing."""
        monkeypatch.setattr(timeloop, "_STUCK_AFTER", 0.05)

        async def main() -> None:
            loop = asyncio.get_running_loop()
            assert isinstance(loop, VirtualTimeLoop)
            if outside_work:
                loop.work_began()
                await asyncio.sleep(1)
            await asyncio.Event().wait()

        with pytest.raises(RuntimeError, match="virtual time is stuck"):
            run_virtual(main())
