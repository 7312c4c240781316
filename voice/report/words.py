"""When each spoken word left the loudspeaker, from the voice's marks, the player's ledger and the device's stamps.

The three come separately and in pieces: a clause's text (`Speak`), where its words lie in its audio (`ClauseVoiced`),
which of that audio was written to which device frames (`Played`, `VoiceStopped`) and when a frame leaves the
converter (`Stamp`). A word whose samples are in no span was not spoken, whatever was synthesised.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from voice.core.events import Span, Stamp, WordMark


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """One word on the time line; times in seconds of the session's clock."""

    text: str
    t_start: float
    t_end: float
    """When its last played sample left, not its last synthesised one."""
    whole: bool
    """False: it was broken off."""


@dataclass(slots=True)
class Run:
    """Samples `first`..`last` (exclusive) of a clause, of which the first left the loudspeaker at `t`."""

    first: int
    last: int
    t: float
    rate: int

    def at(self, sample: int) -> float:
        """When `sample` left, in seconds."""
        return self.t + (sample - self.first) / self.rate


_JOIN = 0.5
"""Samples by which two stamps may disagree for two runs to be one: less than one sample cannot be a gap."""


@dataclass(slots=True)
class _Clause:
    text: str
    marks: list[WordMark]
    runs: list[Run]

    def words(self) -> Iterable[SpokenWord]:
        for mark in self.marks:
            parts = [
                (run, first, last)
                for run in self.runs
                if (first := max(mark.first, run.first)) < (last := min(mark.last, run.last))
            ]
            if not parts:
                continue
            (head, first, _), (tail, _, last) = parts[0], parts[-1]
            played = sum(last - first for _, first, last in parts)
            text = self.text[mark.start : mark.end]
            yield SpokenWord(text, head.at(first), tail.at(last), played >= mark.last - mark.first)


class Track:
    """What the loudspeaker got of one message."""

    def __init__(self) -> None:
        self._clauses: dict[int, _Clause] = {}
        self._spoken: list[SpokenWord] = []

    def asked(self, clause: int, text: str) -> None:
        """The voice was asked for this clause; asked again (after a device was lost), it starts anew."""
        if (before := self._clauses.get(clause)) is not None:
            self._spoken.extend(before.words())
        self._clauses[clause] = _Clause(text, [], [])

    def voiced(self, clause: int, marks: Iterable[WordMark]) -> None:
        """More of the clause's words have a position; a clause that nobody asked for is passed over."""
        if (entry := self._clauses.get(clause)) is not None:
            entry.marks.extend(marks)

    def played(self, span: Span, stamp: Stamp, rate: int) -> float:
        """A run of frames was written; returns when its first sample leaves, in seconds."""
        t = stamp.time + (span.frame - stamp.frame) / rate
        if (entry := self._clauses.get(span.clause)) is not None:
            last = entry.runs[-1] if entry.runs else None
            if (
                last is not None
                and last.last == span.sample
                and last.rate == rate
                and abs(last.at(last.last) - t) * rate <= _JOIN
            ):
                last.last += span.count
            else:
                entry.runs.append(Run(span.sample, span.sample + span.count, t, rate))
        return t

    def words(self) -> tuple[SpokenWord, ...]:
        """The words that left the loudspeaker so far, in order of time."""
        found = [*self._spoken, *(word for clause in self._clauses.values() for word in clause.words())]
        return tuple(sorted(found, key=lambda word: word.t_start))
