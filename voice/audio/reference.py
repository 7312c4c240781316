"""The far-end reference: what the loudspeaker played while the microphone took a block.

The two directions of a device have stamps that shiver (a callback's time is read by a busy machine) while their
sample counts are exact, and an echo canceller suffers more from an alignment that shivers than from one that is a
little off. So on both sides the count is the truth, and stamps only set how the count lies in time:

1. A stream's offset (time of its sample 0) is the mean of its first stamps, then a slow running mean.
2. A stamp that is off by more than `JUMP` is set aside; `BELIEVED` of them in a row mean that the stream stopped or
   skipped (an xrun, another device). Then the count is moved: what lies in the gap was not played and is silence.
3. The lag between the two counts is a whole number of samples, and changes only when the means say that it is off by
   more than `SLACK` samples (clock drift), not at every shiver.
"""

from __future__ import annotations

import threading

import numpy as np

from voice.audio.base import RATE, Pcm

JUMP = 0.004
"""Seconds; stamps of PulseAudio shiver by 0.7 ms, an xrun is at least a block of 10 ms."""
BELIEVED = 3
"""Stamps in a row; one alone may be a callback that was held up."""
SLACK = 2.0
"""Samples (0.13 ms at 16 kHz): at 60 ppm of drift the lag moves once in two seconds."""
_WEIGHT = 1 / 200
"""Of a new stamp in the running mean: two seconds of blocks, so 1 ms of shiver becomes 0.05 ms."""
_KEPT = 4.0
"""Seconds of loudspeaker kept; more than any delay between writing a block and hearing its echo."""


class _Stream:
    """The timeline of one direction: `count` samples so far, and the time of sample 0."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self.count = 0
        self.start = 0.0
        self._stamps = 0
        self._off = 0

    def stamp(self, time: float) -> int:
        """Take the stamp of the next sample; returns by how many samples the count was moved (0: by none)."""
        error = time - (self.start + self.count / self._rate)
        if self._stamps == 0:
            self.start = time - self.count / self._rate
        elif abs(error) > JUMP:
            self._off += 1
            if self._off < BELIEVED:
                return 0
            self._off = 0
            moved = round(error * self._rate)
            self.count += moved
            return moved
        else:
            self.start += error * max(_WEIGHT, 1 / (self._stamps + 1))
        self._off = 0
        self._stamps += 1
        return 0


class Reference:
    """A ring of what was played, by device time. `wrote` and `at` may be called from different threads."""

    def __init__(self, rate: int = RATE) -> None:
        self.jumps = 0
        """How often a stream was found to have stopped or skipped: the echo path is another one since."""
        self._rate = rate
        self._ring = np.zeros(round(_KEPT * rate), np.float32)
        self._played = _Stream(rate)
        self._heard = _Stream(rate)
        self._lag: int | None = None
        self._lock = threading.Lock()

    def wrote(self, block: Pcm, dac_time: float) -> None:
        """`block` leaves the loudspeaker from `dac_time` (seconds) on."""
        with self._lock:
            moved = self._played.stamp(dac_time)
            if moved:
                self._jumped()
            if moved > 0:
                gap = min(moved, self._ring.size)
                self._put(self._played.count - gap, np.zeros(gap, np.float32))
            self._put(self._played.count, block)
            self._played.count += block.size

    def at(self, adc_time: float, n: int) -> Pcm:
        """What was played while the next `n` microphone samples, stamped `adc_time`, were taken; else zeros."""
        with self._lock:
            if self._heard.stamp(adc_time):
                self._jumped()
            lag = (self._heard.start - self._played.start) * self._rate
            if self._lag is None or abs(lag - self._lag) > SLACK:
                self._lag = round(lag)
            first = self._heard.count + self._lag
            self._heard.count += n
            return self._get(first, n)

    def _jumped(self) -> None:
        self.jumps += 1
        self._lag = None

    def _put(self, first: int, block: Pcm) -> None:
        self._ring[np.arange(first, first + block.size) % self._ring.size] = block

    def _get(self, first: int, n: int) -> Pcm:
        index = np.arange(first, first + n)
        there = (index < self._played.count) & (index >= max(0, self._played.count - self._ring.size))
        return np.where(there, self._ring[index % self._ring.size], np.float32(0))
