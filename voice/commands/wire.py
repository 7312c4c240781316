"""`voice wire`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from voice.commands.options import JsonOption
from voice.config import ConfigError


def wire(
    backend: Annotated[str, typer.Option(help="Whose frames: infermedica or ces.")] = "infermedica",
    json: JsonOption = False,
) -> None:
    """Show what the program understands of a server's frames: one a line on standard input, a line for each event.

    Example: voice wire --backend ces < frames.jsonl
    """
    from voice.wire.describe import BACKENDS, FrameLines, as_json, as_text

    known = next((one for one in BACKENDS if one == backend), None)
    if known is None:
        raise ConfigError(f"--backend {backend}: no such server; it is {' or '.join(BACKENDS)}")
    for number, event in FrameLines(known).read(sys.stdin.buffer):
        print(as_json(event) if json else f"{number}: {as_text(event)}", flush=True)
