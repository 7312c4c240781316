"""The processes of a run of `voice bench live`: each tells how far it is in lines, and ends at a line on its input."""

from __future__ import annotations

import asyncio
import sys

from voice.bench.live_pulse import PulseServer

STARTING = 30.0
"""Seconds that a process may take to its next line, or to its end."""

Child = asyncio.subprocess.Process


async def child(sound: PulseServer, module: str, *arguments: object) -> Child:
    """Run a module of this package with the devices of that sound server."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *map(str, arguments)),
        env=sound.env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def line(process: Child, expected: str) -> None:
    """Wait for this line. Raises RuntimeError if another one comes, and TimeoutError if none does."""
    assert process.stdout is not None
    async with asyncio.timeout(STARTING):
        said = (await process.stdout.readline()).decode().strip()
    if said != expected:
        await kill(process)
        assert process.stderr is not None
        raise RuntimeError(_why(process, await process.stderr.read()))


async def end(process: Child) -> None:
    """Let a child end in order. Raises RuntimeError if it failed."""
    try:
        async with asyncio.timeout(STARTING):
            _, errors = await process.communicate(b"\n")
    finally:
        await kill(process)
    if process.returncode:
        raise RuntimeError(_why(process, errors))


async def kill(process: Child) -> None:
    """End a child at once, if it runs."""
    if process.returncode is None:
        process.kill()
        await process.wait()


def _why(process: Child, errors: bytes) -> str:
    said = errors.decode(errors="replace").strip().splitlines()
    return f"a part of the run ended early, with status {process.returncode}: {said[-1] if said else 'no reason'}"
