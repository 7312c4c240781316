"""`voice talk`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from voice.commands.options import ConfigOption, on_interrupt
from voice.config import load


def talk(
    url: Annotated[str | None, typer.Option(help="The server's WebSocket address; else the configuration's.")] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the report there; else nothing is kept of what was said.")
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Talk with a conversation server through the sound card. Ctrl-C ends it.

    Example: voice talk --config config/handsfree.toml --url wss://server.example/api/ct/v2/realtime
    """
    from voice.app.talk import talk as hold
    from voice.screen.terminal import TerminalCaptions

    console = Console()
    with TerminalCaptions(console) as captions:
        written = asyncio.run(hold(load(config), url, report, (captions,), on_interrupt))
    if written is not None:
        console.print(f"\nThe report: {written.report}", highlight=False)
