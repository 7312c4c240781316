"""Tools that a server may have run here: those of the configuration, checked, within their time, and no others.

Every call is answered: a server that waits for a tool says nothing meanwhile. What a tool was asked and what it gave is
in no log, and an error names the tool and the kind of failure alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import signal
import threading
from collections.abc import Callable, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry

from voice.config_ces import ToolConfig, function_of
from voice.core.client_inputs import ToolResponse
from voice.core.diagnostics import ToolCall

MOST = 1_000_000
"""Bytes of a result; the frame that carries it must not be refused."""


class ToolError(Exception):
    """A tool did not give a result; one line, for the agent."""


class ClientTools:
    """A `ToolRunner`. `hidden` are environment variables that no command gets: tokens."""

    def __init__(self, tools: Mapping[str, ToolConfig], hidden: frozenset[str] = frozenset()) -> None:
        self._tools, self._hidden = dict(tools), hidden

    async def run(self, call: ToolCall) -> ToolResponse:
        """The answer; it names the call as the call named itself."""
        try:
            response = {"output": await self._result(call)}
        except ToolError as error:
            response = {"error": str(error)}
        return ToolResponse(call.id, call.tool, call.toolset, call.tool_id, call.display_name, response)

    async def _result(self, call: ToolCall) -> Any:
        name = call.display_name or call.tool_id or call.tool.rpartition("/")[2]
        tool = self._tools.get(name)
        if tool is None:
            raise ToolError("this client has no such tool")
        if tool.arguments is not None:
            _check(call.args, tool.arguments)
        try:
            async with asyncio.timeout(tool.timeout):
                result = await (self._command(tool, call.args) if tool.command else _function(tool, call.args))
        except TimeoutError:
            raise ToolError(f"no result within {tool.timeout:g} s") from None
        try:
            size = len(json.dumps(result, allow_nan=False))
        except (TypeError, ValueError, RecursionError):
            raise ToolError("the result is not JSON") from None
        if size > MOST:
            raise ToolError(f"the result is longer than {MOST} bytes")
        return result

    async def _command(self, tool: ToolConfig, args: Mapping[str, Any]) -> Any:
        try:
            process = await asyncio.create_subprocess_exec(
                *tool.command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={name: value for name, value in os.environ.items() if name not in self._hidden},
                start_new_session=True,  # so that whatever it started ends with it
            )
        except OSError as error:
            raise ToolError(f"the tool cannot be run ({error.strerror})") from None
        try:
            out = await _talked(process, json.dumps(dict(args)).encode())
        finally:
            with contextlib.suppress(ProcessLookupError):  # what it started may be there when it is not
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if process.returncode:
            raise ToolError(f"the tool ended with code {process.returncode}")
        if not out.strip():
            return None
        try:
            return json.loads(out)
        except (ValueError, RecursionError):
            raise ToolError("the result is not JSON") from None


async def _talked(process: asyncio.subprocess.Process, given: bytes) -> bytes:
    """What a command prints, of which no more than `MOST` bytes are kept. Raises ToolError."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError):  # it may not want to know
        process.stdin.write(given)
        await process.stdin.drain()
        process.stdin.close()
    out = b""
    while piece := await process.stdout.read(65_536):
        out += piece
        if len(out) > MOST:
            raise ToolError(f"the result is longer than {MOST} bytes")
    await process.wait()
    return out


async def _function(tool: ToolConfig, args: Mapping[str, Any]) -> Any:
    """What the function of a tool gives. Raises ToolError."""
    function = function_of(tool.function)
    try:
        if inspect.iscoroutinefunction(function):
            return await function(**args)
        return await _beside(function, args)
    except ToolError:
        raise
    except Exception as error:
        raise ToolError(f"the tool failed ({type(error).__name__})") from None


def _beside(function: Callable[..., Any], args: Mapping[str, Any]) -> asyncio.Future[Any]:
    """The result of a function in a thread of its own, which past its time is not waited for, not even at the end."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if result.done():
            return
        if error is None:
            result.set_result(value)
        else:
            result.set_exception(error)

    def work() -> None:
        value, failure = None, None
        try:
            value = function(**args)
        except Exception as error:
            failure = error
        except BaseException:  # an exit in a tool is no exit of the program
            failure = ToolError("the tool wanted to end the program")
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(settle, value, failure)

    threading.Thread(target=work, name="voice.tool", daemon=True).start()
    return result


def _check(args: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Raises ToolError. References lead nowhere but into the schema itself: nothing is fetched."""
    try:
        Draft202012Validator(dict(schema), registry=Registry()).validate(dict(args))
    except ValidationError as error:
        where = ".".join(map(str, error.absolute_path)) or "the arguments"
        raise ToolError(f"{where}: not what the tool takes ({error.validator})") from None
    except Exception as error:  # a reference that leads nowhere
        raise ToolError(f"the tool's schema cannot be used ({type(error).__name__})") from None
