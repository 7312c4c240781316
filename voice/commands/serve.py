"""`voice serve`."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from voice.commands.options import on_interrupt
from voice.config import HOME, ConfigError


def serve(
    flow: Annotated[Path | None, typer.Option(help="Flow file.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8765,
    token_env: Annotated[str, typer.Option(help="Environment variable with the token to ask for.")] = "VOICE_TOKEN",
) -> None:
    """Run the local conversation server on 127.0.0.1 until Ctrl-C.

    Example: voice serve --flow config/flows/desk.toml --port 8765
    """
    from voice.server.flow_file import load as load_flow
    from voice.server.serve import FlowServer

    server = FlowServer(
        load_flow(flow or HOME / "flows" / "triage.toml"), token=os.environ.get(token_env) or None, port=port
    )

    async def run() -> None:
        stop = asyncio.Event()
        on_interrupt(stop.set)
        try:
            taken = await server.start()
        except OSError as error:
            cause = os.strerror(error.errno) if error.errno else str(error)
            raise ConfigError(f"port {port}: {cause}; give another with --port") from None
        print(f"ws://127.0.0.1:{taken}/api/ct/v2/realtime", flush=True)
        await stop.wait()
        await server.stop()

    asyncio.run(run())
