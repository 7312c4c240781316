"""Faults by seed: what goes wrong on the first connections of a local server, and with which frame.

A plan is a value: the same seed draws the same faults, on every machine. It acts through the seam of
`voice.server.peer`, so it knows no protocol but for the frame that announces an end.

| kind | what the client sees |
| --- | --- |
| cut, cut_after | the connection is gone, before or after the frame; what was to follow is lost with it |
| delay | the frame, and all behind it, late: by a moment, or for longer than a link may be silent |
| duplicate | the frame twice |
| reorder | the frame after the one that follows it |
| truncate | the beginning of the frame |
| bad_frame | what is no frame, before the frame |
| half_open | nothing more, in either direction, on a connection that stays |
| slow_reader | a server that reads nothing more (and goes on talking) |
| close_1001, close_1011, close_1008 | a closing handshake; 1008 refuses the token |
| refuse | 503 instead of the upgrade |
| go_away | the announcement that the connection will end, then its end; where the protocol has none: 1001 |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, get_args

from voice.server.peer import Arrival, Close, Cut, Deed, Frame, FramePlan, Pass, Refuse, Stall, StopReading, Wait
from voice.wire import paths

FaultKind = Literal[
    "cut",
    "cut_after",
    "delay",
    "duplicate",
    "reorder",
    "truncate",
    "bad_frame",
    "half_open",
    "slow_reader",
    "close_1001",
    "close_1011",
    "close_1008",
    "refuse",
    "go_away",
]
KINDS: tuple[FaultKind, ...] = get_args(FaultKind)

MOST = 4
"""Faults of one plan."""

CONNECTIONS = 4
"""Faults happen on the first so many; those behind them have none, so a conversation can end."""

FRAMES = 24
"""Of one direction of a connection, in which faults happen: a short conversation has no more."""

_RARE: tuple[FaultKind, ...] = ("close_1008",)
"""Drawn seldom: it ends a conversation, and so hides what would come behind it."""

GoAway = Callable[[str], Frame | None]
"""The frame that announces an end, by the path of the connection."""

_LONG = 0.15
"""Share of the delays that outlast every patience."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong: with frame `frame` (from 0) of one direction of the `connection`-th connection."""

    kind: FaultKind
    connection: int
    direction: Literal["out", "in"]
    """out: to the client."""
    frame: int
    seconds: float = 0.0
    """Of a delay."""

    def __str__(self) -> str:
        where = f"connection {self.connection}" + ("" if self.kind == "refuse" else f", {self.direction} {self.frame}")
        return f"{self.kind}{f' {self.seconds:.1f} s' if self.seconds else ''} at {where}"


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """All faults of one run of a server."""

    faults: tuple[Fault, ...]
    seed: int | None = None

    @classmethod
    def from_seed(cls, seed: int) -> FaultPlan:
        """The plan of this seed. No two of its faults meet the same frame."""
        random = Random(seed)
        drawn = {(fault.connection, fault.direction, fault.frame): fault for fault in _drawn(random)}
        return cls(tuple(drawn.values()), seed)

    def without(self, index: int) -> FaultPlan:
        """The plan but for one fault: what is left when it still fails is nearer to the cause."""
        return replace(self, faults=self.faults[:index] + self.faults[index + 1 :], seed=None)

    def planner(self, go_away: GoAway = lambda path: None) -> PlannedFaults:
        """What `FlowServer(plan=...)` takes, for one run. `go_away`: how the protocol announces an end."""
        return PlannedFaults(self, go_away)

    def __str__(self) -> str:
        name = "faults" if self.seed is None else f"seed {self.seed}"
        return f"{name}: " + ("; ".join(map(str, self.faults)) or "none")


def announcement(path: str) -> Frame | None:
    """How the protocol that is spoken at a path announces the end of a connection; None: it does not."""
    return '{"goAway": {}}' if path.startswith(paths.CES) else None


