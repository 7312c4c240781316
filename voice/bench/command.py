"""`voice bench`: the benchmarks on the command line."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
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
