"""Tokens from files and commands: read anew each time, and never shown."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from voice.wire.token import GivenToken, TokenCommand, TokenError, TokenFile


def command(code: str, within: float = 30.0) -> TokenCommand:
    return TokenCommand([sys.executable, "-c", code], within)


def test_a_file_is_read_for_every_connection(tmp_path: Path) -> None:
    """Hurts the kiosk whose token is renewed every hour by something else."""
    path = tmp_path / "token"
    source = TokenFile(path)
    for token in ("one", "two"):
        path.write_text(f"{token}\n", encoding="utf-8")
        assert asyncio.run(source.fetch()) == token
    assert source.renewable
    assert not GivenToken("x").renewable


def test_a_command_prints_it() -> None:
    assert asyncio.run(command("print('abc'); print('more')").fetch()) == "abc"


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (TokenFile(Path("nowhere")), "nowhere: the token cannot be read (No such file or directory); check token_file"),
        (TokenCommand(["./nowhere"]), "./nowhere: cannot be run for a token (No such file or directory)"),
        (command("print()"), "its first line is no token"),
        (command("import sys; print('secret'); sys.exit(3)"), "ended with code 3 and no token; check token_command"),
        (command("print('secret' * 10000)"), "its first line is no token"),
        (command("print('s\\u00e9cret')"), "its first line is no token"),
        (command("import time; print('secret', flush=True); time.sleep(60)", 0.5), "no token within 0 s"),
    ],
)
def test_what_gives_none_is_one_line_without_the_token(source: TokenFile | TokenCommand, says: str) -> None:
    """Hurts the operator at night, and whoever's token would stand in a log."""
    with pytest.raises(TokenError) as caught:
        asyncio.run(source.fetch())
    assert says in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
