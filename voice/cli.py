"""The command line."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from voice.bench.command import app as bench
from voice.config import ConfigError, load

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Speaks what a conversation server writes, listens while it speaks, and tells the server what was heard.",
)

app.add_typer(bench, name="bench")

WRONG_INPUT = 2
"""Exit code when a file, a name or a device that was given cannot be used."""

ConfigOption = Annotated[Path | None, typer.Option("--config", help="Configuration file (TOML).")]


def main() -> None:
    """Entry point: errors that name their cause and remedy are one line on standard error."""
    try:
        app(standalone_mode=False)
    except typer.Abort:
        sys.exit(130)
    except Exception as error:
        if _is_usage(error):
            sys.exit(_usage(error))
        if not _one_line(error):
            raise
        print(f"voice: {error}", file=sys.stderr)
        sys.exit(WRONG_INPUT)


def _is_usage(error: Exception) -> bool:
    return hasattr(error, "exit_code") and hasattr(error, "format_message")


def _usage(error: Exception) -> int:
    error.show()  # type: ignore[attr-defined]
    return int(getattr(error, "exit_code", WRONG_INPUT))


def _one_line(error: Exception) -> bool:
    from voice.app.demo import DemoError
    from voice.audio.base import DeviceError
    from voice.server.toml_table import FlowError
    from voice.stt.base import RecogniserError
    from voice.stt.models import ModelError
    from voice.tts.base import VoiceError

    return isinstance(error, (ConfigError, DemoError, DeviceError, FlowError, RecogniserError, ModelError, VoiceError))


@app.command()
def demo(
    flow: Annotated[Path | None, typer.Option(help="Flow file; its visitor stands beside it.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("out/demo"),
    room: Annotated[bool, typer.Option("--room", help="Use the simulated room even if there is a sound card.")] = False,
    seed: Annotated[int, typer.Option(help="Of the room's noise and all ids.")] = 1,
    fast: Annotated[bool, typer.Option("--fast", help="In the room: do not wait for real time.")] = False,
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
    console = Console()
    where = "the simulated room" if in_room else "the sound card"
    console.print(f"Talking through {where}; flow {options.flow.stem}.", highlight=False)
    with TerminalCaptions(console) as captions:
        written = run_demo(options, (captions,))
    console.print(f"\nThe report: {written.report}", highlight=False)


@app.command()
def serve(
    flow: Annotated[Path | None, typer.Option(help="Flow file.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8765,
    token_env: Annotated[str, typer.Option(help="Environment variable with the token to ask for.")] = "VOICE_TOKEN",
) -> None:
    """Run the local conversation server on 127.0.0.1 until Ctrl-C.

    Example: voice serve --flow config/flows/desk.toml --port 8765
    """
    import os

    from voice.config import HOME
    from voice.server.flow_file import load as load_flow
    from voice.server.serve import FlowServer

    server = FlowServer(
        load_flow(flow or HOME / "flows" / "triage.toml"), token=os.environ.get(token_env) or None, port=port
    )

    async def run() -> None:
        try:
            taken = await server.start()
        except OSError as error:
            raise ConfigError(f"port {port}: {error.strerror or error}; give another with --port") from None
        print(f"ws://127.0.0.1:{taken}/api/ct/v2/realtime", flush=True)
        await _until_interrupted()
        await server.stop()

    asyncio.run(run())


async def _until_interrupted() -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await stop.wait()


@app.command()
def devices() -> None:
    """List the sound devices.

    Example: voice devices
    """
    from voice.audio.device import list_devices

    for line in list_devices():
        print(line)


if __name__ == "__main__":
    main()
