"""Tools that a server has run here: only those that were allowed, only with what they take, and always answered."""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from voice.app.tools import MOST, ClientTools
from voice.config_ces import ToolConfig
from voice.core.diagnostics import ToolCall

SCHEMA = {"type": "object", "required": ["lat"], "properties": {"lat": {"type": "number"}}}


def add(a: int, b: int) -> int:
    return a + b


async def add_later(a: int, b: int) -> int:
    await asyncio.sleep(0)
    return a + b


def fail() -> None:
    raise RuntimeError("the patient is 34")


def leave() -> None:
    sys.exit(1)


def hang() -> None:
    time.sleep(60)


def python(code: str, **how: Any) -> ToolConfig:
    return ToolConfig(command=(sys.executable, "-c", code), **how)


def here(name: str, **how: Any) -> ToolConfig:
    return ToolConfig(function=f"{__name__}:{name}", **how)


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, __name__, sys.modules[add.__module__])


async def answer(tool: ToolConfig | None, args: dict[str, Any] | None = None, **hidden: Any) -> dict[str, Any]:
    tools = ClientTools({"tool": tool} if tool is not None else {}, **hidden)
    found = await tools.run(ToolCall("tc-1", "projects/p/tools/t", "", "", "tool", args or {}))
    assert (found.id, found.tool, found.display_name) == ("tc-1", "projects/p/tools/t", "tool")
    return dict(found.response)


@pytest.mark.parametrize("name", ["add", "add_later"])
async def test_a_function_gets_its_arguments_and_its_result_is_told(name: str) -> None:
    """The agent goes on with what the kiosk's own program said."""
    assert await answer(here(name), {"a": 2, "b": 3}) == {"output": 5}


async def test_a_command_gets_the_arguments_as_json_and_prints_json() -> None:
    """Any language can be a tool."""
    code = "import json, sys; print(json.dumps({'got': json.load(sys.stdin)}))"
    assert await answer(python(code), {"a": "é"}) == {"output": {"got": {"a": "é"}}}


async def test_a_command_that_prints_nothing_has_done_its_work() -> None:
    """A tool that only shows something is no failure."""
    assert await answer(python("")) == {"output": None}


async def test_a_tool_that_was_not_allowed_is_answered_and_not_run() -> None:
    """A server that waits for an answer that never comes says nothing to the user any more."""
    assert await answer(None) == {"error": "this client has no such tool"}


async def test_arguments_that_the_schema_refuses_run_nothing() -> None:
    """What the agent made up does not get to the machine; and what it was is not repeated."""
    found = await answer(here("fail", schema=SCHEMA), {"lat": "secret"})
    assert found == {"error": "lat: not what the tool takes (type)"}
    assert "required" in (await answer(here("fail", schema=SCHEMA)))["error"]


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        (here("fail"), "failed (RuntimeError)"),
        (here("leave"), "wanted to end the program"),
        (here("hang", timeout=0.05), "no result within 0.05 s"),
        (here("add"), "failed (TypeError)"),
        (python("import time; time.sleep(60)", timeout=0.3), "no result within 0.3 s"),
        (python("raise SystemExit(3)"), "ended with code 3"),
        (python("print('{')"), "not JSON"),
        (python("print('NaN')"), "not JSON"),
        (python(f"print('1' * {MOST + 9})", timeout=20), "longer than"),
        (ToolConfig(command=("/nowhere/at/all",)), "cannot be run"),
    ],
)
async def test_every_failure_is_an_answer_of_one_line_without_private_words(tool: ToolConfig, words: str) -> None:
    """The agent can say that it did not work; nothing that the tool knew goes out with that."""
    error = (await answer(tool))["error"]
    assert words in error
    assert "34" not in error
    assert "\n" not in error


async def test_what_a_command_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    """A kiosk that runs for months does not fill up with what its tools forgot."""
    mark = tmp_path / "mark"
    late = f"import time, pathlib; time.sleep(1.0); pathlib.Path({str(mark)!r}).touch()"
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {late!r}])"
    assert "error" in await answer(python(code, timeout=0.5))
    await asyncio.sleep(1.2)
    assert not mark.exists()


async def test_no_command_gets_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool of somebody else could send it anywhere."""
    monkeypatch.setenv("VOICE_TOKEN", "secret")
    code = "import os, json; print(json.dumps(os.environ.get('VOICE_TOKEN')))"
    assert await answer(python(code), hidden=frozenset({"VOICE_TOKEN"})) == {"output": None}
    assert await answer(python(code)) == {"output": "secret"}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "either a command or a function"),
        ({"command": ["x"], "function": "os:getpid"}, "either a command or a function"),
        ({"function": "os:nothing"}, "no such function"),
        ({"function": "os:name"}, "not a function"),
        ({"command": ["x"], "timeout": 90}, "less than or equal to 25"),
        ({"command": ["x"], "schema": {"type": 3}}, "not a JSON schema"),
        ({"command": ["x"], "schema": {"const": date(2026, 1, 1)}}, "no JSON"),
    ],
)
def test_a_tool_that_cannot_work_is_refused_when_the_configuration_is_read(table: dict[str, Any], words: str) -> None:
    """The operator learns it at once, not the user in the middle of a conversation."""
    with pytest.raises(ValidationError, match=words):
        ToolConfig.model_validate(table)
