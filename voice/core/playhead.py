"""What was heard, computed from what the sound device played.

The player keeps a ledger: which samples of which clause went to which frames of the device, and at which level.
Frames of fades, lead-ins, pauses and underruns are in no span of the ledger, so they cannot count. A word was heard
when its last audible sample was played; where the end of a word is not known, it was not heard. Everything here
follows from three facts: the marks of the clauses, the spans of the ledger, and the frame up to which to count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from voice.core.events import ClauseVoiced, Span, Stamp, WordMark
from voice.core.script import Clause, speakable

FULL_LEVEL = 0.999
"""The gain from which on a span counts as spoken at its full level."""


@dataclass(slots=True)
class _Track:
    """The audio of one clause."""

    marks: list[WordMark] = field(default_factory=list)
    samples: int = 0
    final: bool = False
    estimated: bool = False
    failed: bool = False
    spans: list[Span] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Done:
    """The first `clauses` clauses of a message, heard to their end: `end` characters of its source, in frames before
    `last_frame`. Nothing can change that any more, so nothing else is kept of them."""

    clauses: int = 0
    end: int = 0
    last_frame: int = 0


@dataclass(frozen=True, slots=True)
class Heard:
    """What was heard of a message: the first `end` characters of its source."""

    end: int
    clause: int
    """Index of the first clause that was not heard to its end (the number of clauses if all were)."""
    estimated: bool
    """The end follows from estimated marks. What was heard to the end of a clause is known, not estimated."""


class Playhead:
    """The ledger of the messages that are not closed yet, against the device's own count of frames."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self._tracks: dict[str, dict[int, _Track]] = {}
        self._done: dict[str, _Done] = {}
        self._stamp: Stamp | None = None

    # ------------------------------------------------------------------ facts in

    def voiced(self, event: ClauseVoiced) -> None:
        """Marks and length of a clause, as far as synthesised."""
        track = self._track(event.message_id, event.clause)
        track.marks.extend(event.marks)
        track.samples = max(track.samples, event.samples)
        track.final = track.final or event.final
        track.estimated = track.estimated or event.estimated

    def failed(self, message_id: str, clause: int) -> None:
        """The voice gave this clause up; what it delivered of it stays."""
        track = self._track(message_id, clause)
        track.final = track.failed = True

    def played(self, spans: Sequence[Span], stamp: Stamp | None) -> None:
        """Entries of the player's ledger, in the order of their frames; and the device's newest stamp."""
        for span in spans:
            track = self._track(span.message_id, span.clause)
            last = track.spans[-1] if track.spans else None
            if last and _continues(last, span):
                track.spans[-1] = Span(
                    last.frame, last.message_id, last.clause, last.sample, last.count + span.count, last.level
                )
            else:
                track.spans.append(span)
        if stamp is not None:
            self._stamp = stamp

    def forget(self, message_id: str, from_clause: int = 0) -> None:
        """Drop what is known of a message from this clause on: it is closed, or will be spoken again."""
        tracks = self._tracks.get(message_id, {})
        for index in [index for index in tracks if index >= from_clause]:
            del tracks[index]
        if not tracks:
            self._tracks.pop(message_id, None)
        if from_clause == 0:
            self._done.pop(message_id, None)

    def settle(self, message_id: str, clauses: Sequence[Clause], frame: int | None) -> None:
        """Keep no more than the end of what was heard for certain, so that a message of any length costs the same."""
        heard = self.heard(message_id, clauses, frame, full_level=True)
        done, tracks = self._done.get(message_id, _Done()), self._tracks.get(message_id, {})
        for clause in clauses[done.clauses : heard.clause]:
            track = tracks.pop(clause.index)
            last = track.spans[-1] if track.spans else None
            done = _Done(
                clause.index + 1,
                clause.end if track.samples else done.end,
                last.frame + last.count if last else done.last_frame,
            )
        if done.clauses:
            self._done[message_id] = done

    def _track(self, message_id: str, clause: int) -> _Track:
        return self._tracks.setdefault(message_id, {}).setdefault(clause, _Track())

    # ------------------------------------------------------------------ answers

    def frame_at(self, time: float) -> int | None:
        """Frames that have left the converter by `time`; None before the device's first stamp."""
        if self._stamp is None:
            return None
        return self._stamp.frame + int((time - self._stamp.time) * self.rate + 1e-6)

    def time_of(self, frame: int) -> float | None:
        """When `frame` leaves the converter; None before the device's first stamp."""
        return None if self._stamp is None else self._stamp.time + (frame - self._stamp.frame) / self.rate

    def first_frame(self, message_id: str) -> int | None:
        """The first frame that holds audio of the message; None if none does."""
        frames = [track.spans[0].frame for track in self._tracks.get(message_id, {}).values() if track.spans]
        return min(frames, default=None)

    def last_frame(self, message_id: str) -> int | None:
        """The frame behind the last one that holds audio of the message; None if none does."""
        frames = [
            track.spans[-1].frame + track.spans[-1].count
            for track in self._tracks.get(message_id, {}).values()
            if track.spans
        ]
        if message_id in self._done:
            frames.append(self._done[message_id].last_frame)
        return max(frames, default=None)

    def waiting(self, message_id: str, frame: int | None) -> float:
        """Seconds of the message's synthesised audio that had not been played before `frame`."""
        tracks = self._tracks.get(message_id, {}).values()
        return sum(max(0, track.samples - _reached(track, frame)) for track in tracks) / self.rate

    def finished(self, message_id: str, clause: int, frame: int | None) -> bool:
        """Whether all audio of the clause was synthesised and had been played before `frame`: the count of samples
        says so, no event of an engine is waited for."""
        if clause < self._done.get(message_id, _Done()).clauses:
            return True
        track = self._tracks.get(message_id, {}).get(clause)
        return track is not None and track.final and _reached(track, frame) >= track.samples

    def heard(self, message_id: str, clauses: Sequence[Clause], frame: int | None, full_level: bool = False) -> Heard:
        """What was heard of a message's `clauses` before `frame` (None: nothing left the converter yet).

        `full_level`: count only what was spoken before the level was lowered for the last time and stayed low,
        because what was said under the user's own words was not listened to.
        """
        tracks = self._tracks.get(message_id, {})
        limit = _before_duck(tracks, frame) if full_level else frame
        done = self._done.get(message_id, _Done())
        end = done.end
        for clause in clauses[done.clauses :]:
            track = tracks.get(clause.index)
            if track is None:
                return Heard(end, clause.index, False)
            reached = _reached(track, limit)
            for mark in track.marks:
                if mark.last > reached:
                    break
                end = clause.to_source(mark.end)
            if not track.final or track.failed or reached < track.samples:
                return Heard(end, clause.index, track.estimated and reached > 0)
            if track.samples:
                end = clause.end
            elif speakable(clause.spoken):
                return Heard(end, clause.index, False)
        return Heard(end, len(clauses), False)


def _continues(last: Span, span: Span) -> bool:
    return (
        last.frame + last.count == span.frame and last.sample + last.count == span.sample and last.level == span.level
    )


def _reached(track: _Track, frame: int | None) -> int:
    """Samples of the clause played without a hole from its beginning, before `frame`."""
    if frame is None:
        return 0
    reached = 0
    for span in track.spans:
        if span.frame >= frame or span.sample > reached:
            break
        reached = max(reached, span.sample + min(span.count, frame - span.frame))
    return reached


def _before_duck(tracks: dict[int, _Track], frame: int | None) -> int | None:
    """The first frame of the lowered run that reaches up to `frame`; `frame` itself if there is none."""
    if frame is None:
        return None
    spans = sorted(
        (span for track in tracks.values() for span in track.spans if span.frame < frame), key=lambda span: span.frame
    )
    limit = frame
    for span in reversed(spans):
        if span.level >= FULL_LEVEL:
            break
        limit = span.frame
    return limit
