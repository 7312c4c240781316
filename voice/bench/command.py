"""`voice bench`: the benchmarks on the command line."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from voice.bench.output import Figure

app = typer.Typer(no_args_is_help=True, help="Measure; every published figure comes from here.")

JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object a line and nothing else.")]
QuickOption = Annotated[bool, typer.Option("--quick", help="Fewer cases, the same names; under 50 s.")]
KeptOption = Annotated[bool, typer.Option("--kept", help="The messages that nobody looked at while building.")]


async def _collect(figures: AsyncIterator[Figure], as_json: bool) -> None:
    from voice.bench.output import show

    if as_json:
        async for figure in figures:
            show([figure], True, sys.stdout)
    else:
        show([figure async for figure in figures], False, sys.stdout)


@app.command()
def heard(
    json: JsonOption = False,
    quick: QuickOption = False,
    kept: KeptOption = False,
    seed: Annotated[int, typer.Option(help="Of the moments of the cuts.")] = 1,
) -> None:
    """How well the program knows what was heard when it is cut, beside the rules that others use.

    Example: voice bench heard --json --seed 7
    """
    from voice.bench.heard import Options, run
    from voice.bench.messages import KEPT, MESSAGES

    options = Options(KEPT if kept else MESSAGES, cuts=4 if quick else 60, seed=seed)
    asyncio.run(_collect(run(options), json))


@app.command()
def start(json: JsonOption = False, quick: QuickOption = False, kept: KeptOption = False) -> None:
    """How soon the program begins to speak.

    Example: voice bench start --json
    """
    from voice.bench.messages import KEPT, MESSAGES
    from voice.bench.start import run

    asyncio.run(_collect(run(KEPT if kept else MESSAGES, rounds=1 if quick else 6), json))


@app.command()
def wire(json: JsonOption = False, quick: QuickOption = False) -> None:
    """What it costs to understand a frame, beside what it costs to parse its JSON.

    Example: voice bench wire --json
    """
    from voice.bench.output import show
    from voice.bench.wire import QUICK_ROUNDS, ROUNDS, run

    show(run(QUICK_ROUNDS if quick else ROUNDS), json, sys.stdout)


@app.command()
def floor(
    json: JsonOption = False,
    quick: QuickOption = False,
    kept: Annotated[bool, typer.Option("--kept", help="The voices and phrases that nobody tuned with.")] = False,
    seed: Annotated[int, typer.Option(help="Of the scenes.")] = 1,
    sensitivity: Annotated[str | None, typer.Option(help="Only this one: eager, default or relaxed.")] = None,
    scenes: Annotated[str | None, typer.Option(help="Only these kinds, separated by commas.")] = None,
    scale: Annotated[float, typer.Option(min=0.01, help="Scenes as a share of a full run.")] = 1.0,
    detail: Annotated[Path | None, typer.Option(help="Write what happened in each scene, one JSON line each.")] = None,
    baselines: Annotated[bool, typer.Option(help="Let other ways to decide play, too.")] = True,
    processes: Annotated[int, typer.Option(min=1, max=16, help="Play scenes in that many processes.")] = 2,
    vary: Annotated[str | None, typer.Option(help="One number of the floor at several values: a trade-off.")] = None,
) -> None:
    """Whether the program yields at once to a person, and to nothing else: in the room, on a virtual clock.

    Example: voice bench floor --sensitivity default --scenes interruption,stop --detail scenes.jsonl
    Example: voice bench floor --sensitivity relaxed --scenes interruption,others --vary near_db=-14,-10,-6
    """
    from voice.bench.floor import BenchError, Options, points, run, scene_kinds, sensitivities
    from voice.bench.floor_voices import tell_missing
    from voice.bench.output import show

    try:
        chosen, kinds = sensitivities(sensitivity), scene_kinds(scenes)
        curve = points(chosen[0] if sensitivity else "default", vary) if vary else ()
    except BenchError as error:
        raise typer.BadParameter(str(error)) from None
    options = Options(
        quick=quick,
        seed=seed,
        kept=kept,
        sensitivities=chosen,
        kinds=kinds,
        baselines=baselines,
        scale=scale,
        detail=detail,
        processes=processes,
        curve=curve,
    )
    tell_missing()
    show(run(options), json, sys.stdout)


@app.command()
def live(
    json: JsonOption = False,
    quick: QuickOption = False,
    kept: Annotated[bool, typer.Option("--kept", help="The voices and phrases that nobody tuned with.")] = False,
    seed: Annotated[int, typer.Option(help="Of the people and the moments.")] = 1,
    runs: Annotated[int, typer.Option(min=1, help="Of each sensitivity; some 15 s each.")] = 30,
    sensitivity: Annotated[str | None, typer.Option(help="Only this one: eager or default.")] = None,
    detail: Annotated[Path | None, typer.Option(help="Append what happened in each run, one JSON line each.")] = None,
) -> None:
    """Whether it yields as soon in real time: over a PulseAudio of its own, device latency included.

    Example: voice bench live --sensitivity eager --runs 5
    """
    from voice.bench.floor_voices import tell_missing
    from voice.bench.live import PULLS, QUICK_PULLS, QUICK_RUNS, SENSITIVITIES, Options, run
    from voice.bench.output import show

    if sensitivity is not None and sensitivity not in SENSITIVITIES:
        raise typer.BadParameter(f"no sensitivity is called {sensitivity!r}; there are: {', '.join(SENSITIVITIES)}")
    chosen = SENSITIVITIES if sensitivity is None else (sensitivity,)
    options = Options(
        QUICK_RUNS if quick else runs, seed, kept, chosen, QUICK_PULLS if quick else min(PULLS, runs), detail
    )
    tell_missing()
    show(asyncio.run(run(options, lambda line: print(line, file=sys.stderr, flush=True))), json, sys.stdout)
