"""Google's own types as the judge of frames: what they refuse, the real service refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.cloud.ces_v1.types import example, session_service
from google.protobuf import json_format

_TYPES = {
    "client": session_service.BidiSessionClientMessage,
    "server": session_service.BidiSessionServerMessage,
    "request": session_service.RunSessionRequest,
    "response": session_service.RunSessionResponse,
    "message": example.Message,
}


def strictly(by: str, frame: Mapping[str, Any]) -> None:
    """Parse a frame that `by` sends. Raises json_format.ParseError for whatever the definition does not have."""
    json_format.ParseDict(dict(frame), _TYPES[by].pb()(), ignore_unknown_fields=False)


def members(of: str) -> dict[str, list[str]]:
    """The unions of a message type (`SessionInput`, `SessionOutput`, `Chunk`, ...), each with its members' names."""
    found = getattr(session_service, of, None) or getattr(example, of)
    descriptor = found.pb().DESCRIPTOR
    return {union.name: [field.json_name for field in union.fields] for union in descriptor.oneofs}
