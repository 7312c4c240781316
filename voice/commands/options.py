"""Options that several commands have, and how long-running commands end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

ConfigOption = Annotated[Path | None, typer.Option("--config", help="Configuration file (TOML).")]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON on standard output and nothing else.")]


def on_interrupt(call: Callable[[], None]) -> None:
    """Let Ctrl-C and SIGTERM call `call` on the running loop, instead of tearing the program out of its work."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, call)
