"""Plans of faults by seed: whatever goes wrong, nothing is said twice, nothing is lost, and it ends clean.

Over Google CES two things are less, and cannot be more: no frame accepts a text, so that after a fault it may come
twice; and the server replays nothing, so that what it said while the link was down is not known here.

A plan that fails is printed with its seed, then again with every fault left out that it fails without. The same plan
runs in a server of its own with `voice serve --faults SEED`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest

from tests.faults.kiosk import LAST, Kiosk, hold, open_sockets, reports, tokens_in
from voice.core.events import Ended
from voice.core.server_events import MessageCompleted, ServerFault, Snapshot
from voice.server.faults import FaultPlan, PlannedFaults, announcement
from voice.server.flow_file import parse
from voice.server.peer import Arrival, FramePlan
from voice.server.serve import FlowServer
from voice.server.session import HostedConversation
from voice.timeloop import run_virtual
from voice.wire import infermedica, paths
from voice.wire.ces_frames import SessionConfig
from voice.wire.ces_link import CesLink, Opening
from voice.wire.ces_spellings import assumed
from voice.wire.connection import Connection
from voice.wire.reconnect import LinkRules

FLOW = parse(f"""
[flow]
name = "faults"
opening = "ask"
[pace]
chars = 24
seconds = 0.05
thinking = 0.3
[[step]]
id = "ask"
expect = "choices"
tries = 99
next = "end"
messages = [{{ kind = "intro", text = "Hello, this is the desk. Please tell me, why are you here today?" }}]
retry = [
  {{ kind = "acknowledgement", text = "Thank you for that." }},
  {{ kind = "follow_up", text = "Is there anything else, or was that all? Take your time, please." }},
]
[step.branch.all]
match = ["{LAST}"]
next = "end"
[[step]]
id = "end"
end = "completed"
messages = [{{ kind = "follow_up", text = "Thank you, that was all. Goodbye and get well soon." }}]
""")

PLANS, CHUNK = 1000, 50


class FailedError(Exception):
    """What a plan showed."""


@asynccontextmanager
async def served(plan: FaultPlan) -> AsyncIterator[tuple[FlowServer, PlannedFaults]]:
    """A server with these faults. Afterwards nothing is left of anything, and one socket was open at a time."""
    faults = plan.planner(announcement)
    most = 0

    def planner(arrival: Arrival) -> FramePlan | None:
        nonlocal most
        most = max(most, open_sockets(port))
        return faults(arrival)

    server = FlowServer(FLOW, plan=planner)
    port = await server.start()
    try:
        yield server, faults
    finally:
        await server.stop()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        raise FailedError(f"tasks are left: {left}")
    if most > 1:
        raise FailedError(f"{most} sockets were open at once")


async def infermedica_run(plan: FaultPlan, seed: int) -> None:
    chance = Random(seed)
    first = {"settings": {"channel": "voice", "opening_message_enabled": True}, "assessment": {}}
    async with served(plan) as (server, faults):
        url = f"{server.url}{paths.INFERMEDICA}"
        kiosk = Kiosk(
            lambda emit: Connection(url, None, first, emit, codec=infermedica, rules=LinkRules(), chance=chance.random)
        )
        said = await hold(kiosk, seed)
    judge(kiosk, faults, said, server.conversations)


async def ces_run(plan: FaultPlan, seed: int) -> None:
    chance = Random(seed)
    config = SessionConfig("projects/p/locations/us/apps/demo/sessions/call-1", text_streaming=seed % 2 == 1)
    opening = Opening(assumed("opening.event"))
    async with served(plan) as (server, faults):
        url = f"{server.url}{paths.CES}us"
        kiosk = Kiosk(lambda emit: CesLink(url, None, config, emit, opening=opening, chance=chance.random))
        said = await hold(kiosk, seed)
    judge_ces(kiosk, faults, said, [given for session in server.sessions.values() for given in session.inputs])


def judge(
    kiosk: Kiosk, faults: PlannedFaults, said: Sequence[str], conversations: Mapping[str, HostedConversation]
) -> None:
    """Raises FailedError. A conversation whose id never reached the client is none of ours."""
    ours = [conversations[name] for name in {snapshot.conversation_id for snapshot in kiosk.of(Snapshot)}]
    reason = kiosk.of(Ended)[0].reason
    refused = any(fault.kind == "close_1008" for fault in faults.happened)
    if reason != "completed" and not refused:
        raise FailedError(f"it ended with {reason!r}")
    arrived = tokens_in([each.content for mine in ours for each in mine.received])
    late = sum(fault.code == "conversation_completed" for fault in kiosk.of(ServerFault))
    if any(count > 1 for count in arrived.values()):
        raise FailedError(f"{arrived} arrived")
    lost = [token for token in said if not arrived[token]]
    if len(lost) > late and not refused:  # what is said after the end is refused, and the visitor is told so
        raise FailedError(f"{lost} never arrived")
    told = reports(kiosk)
    for row in [row for mine in ours for row in mine.rows if row.role == "assistant"]:
        mine = told.pop(row.id, [])
        if len(mine) != 1 and not refused:
            raise FailedError(f"{row.kind} {row.text!r} was reported {len(mine)} times")
        for report in mine:
            exact = not refused and not any(row.id in str(frame) for frame in faults.touched)
            if exact and not (row.text.startswith(report.heard) and (report.cut or report.heard == row.text)):
                raise FailedError(f"of {row.text!r} was heard {report.heard!r}, cut by {report.cut}")


def judge_ces(kiosk: Kiosk, faults: PlannedFaults, said: Sequence[str], inputs: Sequence[Mapping[str, Any]]) -> None:
    """Raises FailedError."""
    reason = kiosk.of(Ended)[0].reason
    refused = any(fault.kind == "close_1008" for fault in faults.happened)
    if reason != "completed" and not refused:
        raise FailedError(f"it ended with {reason!r}")
    arrived = tokens_in([str(given.get("text", "")) for given in inputs])
    if any(count > 1 for count in arrived.values()) and not faults.happened:
        raise FailedError(f"{arrived} arrived")
    late = sum(fault.code == "conversation_completed" for fault in kiosk.of(ServerFault))
    lost = [token for token in said if not arrived[token]]
    if len(lost) > late and not refused:
        raise FailedError(f"{lost} never arrived")
    told = reports(kiosk)
    for message in kiosk.of(MessageCompleted):
        mine = told.get(message.id, [])
        if len(mine) != 1:
            raise FailedError(f"{message.text!r} was reported {len(mine)} times")
        if not (message.text.startswith(mine[0].heard) and (mine[0].cut or mine[0].heard == message.text)):
            raise FailedError(f"of {message.text!r} was heard {mine[0].heard!r}, cut by {mine[0].cut}")


RUNS: Mapping[str, Callable[[FaultPlan, int], Coroutine[Any, Any, None]]] = {
    "infermedica": infermedica_run,
    "ces": ces_run,
}


def failure(run: str, plan: FaultPlan, seed: int) -> str:
    """What goes wrong with this plan; "" if nothing."""
    try:
        run_virtual(RUNS[run](plan, seed))
    except FailedError as failed:
        return str(failed)
    except TimeoutError:
        return "it did not end"
    return ""


def shrunk(run: str, plan: FaultPlan, seed: int) -> FaultPlan:
    """The plan without the faults that it fails without, too."""
    for index in reversed(range(len(plan.faults))):
        if failure(run, less := plan.without(index), seed):
            plan = less
    return plan


@pytest.mark.parametrize("begin", range(0, PLANS, CHUNK))
@pytest.mark.parametrize("run", RUNS)
def test_nothing_is_lost_and_nothing_comes_twice(run: str, begin: int) -> None:
    """A visitor whose answer vanishes, or who is told a thing twice, stops trusting the voice."""
    for seed in range(begin, begin + CHUNK):
        plan = FaultPlan.from_seed(seed)
        if wrong := failure(run, plan, seed):
            small = shrunk(run, plan, seed)
            pytest.fail(f"{run}: {plan}\n  {wrong}\nstill fails as {small}\n  {failure(run, small, seed)}")
