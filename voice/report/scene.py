"""What the timeline shows, before anything is drawn: plain shapes in seconds from the start of the report."""

from __future__ import annotations

import math
from dataclasses import dataclass

from voice.report.align import align
from voice.report.entries import HeardUtterance, SpokenMessage
from voice.report.record import Record
from voice.report.summary import in_order, match_meanings, start_of, was_held, why_not_sent
from voice.report.words import SpokenWord

_PACE = 0.065
"""Seconds a character at 175 words a minute; the width of text that never sounded, when nothing of it did."""

_FRAGMENT = 0.08
"""Seconds of a word below which nobody could tell that there was one."""

_GHOST_MIN = 0.5
"""Seconds below which an unheard rest is too narrow to be seen as a shape."""

_ROW_GRID = (10.0, 12.0, 15.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Seconds a row may be long, the shortest that will do; in the first three, words can be read."""

_LAST_ROW = 0.25
"""Share of a row that is not worth a row of its own: all rows get a little longer instead."""

_TAIL = 28
"""Characters of the heard text that its end is recognised by."""

_MAX_ROWS = 60
"""Rows that a picture stays viewable with."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A stretch of one message that left the loudspeaker; words that are not whole do not count as heard."""

    t_start: float
    t_end: float
    kind: str
    can_interrupt: bool
    words: tuple[SpokenWord, ...]


@dataclass(frozen=True, slots=True)
class Ghost:
    """What the user was not told, drawn after the cut for as long as there is room."""

    t_start: float
    t_end: float
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class CutLine:
    """The moment at which the voice was cut, and why."""

    t: float
    cause: str
    unspoken: int
    """Messages that were dropped with it before their first word."""


@dataclass(frozen=True, slots=True)
class Said:
    """One utterance of the user. `told` says in a few words what the server was told of it."""

    t_start: float
    t_end: float
    text: str
    told: str
    t_sent: float | None
    is_interrupted: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """A time during which the floor was in a state: "ducked" or "held"."""

    t_start: float
    t_end: float
    state: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A decision of the floor, or something that happened to the link."""

    t: float
    text: str


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything on the picture, and how it is wrapped."""

    length: float
    row: float
    rows: int
    spoken: tuple[Spoken, ...]
    ghosts: tuple[Ghost, ...]
    cuts: tuple[CutLine, ...]
    said: tuple[Said, ...]
    bars: tuple[Bar, ...]
    marks: tuple[Mark, ...]


def scene(record: Record, origin: float | None = None, length: float | None = None, row: float | None = None) -> Scene:
    """The picture of a record. `origin` is the clock's time that becomes 0 s, `length` the seconds to show (to the
    last event by default), `row` the seconds a row (by default so that words can be read, longer for a long talk)."""
    zero = start_of(record, origin)
    messages = in_order(record)
    ends = [record.t_last - zero, *(message.t_end - zero for message in messages)]
    total = length if length is not None else max(ends) + 0.5
    seconds = row or next((s for s in _ROW_GRID if total <= s * _MAX_ROWS), _ROW_GRID[-1])
    rows = max(1, math.ceil(total / seconds - _LAST_ROW))
    return Scene(
        length=total,
        row=max(seconds, total / rows),
        rows=rows,
        spoken=tuple(_spoken(message, record.words(message.id), zero) for message in messages if _sounded(message)),
        ghosts=tuple(_ghosts(messages, zero, total)),
        cuts=tuple(_cuts(messages, zero)),
        said=tuple(_said(record, zero)),
        bars=tuple(_bars(record, zero, total)),
        marks=tuple(_marks(record, zero)),
    )


def _sounded(message: SpokenMessage) -> bool:
    return message.t_start is not None


def _spoken(message: SpokenMessage, words: tuple[SpokenWord, ...], zero: float) -> Spoken:
    start = message.t_end if message.t_start is None else message.t_start
    until = heard_until(message, words)
    moved = tuple(
        SpokenWord(w.text, w.t_start - zero, w.t_end - zero, w.whole and w.t_start < until)
        for w in words
        if w.whole or w.t_end - w.t_start >= _FRAGMENT
    )
    return Spoken(start - zero, message.t_end - zero, message.kind, message.can_interrupt, moved)


def heard_until(message: SpokenMessage, words: tuple[SpokenWord, ...]) -> float:
    """When the first word sounded that the heard text does not claim: of a cut message, what sounded after the voice
    was lowered may not have been understood."""
    if message.closed is None or message.closed.cut is None:
        return math.inf
    place, until = 0, math.inf
    for piece in align(message.source, words):
        if place >= len(message.heard) and piece.t_start is not None:
            until = min(until, piece.t_start)
        place += len(piece.text)
    return until


def _ghosts(messages: list[SpokenMessage], zero: float, total: float) -> list[Ghost]:
    """The rests of what was cut, one after the other, each in the pace its message had, as far as there is room."""
    starts = sorted(message.t_start - zero for message in messages if message.t_start is not None)
    found: list[Ghost] = []
    free = 0.0
    cut = sorted(
        (m for m in messages if m.closed is not None and m.closed.cut is not None),
        key=lambda m: (m.t_end, m.t_start is None, m.t_arrived),
    )
    for message in cut:
        rest = message.source[len(message.heard) :].strip()
        if not rest:
            continue
        start = max(message.t_end - zero, free)
        spoken = 0.0 if message.t_start is None else message.t_end - message.t_start
        pace = min(max(spoken / len(message.heard), _PACE / 2), _PACE * 2) if message.heard else _PACE
        room = min((t for t in starts if t > message.t_end - zero), default=total)
        end = min(start + pace * len(rest), room)
        if end - start >= _GHOST_MIN:
            found.append(Ghost(start, end, message.kind, rest))
            free = end
    return found


def _cuts(messages: list[SpokenMessage], zero: float) -> list[CutLine]:
    grouped: dict[float, tuple[str, int]] = {}
    for message in messages:
        if message.closed is None or message.closed.cut is None:
            continue
        t = message.t_end - zero
        cause, unspoken = grouped.get(t, (message.closed.cut, 0))
        grouped[t] = (cause, unspoken + (message.t_start is None))
    return [CutLine(t, cause, unspoken) for t, (cause, unspoken) in sorted(grouped.items())]


def told(utterance: HeardUtterance) -> str:
    """What the server was told of an utterance, in a few words."""
    if utterance.sent is None:
        return f"not sent: {why_not_sent(utterance)}"
    sent = utterance.sent.message
    parts = [f"held {sent.held:.1f} s, sent" if was_held(utterance) else "sent"]
    if sent.is_interrupted:
        parts.append(_until(sent.played_content or ""))
    return " · ".join(parts)


def _until(heard: str) -> str:
    words = heard.split()
    if not words:
        return "heard nothing"
    tail = words.pop()
    while words and len(tail) + len(words[-1]) < _TAIL:
        tail = f"{words.pop()} {tail}"
    return f"heard until “{'…' if words else ''}{tail}”"


def _said(record: Record, zero: float) -> list[Said]:
    meant, unnoticed = match_meanings(record)
    found = [
        Said(
            entry.t_start - zero,
            entry.t_end - zero,
            entry.text or _aside(meant[entry.id].text if entry.id in meant else "no words"),
            told(entry),
            None if entry.sent is None else entry.sent.t - zero,
            entry.sent is not None and entry.sent.message.is_interrupted,
        )
        for entry in record.utterances.values()
    ]
    found += [
        Said(
            sent.t - zero,
            sent.t - zero,
            sent.message.content,
            "typed, sent",
            sent.t - zero,
            sent.message.is_interrupted,
        )
        for sent in record.sends
        if sent.message.utterance_id not in record.utterances
    ]
    found += [Said(m.t_start - zero, m.t_end - zero, _aside(m.text), "not noticed", None, False) for m in unnoticed]
    return sorted(found, key=lambda said: said.t_start)


def _aside(text: str) -> str:
    return text if text.startswith("(") else f"({text})"


def _bars(record: Record, zero: float, total: float) -> list[Bar]:
    bars = [
        Bar(low.t_start - zero, total if low.t_end is None else low.t_end - zero, "ducked") for low in record.lowered
    ]
    for utterance in record.utterances.values():
        held = [decision.t for decision in utterance.decisions if decision.decision == "hold"]
        if held:
            bars.append(Bar(held[0] - zero, total if utterance.sent is None else utterance.sent.t - zero, "held"))
    return sorted(bars, key=lambda bar: bar.t_start)


def _marks(record: Record, zero: float) -> list[Mark]:
    ends = {message.t_end for message in record.messages.values() if message.closed is not None}
    shown = [
        Mark(d.t - zero, "paused" if d.decision == "cut" else d.decision)
        for d in record.decisions
        if d.decision in ("resume", "ignore", "release") or (d.decision == "cut" and d.t not in ends)
    ]
    shown += [Mark(link.t - zero, link.code.replace("_", " ")) for link in record.links]
    return sorted(shown, key=lambda mark: mark.t)
