"""Where the words of a clause probably lie in its audio, for engines that don't say.

1. Leading and trailing silence is no speech. What is left is shared out by how long each word should take
   (`sounds`).
2. Silences inside are matched with the places where a voice pauses, after punctuation, so that the guess starts
   afresh there.
3. Between two such anchors the guess may drift. Each word is given a margin that grows and shrinks as the drift of
   a random walk held at both ends would: a word is claimed late rather than early.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from voice.core.events import WordMark
from voice.core.script import words_of
from voice.tts.marks import AUDIBLE
from voice.tts.sounds import BREATH, SIBILANT, SONORANT, STOP, VOWEL, sounds

SECONDS = {VOWEL: 0.053, SIBILANT: 0.090, STOP: 0.087, SONORANT: 0.066, BREATH: 0.078}
"""Seconds that a sound takes at 175 words per minute. Only their proportions count. Least squares over the same
414 words of two espeak voices; letters stand for sounds, so a vowel's silent letters are in its share."""

WORD_SECONDS, FINAL_SECONDS = 0.011, 0.085
"""Seconds that a word takes beyond its sounds, and that the last word before a pause takes beyond that."""

DRIFT = 0.1
"""Seconds of error per square root of a second of speech, at 175 words per minute: 0.05 s rms a word of 0.27 s."""

MARGIN = 1.6
"""Standard deviations of the drift by which a word is claimed late. Mean error in words / share of cuts with a claim
too many, worst of two voices at 175 and 300 words per minute, clause by clause, on texts that nothing was fitted to:

    0    0.18 / 9.2 %        1.0  0.24 / 2.7 %        2.0  0.38 / 0.9 %
    0.5  0.20 / 5.4 %        1.6  0.32 / 1.2 %

Whole messages of up to 30 words in one call: 0.43 / 3.1 % at 1.6. The rest is room
for voices that were not measured."""

SHORTEST_PAUSE = 0.06
"""Seconds. Closures of stops (p, t, k) are silent for up to about this long; longer silences are taken for pauses if
there is punctuation to explain them."""

_PAUSES_AFTER = re.compile(r"(?:[,;:.!?…。，、！？；：]|^[-–—]+)[\"'”’»)\]]*$")
_MISSED_PAUSE = 0.5
"""Cost of punctuation without a pause; the unit is that of a drift of one standard deviation, squared."""
_UNEXPLAINED = 40.0
"""Cost per second of a silence that no punctuation explains, beyond `SHORTEST_PAUSE`."""
_ANCHOR_VARIANCE = 1e-4
"""Seconds squared: how far the edge of a silence itself may be from the edge of the word, 10 ms."""
_MOST_SILENCES = 40
"""The longest silences are enough: a clause has 300 characters, so hardly this many commas."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Words `low` to `high` (exclusive), spoken without a pause from sample `first` to `last` (exclusive)."""

    low: int
    high: int
    first: int
    last: int


class _Node(NamedTuple):
    """Gap number `order` (before word `word`) falls on silence `number`, which lasts from `stop` to `resume`."""

    order: int
    word: int
    number: int
    stop: int
    resume: int


def estimate_marks(text: str, pcm: npt.NDArray[np.float32], rate: int, margin: float = MARGIN) -> list[WordMark]:
    """Marks of all words of `text` in its audio `pcm` at `rate` Hz; none if there is no sound or no word.

    They under-claim by `margin` standard deviations. Positions never decrease and lie within the audio.
    """
    words = words_of(text)
    audible = np.flatnonzero(np.abs(pcm) >= AUDIBLE)
    if not words or audible.size == 0:
        return []
    lengths = np.array([_length(text[start:end]) for start, end in words])
    if not lengths.any():
        lengths[:] = 1.0
    begin, end = int(audible[0]), int(audible[-1]) + 1
    gaps = [i + 1 for i, (start, stop) in enumerate(words[:-1]) if _PAUSES_AFTER.search(text[start:stop])]
    for gap in [*gaps, len(words)]:
        spoken = np.flatnonzero(lengths[:gap])
        if spoken.size:
            lengths[spoken[-1]] += FINAL_SECONDS
    stretches = _anchored(lengths, gaps, _silences(audible, rate), begin, end, rate)
    marks: list[WordMark] = []
    for stretch in stretches:
        marks += _spread(words, lengths, stretch, rate, margin)
    return marks


