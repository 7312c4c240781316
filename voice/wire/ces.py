"""Codec of Google CES (`SessionService`): the server's frames to events, without I/O.

Frames have no message ids: a message is the text of one turn, joined as it comes, and its id is made here. A codec
serves one connection and remembers its open turns, so that a turn that was never said to be over ends with the next
one. The server's rules are tested by key, never by truth (`{"goAway": {}}` is a whole frame), members are read one
by one (a frame that breaks a union's rule loses nothing, and says so), and unknown members are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from voice.core.server_events import (
    AudioChunk,
    BadFrame,
    Citations,
    ConversationClosed,
    Diagnostics,
    GoingAway,
    Ignored,
    Interruption,
    MessageCompleted,
    MessageDelta,
    Payload,
    SearchSuggestions,
    ServerEvent,
    ToolCalls,
    Transcribed,
    TurnEnded,
)
from voice.wire import ces_messages as parts
from voice.wire.ces_spellings import assumed
from voice.wire.json_frame import BadFrameError, parse
from voice.wire.lenient import clipped
from voice.wire.protojson import count, flag, member, messages, octets, strings, struct, text

MAX_FRAME: Final = 4 * 1024 * 1024
"""Longest frame, in bytes or characters: what Google's own clients allow. `diagnosticInfo` and audio make long ones."""

MAX_TURN_TEXT: Final = 256 * 1024
"""Characters kept of one turn, four hours of speech. More is a fault of the server, and memory has an end."""

MAX_OPEN_TURNS: Final = 4
"""Turns that may be open at once. The protocol has one; late output of an earlier turn opens that once more."""

KIND: Final = "reply"
"""The kind of every message: CES does not tell kinds apart."""

FRAME_MEMBERS: Final = ("recognitionResult", "sessionOutput", "interruptionSignal", "endSession", "goAway")
OUTPUT_MEMBERS: Final = (
    "text",
    "audio",
    "toolCalls",
    "citations",
    "googleSearchSuggestions",
    "endSession",
    "payload",
)


@dataclass(slots=True)
class _Turn:
    """A turn that has begun: `id` for the session, and its text so far."""

    id: str
    texts: list[str] = field(default_factory=list)
    length: int = 0


