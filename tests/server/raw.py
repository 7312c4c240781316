"""A plain WebSocket client that speaks JSON and knows nothing of our codec."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.wire.lab import uuid
from voice.server.serve import FlowServer

CREATE: dict[str, Any] = {"type": "conversation.create", "conversation": {"settings": {}, "assessment": {}}}


SIX = {"id", "status", "settings", "assessment", "messages", "is_terminated"}


class Raw:
    """One socket: sends objects, reads objects."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.frames: list[Any] = []

    async def send(self, frame: Any) -> None:
        await self.socket.send(frame if isinstance(frame, str | bytes) else json.dumps(frame))

    async def next(self) -> Any:
        text = await self.socket.recv()
        try:
            frame = json.loads(text)
        except ValueError:
            frame = {"type": "(not JSON)"}
        self.frames.append(frame)
        return frame

    async def until(self, kind: str) -> Any:
        while (frame := await self.next())["type"] != kind:
            pass
        return frame

    async def say(self, number: int, content: str = "A cough.", **fields: Any) -> None:
        body = {"id": uuid(number), "content": content, **fields}
        await self.send({"type": "conversation.user_message.create", "user_message": body})

    async def turn(self, number: int, content: str = "A cough.", **fields: Any) -> list[Any]:
        """Say something and read to the end of its turn; the turn's frames."""
        start = len(self.frames)
        await self.say(number, content, **fields)
        await self.until("conversation.turn.completed")
        return self.frames[start:]

    async def closed(self) -> int | None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await self.next()
        return self.socket.close_code


@contextlib.asynccontextmanager
async def raw(server: FlowServer, first: Any = None, **how: Any) -> AsyncIterator[Raw]:
    async with connect(server.url, ping_interval=None, compression=None, proxy=None, **how) as socket:
        client = Raw(socket)
        if first is not None:
            await client.send(first)
        yield client


def types(frames: list[Any]) -> list[str]:
    return [frame["type"].removeprefix("conversation.") for frame in frames]


def create(assessment: Any = None, **settings: Any) -> dict[str, Any]:
    return {"type": "conversation.create", "conversation": {"settings": settings, "assessment": assessment or {}}}


def error_of(frame: Any) -> tuple[str, list[str]]:
    details = frame["error"].get("details", [])
    return frame["error"]["code"], [f"{detail['location']} {detail['type']}" for detail in details]
