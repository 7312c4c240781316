"""The machine-readable account of a conversation (version 1): plain values, ready for `json.dump`.

Times are seconds from the start of the recording (from the first event where there is no recording). Figures that
could not be measured are absent, never estimated.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from voice.report.entries import HeardUtterance, Incident, Meant, SpokenMessage
from voice.report.files import write_private
from voice.report.record import Record

VERSION = 1

_LATE_ONSET = 0.5
"""Seconds by which a detector may be late; an utterance that begins later is the second half of what was meant."""

_WHY_HELD = "still held when the conversation ended"
_WHY_WAITING = "still waiting to be sent when the conversation ended"
_WHY_UNDECIDED = "not decided when the conversation ended"
_WHY_WORDLESS = "no words were recognised"
_WHY_UNFINISHED = "the conversation ended before its end of turn"
_WHY_UNNOTICED = "no voice was noticed"


def summary(
    record: Record,
    *,
    backend: str,
    flow: str,
    device: str,
    engines: Mapping[str, Any],
    origin: float | None = None,
) -> dict[str, Any]:
    """The whole record as plain values. `origin` is the clock's time that becomes 0 s."""
    zero = start_of(record, origin)
    return {
        "version": VERSION,
        "backend": backend,
        "flow": flow,
        "device": device,
        "engines": dict(engines),
        "messages": [_message(entry, zero) for entry in in_order(record)],
        "utterances": _utterances(record, zero),
        "latency_ms": latency(record),
        "reconnects": record.reconnects,
        "errors": [_incident(entry, zero) for entry in record.errors],
        "notices": [_incident(entry, zero) for entry in record.notices],
        "messages_left_out": record.dropped,
    }


def write_summary(path: Path, values: Mapping[str, Any]) -> None:
    """Write a summary as JSON; a reader never sees half of it. Raises OSError."""
    text = json.dumps(values, ensure_ascii=False, indent=2) + "\n"
    write_private(path, text.encode("utf-8", "backslashreplace"))  # half a surrogate pair becomes its JSON escape


def start_of(record: Record, origin: float | None) -> float:
    """The clock's time that the report calls 0 s."""
    return origin if origin is not None else (record.t_first or 0.0)


def in_order(record: Record) -> list[SpokenMessage]:
    """The server's messages by the time they sounded; those never spoken, by the time they were over."""
    return sorted(record.messages.values(), key=lambda message: message.t_order)


def _seconds(t: float | None, zero: float) -> float | None:
    return None if t is None else round(t - zero, 3)


def _incident(entry: Incident, zero: float) -> dict[str, Any]:
    return {"t": _seconds(entry.t, zero), "code": entry.code, "text": entry.text}


def _message(entry: SpokenMessage, zero: float) -> dict[str, Any]:
    closed = entry.closed
    return {
        "id": entry.id,
        "turn_id": entry.turn_id,
        "kind": entry.kind,
        "can_interrupt": entry.can_interrupt if closed is None else closed.can_interrupt,
        "source": entry.source,
        "heard": entry.heard,
        "cut": None if closed is None else closed.cut,
        "heard_is_estimate": closed is None or closed.heard_is_estimate,
        "t_start": _seconds(entry.t_start, zero),
        "t_end": _seconds(entry.t_end, zero),
    }


# --------------------------------------------------------------------------- the user's side


def match_meanings(record: Record) -> tuple[dict[str, Meant], list[Meant]]:
    """What each utterance was to say, by the longest overlap in time, and what nobody noticed."""
    found: dict[str, Meant] = {}
    noticed: set[int] = set()
    for utterance in record.utterances.values():
        overlaps = [
            (min(utterance.t_end, meant.t_end) - max(utterance.t_start, meant.t_start), number)
            for number, meant in enumerate(record.meanings)
        ]
        touching = [(length, number) for length, number in overlaps if length > 0]
        if touching:
            found[utterance.id] = record.meanings[max(touching)[1]]
            noticed.update(number for _, number in touching)
    return found, [meant for number, meant in enumerate(record.meanings) if number not in noticed]


def why_not_sent(utterance: HeardUtterance) -> str:
    """Why the server was not told of an utterance; the floor's reason where it gave one."""
    if utterance.not_sent:
        return utterance.not_sent
    if utterance.final and not utterance.text.strip():
        return _WHY_WORDLESS
    last = utterance.decisions[-1] if utterance.decisions else None
    if last is not None and last.decision == "ignore":
        return last.reason
    if not utterance.final:
        return _WHY_UNFINISHED
    waiting = {"hold": _WHY_HELD, "take": _WHY_WAITING}
    return waiting.get(last.decision, _WHY_UNDECIDED) if last is not None else _WHY_UNDECIDED


