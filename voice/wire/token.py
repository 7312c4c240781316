"""Where the token for the server comes from: given once, or read anew for every connection from a file or a command.

A token is in no log, no error and no object's text. A source that can give another one is asked once more when the
server refused the first.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

COMMAND_WITHIN = 30.0
"""Seconds that a command for a token may take; tools of cloud providers need a few."""

_LONGEST = 16 * 1024
"""Bytes of a token; the longest in use are a few kilobytes."""


class TokenError(Exception):
    """No token could be had; one line with the cause and the remedy, and nothing of the token."""


class TokenSource(Protocol):
    """Gives the token of the next connection."""

    renewable: bool
    """Whether asking again may give another one."""

    async def fetch(self) -> str | None:
        """The token as of now; None: the server needs none. Raises TokenError."""
        ...


class GivenToken:
    """The same token for ever."""

    renewable = False

    def __init__(self, token: str | None) -> None:
        self._token = token

    async def fetch(self) -> str | None:
        """That token."""
        return self._token


class TokenFile:
    """The first line of a file that something else keeps fresh."""

    renewable = True

    def __init__(self, path: Path) -> None:
        self._path = path

    async def fetch(self) -> str:
        """What the file holds now."""
        try:
            with self._path.open("rb") as file:
                return _first_line(file.read(_LONGEST + 1), str(self._path))
        except OSError as error:
            raise TokenError(f"{self._path}: the token cannot be read ({error.strerror}); check token_file") from None


class TokenCommand:
    """The first line of what a command prints."""

    renewable = True

    def __init__(self, command: Sequence[str], within: float = COMMAND_WITHIN) -> None:
        self._command, self._within = tuple(command), within

    async def fetch(self) -> str:
        """Run the command. What it writes to standard error is dropped: it may hold anything."""
        name = self._command[0]
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except OSError as error:
            raise TokenError(f"{name}: cannot be run for a token ({error.strerror}); check token_command") from None
        try:
            async with asyncio.timeout(self._within):
                out, _ = await process.communicate()
        except TimeoutError:
            raise TokenError(f"{name}: no token within {self._within:.0f} s; check token_command") from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            raise TokenError(f"{name}: ended with code {process.returncode} and no token; check token_command")
        return _first_line(out[: _LONGEST + 1], name)


def _first_line(found: bytes, where: str) -> str:
    line = found.split(b"\n", 1)[0].strip()
    if not line or len(line) > _LONGEST or not line.isascii():
        raise TokenError(f"{where}: its first line is no token; it must be the token and nothing else")
    return line.decode("ascii")