class CesCodec:
    """Decodes the frames of one connection. `connection` counts a session's connections, so that ids stay its own.

    `streaming`: fragments were asked for. Else each text is a whole one, and a blank goes between a sentence and the
    next where the server left none ("Done." "What else?"); in fragments the blanks are the server's.
    """

    def __init__(self, connection: int = 0, *, streaming: bool = False) -> None:
        self._connection, self._streaming = connection, streaming
        self._highest = 0
        self._begun = 0
        self._newest = ""
        self._open: dict[int, _Turn] = {}
        self._muted = 0
        """Audio of turns up to this one is not played: the user spoke over it."""
        self._over = False

    @property
    def newest_turn(self) -> int:
        """The highest turn index heard of on this connection; 0 before the first."""
        return self._highest

    @property
    def turn_open(self) -> bool:
        """Whether a turn has begun and not ended."""
        return bool(self._open)

    def decode(self, frame: str | bytes) -> tuple[ServerEvent, ...]:
        """The events that a frame means, in the order in which they count. Never raises.

        Not a JSON object within the limits: one `BadFrame`. A rule of the protocol was broken: what could be read,
        and a `BadFrame` for each breach. A frame without a known member: `Ignored`. One that says nothing new (the
        session's end for the second time, audio that was spoken over): none.
        """
        try:
            found = parse(frame, MAX_FRAME)
        except BadFrameError as bad:
            return (BadFrame(str(bad)),)
        return self.events(found)

    def events(self, found: Mapping[str, Any]) -> tuple[ServerEvent, ...]:
        """The same for a frame that was parsed already."""
        breaches: list[str] = []
        parts.only_one(found, FRAME_MEMBERS, "frame", breaches.append)
        events = [*self._frame(found, breaches.append)]
        if not events and not any(member(found, name) is not None for name in FRAME_MEMBERS):
            events.append(Ignored(clipped(next(iter(found), "(empty)"))))
        return (*events, *(BadFrame(breach) for breach in breaches))

    def outputs(self, found: Mapping[str, Any]) -> tuple[ServerEvent, ...]:
        """The events of a RunSessionResponse, or of one entry of StreamRunSession's reply."""
        listed = member(found, "outputs")
        if listed is not None and not isinstance(listed, list):
            return (BadFrame("outputs is not a list"),)
        return tuple(event for output in listed or [] for event in self.events({"sessionOutput": output}))

    def body(self, body: str | bytes) -> tuple[ServerEvent, ...]:
        """The events of the body of a RunSession answer. Never raises."""
        try:
            return self.outputs(parse(body, MAX_FRAME))
        except BadFrameError as bad:
            return (BadFrame(str(bad)),)

    def broken_off(self) -> tuple[ServerEvent, ...]:
        """The connection is gone: turns that were open end as failed, with what had come of them."""
        events: list[ServerEvent] = []
        for index in sorted(self._open):
            turn = self._open.pop(index)
            if turn.texts:
                events.append(MessageCompleted(turn.id, turn.id, KIND, None, "".join(turn.texts)))
            events.append(TurnEnded(turn.id, "failed", "connection_lost"))
        return tuple(events)

    def _frame(self, found: Mapping[str, Any], tell: parts.Tell) -> Iterator[ServerEvent]:
        heard = member(found, "recognitionResult")
        if heard is not None:
            yield Transcribed(text(struct(heard), "transcript"))
        output = member(found, "sessionOutput")
        if isinstance(output, Mapping):
            yield from self._output(output, tell)
        elif output is not None:
            tell("sessionOutput is not an object")
        signal = member(found, "interruptionSignal")
        if signal is not None:
            yield self._interruption(flag(struct(signal), "bargeIn"))
        if member(found, "goAway") is not None:
            yield GoingAway()
        end = member(found, "endSession")
        if end is not None:
            yield from self._end(struct(end))

    # ------------------------------------------------------------------ one output

    def _output(self, output: Mapping[str, Any], tell: parts.Tell) -> Iterator[ServerEvent]:
        parts.only_one(output, OUTPUT_MEMBERS, "sessionOutput", tell)
        index = count(output, "turnIndex") or self._highest
        yield from self._begin(index)
        yield from self._words(index, output, tell)
        yield from self._data(index, output, tell)
        diagnostics = member(output, "diagnosticInfo")
        if diagnostics is not None:
            yield self._diagnostics(index, struct(diagnostics), tell)
        if flag(output, "turnCompleted"):
            yield from self._close(index)
        end = member(output, "endSession")
        if end is not None:
            yield from self._end(struct(end))

    def _begin(self, index: int) -> Iterator[ServerEvent]:
        """A higher index than before ends the turns before it, whether they were said to be complete or not."""
        if index > self._highest:
            for earlier in sorted(self._open):
                yield from self._close(earlier)
            self._highest = index
        elif index not in self._open and len(self._open) >= MAX_OPEN_TURNS:
            yield from self._close(min(self._open))

    def _turn(self, index: int) -> _Turn:
        turn = self._open.get(index)
        if turn is None:
            self._begun += 1
            turn = self._open[index] = _Turn(f"{self._connection}.{index}.{self._begun}")
            if index == self._highest:
                self._newest = turn.id
        return turn

    def _words(self, index: int, output: Mapping[str, Any], tell: parts.Tell) -> Iterator[ServerEvent]:
        words = member(output, "text")
        if isinstance(words, str) and words:
            turn = self._turn(index)
            if not self._streaming and turn.texts and _two_sentences(turn.texts[-1], words):
                words = " " + words
            if turn.length + len(words) > MAX_TURN_TEXT:
                tell(f"a turn's text is longer than {MAX_TURN_TEXT} characters; the rest is left out")
            else:
                turn.length += len(words)
                turn.texts.append(words)
                yield MessageDelta(turn.id, turn.id, KIND, None, words)
        elif words is not None and not isinstance(words, str):
            tell("sessionOutput: text is not a string")
        audio = member(output, "audio")
        if audio is not None:
            data = octets(audio)
            if data is None:
                tell("sessionOutput: audio is not base64")
            elif index > self._muted or not index or assumed("late_audio") == "play":
                yield AudioChunk(self._turn(index).id, without_header(data))

    def _data(self, index: int, output: Mapping[str, Any], tell: parts.Tell) -> Iterator[ServerEvent]:
        calls = member(output, "toolCalls")
        if calls is not None:
            listed = member(struct(calls), "toolCalls")
            if not isinstance(listed, list):
                tell("sessionOutput: toolCalls holds no list")
            else:
                found = tuple(parts.tool_call(struct(one), tell) for one in listed)
                yield ToolCalls(self._turn(index).id, found)
        citations = member(output, "citations")
        if citations is not None:
            yield Citations(self._turn(index).id, parts.sources(citations))
        searches = member(output, "googleSearchSuggestions")
        if searches is not None:
            htmls = strings(struct(searches), "htmls")
            yield SearchSuggestions(self._turn(index).id, htmls, parts.queries(searches))
        payload = member(output, "payload")
        if payload is not None:
            if not isinstance(payload, Mapping):
                tell("sessionOutput: payload is not an object")
            yield Payload(self._turn(index).id, struct(payload))

    def _diagnostics(self, index: int, found: Mapping[str, Any], tell: parts.Tell) -> Diagnostics:
        traced = tuple(parts.trace_message(one, tell) for one in messages(found, "messages"))
        root = member(found, "rootSpan")
        return Diagnostics(self._turn(index).id, traced, parts.span(struct(root)) if root is not None else None)

    def _close(self, index: int) -> Iterator[ServerEvent]:
        turn = self._turn(index)
        del self._open[index]
        if turn.texts:
            yield MessageCompleted(turn.id, turn.id, KIND, None, "".join(turn.texts))
        yield TurnEnded(turn.id, "completed")

    # ------------------------------------------------------------------ signals

    def _interruption(self, barge_in: bool) -> Interruption:
        if barge_in:
            self._muted = self._highest
        return Interruption(barge_in, self._newest)

    def _end(self, end: Mapping[str, Any]) -> Iterator[ServerEvent]:
        """The session is over. It may be said in two places, and counts once."""
        if self._over:
            return
        self._over = True
        metadata = struct(member(end, "metadata"))
        escalated = metadata.get("session_escalated") is True
        reason = metadata.get("reason")
        yield ConversationClosed(False, clipped(reason) if isinstance(reason, str) else "", escalated, metadata)


