"""Frames that a client of Google CES sends, as JSON text: exactly one member of each union, no default values.

Names are those of `google/cloud/ces/v1/session_service.proto`. A test parses every frame here strictly with the types
of Google's own package.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from voice.core.client_inputs import (
    Bytes,
    ClientInput,
    Keys,
    NamedEvent,
    Picture,
    ToolResponse,
    ToolResponses,
    Variables,
)
from voice.wire.protojson import base64_of


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """How audio is written: `encoding` LINEAR16, MULAW or ALAW, one channel, `rate` in Hz."""

    encoding: str = "LINEAR16"
    rate: int = 16_000

    def field(self) -> dict[str, Any]:
        """Its object on the wire."""
        return {"audioEncoding": self.encoding, "sampleRateHertz": self.rate}


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """What the first frame of every connection says. `session` is the full resource name; "" and None are left out."""

    session: str
    deployment: str = ""
    entry_agent: str = ""
    time_zone: str = ""
    text_streaming: bool = False
    tool_fakes: bool = False
    audio_in: AudioFormat | None = None
    audio_out: AudioFormat | None = None
    noise_suppression: str = ""
    """`low`, `moderate`, `high` or `very_high`."""

    def field(self) -> dict[str, Any]:
        """Its object on the wire."""
        found: dict[str, Any] = {"session": self.session}
        if self.audio_in is not None:
            found["inputAudioConfig"] = self.audio_in.field()
            if self.noise_suppression:
                found["inputAudioConfig"]["noiseSuppressionLevel"] = self.noise_suppression
        if self.audio_out is not None:
            found["outputAudioConfig"] = self.audio_out.field()
        optional = {
            "entryAgent": self.entry_agent,
            "deployment": self.deployment,
            "timeZone": self.time_zone,
            "useToolFakes": self.tool_fakes,
            "enableTextStreaming": self.text_streaming,
        }
        return {**found, **{name: value for name, value in optional.items() if value}}


def config(session: SessionConfig) -> str:
    """The first frame of a connection."""
    return json.dumps({"config": session.field()})


def text(words: str) -> str:
    """What the user said or wrote; must not be empty, the server refuses that."""
    return realtime({"text": words})


def audio(data: bytes) -> str:
    """The next stretch of the microphone, in the format that `config` told."""
    return realtime({"audio": base64_of(data)})


def given(value: ClientInput) -> str:
    """Something else than words."""
    return realtime(session_input(value))


def realtime(member: Mapping[str, Any]) -> str:
    """A later frame with one SessionInput."""
    return json.dumps({"realtimeInput": dict(member)})


def run_session(session: SessionConfig, inputs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The body of RunSession and StreamRunSession."""
    return {"config": session.field(), "inputs": [dict(one) for one in inputs]}


def session_input(value: ClientInput) -> dict[str, Any]:
    """The SessionInput of a value: one member, and `willContinue` only where more follows."""
    match value:
        case ToolResponses():
            return {"toolResponses": {"toolResponses": [tool_response(one) for one in value.responses]}}
        case Keys():
            return {"dtmf": value.digits}
        case NamedEvent():
            return {"event": {"event": value.name}}
        case Variables():
            return {"variables": dict(value.values)}
        case Picture():
            return {"image": _blob(value.mime_type, value.data), **_will_continue(value.more)}
        case Bytes():
            return {"blob": _blob(value.mime_type, value.data), **_will_continue(value.more)}
    assert_never(value)


def tool_response(answer: ToolResponse) -> dict[str, Any]:
    """The answer to a tool call: it names the call as the call named itself."""
    named: dict[str, Any] = {}
    if answer.toolset or answer.tool_id:
        named["toolsetTool"] = {"toolset": answer.toolset, "toolId": answer.tool_id}
    elif answer.tool:
        named["tool"] = answer.tool
    if answer.display_name:
        named["displayName"] = answer.display_name
    return {"id": answer.id, **named, "response": dict(answer.response)}


def _blob(mime_type: str, data: bytes) -> dict[str, Any]:
    return {"mimeType": mime_type, "data": base64_of(data)}


def _will_continue(more: bool) -> dict[str, Any]:
    return {"willContinue": True} if more else {}
