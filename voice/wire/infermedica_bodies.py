"""Bodies of Infermedica's HTTP answers to events, and events' bodies for its requests. Sans-I/O, and never raising.

Lines of the NDJSON stream are frames: `voice.wire.infermedica.decode` takes them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from voice.core.events import SendUserMessage
from voice.core.server_events import (
    AssessmentChanged,
    BadFrame,
    MessageCompleted,
    ServerEvent,
    ServerFault,
    Snapshot,
    TurnEnded,
    UserAccepted,
)
from voice.wire import infermedica_payloads as payloads
from voice.wire.json_frame import BadFrameError, parse
from voice.wire.lenient import entries, mapping
from voice.wire.spellings import read

# --------------------------------------------------------------------------- from the server


def decode_turn(body: bytes) -> tuple[ServerEvent, ...]:
    """A blocking `Turn`, as the events that a stream would have told: the user message accepted, each assistant
    message completed, a handoff if there is one, and the turn's end. It has no assessment, and does not say whether
    the conversation is over: ask for the conversation.

    A body that is no object is one `BadFrame`; a message of it that cannot be used is one among the rest.
    """
    try:
        turn = parse(body)
    except BadFrameError as bad:
        return (BadFrame(f"turn: {bad}"),)
    told = [_told(payloads.accepted, mapping(turn.get("user_message")), "user_message")]
    answers = entries(turn, "assistant_messages")
    told += [_told(payloads.completed, mapping(answer), "assistant_messages") for answer in answers]
    if isinstance(turn.get("handoff"), dict):
        told.append(payloads.handoff(turn["handoff"]))
    named = (event.turn_id for event in told if isinstance(event, (UserAccepted, MessageCompleted)) and event.turn_id)
    return (*told, TurnEnded(next(named, None), "completed"))


def _told(read_it: Callable[[Mapping[str, Any]], ServerEvent], found: Mapping[str, Any], where: str) -> ServerEvent:
    try:
        return read_it(found)
    except BadFrameError as bad:
        return BadFrame(f"turn: {where}: {bad}")


def decode_conversation(body: bytes, *, resumed: bool) -> Snapshot | BadFrame:
    """A `Conversation`, as it is answered to a create (`resumed` False) and at any time later (True)."""
    try:
        return payloads.snapshot(parse(body), resumed=resumed)
    except BadFrameError as bad:
        return BadFrame(f"conversation: {bad}")


def decode_assessment(body: bytes) -> AssessmentChanged | BadFrame:
    """An `Assessment`; it replaces the one before."""
    try:
        return AssessmentChanged(parse(body))
    except BadFrameError as bad:
        return BadFrame(f"assessment: {bad}")


def decode_error(status: int, body: bytes) -> ServerFault:
    """The fault in an answer of HTTP status `status` (4xx, 5xx). Without a code in an envelope, as proxies answer, the
    code is `http_` and the status."""
    try:
        envelope = parse(body)
    except BadFrameError:
        envelope = {}
    return payloads.fault(mapping(read(envelope, "path.error")), f"http_{status}")


# --------------------------------------------------------------------------- to the server


def encode_conversation(conversation_input: Mapping[str, Any]) -> bytes:
    """The body that creates a conversation: a `ConversationInput`."""
    return json.dumps({"settings": {}, "assessment": {}, **conversation_input}).encode()


def encode_turn(message: SendUserMessage) -> bytes:
    """The body of a turn, blocking or streamed."""
    return json.dumps({"user_message": payloads.user_message_body(message)}).encode()


def encode_settings(settings: Mapping[str, Any]) -> bytes:
    """The body that changes settings; fields left out keep their value."""
    return json.dumps(dict(settings)).encode()
