"""Samples at places between samples: for two devices whose clocks do not run alike.

A block is read through two windowed-sinc filters, that of its first place and that of the place after its last, and
fades from the one to the other. At 100 ppm the place moves by 0.016 samples within a block of 160, so that the fade
is a straight line for every frequency that matters.
"""

from __future__ import annotations

import numpy as np

from voice.audio.base import BLOCK, Pcm

HALF = 8
"""Samples of the stream that are needed on each side of a place; with 16 taps the response is flat to 6 kHz."""

_BETA = 5.0
"""Of the Kaiser window: side lobes at -37 dB around a main lobe narrow enough for 16 taps."""

_PLACES = np.arange(1 - HALF, HALF + 1)
_ENDS = np.i0(_BETA)


def read(stream: Pcm, fraction: float, pace: float, count: int) -> Pcm:
    """`count` samples at the places `HALF - 1 + fraction + k * pace` of `stream`, k = 0, 1, ...

    `fraction` is in 0..1, `pace` near 1 (at most 0.1 samples away from it over the whole block); `stream` has at
    least `count + 2 * HALF - 1` samples.
    """
    part = stream[: count + 2 * HALF - 1]
    first = np.correlate(part, _taps(fraction), "valid")
    last = np.correlate(part, _taps(fraction + count * (pace - 1)), "valid")
    return first + (last - first) * (np.arange(count, dtype=np.float32) / np.float32(count))


def _taps(fraction: float) -> Pcm:
    places = _PLACES - fraction
    window = np.i0(_BETA * np.sqrt(np.clip(1 - (places / HALF) ** 2, 0, 1))) / _ENDS
    taps = np.sinc(places) * window
    result: Pcm = (taps / taps.sum()).astype(np.float32)
    return result


class Conveyor:
    """Carries samples from a stream of one pace to a reader of another, `delay` samples later.

    The reader takes `pace` samples of the stream for each of its own. At a pace other than 1 it lags by a further
    `HALF` samples (0.5 ms), which the reading needs.
    """

    def __init__(self, delay: int, pace: float = 1.0) -> None:
        self._pace = pace
        self._fraction = 0.0
        self._stream: Pcm = np.zeros(delay if pace == 1 else delay + 2 * HALF, np.float32)

    def put(self, pcm: Pcm) -> None:
        """Append to the stream."""
        self._stream = np.append(self._stream, pcm)

    def slip(self, samples: int) -> None:
        """Let what is read from now on come `samples` later (silence goes in between) or earlier (some is lost, but
        at least a reader's need of one block stays)."""
        if samples >= 0:
            self._stream = np.concatenate([np.zeros(samples, np.float32), self._stream])
        else:
            self._stream = self._stream[min(-samples, max(0, self._stream.size - BLOCK - 2 * HALF)) :]

    def take(self, count: int) -> Pcm:
        """The reader's next samples; there must be enough in the stream."""
        if self._pace == 1:
            taken, self._stream = self._stream[:count], self._stream[count:]
            return taken
        taken = read(self._stream, self._fraction, self._pace, count)
        whole, self._fraction = divmod(self._fraction + count * self._pace, 1.0)
        self._stream = self._stream[int(whole) :]
        return taken
