"""Options that several commands have, and how long-running commands end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from voice.config import ConfigError
from voice.wire.paths import BACKENDS, Backend

ConfigOption = Annotated[Path | None, typer.Option("--config", help="Configuration file (TOML).")]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON on standard output and nothing else.")]


def backend_named(name: str) -> Backend:
    """What `--backend` names. Raises ConfigError."""
    for backend in BACKENDS:
        if name == backend:
            return backend
    raise ConfigError(f"--backend {name}: no such server; it is {' or '.join(BACKENDS)}")


def on_interrupt(call: Callable[[], None]) -> None:
    """Let Ctrl-C, SIGTERM and a terminal that is closed (SIGHUP, unless `nohup` keeps it off) call `call` on the
    running loop, instead of tearing the program out of its work."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            loop.add_signal_handler(number, call)
