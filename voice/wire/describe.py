"""What frames mean, as lines to read: for whoever wants to see what the program understood.

Never stops: whatever a line holds, it becomes at least one line. What people said stands in these lines; they go where
the operator who asked for them sends them, and nowhere else.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, BinaryIO

from voice.core.server_events import Ignored, ServerEvent
from voice.wire import ces, infermedica, json_frame
from voice.wire.paths import Backend
from voice.wire.protojson import base64_of

_BLOCK = 64 * 1024


class FrameLines:
    """Decodes a stream of frames, one a line, for `backend`. Keeps one frame of at most the protocol's limit."""

    def __init__(self, backend: Backend) -> None:
        self._decode = _ces() if backend == "ces" else infermedica.decode
        self._limit = ces.MAX_FRAME if backend == "ces" else json_frame.MAX_FRAME

    def read(self, source: BinaryIO) -> Iterator[tuple[int, ServerEvent]]:
        """Each event with the number of its line, from 1 on. Empty lines are passed over."""
        for number, line in enumerate(self._lines(source), 1):
            if line.strip():
                for event in self._decode(line):
                    yield number, event

    def _lines(self, source: BinaryIO) -> Iterator[bytes]:
        """Lines without their end; of a longer one than the limit just enough to be refused as too long."""
        while line := source.readline(self._limit + 2):
            while not line.endswith(b"\n") and (rest := source.readline(_BLOCK)):
                if rest.endswith(b"\n"):
                    break
            yield line.rstrip(b"\r\n")


def _ces() -> Callable[[bytes], tuple[ServerEvent, ...]]:
    """Frames of the WebSocket, and bodies of RunSession and StreamRunSession."""
    codec = ces.CesCodec()

    def decode(line: bytes) -> tuple[ServerEvent, ...]:
        events = codec.decode(line)
        events = codec.body(line) if events == (Ignored("outputs"),) else events
        return events or (Ignored("(nothing new)"),)

    return decode


def as_json(event: ServerEvent) -> str:
    """One JSON object: `event` is its type, the rest its fields; bytes in base64."""
    return json.dumps({"event": type(event).__name__, **_plain(event)}, ensure_ascii=False)


def as_text(event: ServerEvent) -> str:
    """`Type field=value ...`; fields with nothing in them are left out."""
    fields = (
        f"{field.name}={_shown(getattr(event, field.name))}"
        for field in dataclasses.fields(event)
        if getattr(event, field.name) not in ("", (), {}, None)
    )
    return " ".join([type(event).__name__, *fields])


def _shown(value: Any) -> str:
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, str) and value.isprintable() and value and not any(char in value for char in ' "='):
        return value
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return base64_of(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value
