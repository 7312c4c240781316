"""Where the echo lies when the linear filter cannot find it: a search over a second of delay.

Stamps say when a sample leaves the converter, but not what lies behind it: a Bluetooth loudspeaker plays 100 to 300 ms
later, a television more. Up to a quarter of a second lies within the tail of the filter, and nothing needs to be done.
Beyond that the generalised cross-correlation with phase transform (Knapp and Carter, 1976) of what was played and what
was heard has one sharp peak at the delay, whatever the room and the voice are.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from voice.audio.base import BLOCK, RATE, Pcm

_WINDOW = 300
"""Blocks (3 s) that are compared: some words."""

_LONGEST = RATE
"""Samples (1 s) of delay that are looked for."""

_BINS = (100, 4000)
"""Hz, where voices are."""

_SHARPNESS = 30.0
"""Peak over the mean magnitude of the correlation. Echoes reach 100 to 500, in double talk 100; other people's speech
reaches 7."""


class DelaySearch:
    """Give it every block; ask `found` once in a while, for as long as the filter has not learnt."""

    def __init__(self) -> None:
        self._mic: deque[Pcm] = deque(maxlen=_WINDOW)
        self._far: deque[Pcm] = deque(maxlen=_WINDOW)

    def hear(self, mic: Pcm, far: Pcm) -> None:
        """The next block of both. Kept, not copied."""
        self._mic.append(mic)
        self._far.append(far)

    def begin_anew(self) -> None:
        """What was heard until now does not count."""
        self._mic.clear()
        self._far.clear()

    def played(self, samples: int) -> Pcm:
        """The newest `samples` of the far end (or as many as there are)."""
        return np.concatenate([np.zeros(0, np.float32), *self._far])[max(0, len(self._far) * BLOCK - samples) :]

    def found(self) -> int | None:
        """Samples from the far end to its echo, if there is one that stands out. Takes some 3 ms."""
        if len(self._mic) < _WINDOW:
            return None
        delay, sharpness = correlate(np.concatenate(self._mic), np.concatenate(self._far))
        return delay if sharpness > _SHARPNESS else None


def correlate(mic: Pcm, far: Pcm) -> tuple[int, float]:
    """(delay in samples, sharpness of the peak) of the best match within `_LONGEST`."""
    size = 1 << (mic.size + _LONGEST - 1).bit_length()
    cross = np.fft.rfft(mic, size) * np.fft.rfft(far, size).conj()
    first, last = (round(hz * size / RATE) for hz in _BINS)
    cross[:first] = cross[last:] = 0
    cross /= np.abs(cross) + 1e-12
    correlation = np.abs(np.fft.irfft(cross, size)[:_LONGEST])
    delay = int(np.argmax(correlation))
    return delay, float(correlation[delay] / (np.mean(correlation) + 1e-20))
