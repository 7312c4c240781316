"""Our own words in the room: what the loudspeaker said lately, and whether recognised text only repeats it.

What the echo canceller leaves of our voice can be read as words. Such text began while we spoke and is made of what we
said while it sounded, or just before. An answer uses our words, too ("in the morning" to "in the morning or in the
afternoon?"), but begins when we have ended; and one or two words are the user's unless they are the very last that we
said and were over as soon as the room.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from voice.core.events import Caption, MessageClosed, Output
from voice.core.phrases import plain

LAG = 0.6
"""Seconds after a word has left the loudspeaker within which its echo can begin: device buffers and network sinks
(0.25), the room (0.3)."""

TAIL = 0.5
"""Seconds that a room rings on after the last word."""

_FEW = 2
"""Up to this many words are the user's own unless they are the tail of what we said."""

_SHARE = 0.6
"""Share of the recognised words that must be ours, in our order: the recogniser misreads some of what the canceller
left."""

_KEPT = 90.0
"""Seconds for which words are remembered: the longest utterance."""


@dataclass(frozen=True, slots=True)
class _Said:
    time: float
    words: tuple[str, ...]


class OwnWords:
    """Give it what leaves the loudspeaker as it does; ask it about recognised text."""

    def __init__(self) -> None:
        self._said: deque[_Said] = deque()
        self._message, self._reached = "", 0

    def note(self, outputs: Iterable[Output], now: float) -> None:
        """Take in how far messages were heard."""
        for output in outputs:
            match output:
                case Caption(id=message, text=text, heard=end):
                    self._follow(message, text[:end], now)
                case MessageClosed(id=message, heard=text):
                    self._follow(message, text, now)

    def _follow(self, message: str, heard: str, now: float) -> None:
        if message != self._message:
            self._message, self._reached = message, 0
        self.heard(heard[self._reached :], now)
        self._reached = max(self._reached, len(heard))

    def heard(self, text: str, now: float) -> None:
        """`text` (new words) had left the loudspeaker by `now`."""
        if words := plain(text).split():
            self._said.append(_Said(now, tuple(words)))
        while self._said and self._said[0].time < now - _KEPT:
            self._said.popleft()

    def said(self, text: str, onset: float, end: float) -> bool:
        """Whether all words that sounded from `onset` to `end` are among those that we said then."""
        ours = {word for said in self._said if onset - LAG <= said.time <= end + TAIL for word in said.words}
        return set(plain(text).split()) <= ours

    def repeats(self, text: str, onset: float, end: float) -> bool:
        """Whether words that sounded from `onset` to `end` (seconds) are only our own."""
        words = plain(text).split()
        lately = [said for said in self._said if onset - LAG <= said.time <= end + TAIL]
        ours = [word for said in lately for word in said.words]
        if not words or not ours or onset >= lately[-1].time:
            return False
        if len(words) <= _FEW:
            last = lately[-1]
            return last is self._said[-1] and end <= last.time + TAIL and words == ours[-len(words) :]
        matching = SequenceMatcher(None, words, ours, autojunk=False).get_matching_blocks()
        return sum(block.size for block in matching) >= _SHARE * len(words)