def _drawn(random: Random) -> Sequence[Fault]:
    common = [kind for kind in KINDS if kind not in _RARE]
    faults: list[Fault] = []
    for _ in range(random.randint(1, MOST)):
        kind = random.choice(_RARE if random.random() < 0.02 else common)
        direction: Literal["out", "in"] = random.choice(("out", "out", "in"))
        if kind in ("truncate", "bad_frame", "go_away"):
            direction = "out"
        elif kind == "slow_reader":
            direction = "in"
        least = int(direction == "in" and kind in ("duplicate", "reorder"))  # the first frame has none to be mixed with
        frame = random.randrange(least, FRAMES if direction == "out" else 6)
        seconds = 0.0
        if kind == "delay":
            seconds = random.uniform(80.0, 200.0) if random.random() < _LONG else random.uniform(0.05, 8.0)
        connection = min(random.randrange(CONNECTIONS), random.randrange(CONNECTIONS))
        faults.append(Fault(kind, connection, direction, frame, seconds))
    return faults


class PlannedFaults:
    """A planner: counts the connections, and remembers which faults came to pass."""

    def __init__(self, plan: FaultPlan, go_away: GoAway) -> None:
        self._plan, self._go_away = plan, go_away
        self.happened: list[Fault] = []
        """So far."""
        self.touched: list[Frame] = []
        """Frames to the client that came twice, in another order, or not whole."""

    def __call__(self, arrival: Arrival) -> FramePlan | None:
        """The faults of a connection."""
        mine = [fault for fault in self._plan.faults if fault.connection == arrival.number]
        return _ConnectionFaults(mine, self, self._go_away(arrival.path)) if mine else None


class _ConnectionFaults:
    def __init__(self, faults: Sequence[Fault], told: PlannedFaults, go_away: Frame | None) -> None:
        self._refuses = next((fault for fault in faults if fault.kind == "refuse"), None)
        self._at = {(fault.direction, fault.frame): fault for fault in faults if fault.kind != "refuse"}
        self._told, self._go_away = told, go_away
        self._seen: Counter[str] = Counter()
        self._kept: dict[str, Frame] = {}
        """Frames that wait for the one behind them."""

    def opened(self) -> Sequence[Deed]:
        if self._refuses is None:
            return ()
        self._told.happened.append(self._refuses)
        return (Refuse(503),)

    def outgoing(self, frame: Frame) -> Sequence[Deed]:
        return self._deeds("out", frame)

    def incoming(self, frame: Frame) -> Sequence[Deed]:
        return self._deeds("in", frame)

    def _deeds(self, direction: Literal["out", "in"], frame: Frame) -> Sequence[Deed]:
        fault = self._at.get((direction, self._seen[direction]))
        self._seen[direction] += 1
        kept = self._kept.pop(direction, None)
        behind: tuple[Deed, ...] = () if kept is None else (Pass(kept),)
        if fault is None:
            return (Pass(frame), *behind)
        self._told.happened.append(fault)
        if direction == "out" and fault.kind in ("duplicate", "reorder", "truncate"):
            self._told.touched += [frame] if kept is None else [frame, kept]
        if fault.kind == "reorder" and kept is None:
            self._kept[direction] = frame
            return ()
        return (*self._of(fault, frame), *behind)

    def _of(self, fault: Fault, frame: Frame) -> Sequence[Deed]:
        match fault.kind:
            case "cut":
                return (Cut(),)
            case "cut_after":
                return (Pass(frame), Cut())
            case "delay":
                return (Wait(fault.seconds), Pass(frame))
            case "duplicate":
                return (Pass(frame), Pass(frame))
            case "truncate":
                return (Pass(frame[: len(frame) // 2]),)
            case "bad_frame":
                return (Pass("{"), Pass(frame))
            case "half_open":
                return (Stall(),)
            case "slow_reader":
                return (Pass(frame), StopReading())
            case "close_1001" | "close_1011" | "close_1008":
                return (Close(int(fault.kind[-4:])),)
            case "go_away":
                told = () if self._go_away is None else (Pass(self._go_away), Wait(0.2))
                return (Pass(frame), *told, Close(1001))
            case _:
                return (Pass(frame),)
