"""`voice doctor`."""

from __future__ import annotations

import asyncio

import typer

from voice.commands.options import ConfigOption
from voice.config import load

UNFIT = 1
"""Exit code when something essential is missing."""


def doctor(config: ConfigOption = None) -> None:
    """Check this machine: what works, and what to mend. Exit code 1 if something essential is missing.

    Example: voice doctor --config config/handsfree.toml
    """
    if not asyncio.run(_examine(config)):
        raise typer.Exit(UNFIT)


async def _examine(config: ConfigOption) -> bool:
    from voice.app.doctor import examine

    fit = True
    async for finding in examine(load(config)):
        word = "ok  " if finding.well else "MEND" if finding.essential else "note"
        print(f"{word}  {finding.name:14}  {finding.text}", flush=True)
        fit = fit and (finding.well or not finding.essential)
    return fit
