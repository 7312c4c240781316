"""What a client of CES may send, checked as the real server checks it: a frame that the definition does not have is
refused, and so are two members of one union. The words of a refusal name fields of the protocol and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from voice.wire.json_frame import BadFrameError, parse
from voice.wire.protojson import member, octets, struct, text

SESSION: Final = re.compile(
    r"projects/[^/]+/locations/(?P<location>[^/]+)/apps/[^/]+/sessions/[a-zA-Z0-9][a-zA-Z0-9_-]{4,62}"
)
"""The full resource name of a session."""

_CONFIG: Final = frozenset(
    (
        *("session", "inputAudioConfig", "outputAudioConfig", "historicalContexts", "entryAgent", "deployment"),
        *("timeZone", "useToolFakes", "remoteDialogflowQueryParameters", "enableTextStreaming"),
    )
)
_AUDIO: Final = frozenset(("audioEncoding", "sampleRateHertz", "noiseSuppressionLevel"))
_MEMBERS: Final = ("text", "dtmf", "audio", "toolResponses", "image", "blob", "variables", "event")
_INPUT: Final = frozenset((*_MEMBERS, "willContinue"))
_DTMF: Final = re.compile(r"[0-9A-D*#]+")


class RefusedError(Exception):
    """The frame ends the connection. `status`: Google's word for why."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason

    @property
    def close_reason(self) -> str:
        """What the closing handshake says, in the real server's form; at most 123 bytes."""
        return f"Request trace id: local, [ORIGINAL ERROR] generic::{self.status}: {self.reason}"[:123]


def _invalid(reason: str) -> RefusedError:
    return RefusedError("invalid_argument", reason)


def frame(raw: str | bytes) -> Mapping[str, Any]:
    """The object of a client's frame. Raises RefusedError."""
    try:
        return parse(raw)
    except BadFrameError as bad:
        raise _invalid(str(bad)) from None


def config(found: Mapping[str, Any], *, lenient: bool = False) -> Mapping[str, Any]:
    """The `config` of a first frame. `lenient`: unknown names are passed over. Raises RefusedError."""
    given = member(found, "config")
    if not isinstance(given, Mapping):
        raise _invalid("the first frame must be config")
    if not lenient:
        _known(found, frozenset({"config", "realtimeInput"}), "frame")
        _known(given, _CONFIG, "config")
        for name in ("inputAudioConfig", "outputAudioConfig"):
            _known(struct(member(given, name)), _AUDIO, name)
    if member(found, "realtimeInput") is not None:
        raise _invalid("oneof field 'message_type' is already set")
    if not SESSION.fullmatch(text(given, "session")):
        raise _invalid("config.session is not a session's resource name")
    return given


def realtime(found: Mapping[str, Any], *, lenient: bool = False) -> Mapping[str, Any]:
    """The SessionInput of a later frame. Raises RefusedError."""
    given = member(found, "realtimeInput")
    if not isinstance(given, Mapping):
        raise _invalid("later frames must be realtimeInput")
    if not lenient:
        _known(found, frozenset({"config", "realtimeInput"}), "frame")
    return session_input(given, lenient=lenient)


def session_input(given: Mapping[str, Any], *, lenient: bool = False) -> Mapping[str, Any]:
    """One SessionInput. Raises RefusedError."""
    if not lenient:
        _known(given, _INPUT, "realtimeInput")
    there = [name for name in _MEMBERS if member(given, name) is not None]
    if len(there) != 1:
        reason = "oneof field 'input_type' is already set" if there else "no input"
        raise _invalid(reason)
    check = _CHECKS.get(there[0])
    if check is not None:
        check(member(given, there[0]))
    return given


def _known(given: Mapping[str, Any], names: frozenset[str], where: str) -> None:
    snake = {re.sub("[A-Z]", lambda hump: "_" + hump.group().lower(), name) for name in names}
    if any(name not in names and name not in snake for name in given):
        raise _invalid(f"Unknown name in {where}")


def _check_text(given: Any) -> None:
    if not isinstance(given, str) or not given:
        raise _invalid("text is empty")


def _check_dtmf(given: Any) -> None:
    if not isinstance(given, str) or not _DTMF.fullmatch(given):
        raise _invalid("dtmf has other signs than keys")


def _check_bytes(given: Any) -> None:
    if octets(given) is None:
        raise _invalid("audio is not base64")


def _check_event(given: Any) -> None:
    if not isinstance(given, Mapping) or not text(given, "event"):
        raise _invalid("event has to be an object with a name")


def _check_struct(given: Any) -> None:
    if not isinstance(given, Mapping):
        raise _invalid("variables is not an object")


def _check_blob(given: Any) -> None:
    found = struct(given)
    if not text(found, "mimeType") or octets(member(found, "data")) is None:
        raise _invalid("mimeType and data are required")


def _check_image(given: Any) -> None:
    _check_blob(given)
    if text(given, "mimeType") not in ("image/png", "image/jpeg", "image/webp"):
        raise _invalid("an image is a png, jpeg or webp")


def _check_responses(given: Any) -> None:
    listed = member(struct(given), "toolResponses")
    if not isinstance(listed, list) or not listed:
        raise _invalid("Unknown name: toolResponses has to hold a list toolResponses")
    for one in listed:
        found = struct(one)
        if not text(found, "id") or not isinstance(member(found, "response"), Mapping):
            raise _invalid("a tool response needs id and response")
        if member(found, "tool") is None and member(found, "toolsetTool") is None:
            raise _invalid("a tool response needs tool or toolsetTool")


_CHECKS: Final = {
    "text": _check_text,
    "dtmf": _check_dtmf,
    "audio": _check_bytes,
    "event": _check_event,
    "variables": _check_struct,
    "image": _check_image,
    "blob": _check_blob,
    "toolResponses": _check_responses,
}
