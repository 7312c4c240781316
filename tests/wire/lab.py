"""A flow, a server and a client for the tests of the two, and a server that misbehaves to order."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

from voice.core.events import Input, SendUserMessage
from voice.server.flow_file import parse
from voice.server.rules import ServerRules
from voice.server.serve import FlowServer
from voice.wire import infermedica
from voice.wire.connection import Connection
from voice.wire.reconnect import LinkRules
from voice.wire.token import TokenSource

FLOW = """
[flow]
name = "small"
opening = "hello"
[pace]
chars = 8
seconds = 0.1
thinking = 0.5
[[step]]
id = "hello"
next = "day"
messages = [{ kind = "intro", text = "Hello. What is it?" }]
[[step]]
id = "day"
next = "end"
messages = [
  { kind = "acknowledgement", text = "Thank you." },
  { kind = "follow_up", text = "Since which day have you had it?" },
]
%s
[[step]]
id = "end"
end = "completed"
messages = [{ kind = "follow_up", text = "Goodbye." }]
"""

TOKEN = "tok-3f9a-secret"


FIRST: Mapping[str, Any] = {"settings": {"channel": "voice"}, "assessment": {}}
QUIET = LinkRules(keepalive=None)
"""Without control-frame pings: the tests here count on the clock alone."""


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def said(number: int, content: str = "A cough.") -> SendUserMessage:
    return SendUserMessage(uuid(number), content, False, None, "")


class Client:
    """A `Connection` whose events can be waited for."""

    def __init__(
        self, url: str, token: TokenSource | str | None = None, rules: LinkRules = QUIET, first: Any = FIRST
    ) -> None:
        self.events: list[Input] = []
        self._news = asyncio.Event()
        self.link = Connection(url, token, first, self._take, codec=infermedica, rules=rules, chance=lambda: 0.5)
        self.running = asyncio.create_task(self.link.run())

    def _take(self, event: Input) -> None:
        self.events.append(event)
        self._news.set()

    def count(self, *kinds: type) -> int:
        return len(self.of(*kinds))

    def of(self, *kinds: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kinds)]

    async def until(self, kind: type, count: int = 1) -> Any:
        """The `count`-th event of this kind, waited for."""
        async with asyncio.timeout(600):
            while self.count(kind) < count:
                self._news.clear()
                await self._news.wait()
        return self.of(kind)[count - 1]


@contextlib.asynccontextmanager
async def flow_server(
    faults: str = "",
    token: str | None = None,
    rules: ServerRules | None = None,
    flow: str = FLOW,
    assume: Mapping[str, str] | None = None,
) -> AsyncIterator[FlowServer]:
    text = flow % faults if "%s" in flow else flow
    server = FlowServer(parse(text), token=token, rules=rules, assume=assume)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@contextlib.asynccontextmanager
async def client_of(url: str, **how: Any) -> AsyncIterator[Client]:
    client = Client(url, **how)
    try:
        yield client
    finally:
        await client.link.close()
        await asyncio.wait([client.running])


Script = Callable[[ServerConnection, int], Awaitable[None]]
"""What the odd server does with its n-th socket (from 0)."""


@contextlib.asynccontextmanager
async def odd_server(script: Script) -> AsyncIterator[str]:
    """A server that does as told; yields its address."""
    sockets = 0

    async def handle(socket: ServerConnection) -> None:
        nonlocal sockets
        sockets += 1
        await script(socket, sockets - 1)

    async with serve(handle, "127.0.0.1", 0, ping_interval=None, close_timeout=1, compression=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"ws://127.0.0.1:{port}"


def snapshot(*, resumed: bool = False, users: tuple[str, ...] = ()) -> str:
    rows = [{"role": "user", "id": user, "turn_id": "t", "content": "x"} for user in users]
    kind = "conversation.resumed" if resumed else "conversation.created"
    return json.dumps({"type": kind, "conversation": {"id": uuid(99), "status": "in_progress", "messages": rows}})


def accepted(message_id: str) -> str:
    body = {"id": message_id, "turn_id": "t", "content": "x"}
    return json.dumps({"type": "conversation.user_message.created", "user_message": body})
