"""What short phrases mean to the floor: orders to stop, backchannels, answers, and what noises read as.

Phrases are compared in plain form: lower case, no punctuation, single blanks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


def plain(text: str) -> str:
    """`text` in lower case, without punctuation, with single blanks; accents one with their letters."""
    composed = unicodedata.normalize("NFC", text.lower()).replace("’", "'")
    return " ".join(re.sub(r"[^\w\s']", " ", composed).split())


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases of one language; English by default."""

    stop: Sequence[str] = (
        *("stop", "please stop", "wait", "please wait", "hold on", "hang on", "no no", "quiet", "be quiet", "shut up"),
        "pause",
    )
    backchannels: Sequence[str] = (
        *("mm hm", "mm", "mhm", "mm hmm", "mmm", "uh huh", "aha", "ah", "oh", "hm", "hmm", "right", "okay", "ok"),
        *("yeah", "i see", "sure", "go on", "got it", "all right", "alright"),
    )
    noises: Sequence[str] = ("you", "the", "a", "uh", "um", "er", "eh", "oh", "huh", "thank you", "bye")
    """What recognisers make of coughs, clicks and hums."""
    answers: Sequence[str] = ("yes", "no", "yep", "nope", "none", "never", "both", "help")
    """Short words that are meant for us, however short they sound."""
    others: Sequence[str] = (
        *("he", "she", "they", "we", "let's", "look", "put", "tell", "come", "give", "did you", "have you", "are you"),
        *("hey", "darling", "honey", "sweetheart", "mum", "mom", "mummy", "dad", "daddy"),
    )
    """How people begin when they speak to each other and not to a machine."""


@dataclass(slots=True)
class Lexicon:
    """The phrases in the form in which they are looked up."""

    phrases: Phrases
    _stops: frozenset[str] = field(init=False)
    _backchannels: frozenset[str] = field(init=False)
    _noises: frozenset[str] = field(init=False)
    _answers: frozenset[str] = field(init=False)
    _others: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        said = self.phrases
        self._stops, self._backchannels, self._noises, self._answers, self._others = (
            frozenset(filter(None, map(plain, phrases)))
            for phrases in (said.stop, said.backchannels, said.noises, said.answers, said.others)
        )

    def is_stop(self, words: str) -> bool:
        """Whether the (plain) words begin with a stop phrase, after backchannels or not ("okay stop")."""
        while not _begins(words, self._stops):
            nod = next((nod for nod in self._backchannels if words.startswith(nod + " ")), None)
            if nod is None:
                return False
            words = words[len(nod) + 1 :]
        return True

    def is_for_others(self, words: str) -> bool:
        """Whether they begin as people do who speak to each other."""
        return _begins(words, self._others)

    def is_backchannel(self, words: str) -> bool:
        """Whether they are nothing but backchannels."""
        return _only(words, self._backchannels)

    def is_noise(self, words: str) -> bool:
        """Whether they are nothing but what noises read as."""
        return _only(words, self._noises)

    def is_answer(self, words: str) -> bool:
        """Whether they are nothing but short answers."""
        return _only(words, self._answers)

    def is_for_us(self, words: str) -> bool:
        """Whether there are words that are neither backchannels nor what noises read as."""
        return bool(words) and not _only(words, self._backchannels | self._noises)


def _begins(words: str, phrases: Iterable[str]) -> bool:
    return any(words == phrase or words.startswith(phrase + " ") for phrase in phrases)


def _only(words: str, phrases: Iterable[str]) -> bool:
    """Whether the words are nothing but these phrases, one or more in a row."""
    known = frozenset(phrases)
    single = words.split()
    longest = max((len(phrase.split()) for phrase in known), default=0)
    reached = {0}  # numbers of words that phrases fill up from the beginning
    for end in range(1, len(single) + 1):
        starts = range(max(0, end - longest), end)
        if any(start in reached and " ".join(single[start:end]) in known for start in starts):
            reached.add(end)
    return bool(single) and len(single) in reached
