"""From an engine's word events to word marks that never claim a word early.

An event says "what stands at this character begins at this sample". Engines say one thing for several words ("in
the"), several things for one word (each part of "123"), and sometimes point a little beside. So:

1. Events only move forward. One that points into white space, into the word under way or behind it, or into the
   middle of a later word goes on with the word under way.
2. A word without an event of its own shares the mark of the word before it (of the one after it, at the start).
3. A word in whose time nothing is audible shares the mark of the next one.
4. A mark ends with its last audible sample; the words after the last sound end where that one does.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voice.core.events import WordMark
from voice.core.script import words_of

AUDIBLE = 0.001
"""Level (of full scale 1) from which a sample counts as audible: -60 dB. Every 10 ms of speech of the espeak voices
measured, with the quiet sounds of "huff" and "thin", peaks above 0.0036; their pauses are exact zeros. A variant
with an echo ("f3") lets a word end when its echo has decayed to this: later, never earlier."""


@dataclass(frozen=True, slots=True)
class WordEvent:
    """The engine's word: `length` characters from `position` on (from 0) begin at `sample`."""

    position: int
    length: int
    sample: int


@dataclass(slots=True)
class _Group:
    """Words `low` to `high` (exclusive) sound within the samples `first` to `boundary`."""

    low: int
    high: int
    first: int
    boundary: int


class MarkTrack:
    """Takes the events and the audio of one clause as they come; gives the marks that are settled."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = words_of(text)
        self._starts = [start for start, _ in self._words]
        self._current = -1  # the word under way; -1 before the first event
        self._low = 0  # first word without a closed group
        self._first = 0  # sample at which the open group starts
        self._closed: list[_Group] = []
        self._audio = np.zeros(0, np.float32)  # what was not yet looked at, from sample `_offset` on
        self._offset = 0
        self._last = 0  # end of the newest mark
        self._carried: tuple[int, int] | None = None  # first word and first sample of silent groups, for the next one

    @property
    def samples(self) -> int:
        """Samples taken so far."""
        return self._offset + self._audio.size

    def event(self, event: WordEvent) -> None:
        """Take an event; its audio may come before or after it."""
        index = self._begins(event)
        if index is None:
            return
        sample = max(event.sample, self._first)
        if self._current >= 0:
            self._closed.append(_Group(self._low, index, self._first, sample))
            self._low = index
        self._current, self._first = index, sample

    def _begins(self, event: WordEvent) -> int | None:
        """The later word whose beginning the event points at, if any."""
        if event.length <= 0 or event.position < 0:
            return None
        index = bisect_right(self._starts, event.position) - 1
        if index <= self._current:
            return None
        start, end = self._words[index]
        if event.position >= end or any(c.isalnum() for c in self._text[start : event.position]):
            return None
        return index

    def audio(self, pcm: npt.NDArray[np.float32]) -> None:
        """Take the next samples."""
        self._audio = np.concatenate((self._audio, pcm)) if self._audio.size else pcm

    def settled(self) -> list[WordMark]:
        """The marks that became certain since the last call."""
        marks: list[WordMark] = []
        while self._closed and self._closed[0].boundary <= self.samples:
            marks += self._marks(self._closed.pop(0))
        return marks

    def finish(self) -> list[WordMark]:
        """The remaining marks, at the end of the audio. None at all for a clause without a sound or a word."""
        if self._words:
            self._closed.append(_Group(self._low, len(self._words), self._first, self.samples))
        for group in self._closed:
            group.first = min(group.first, self.samples)
            group.boundary = min(group.boundary, self.samples)
        marks = self.settled()
        if self._carried is not None and self._last > 0:
            marks += self._shared(self._carried[0], len(self._words), self._last, self._last)
        return marks

    def _marks(self, group: _Group) -> list[WordMark]:
        low, first = self._carried or (group.low, group.first)
        begin = self._offset  # before the group's first sample only where sound came before the first event
        heard = np.flatnonzero(np.abs(self._take(group.boundary)) >= AUDIBLE)
        if heard.size == 0:
            self._carried = (low, first)
            return []
        self._carried = None
        self._last = begin + int(heard[-1]) + 1
        return self._shared(low, group.high, min(first, self._last), self._last)

    def _shared(self, low: int, high: int, first: int, last: int) -> list[WordMark]:
        return [WordMark(start, end, first, last) for start, end in self._words[low:high]]

    def _take(self, boundary: int) -> npt.NDArray[np.float32]:
        """The samples up to `boundary` that were not yet looked at; they are let go."""
        piece, self._audio = np.split(self._audio, [boundary - self._offset])
        self._offset = boundary
        return piece
