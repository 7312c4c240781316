"""What is read from the recordings of a scene: when somebody began and ended, when our voice really fell and
stopped."""

from __future__ import annotations

import numpy as np

from voice.audio.base import BLOCK, RATE, Pcm
from voice.audio.people import active_level

ACTIVE_DB = 25.0
"""A person's signal has begun with the first 10 ms within this of its active level."""

AUDIBLE = 10 ** (-60 / 20)
"""Samples of the loudspeaker below -60 dBFS are not heard."""

DUCKED = 0.5
"""Our voice has gone down when it is at half of what it would have been (6 dB)."""

_WINDOW = RATE // 500
"""Samples (2 ms) in which the two are compared."""


def begins_and_ends(user: Pcm) -> tuple[float, float] | None:
    """Seconds of the first and the end of the last active 10 ms of a person's signal; None if there are none."""
    frames = user[: user.size // BLOCK * BLOCK].reshape(-1, BLOCK)
    level = active_level(user)
    if not level:
        return None
    active = np.flatnonzero(np.sqrt(np.mean(frames**2, axis=1)) > level * 10 ** (-ACTIVE_DB / 20))
    return float(active[0]) * BLOCK / RATE, float(active[-1] + 1) * BLOCK / RATE


def went_down(recording: Pcm, undisturbed: Pcm, after: float) -> float | None:
    """Seconds at which our voice was first 6 dB below what it would have been, looking from `after` on; None if it
    never was, or if it was down already."""
    start = round(after * RATE)
    if _is_down(recording, undisturbed, start - _WINDOW):
        return None
    for place in range(start, min(recording.size, undisturbed.size) - _WINDOW, _WINDOW):
        if _is_down(recording, undisturbed, place):
            return (place + _WINDOW) / RATE
    return None


def _is_down(recording: Pcm, undisturbed: Pcm, place: int) -> bool:
    ours, full = recording[place : place + _WINDOW], undisturbed[place : place + _WINDOW]
    power = float(np.mean(full**2))
    return power > AUDIBLE**2 and float(np.mean(ours**2)) < power * DUCKED**2


def fell_silent(recording: Pcm, by: float) -> float:
    """Seconds of the last audible sample before `by`; 0 if there is none."""
    audible = np.flatnonzero(np.abs(recording[: round(by * RATE)]) > AUDIBLE)
    return (float(audible[-1]) + 1) / RATE if audible.size else 0.0


def with_pause(first: Pcm, second: Pcm, seconds: float) -> Pcm:
    """Two clips with a pause of `seconds` from the end of the one voice to the beginning of the other, as far as what
    is quiet at their ends allows."""
    ends, begins = begins_and_ends(first), begins_and_ends(second)
    quiet = (first.size / RATE - ends[1] if ends else 0.0) + (begins[0] if begins else 0.0)
    return np.concatenate([first, np.zeros(round(max(0.0, seconds - quiet) * RATE), np.float32), second])