def _two_sentences(before: str, after: str) -> bool:
    """Whether a text ends with a sentence and the next one begins with one, without a blank between the two."""
    return before[-1] in ".!?…" and after[0].isupper()


def without_header(data: bytes) -> bytes:
    """Samples only: what stands before them in a WAV file is taken off, if it is there."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        return data
    at = 12
    while at + 8 <= len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        if data[at : at + 4] == b"data":
            return data[at + 8 : at + 8 + size] if size and at + 8 + size <= len(data) else data[at + 8 :]
        at += 8 + size + size % 2
    return data


class StreamReply:
    """The body of StreamRunSession as it comes: one JSON array of responses, or a line for each.

    `feed` gives the responses that are whole by now, as text. Raises BadFrameError when what is kept of an unfinished
    one is longer than `MAX_FRAME`.
    """

    def __init__(self) -> None:
        self._kept = ""
        self._decoder = json.JSONDecoder()

    def feed(self, piece: str) -> list[str]:
        """Take the next characters of the body."""
        kept, whole = self._kept + piece, []
        while True:
            kept = kept.lstrip(" \t\r\n,[]")
            if not kept.startswith("{"):
                break
            try:
                _, end = self._decoder.raw_decode(kept)
            except (ValueError, RecursionError):
                break
            whole.append(kept[:end])
            kept = kept[end:]
        if len(kept) > MAX_FRAME:
            raise BadFrameError(f"an answer is longer than {MAX_FRAME} characters")
        self._kept = kept
        return whole
