"""One run of `voice bench live`: a sound server, a room, a conversation server and the program, each in real time."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from voice.audio.base import BLOCK, RATE, Pcm
from voice.audio.people import active_level, at_level
from voice.audio.response import convolve, load
from voice.bench import live_measure as measure
from voice.bench.floor_phrases import MESSAGES
from voice.bench.floor_voices import Key
from voice.bench.live_align import find
from voice.bench.live_children import child, end, line
from voice.bench.live_pulse import ONE_CLOCK, PulseServer
from voice.bench.live_room import DRIVE, write_plan
from voice.bench.live_truth import SpokenText, truth_of
from voice.server.flow_file import parse
from voice.server.serve import FlowServer
from voice.wire import paths

ROOM = "kiosk"
ECHO_DB = -6.0
NOISE_DB = -60.0
"""As the virtual room has them by default."""

DUCKED_DB = 20.0
"""dB by which the player lowers the voice."""

WARM = (6.0, 9.5)
"""Seconds that our voice has spoken before the person begins: the echo canceller has learned the room."""

AFTER = 2.5
"""Seconds after the person's end that a run goes on."""

ENDING = 0.1
"""Seconds before the bench ends the program that are not looked at: the clocks of both are not alike to the sample."""

SETTLED = 0.4
"""Seconds after our voice fell silent in which a piece of it would follow that was only delayed; a new message comes
later."""

LATE = 0.05
"""Seconds without a callback, while the person is listened to, after which a run was disturbed by the machine."""

HOLES = BLOCK
"""Samples of holes in our voice with which a run was disturbed: the way of the echo is another one behind each."""

STOLEN = 0.05
"""Share of processor time that other machines took, from which on a run was disturbed."""

_FLOW = """
[flow]
name = "asking"
opening = "ask"
[[step]]
id = "ask"
expect = "free"
next = "bye"
messages = [{{ kind = "follow_up", text = "{text}" }}]
[[step]]
id = "bye"
end = "completed"
messages = [{{ kind = "follow_up", text = "Thank you. Goodbye." }}]
"""


@dataclass(frozen=True, slots=True)
class Case:
    """Who interrupts which message, and when."""

    number: int
    message: int
    clip: Key
    after: float
    """Seconds after our voice's first sound."""

    @classmethod
    def drawn(cls, seed: int, number: int, clips: list[Key]) -> Case:
        """The case of that number."""
        random = Random(f"live {seed} {number}")
        return cls(number, random.randrange(len(MESSAGES)), random.choice(clips), round(random.uniform(*WARM), 3))


@dataclass(slots=True)
class Run:
    """What came of a case; times in milliseconds."""

    case: Case
    sensitivity: str
    duck: float | None = None
    silence: float | None = None
    """From the person's onset on; None: it did not happen."""
    false_ducks: int = 0
    """Times the voice was lowered before the person began."""
    early: bool = False
    """The voice was lowered, or had stopped, before the person began."""
    exact: bool | None = None
    """What the program said was heard is what the recording has; None: the voice was not cut."""
    claimed: int = 0
    heard: int = 0
    """Words, by the program and by the recording."""
    dead: int = 0
    unnoticed: int = 0
    busy: str = ""
    """Why the machine was too busy for this run, if it was."""
    stages: dict[str, float] = field(default_factory=dict)
    """Where the time went."""
    log: list[Any] = field(default_factory=list)


async def play(case: Case, sensitivity: str, clip: Pcm, message: SpokenText) -> Run:
    """Play a case. Raises RuntimeError when a part does not start."""
    person = person_of(clip, message)
    server = server_of(message.text)
    await server.start()
    try:
        with PulseServer(ONE_CLOCK) as sound, TemporaryDirectory(prefix="voice-live-") as name:
            folder = Path(name)
            write_plan(
                *(folder / "plan.npz", person),
                response=ROOM,
                after=case.after,
                echo_db=ECHO_DB,
                noise_db=NOISE_DB,
                seed=case.number,
            )
            before = _processor()
            room = await child(sound, "voice.bench.live_room", folder / "plan.npz", folder / "room.npz")
            await line(room, "ready")
            url = f"{server.url}{paths.INFERMEDICA}"
            program = await child(sound, "voice.bench.live_program", url, sensitivity, folder / "program.npz")
            await line(room, "speaking")
            await line(room, "over")
            await asyncio.sleep(AFTER)
            await end(program)
            await end(room)
            stolen = _stolen(before, _processor())
            with np.load(folder / "room.npz") as of_room, np.load(folder / "program.npz") as of_program:
                run = measured(case, sensitivity, person, message, dict(of_room), dict(of_program))
            if stolen > STOLEN:
                run.busy = run.busy or f"{stolen:.0%} of the processor was stolen"
            return run
    finally:
        await server.stop()


def server_of(text: str) -> FlowServer:
    """A server that says `text`, hears an answer and says goodbye."""
    return FlowServer(parse(_FLOW.format(text=text)))


def person_of(clip: Pcm, message: SpokenText) -> Pcm:
    """The person at the microphone, at the place nearest to it: as loud as our voice comes back."""
    echo, people = load(ROOM)
    comes_back = active_level(convolve(np.tanh(message.audio * DRIVE) / np.float32(DRIVE), echo))
    return at_level(convolve(clip, people[0]), 20 * float(np.log10(comes_back)) + ECHO_DB)


