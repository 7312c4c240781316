"""A whole conversation on virtual time: a small flow, the room, real voice and real recogniser."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from voice.app.conversation import Conversation
from voice.app.parts import make_conversation
from voice.audio.base import Device
from voice.audio.room import Room
from voice.config import Config
from voice.core.events import Caption, Input, MessageClosed, Output
from voice.server.flow_file import parse
from voice.server.serve import FlowServer

QUESTION = "Please tell me if you have any of these: a stiff neck, chest pain, or trouble breathing. Do you?"
FLOW = f"""
[flow]
name = "small"
opening = "ask"

[[step]]
id = "ask"
expect = "yes_no"
next = "bye"
messages = [{{ kind = "follow_up", text = "{QUESTION}" }}]
retry = [{{ kind = "follow_up", text = "Please say yes or no." }}]

[step.branch.no]
next = "bye"

[[step]]
id = "bye"
end = "completed"
messages = [{{ kind = "follow_up", text = "Thank you. Goodbye." }}]
"""


LONGEST = 60.0
"""Seconds, virtual where time is: a conversation that does not end fails."""


@dataclass
class Stage:
    """A server and a conversation with it; `act` is called with every value that enters or leaves the session."""

    device: Device = field(default_factory=Room)
    act: Callable[[Stage, Input | Output], None] = lambda stage, item: None
    seen: list[Any] = field(default_factory=list)
    conversation: Conversation | None = None
    server: FlowServer = field(default_factory=lambda: FlowServer(parse(FLOW)))

    async def hold(self, beside: Callable[[Stage], Awaitable[None]] | None = None) -> str:
        """The whole conversation; `beside` runs while it goes on. Returns why it ended."""
        await self.server.start()
        try:
            self.conversation = make_conversation(
                Config(), self.device, url=f"{self.server.url}/api/ct/v2/realtime", observers=(self._see,)
            )
            running = asyncio.create_task(self.conversation.run())
            self.running = running
            async with asyncio.timeout(LONGEST):
                if beside is not None:
                    await beside(self)
                return await running
        finally:
            await self.server.stop()

    def _see(self, t: float, item: Input | Output) -> None:
        self.seen.append(item)
        self.act(self, item)

    def of(self, kind: type) -> list[Any]:
        return [item for item in self.seen if isinstance(item, kind)]

    @property
    def closed(self) -> dict[str, MessageClosed]:
        """The reports, by their message's text."""
        return {item.source: item for item in self.of(MessageClosed)}


def says(item: Input | Output, words: str) -> bool:
    """Whether this caption is the first to have these words heard."""
    return isinstance(item, Caption) and words in item.text[: item.heard]
