"""What a connection asks of a protocol. Sans-I/O: text frames in and out, no socket, no clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from voice.core.events import SendUserMessage
from voice.core.server_events import ServerEvent


class Codec(Protocol):
    """One protocol. A module with these functions is one, too."""

    def decode(self, frame: str | bytes, /) -> tuple[ServerEvent, ...]:
        """What one frame of the server means. Never raises: what cannot be used is a `BadFrame`."""
        ...

    def create(self, conversation_input: Mapping[str, Any], /) -> str:
        """The first frame of a new conversation."""
        ...

    def resume(self, conversation_id: str, /) -> str:
        """The first frame of a socket that takes up a conversation again."""
        ...

    def user_message(self, message: SendUserMessage, /) -> str:
        """One utterance."""
        ...

    def pong(self) -> str:
        """The answer to the server's heartbeat."""
        ...