def measured(
    case: Case, sensitivity: str, person: Pcm, message: SpokenText, room: dict[str, Any], program: dict[str, Any]
) -> Run:
    """Read a run from what the room and the program wrote down."""
    run = Run(case, sensitivity)
    log, card = json.loads(str(program["log"])), json.loads(str(program["card"]))
    run.log = [[round(t - float(room["began"]), 4), *rest] for t, *rest in log]
    ended = next((t for t, name, *what in run.log if name == "stop" and what[0] == "shutdown"), None)
    sound = room["sound"] if ended is None else room["sound"][: round((ended - ENDING) * RATE)]  # that is no yielding
    loudspeaker, unheard = sound[:, 0], sound[:, 2]
    _device(run, program, card)
    found = measure.onset_of(unheard, person)
    if found is None:
        run.busy = run.busy or "the person was not heard"
        return run
    onset, whole = found
    run.false_ducks = sum(name == "duck" and what[0] and t < onset / RATE for t, name, *what in run.log)
    run.busy = run.busy or ("" if whole else "the room could not keep up")
    shift = measure.shift_of(loudspeaker, message.audio, onset)
    if shift is None:
        run.early = True
        return run
    fell = measure.lowered_at(loudspeaker, message.audio, shift, onset)
    lowered = None
    if fell is not None:
        lowered, shift = fell
        run.duck = (lowered - onset) * 1000 / RATE
        silent = measure.silent_at(loudspeaker, message.audio, shift, lowered, DUCKED_DB)
        run.silence = None if silent is None else (silent - onset) * 1000 / RATE
    until = loudspeaker.size if run.silence is None else onset + round((run.silence / 1000 + SETTLED) * RATE)
    truth = truth_of(loudspeaker[:until], message)
    run.stages["holes"] = truth.holes * 1000 / RATE
    holes = "" if truth.holes <= HOLES else f"{run.stages['holes']:.0f} ms of holes in our voice"
    run.busy = run.busy or truth.busy or holes
    closed = next((what for _, name, what in log if name == "closed"), None)
    if run.silence is not None and closed is not None:
        claimed, heard = closed["heard"].split(), truth.heard.split()
        run.exact, run.claimed, run.heard = claimed == heard, len(claimed), len(heard)
    _stages(run, onset, lowered, room, program)
    return run


def _device(run: Run, program: dict[str, Any], card: dict[str, Any]) -> None:
    """Whether the streams lived, and whether the machine kept up."""
    closed = card["closed"]
    dead: list[float] = []
    for name in ("rendered", "captured"):
        for opened, until in zip(card["opened"], closed, strict=True):
            dead += measure.dead_times(program[name][:, 0].tolist(), opened, until)
    run.unnoticed = len(measure.unnoticed(dead, card["lost"]))
    run.unnoticed += measure.longest_zeros(program["heard"]) > measure.MUTE
    run.dead = len(card["lost"]) + run.unnoticed
    first, last = card["opened"][0] + 1.0, closed[-1]
    gap = max(measure.longest_gap(program[name][:, 0], first, last) for name in ("rendered", "captured"))
    troubles = {
        "callbacks came late": gap > LATE,
        "the microphone ran over": card["overflows"] > 0,
        "the audio thread was behind": card["dropped"] > 0,
    }
    run.busy = next((reason for reason, true in troubles.items() if true), "")
    run.stages["gap"] = gap * 1000
    run.stages |= {name: card[name] for name in ("underflows", "buffer", "jumps", "drift_ppm")}
    run.stages["input_latency"], run.stages["output_latency"] = (value * 1000 for value in card["latencies"][0])


def _stages(run: Run, onset: int, lowered: int | None, room: dict[str, Any], program: dict[str, Any]) -> None:
    """Where the time between the onset and the duck went, in milliseconds, by the clocks of room and program."""
    began = float(room["began"])
    at = began + onset / RATE
    piece = room["sound"][onset : onset + 4 * BLOCK, 1]
    heard = program["heard"]
    place = find(heard, piece, 0, heard.size)
    started = next((t for t, name, *_ in run.log if name == "started" and t > onset / RATE - 0.05), None)
    duck = next((t for t, name, what in run.log if name == "duck" and what and t > onset / RATE - 0.05), None)
    if place is None or started is None or duck is None or lowered is None:
        return
    captured = float(program["captured"][place // BLOCK, 0])
    called = program["rendered"][:, 0]
    rendered = float(called[np.searchsorted(called, began + duck)])
    run.stages["input"] = (captured - at) * 1000
    run.stages["detected"] = (began + started - captured) * 1000
    run.stages["decided"] = (duck - started) * 1000
    run.stages["waited"] = (rendered - began - duck) * 1000
    run.stages["output"] = (began + lowered / RATE - rendered) * 1000


def _processor() -> tuple[int, int]:
    """(all, stolen) ticks of the processors so far; zeros where the system does not tell."""
    try:
        ticks = [int(value) for value in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    except OSError:
        return 0, 0
    return sum(ticks), ticks[7]


def _stolen(before: tuple[int, int], after: tuple[int, int]) -> float:
    return (after[1] - before[1]) / max(1, after[0] - before[0])
