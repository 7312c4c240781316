"""What a hosted conversation tells those who follow it, free of any protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from voice.core.server_events import ServerEvent


@dataclass(frozen=True, slots=True)
class Received:
    """A user message as it arrived, redacted. `at` is the loop's time in seconds."""

    id: str
    turn_id: str
    content: str
    is_interrupted: bool
    played_content: str | None
    traceparent: str | None
    at: float


@dataclass(frozen=True, slots=True)
class Malformed:
    """A frame that is not JSON."""

    text: str = '{"type": "conversation.assistant_message.delta", "assistant_message": {'


Event = ServerEvent | Received | Malformed


class Follower(Protocol):
    """A connection that follows a conversation."""

    def put(self, event: Event) -> None:
        """Queue an event for the other end; must not block."""
        ...

    def drop(self) -> None:
        """Cut the connection without a word."""
        ...
