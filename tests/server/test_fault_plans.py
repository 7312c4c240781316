"""What a plan of faults does to the frames of a connection."""

from __future__ import annotations

import asyncio
from typing import get_args

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.server.raw import CREATE, Raw
from tests.wire.lab import FLOW
from voice.server.faults import KINDS, Fault, FaultKind, FaultPlan
from voice.server.flow_file import parse
from voice.server.peer import Arrival, Close, Cut, Pass, Refuse, Stall, StopReading, Wait
from voice.server.serve import FlowServer
from voice.timeloop import run_virtual

HERE = Arrival("websocket", "/", 0)


def deeds(kind: FaultKind, direction: str = "out", seconds: float = 0.0) -> list[list[object]]:
    """What becomes of three frames when this fault meets the second."""
    faults = FaultPlan((Fault(kind, 0, direction, 1, seconds),)).planner(lambda path: "goodbye")(HERE)  # type: ignore[arg-type]
    assert faults is not None
    through = faults.outgoing if direction == "out" else faults.incoming
    return [list(through(frame)) for frame in ("first", "second", "third")]


class TestPlan:
    """A plan is drawn from a seed."""

    def test_the_same_seed_gives_the_same_faults(self) -> None:
        """A failure that does not come back cannot be mended."""
        assert FaultPlan.from_seed(7) == FaultPlan.from_seed(7) != FaultPlan.from_seed(8)

    def test_every_kind_is_drawn(self) -> None:
        """A thousand plans without a half-open link prove nothing about one."""
        drawn = {fault.kind for seed in range(300) for fault in FaultPlan.from_seed(seed).faults}
        assert drawn == set(KINDS) == set(get_args(FaultKind))

    def test_it_is_told_in_one_line(self) -> None:
        """Whoever reads a failure must see what went wrong where."""
        assert str(FaultPlan((Fault("delay", 0, "out", 3, 2.5), Fault("refuse", 1, "out", 0)), 7)) == (
            "seed 7: delay 2.5 s at connection 0, out 3; refuse at connection 1"
        )

    def test_without_one_of_its_faults(self) -> None:
        """What still fails with fewer is nearer to the cause."""
        first, second = Fault("cut", 0, "out", 1), Fault("cut", 1, "out", 1)
        assert FaultPlan((first, second)).without(0).faults == (second,)

    def test_other_connections_have_none(self) -> None:
        """A plan that never lets a conversation through cannot show that it recovers."""
        assert FaultPlan((Fault("cut", 0, "out", 1),)).planner()(Arrival("websocket", "/", 1)) is None


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("cut", [Cut()]),
        ("cut_after", [Pass("second"), Cut()]),
        ("duplicate", [Pass("second"), Pass("second")]),
        ("truncate", [Pass("sec")]),
        ("bad_frame", [Pass("{"), Pass("second")]),
        ("half_open", [Stall()]),
        ("slow_reader", [Pass("second"), StopReading()]),
        ("close_1011", [Close(1011)]),
        ("go_away", [Pass("second"), Pass("goodbye"), Wait(0.2), Close(1001)]),
    ],
)
def test_a_fault_meets_its_frame_and_no_other(kind: FaultKind, expected: list[object]) -> None:
    """Hurts whoever looks for a cause where it is not."""
    assert deeds(kind) == [[Pass("first")], expected, [Pass("third")]]


def test_a_delay_and_a_change_of_order() -> None:
    """Nothing is lost by either."""
    assert deeds("delay", seconds=2.0)[1] == [Wait(2.0), Pass("second")]
    assert deeds("reorder", "in") == [[Pass("first")], [], [Pass("third"), Pass("second")]]


def refused() -> list[object]:
    faults = FaultPlan((Fault("refuse", 0, "out", 0),)).planner()(HERE)
    assert faults is not None
    return list(faults.opened())


class TestOnTheWire:
    """The same on real sockets."""

    @staticmethod
    def served(*faults: Fault) -> FlowServer:
        return FlowServer(parse(FLOW % ""), plan=FaultPlan(faults).planner())

    def test_an_upgrade_is_refused(self) -> None:
        """A proxy without a server behind it."""

        async def main() -> None:
            server = self.served(Fault("refuse", 0, "out", 0))
            await server.start()
            with pytest.raises(InvalidStatus, match="503"):
                await connect(server.url)
            async with connect(server.url):  # the second is let through
                pass
            await server.stop()

        assert refused() == [Refuse(503)]
        run_virtual(main())

    def test_what_arrived_behind_a_closed_connection_is_lost_with_it(self) -> None:
        """A hole in the middle of what a client sent is no fault that a network can have."""

        async def main() -> None:
            server = self.served(Fault("close_1001", 0, "in", 1))
            await server.start()
            async with connect(server.url) as socket:
                raw = Raw(socket)
                await raw.send(CREATE)
                await raw.next()
                await raw.say(1, "one")
                await raw.say(2, "two")
                assert await raw.closed() == 1001
            [conversation] = server.conversations.values()
            assert conversation.received == []
            await server.stop()

        run_virtual(main())

    def test_a_half_open_connection_says_nothing_more(self) -> None:
        """Not even goodbye: that is what makes it hard to notice."""

        async def main() -> None:
            server = self.served(Fault("half_open", 0, "in", 0))
            await server.start()
            async with connect(server.url, ping_interval=None, close_timeout=1) as socket:
                await socket.send("{}")
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(600):
                        await socket.recv()
                socket.transport.abort()
                with pytest.raises(ConnectionClosed):
                    await socket.recv()
            await server.stop()

        run_virtual(main())
