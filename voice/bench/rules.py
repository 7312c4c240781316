"""How other programs guess what was heard, each rule in our own words, for the same cuts.

A rule sees what such a program sees: the text, its own idea of the time that went by since the first sample (wall
clock, which runs on through pauses and underruns), and where it needs them the positions of words or the length of
the audio. It answers with a number of words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seen:
    """What a rule may look at."""

    words: Sequence[str]
    starts: Sequence[float]
    """Seconds of audio at which each word begins."""
    ends: Sequence[float]
    length: float
    """Seconds of audio in all."""
    elapsed: float
    """Seconds of wall clock since the first sample."""


def _sentences(words: Sequence[str]) -> list[int]:
    number, numbers = 0, []
    for word, following in zip(words, [*words[1:], ""], strict=True):
        numbers.append(number)
        number += bool(re.search(r"[.!?]$", word) and following[:1].isupper())
    return numbers


def _whole(seen: Seen) -> int:
    return len(seen.words)


def _begun(seen: Seen) -> int:
    return sum(start <= seen.elapsed for start in seen.starts)


def _ended(seen: Seen) -> int:
    return sum(end <= seen.elapsed for end in seen.ends)


def _sentence(seen: Seen, whole: bool) -> int:
    numbers = _sentences(seen.words)
    reached = [n for n, t in zip(numbers, seen.ends if whole else seen.starts, strict=True) if t <= seen.elapsed]
    if not reached:
        return 0
    if not whole:
        return sum(n <= reached[-1] for n in numbers)
    return sum(n <= k for k in [_last_complete(numbers, len(reached))] for n in numbers)


def _last_complete(numbers: Sequence[int], reached: int) -> int:
    return numbers[reached - 1] if reached == len(numbers) else numbers[reached] - 1


def _characters(seen: Seen) -> int:
    text = " ".join(seen.words)
    place = int(len(text) * min(1.0, seen.elapsed / seen.length))
    return sum(len(" ".join(seen.words[: i + 1])) <= place for i in range(len(seen.words)))


def _rate(seen: Seen, words_per_minute: float) -> int:
    return min(len(seen.words), math.floor(words_per_minute / 60 * seen.elapsed))


def _share(seen: Seen) -> int:
    return round(min(1.0, seen.elapsed / seen.length) * len(seen.words))


def _syllables(word: str) -> int:
    return max(1, len(re.findall(r"[aeiouy]+", re.sub(r"[^a-z]", "", word.lower()))))


def _within(seen: Seen, budget: float) -> int:
    count = 0
    for word in seen.words:
        budget -= _syllables(word)
        if budget < 0:
            break
        count += 1
    return count


def _syllable_share(seen: Seen) -> int:
    total = sum(map(_syllables, seen.words))
    return _within(seen, total * min(1.0, seen.elapsed / seen.length) + 1e-9)


RULES: Mapping[str, Callable[[Seen], int]] = {
    "whole_message": _whole,
    "word_begun_wall_clock": _begun,
    "word_ended_wall_clock": _ended,
    "sentence_begun": lambda seen: _sentence(seen, whole=False),
    "sentence_ended": lambda seen: _sentence(seen, whole=True),
    "character_share": _characters,
    "words_150_per_minute": lambda seen: _rate(seen, 150),
    "word_share": _share,
    "syllable_share": _syllable_share,
    "syllables_3_83_per_second": lambda seen: _within(seen, 3.83 * seen.elapsed),
}
"""pipecat counts a word when it has begun, by wall clock; LiveKit Agents goes by syllables, as a share of the audio
once all of it is there and at 3.83 a second before; vocode by a share of characters or 150 words a minute; GLaDOS by
a share of words; others by sentences, or take the whole message as heard."""