def _utterances(record: Record, zero: float) -> list[dict[str, Any]]:
    meant, unnoticed = match_meanings(record)
    rows = []
    for entry in record.utterances.values():
        sent = entry.sent
        rows.append(
            {
                "id": entry.id,
                "recognised": entry.text,
                "sent": None if sent is None else sent.message.content,
                "is_interrupted": sent is not None and sent.message.is_interrupted,
                "played_content": None if sent is None else sent.message.played_content,
                "held_ms": 0 if sent is None else round(sent.message.held * 1000),
                "meant": meant[entry.id].text if entry.id in meant else None,
                "t_start": _seconds(entry.t_start, zero),
                "t_end": _seconds(entry.t_end, zero),
                "input": "voice",
                "not_sent_because": None if sent is not None else why_not_sent(entry),
            }
        )
    for sent in record.sends:
        if sent.message.utterance_id in record.utterances:
            continue
        rows.append(
            {
                "id": sent.message.id,
                "recognised": "",
                "sent": sent.message.content,
                "is_interrupted": sent.message.is_interrupted,
                "played_content": sent.message.played_content,
                "held_ms": round(sent.message.held * 1000),
                "meant": None,
                "t_start": _seconds(sent.t, zero),
                "t_end": _seconds(sent.t, zero),
                "input": "typed",
                "not_sent_because": None,
            }
        )
    for number, missed in enumerate(unnoticed, 1):
        rows.append(
            {
                "id": f"unnoticed-{number}",
                "recognised": "",
                "sent": None,
                "is_interrupted": False,
                "played_content": None,
                "held_ms": 0,
                "meant": missed.text,
                "t_start": _seconds(missed.t_start, zero),
                "t_end": _seconds(missed.t_end, zero),
                "input": "voice",
                "not_sent_because": _WHY_UNNOTICED,
            }
        )
    return sorted(rows, key=lambda row: float(row["t_start"]))


# --------------------------------------------------------------------------- latencies


def latency(record: Record) -> dict[str, dict[str, float]]:
    """Median, 95th percentile and count of what was measured, in milliseconds.

    `onset_to_duck` and `onset_to_cut` run from the onset of the user's voice to the moment at which the lowered
    voice, or silence, left the loudspeaker; they count the utterances that found the voice playing. The onset is the
    simulated user's own where there is one (the detector's comes some 0 to 150 ms later), else the detector's.
    `end_of_speech_to_sent` leaves out what was held for a message that may not be interrupted.
    `delta_to_first_sample` counts the messages that found nothing before them to be spoken.
    """
    heard = record.utterances.values()
    lowered = [u for u in heard if u.t_ducked is not None]
    meant, _ = match_meanings(record)
    return {
        name: figures
        for name, values in (
            ("onset_to_duck", [u.t_ducked - _onset(u, meant) for u in lowered if u.t_ducked is not None]),
            ("onset_to_cut", [u.t_silenced - _onset(u, meant) for u in lowered if u.t_silenced is not None]),
            ("end_of_speech_to_sent", [u.sent.t - u.t_end for u in heard if u.sent is not None and not was_held(u)]),
            ("delta_to_first_sample", list(_starts(record.messages.values()))),
        )
        if (figures := _figures(values))
    }


def _onset(utterance: HeardUtterance, meant: Mapping[str, Meant]) -> float:
    known = meant.get(utterance.id)
    if known is not None and 0 <= utterance.t_start - known.t_start <= _LATE_ONSET:
        return known.t_start
    return utterance.t_start


def was_held(utterance: HeardUtterance) -> bool:
    """The floor kept it back until a message that may not be interrupted was over."""
    return any(decision.decision == "hold" for decision in utterance.decisions)


def _starts(messages: Iterable[SpokenMessage]) -> Iterable[float]:
    for message in messages:
        if message.t_start is not None and not message.waited:
            yield message.t_start - message.t_arrived


def _figures(seconds: Sequence[float]) -> dict[str, float]:
    if not seconds:
        return {}
    ordered = sorted(value * 1000 for value in seconds)
    # Nearest rank: a value that was measured, not one between two.
    p95 = ordered[math.ceil(0.95 * len(ordered)) - 1]
    return {"p50": round(statistics.median(ordered), 1), "p95": round(p95, 1), "n": len(ordered)}
