"""What is read from the recordings of `voice bench live`, in samples: when a person began, when our voice really fell
and stopped, and whether a device was dead meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from voice.audio.base import BLOCK, RATE, Pcm
from voice.audio.people import active_level
from voice.bench.live_align import SOUND, find

ACTIVE_DB = 20.0
"""A person has begun with the first 10 ms within this of their active level."""

LOWERED_DB = 10.0
"""Our voice has gone down when it is this much below what would have been played."""

AUDIBLE = 10 ** (-60 / 20)
"""RMS of 10 ms of the loudspeaker below which nothing is heard."""

DEAD = 0.5
"""Seconds without a callback that make a dead stream; the program's own limit is 0.3 s."""

NOTICED = 1.5
"""Seconds from a stream's last sign of life within which the program has to know."""

MUTE = 1.0
"""Seconds of exact silence of a microphone in a room that is never silent."""

LONGEST_HOLE = RATE // 10
"""Samples (0.1 s); the program never lowers the voice for so short a time."""

_STEP = RATE // 500
"""Samples (2 ms) in which levels are compared."""

_ANCHOR = 4 * BLOCK
"""Samples (40 ms) that are found again to know what is being played."""

_LOOK_BACK = 2 * RATE
"""Samples in which such a piece is looked for: the longest pause between two sentences is shorter."""


def onset_of(channel: Pcm, person: Pcm) -> tuple[int, bool] | None:
    """(the sample at which the person began, whether all of `person` is there unchanged); None if they were not heard.

    `channel` has the person alone.
    """
    sounds, own = np.flatnonzero(channel), np.flatnonzero(person)
    level = active_level(person)
    if not sounds.size or not level:
        return None
    place = int(sounds[0] - own[0])
    frames = person[: person.size // BLOCK * BLOCK].reshape(-1, BLOCK)
    loud = np.flatnonzero(np.sqrt(np.mean(frames**2, axis=1)) > level * 10 ** (-ACTIVE_DB / 20))
    whole = place >= 0 and np.array_equal(channel[place : place + person.size], person)
    return place + int(loud[0]) * BLOCK, whole


def shift_of(recording: Pcm, source: Pcm, before: int) -> int | None:
    """How many samples later than in `source` things are in `recording`, at full level, shortly before the sample
    `before`; None if nothing of `source` is there (it was silent or lowered all the while)."""
    for place in range(before - _ANCHOR, max(0, before - _LOOK_BACK), -BLOCK):
        piece = recording[place : place + _ANCHOR]
        if np.abs(piece).max() < 10 * SOUND:
            continue
        if (found := find(source, piece, 0, source.size)) is not None:
            return place - found
    return None


def lowered_at(recording: Pcm, source: Pcm, shift: int, after: int) -> tuple[int, int] | None:
    """The sample by which our voice was first `LOWERED_DB` below what would have been played, from `after` on, and the
    shift there; None if it never was. A hole, behind which it goes on at full level, is no lowering."""
    place = after
    while place < min(recording.size, source.size + shift) - _STEP:
        full = float(np.mean(source[place - shift : place - shift + _STEP] ** 2)) if place >= shift else 0.0
        ours = float(np.mean(recording[place : place + _STEP] ** 2))
        if full > AUDIBLE**2 and ours < full * 10 ** (-LOWERED_DB / 10):
            if (behind := _behind_hole(recording, source, place)) is None:
                return place + _STEP, shift
            place, shift = behind
        place += _STEP
    return None


def _behind_hole(recording: Pcm, source: Pcm, place: int) -> tuple[int, int] | None:
    """Where within `LONGEST_HOLE` our voice goes on unchanged, and by how much it is shifted there."""
    for at in range(place + BLOCK, place + LONGEST_HOLE, BLOCK):
        piece = recording[at : at + _ANCHOR]
        if piece.size == _ANCHOR and np.abs(piece).max() > 10 * SOUND:
            found = find(source, piece, 0, source.size)
            if found is not None:
                return at, at - found
    return None


def silent_at(recording: Pcm, source: Pcm, shift: int, after: int, lowered_db: float) -> int | None:
    """The end of the last audible 2 ms of our voice, looking from `after` on; None if it goes on to its end.

    It has stopped where it would be audible even lowered by `lowered_db`, and is not: a pause between words is none.
    """
    last = after
    gain = 10 ** (-lowered_db / 20)
    for place in range(after, min(recording.size, source.size + shift) - BLOCK, _STEP):
        if _rms(recording[place : place + _STEP]) > AUDIBLE:
            last = place + _STEP
        expected = _rms(source[place - shift : place - shift + BLOCK]) * gain
        if expected > 2 * AUDIBLE and _rms(recording[place : place + BLOCK]) < AUDIBLE:
            return last
    return None


def dead_times(callbacks: Sequence[float], opened: float, closed: float) -> list[float]:
    """When a stream fell silent for longer than `DEAD` though it was open; seconds, as given."""
    times = [opened, *(time for time in callbacks if opened < time < closed), closed]
    return [a for a, b in pairwise(times) if b - a > DEAD]


def unnoticed(dead: Sequence[float], lost: Sequence[float]) -> list[float]:
    """Those of the times at which a stream died that the program did not notice soon."""
    return [time for time in dead if not any(time <= told <= time + NOTICED for told in lost)]


def longest_zeros(samples: Pcm) -> float:
    """Seconds of the longest stretch of exact zeros."""
    sounds = np.concatenate([[-1], np.flatnonzero(samples), [samples.size]])
    return float(np.diff(sounds).max() - 1) / RATE


def longest_gap(times: npt.NDArray[np.float64], first: float, last: float) -> float:
    """Seconds of the longest time between two callbacks from `first` to `last`."""
    within = times[(times >= first) & (times <= last)]
    return float(np.diff(within).max()) if within.size > 1 else last - first


def _rms(samples: Pcm) -> float:
    return float(np.sqrt(np.mean(samples**2)))
