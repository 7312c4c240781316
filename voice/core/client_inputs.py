"""What a client may tell a server beside utterances, free of any protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolResponse:
    """The answer to a `ToolCall`, which it names as it was named: `id`, `tool` or `toolset` and `tool_id`, and
    `display_name`. `response` has the key "output" or "error"."""

    id: str
    tool: str
    toolset: str
    tool_id: str
    display_name: str
    response: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResponses:
    """Answers to tool calls, in one frame."""

    responses: tuple[ToolResponse, ...]


@dataclass(frozen=True, slots=True)
class Keys:
    """Keypad digits: 0 to 9, A to D, * and #."""

    digits: str


@dataclass(frozen=True, slots=True)
class NamedEvent:
    """An event of the application, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Variables:
    """Session variables."""

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Picture:
    """A png, jpeg or webp. `more`: the question about it follows."""

    mime_type: str
    data: bytes
    more: bool = True


@dataclass(frozen=True, slots=True)
class Bytes:
    """Any other data. `more`: further input belongs to it."""

    mime_type: str
    data: bytes
    more: bool = False


ClientInput = ToolResponses | Keys | NamedEvent | Variables | Picture | Bytes
