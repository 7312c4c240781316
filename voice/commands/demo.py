"""`voice demo`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from voice.commands.options import ConfigOption, backend_named
from voice.config import load


def demo(
    flow: Annotated[Path | None, typer.Option(help="Flow file; its visitor stands beside it.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("out/demo"),
    room: Annotated[bool, typer.Option("--room", help="Use the simulated room even if there is a sound card.")] = False,
    seed: Annotated[int, typer.Option(help="Of the room's noise and all ids.")] = 1,
    fast: Annotated[bool, typer.Option("--fast", help="In the room: do not wait for real time.")] = False,
    backend: Annotated[
        str | None, typer.Option(help="The protocol: infermedica or ces; else the configuration's.")
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Hold a whole spoken conversation with the local server and write its report.

    Example: voice demo --room --out out/desk --flow config/flows/desk.toml
    """
    from voice.app.demo import DemoOptions, run_demo
    from voice.audio.device import has_sound_card
    from voice.screen.terminal import TerminalCaptions

    in_room = room or not has_sound_card()
    options = DemoOptions(
        room=in_room,
        out=out,
        seed=seed,
        pace=None if fast or not sys.stdout.isatty() else 1.0,
        config=load(config),
        **({"flow": flow} if flow is not None else {}),
    )
    if backend is not None:
        options = options.speaking(backend_named(backend))
    console = Console()
    where = "the simulated room" if in_room else "the sound card"
    console.print(f"Talking through {where}; flow {options.flow.stem}.", highlight=False)
    with TerminalCaptions(console) as captions:
        written = run_demo(options, (captions,))
    console.print(f"\nThe report: {written.report}", highlight=False)
