"""Plans of faults by seed: whatever goes wrong, nothing is said twice, nothing is lost, and it ends clean.

A plan that fails is printed with its seed, then again with every fault left out that it fails without. The same plan
runs in a server of its own with `voice serve --faults SEED`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from random import Random

import pytest

from tests.faults.kiosk import LAST, Kiosk, hold, open_sockets, reports, tokens_in
from voice.core.events import Ended
from voice.core.server_events import ServerFault, Snapshot
from voice.server.faults import FaultPlan, PlannedFaults
from voice.server.flow_file import parse
from voice.server.peer import Arrival, FramePlan
from voice.server.serve import FlowServer
from voice.server.session import HostedConversation
from voice.timeloop import run_virtual
from voice.wire import infermedica
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


async def infermedica_run(plan: FaultPlan, seed: int) -> None:
    faults = plan.planner()
    most = 0

    def planner(arrival: Arrival) -> FramePlan | None:
        nonlocal most
        most = max(most, open_sockets(port))
        return faults(arrival)

    server = FlowServer(FLOW, plan=planner)
    port = await server.start()
    chance = Random(seed)
    first = {"settings": {"channel": "voice", "opening_message_enabled": True}, "assessment": {}}
    kiosk = Kiosk(
        lambda emit: Connection(
            f"{server.url}/api/ct/v2/realtime",
            None,
            first,
            emit,
            codec=infermedica,
            rules=LinkRules(),
            chance=chance.random,
        )
    )
    try:
        said = await hold(kiosk, seed)
    finally:
        await server.stop()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        raise FailedError(f"tasks are left: {left}")
    if most > 1:
        raise FailedError(f"{most} sockets were open at once")
    judge(kiosk, faults, said, server.conversations)


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


def failure(plan: FaultPlan, seed: int) -> str:
    """What goes wrong with this plan; "" if nothing."""
    try:
        run_virtual(infermedica_run(plan, seed))
    except FailedError as failed:
        return str(failed)
    except TimeoutError:
        return "it did not end"
    return ""


def shrunk(plan: FaultPlan, seed: int) -> FaultPlan:
    """The plan without the faults that it fails without, too."""
    for index in reversed(range(len(plan.faults))):
        if failure(less := plan.without(index), seed):
            plan = less
    return plan


@pytest.mark.parametrize("begin", range(0, PLANS, CHUNK))
def test_nothing_is_lost_and_nothing_comes_twice(begin: int) -> None:
    """A visitor whose answer vanishes, or who is told a thing twice, stops trusting the voice."""
    for seed in range(begin, begin + CHUNK):
        plan = FaultPlan.from_seed(seed)
        if wrong := failure(plan, seed):
            small = shrunk(plan, seed)
            pytest.fail(f"{plan}\n  {wrong}\nstill fails as {small}\n  {failure(small, seed)}")