def _length(word: str) -> float:
    """Seconds that a word takes at 175 words per minute; 0 if nothing of it is spoken."""
    found = sounds(word)
    return sum(SECONDS[sound] for sound in found) + (WORD_SECONDS if found else 0.0)


def _silences(audible: npt.NDArray[np.intp], rate: int) -> list[tuple[int, int]]:
    """The silences (first, end) between audible samples that may be pauses, in order."""
    holes = np.flatnonzero(np.diff(audible) > SHORTEST_PAUSE * rate)
    found = [(int(audible[i]) + 1, int(audible[i + 1])) for i in holes]
    longest = sorted(found, key=lambda hole: hole[0] - hole[1])[:_MOST_SILENCES]
    return sorted(longest)


def _anchored(
    lengths: npt.NDArray[np.float64],
    gaps: list[int],
    silences: list[tuple[int, int]],
    begin: int,
    end: int,
    rate: int,
) -> list[_Stretch]:
    """The likeliest way to explain the silences by pauses at `gaps`: dynamic programming over (gap, silence)."""
    spent = np.concatenate(([0.0], np.cumsum(lengths)))
    pauses = sum(stop - start for start, stop in silences[: len(gaps)])
    pace = max(end - begin - pauses, 1) / rate / spent[-1]  # seconds per second at 175 words per minute
    # A node is a place in the text that falls on a place in the audio: the start, a gap on a silence, the end.
    nodes = [_Node(0, 0, 0, begin, begin)]
    nodes += [
        _Node(order, gap, number, *silence)
        for order, gap in enumerate(gaps, 1)
        for number, silence in enumerate(silences, 1)
    ]
    nodes.append(_Node(len(gaps) + 1, len(lengths), len(silences) + 1, end, end))
    table = np.array(nodes)
    unexplained = np.cumsum([0.0, 0.0] + [(stop - start) / rate - SHORTEST_PAUSE for start, stop in silences])
    cost, parent = np.zeros(len(nodes)), np.zeros(len(nodes), int)
    for index, node in enumerate(nodes[1:], 1):
        order, word, number, _, resume = table[:index].T
        expected = pace * (spent[node.word] - spent[word])
        deviation = ((node.stop - resume) / rate - expected) ** 2 / (DRIFT**2 * pace * expected + _ANCHOR_VARIANCE)
        missed = _MISSED_PAUSE * (node.order - order - 1)
        unclear = _UNEXPLAINED * (unexplained[node.number] - unexplained[number + 1])
        total = np.where(
            (order < node.order) & (number < node.number), cost[:index] + deviation + missed + unclear, np.inf
        )
        parent[index] = int(np.argmin(total))
        cost[index] = total[parent[index]]
    path = [nodes[-1]]
    while path[-1].order > 0:
        path.append(nodes[parent[nodes.index(path[-1])]])
    path.reverse()
    return [_Stretch(a.word, b.word, a.resume, b.stop) for a, b in itertools.pairwise(path)]


def _spread(
    words: list[tuple[int, int]],
    lengths: npt.NDArray[np.float64],
    stretch: _Stretch,
    rate: int,
    margin: float,
) -> list[WordMark]:
    """Share a stretch out among its words; silent words share the mark of the next word that is spoken."""
    own = lengths[stretch.low : stretch.high]
    before = np.cumsum(own)
    total = before[-1]
    if total <= 0:
        return [WordMark(*word, stretch.first, stretch.last) for word in words[stretch.low : stretch.high]]
    pace = (stretch.last - stretch.first) / total
    late = margin * DRIFT * np.sqrt(before * np.maximum(total - before, 0.0) / total)
    lasts = np.ceil(stretch.first + pace * (before + late)).astype(int)
    lasts = np.minimum(np.maximum.accumulate(lasts), stretch.last)
    lasts[-1] = stretch.last
    firsts = np.concatenate(([stretch.first], lasts[:-1]))
    spoken = int(np.flatnonzero(own)[0])
    lasts[:spoken] = lasts[spoken]
    return [
        WordMark(*word, int(min(first, last)), int(last))
        for word, first, last in zip(words[stretch.low : stretch.high], firsts, lasts, strict=True)
    ]
