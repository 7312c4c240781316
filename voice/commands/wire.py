"""`voice wire`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from voice.commands.options import JsonOption, backend_named


def wire(
    backend: Annotated[str, typer.Option(help="Whose frames: infermedica or ces.")] = "infermedica",
    json: JsonOption = False,
) -> None:
    """Show what the program understands of a server's frames: one a line on standard input, a line for each event.

    Example: voice wire --backend ces < frames.jsonl
    """
    from voice.wire.describe import FrameLines, as_json, as_text

    for number, event in FrameLines(backend_named(backend)).read(sys.stdin.buffer):
        print(as_json(event) if json else f"{number}: {as_text(event)}", flush=True)
