"""`voice bench live`: how soon the program yields to a person in real time, device latency included.

The whole program, its sound card and a sound server run in real time, in a room of this bench's own (see
`live_room.py`). The person, the moment and the message are drawn from a seed; our voice has spoken for at least six
seconds when the person begins. All times are counted in samples of one recording, in which the person, our
loudspeaker and the microphone are channels. A run in which the machine did not keep up is counted, and shown.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from voice.bench.floor_phrases import KEPT, MESSAGES, TUNING
from voice.bench.floor_voices import Key, human_clips, people, render
from voice.bench.live_pull import Fault, Pulled, pull
from voice.bench.live_run import WARM, Case, Run, play
from voice.bench.live_truth import spoken_text
from voice.bench.output import Figure, percentiles
from voice.config import Config

SENSITIVITIES = ("eager", "default")

FAULTS: tuple[Fault, ...] = ("killed", "frozen")

RUNS = 30
PULLS = 6
QUICK_RUNS = QUICK_PULLS = 1


@dataclass(frozen=True, slots=True)
class Options:
    """What to measure."""

    runs: int = RUNS
    """Of each sensitivity."""
    seed: int = 1
    kept: bool = False
    sensitivities: Sequence[str] = SENSITIVITIES
    pulls: int = PULLS
    """Runs in which the sound server dies or freezes."""
    detail: Path | None = None
    """Where to write one JSON line a run."""


def clips_of(kept: bool) -> list[Key]:
    """What people may say, by whom: each phrase by each synthetic voice, and recordings of people."""
    phrases = KEPT if kept else TUNING
    said = [(person.name, text) for person in people(kept) for text in phrases.interruption]
    human = [key for key, _ in human_clips(kept)]
    return said + human * max(1, len(said) // max(1, 2 * len(human)))  # a third of the cases are people


async def run(options: Options, tell: Callable[[str], None] = lambda line: None) -> list[Figure]:
    """Play all runs and return the figures; `tell` is given a line about each. Raises VoiceError, WorkerError, or
    RuntimeError when a part of a run does not start."""
    voice = Config().voice
    cases = [Case.drawn(options.seed, number, clips_of(options.kept)) for number in range(options.runs)]
    clips = await render({case.clip for case in cases}, options.kept)
    messages = [await spoken_text(text, language=voice.language, wpm=voice.wpm) for text in MESSAGES]
    done: list[Run] = []
    for case in cases:
        for sensitivity in options.sensitivities:
            done.append(await play(case, sensitivity, clips[case.clip], messages[case.message]))
            tell(line_of(done[-1]))
            if options.detail is not None:
                await asyncio.to_thread(_append, options.detail, done[-1])
    pulled: list[Pulled] = []
    for number in range(options.pulls):
        pulled.append(await pull(FAULTS[number % len(FAULTS)], messages[number % len(messages)]))
        tell(str(pulled[-1]))
    return figures(done, pulled)


def figures(runs: Sequence[Run], pulled: Sequence[Pulled] = ()) -> list[Figure]:
    """The figures of all runs."""
    result: list[Figure] = []
    for sensitivity in dict.fromkeys(run.sensitivity for run in runs):
        name, these = f"live.{sensitivity}", [run for run in runs if run.sensitivity == sensitivity]
        result += _latencies(f"{name}.duck_ms", [run.duck for run in these])
        result += _latencies(f"{name}.silence_ms", [run.silence for run in these])
        judged = [run.exact for run in these if run.exact is not None]
        if judged:
            result.append(Figure(f"{name}.heard_exact_share", float(np.mean(judged)), "share", len(judged)))
        yields = [run.silence is not None and not run.early for run in these]
        result.append(Figure(f"{name}.yield_rate", float(np.mean(yields)), "share", len(these)))
        result.append(Figure(f"{name}.early_ducks", sum(run.early for run in these), "runs", len(these)))
        alone = sum(run.case.after for run in these) / 60
        false = sum(run.false_ducks for run in these)
        result.append(Figure(f"{name}.false_ducks_per_minute", false / alone, "1/min", len(these)))
    cold = [run.case.after < WARM[0] for run in runs]
    result.append(Figure("live.cold_share", float(np.mean(cold)), "share", len(runs)))
    if pulled:
        result += _latencies("live.pulled.noticed_ms", [each.noticed for each in pulled])
        result.append(
            Figure("live.pulled.back_share", float(np.mean([each.back for each in pulled])), "share", len(pulled))
        )
    unnoticed = sum(run.unnoticed for run in runs) + sum(each.noticed is None for each in pulled)
    result.append(Figure("live.dead_streams", sum(run.dead for run in runs), "streams", len(runs)))
    result.append(Figure("live.dead_streams_unnoticed", unnoticed, "streams", len(runs) + len(pulled)))
    result.append(Figure("live.busy_runs", sum(bool(run.busy) for run in runs), "runs", len(runs)))
    return result


def _latencies(name: str, values: Iterable[float | None]) -> list[Figure]:
    measured = [value for value in values if value is not None]
    return percentiles(name, measured, "ms") if measured else []


def line_of(run: Run) -> str:
    """A line about a run, for people who wait."""
    shown = {"duck": run.duck, "silence": run.silence}
    times = ", ".join(f"{name} {'-' if value is None else f'{value:.0f} ms'}" for name, value in shown.items())
    heard = "" if run.exact is None else f", heard {run.claimed}/{run.heard} words"
    marks = "".join(f" ({mark})" for mark in ("early" if run.early else "", run.busy) if mark)
    return f"{run.case.number} {run.sensitivity}: {times}{heard}{marks}"


def _append(path: Path, run: Run) -> None:
    with path.open("a") as file:
        print(json.dumps(asdict(run)), file=file)
