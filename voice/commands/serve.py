"""`voice serve`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from voice.commands.options import on_interrupt
from voice.config import HOME, ConfigError


def serve(
    flow: Annotated[Path | None, typer.Option(help="Flow file.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8765,
    token_env: Annotated[str, typer.Option(help="Environment variable with the token to ask for.")] = "VOICE_TOKEN",
    assume: Annotated[
        list[str] | None, typer.Option(help="KEY=VALUE: behave the other way where the protocol is not settled.")
    ] = None,
    faults: Annotated[int | None, typer.Option(help="Let go wrong what this seed draws.")] = None,
    assumptions: Annotated[bool, typer.Option("--assumptions", help="List what --assume can change, and end.")] = False,
) -> None:
    """Run the local conversation server on 127.0.0.1 until Ctrl-C. It speaks both protocols, each under its own path.

    Example: voice serve --flow config/flows/desk.toml --port 8765 --assume opening.arrives=snapshot
    """
    from voice.server.faults import FaultPlan, announcement
    from voice.server.flow_file import load as load_flow
    from voice.server.serve import FlowServer
    from voice.wire import paths

    if assumptions:
        print("\n".join(_listed()))
        return
    plan = None if faults is None else FaultPlan.from_seed(faults)
    server = FlowServer(
        load_flow(flow or HOME / "flows" / "triage.toml"),
        token=os.environ.get(token_env) or None,
        port=port,
        assume=dict(_pair(entry) for entry in assume or ()),
        plan=None if plan is None else plan.planner(announcement),
    )

    async def run() -> None:
        stop = asyncio.Event()
        on_interrupt(stop.set)
        try:
            taken = await server.start()
        except OSError as error:
            cause = os.strerror(error.errno) if error.errno else str(error)
            raise ConfigError(f"port {port}: {cause}; give another with --port") from None
        print(f"ws://127.0.0.1:{taken}{paths.INFERMEDICA}", flush=True)
        print(f"ws://127.0.0.1:{taken}{paths.CES}us", flush=True)
        if plan is not None:
            print(plan, flush=True)
        await stop.wait()
        await server.stop()

    asyncio.run(run())


def _pair(entry: str) -> tuple[str, str]:
    key, equals, value = entry.partition("=")
    if not equals:
        raise ConfigError(f'--assume {entry}: no "="; write KEY=VALUE, and see voice serve --assumptions')
    return key.strip(), value.strip()


def _listed() -> Iterator[str]:
    from voice.wire import ces_spellings, spellings

    for name, row in (*spellings.ASSUMED.items(), *ces_spellings.ASSUMED.items()):
        yield f'{name} = "{row.value}", or "{row.alternative}"' + (" (only a client's)" if row.of_client else "")
        yield f"    {row.why}"
