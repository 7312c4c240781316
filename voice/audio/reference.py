"""The far-end reference: what the loudspeaker played while the microphone took a block.

The two directions of a device have stamps that wander (PulseAudio's by some milliseconds within a second, when the
machine is busy) while their sample counts are exact, and an echo canceller suffers far more from an alignment that
wanders than from one that is a little off. So on both sides the count is the truth, and stamps only set how the count
lies in time:

1. A stream's offset (time of its sample 0) is the mean of its first stamps; what comes later moves it very slowly.
2. A stamp that is off by more than `JUMP` from the ones just before is set aside; `BELIEVED` of them in a row mean that
   the stream stopped or skipped (an xrun, another device). Then the count is moved: what lies in the gap was not played
   and is silence.
3. The lag between the two counts stands still, except that it glides by the drift between the two clocks
   (`drift_ppm`), sample by sample and between samples; it jumps only when the offsets say that it is off by more than
   `SLACK` samples.
"""

from __future__ import annotations

import math
import threading

import numpy as np

from voice.audio.base import RATE, Pcm
from voice.audio.fractional import HALF, read

JUMP = 0.008
"""Seconds; PulseAudio's stamps wander by up to 6 ms in half a second, an xrun is at least a block of 10 ms."""
BELIEVED = 3
"""Stamps in a row; one alone may be a callback that was held up."""
SLACK = 16.0
"""Samples (1 ms at 16 kHz): at 60 ppm of drift that nobody measures the lag moves once in 17 s, and the canceller
learns in between."""
LATE = HALF
"""Samples (0.5 ms) by which the reference comes late, because reading between samples needs as many of the next block,
and a device without latency has not played them yet. Sound takes as long for 17 cm."""
_FIRST = 50
"""Stamps whose mean is the first offset."""
_SLOW = 1 / 6000
"""Weight of a later stamp in the offset: a minute of blocks, so that 6 ms of wandering move it by 0.1 ms a second."""
_NEAR = 1 / 25
"""Weight of a stamp in what the next ones are held against: a quarter of a second."""
_KEPT = 4.0
"""Seconds of loudspeaker kept; more than any delay between writing a block and hearing its echo."""


class _Stream:
    """The timeline of one direction: `count` samples so far, and the time of sample 0."""

    def __init__(self, rate: int) -> None:
        self._rate = float(rate)
        self.count = 0
        self.start = 0.0
        self._near = 0.0
        """The time of sample 0 as the newest stamps have it."""
        self._stamps = 0
        self._off = 0

    @property
    def now(self) -> float:
        """The time of the next sample."""
        return self.start + self.count / self._rate

    def run_at(self, rate: float) -> None:
        """A second has `rate` samples from now on."""
        moved = self.count / self._rate - self.count / rate
        self.start += moved
        self._near += moved
        self._rate = rate

    def stamp(self, time: float) -> int:
        """Take the stamp of the next sample; returns by how many samples the count was moved (0: by none)."""
        start = time - self.count / self._rate
        error = start - self._near
        if self._stamps == 0:
            self.start = self._near = start
        elif abs(error) > JUMP:
            self._off += 1
            if self._off < BELIEVED:
                return 0
            self._off = 0
            moved = round(error * self._rate)
            self.count += moved
            return moved
        else:
            share = 1 / (self._stamps + 1)
            self._near += error * max(_NEAR, share)
            self.start += (start - self.start) * (share if self._stamps < _FIRST else _SLOW)
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
        self._drift_ppm = 0.0
        self._pace = 1.0
        self._place: float | None = None
        """In samples played: where the next microphone block is, by the count."""
        self._lock = threading.Lock()

    @property
    def lag(self) -> float:
        """Samples between the two counts, as it is used now; 0 before the first microphone block."""
        return 0.0 if self._place is None else self._place - self._heard.count

    @property
    def drift_ppm(self) -> float:
        """By how much the microphone's clock is the faster one; what was played is resampled by so much."""
        return self._drift_ppm

    @drift_ppm.setter
    def drift_ppm(self, ppm: float) -> None:
        with self._lock:
            self._drift_ppm = ppm
            self._pace = 1 / (1 + ppm * 1e-6)
            self._heard.run_at(self._rate / self._pace)

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
        """What was played while the next `n` microphone samples, stamped `adc_time`, were taken, `LATE` samples late;
        else zeros."""
        with self._lock:
            if self._heard.stamp(adc_time):
                self._jumped()
            place = (self._heard.now - self._played.start) * self._rate
            if self._place is None or abs(place - self._place) > SLACK:
                self._place = float(round(place))
            first = self._place
            self._heard.count += n
            self._place += n * self._pace
            whole = math.floor(first)
            if self._pace == 1 and whole == first:
                return self._get(whole - LATE, n)
            around = self._get(whole - LATE - HALF + 1, n + 2 * HALF)
            return read(around, first - whole, self._pace, n)

    def _jumped(self) -> None:
        self.jumps += 1
        self._place = None

    def _put(self, first: int, block: Pcm) -> None:
        at = first % self._ring.size
        room = self._ring.size - at
        self._ring[at : at + block.size] = block[:room]
        self._ring[: max(0, block.size - room)] = block[room:]

    def _get(self, first: int, n: int) -> Pcm:
        """`n` samples from `first` on, zeros where there are none (any more)."""
        begin, end = max(first, 0, self._played.count - self._ring.size), min(first + n, self._played.count)
        out = np.zeros(n, np.float32)
        if begin < end:
            at, size = begin % self._ring.size, end - begin
            room = min(size, self._ring.size - at)
            out[begin - first : begin - first + room] = self._ring[at : at + room]
            out[begin - first + room : end - first] = self._ring[: size - room]
        return out
