"""`voice bench floor`: does the program yield to a person at once, and to nothing else?

Scenes are drawn from a seed and played in the virtual room by the real parts, on a virtual clock: no device latency
is in these figures, and no processor time but a modelled one for each decode. Our three sensitivities and other ways
to decide play the same scenes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from voice.bench.floor_figures import curve, figures
from voice.bench.floor_outcome import Outcome
from voice.bench.floor_run import Job, outcomes
from voice.bench.floor_scenes import KINDS, Kind, Plan, Scene
from voice.bench.floor_variants import OTHERS, OUR_NAMES, VARIABLE, VARIANTS, Variant, varied
from voice.bench.output import Figure

QUICK: dict[Kind, int] = {
    "interruption": 4,
    "pause": 1,
    "stop": 2,
    "backchannel": 3,
    "tic": 3,
    "others": 1,
    "background": 1,
    "silence": 1,
    "idle": 1,
}
"""Scenes of a kind in a quick run."""

FULL: dict[Kind, int] = {
    "interruption": 72,
    "pause": 24,
    "stop": 36,
    "backchannel": 54,
    "tic": 63,
    "others": 21,
    "background": 18,
    "silence": 60,
    "idle": 2,
}

DRIFT_MINUTES = 60
"""Of our own voice with clocks that drift apart, in a full run."""

BASELINE_EVERY = 4
"""In a full run the other ways to decide play three scenes in twelve, to save time."""

QUICK_BASELINES: dict[Kind, int] = {"interruption": 1, "silence": 1}
"""Scenes of a kind that they play in a quick run."""

SILENT_BASELINES: dict[Kind, int] = {"silence": 12}
"""And in a full one, where they are not as many as of the others."""

PROCESSES = 2


class BenchError(Exception):
    """A bench was asked for something that it does not have; one line with cause and remedy."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to measure."""

    quick: bool = False
    seed: int = 1
    kept: bool = False
    sensitivities: Sequence[str] = OUR_NAMES
    kinds: Sequence[Kind] = KINDS
    baselines: bool = True
    scale: float = 1.0
    """Scenes of a kind, as a share of a full run."""
    detail: Path | None = None
    """Where to write one JSON line a scene: for tuning."""
    processes: int = PROCESSES
    curve: Sequence[Variant] = ()
    """Who plays instead, if anybody: ours with one number at several values."""


def points(sensitivity: str, wanted: str) -> tuple[Variant, ...]:
    """The variants that "name=value,value" asks for. Raises BenchError."""
    name, _, numbers = wanted.partition("=")
    if name not in VARIABLE:
        raise BenchError(f"no number of the floor is called {name!r}; there are: {', '.join(VARIABLE)}")
    try:
        values = [float(number) for number in numbers.split(",")]
    except ValueError:
        raise BenchError(f"{wanted!r}: write --vary {name}=0.4,0.5,0.6") from None
    return varied(VARIANTS[sensitivity].sensitivity, name, values)


def sensitivities(name: str | None) -> tuple[str, ...]:
    """One of our sensitivities by its name, or all. Raises BenchError."""
    known = OUR_NAMES
    if name is not None and name not in known:
        raise BenchError(f"no sensitivity is called {name!r}; there are: {', '.join(known)}")
    return known if name is None else (name,)


def scene_kinds(names: str | None) -> tuple[Kind, ...]:
    """Kinds of scenes from a list with commas, or all. Raises BenchError."""
    wanted = KINDS if names is None else tuple(name.strip() for name in names.split(","))
    if unknown := [name for name in wanted if name not in KINDS]:
        raise BenchError(f"no kind of scene is called {unknown[0]!r}; there are: {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if kind in wanted)


def jobs_of(options: Options) -> list[Job]:
    """The scenes and who plays them."""
    counts = QUICK if options.quick else {kind: max(1, round(n * options.scale)) for kind, n in FULL.items()}
    drift = 1 if options.quick else round(DRIFT_MINUTES * options.scale)
    plan = Plan(counts, options.seed, options.kept, drift, options.kinds)
    return [(scene, _variants(scene, options)) for scene in plan.scenes()]


def _variants(scene: Scene, options: Options) -> tuple[Variant, ...]:
    return tuple(options.curve) or tuple(VARIANTS[name] for name in _names(scene, options))


def _names(scene: Scene, options: Options) -> tuple[str, ...]:
    """Who plays a scene; `default` goes first, for what it decides on is what all are asked."""
    ours = tuple(sorted(options.sensitivities, key=lambda name: name != "default"))
    if scene.kind == "idle" or scene.drift_ppm:
        return ours[:1]
    if scene.kind == "silence":  # relaxed takes less for somebody than default does
        ours = tuple(name for name in ours if name != "relaxed") or ours
    few = QUICK_BASELINES.get(scene.kind, 0) if options.quick else SILENT_BASELINES.get(scene.kind, scene.number + 1)
    if not options.baselines or scene.number >= few:
        return ours
    if not options.quick and scene.number // 3 % BASELINE_EVERY:
        return ours
    return ours + tuple(variant.name for variant in OTHERS)


def run(options: Options) -> list[Figure]:
    """Play everything and return the figures. Raises VoiceError or WorkerError when an engine fails."""
    done: list[Outcome] = []
    with _detail(options.detail) as write:
        for outcome in outcomes(jobs_of(options), options.kept, options.processes):
            done.append(outcome)
            write(outcome)
    return curve(done, options.curve) if options.curve else figures(done)


@contextmanager
def _detail(path: Path | None) -> Iterator[Callable[[Outcome], None]]:
    """Writes outcomes to a file, if there is one to write to."""
    if path is None:
        yield lambda outcome: None
        return
    with path.open("w") as file:
        yield lambda outcome: print(json.dumps(asdict(outcome)), file=file, flush=True)
