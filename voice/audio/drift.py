"""How fast the echo's path moves: the drift between the clocks of a loudspeaker and a microphone.

Two devices of their own differ by up to 100 ppm, and at 60 ppm the echo slides by one sample a second. The stamps of a
busy machine wander by more than that, but the path that the linear filter has learnt shows it: between two looks it
has been turned, at each frequency by as much as the slide. (With no drift the looks differ by at most 2 ppm; 15 ppm
are seen as 15 within 3 s of sound; 60 as 45, as the filter limps behind; the loop through the reference makes up.)
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voice.audio.base import BLOCK

_LOOK = 100
"""Blocks (1 s) of far-end sound between two looks."""

_STALE = 300
"""Blocks (3 s) after which a look is of no use any more: the voice was silent, and the path stood still in between."""

_BINS = slice(1, 60)
"""50 Hz to 3 kHz: where voices are, and where 100 ppm turn the path by less than half a circle between two looks."""

_LIKENESS = 0.85
"""Least coherence of two looks; less means that the path is still being learnt, has jumped, or that somebody moved."""

_LEAST = 3.0
"""ppm that count; less is the inaccuracy of the look."""

_GAIN = 0.6
"""Share of what was seen that is corrected at once."""

_MOST = 300.0
"""ppm: no sound card is worse than this."""


class DriftMeter:
    """Follows a filter's path and adds up by how many ppm the microphone's clock is the faster one.

    Somebody has to resample the far end by `ppm`, for the path to stand still.
    """

    def __init__(self) -> None:
        self.ppm = 0.0
        self._seen: npt.NDArray[np.complex64] | None = None
        self._blocks = self._sounding = 0

    def begin_anew(self) -> None:
        """The path has jumped; the clocks have not."""
        self._seen = None

    def observe(self, path: npt.NDArray[np.complex64], sounding: bool) -> bool:
        """Look at the path (partitions, bins) once a block; true when it was a look that counts, about once a second
        of far-end sound."""
        self._blocks += 1
        self._sounding += sounding
        if self._sounding < _LOOK:
            return False
        now, before, blocks = path[:, _BINS].copy(), self._seen, self._blocks
        self._seen, self._blocks, self._sounding = now, 0, 0
        if before is not None and blocks <= _STALE:
            moved = slide(before, now)
            if moved.likeness > _LIKENESS:
                ppm = moved.samples / (blocks * BLOCK) * 1e6
                if abs(ppm) >= _LEAST:
                    self.ppm = min(_MOST, max(-_MOST, self.ppm + _GAIN * ppm))
        return True


@dataclass(frozen=True, slots=True)
class Slide:
    """By how much later one response comes than another, and how alike they are otherwise (0..1)."""

    samples: float
    likeness: float


def slide(before: npt.NDArray[np.complex64], now: npt.NDArray[np.complex64]) -> Slide:
    """Compare two paths of shape (partitions, bins from `_BINS`)."""
    turned = np.sum(now * before.conj(), axis=0)
    omega = 2 * math.pi * np.arange(_BINS.start, _BINS.stop) / (2 * BLOCK)
    steps = complex(np.sum(turned[1:] * turned[:-1].conj()))
    samples = -cmath.phase(steps) / (2 * math.pi / (2 * BLOCK))
    rest = np.angle(turned * np.exp(1j * omega * samples))
    weight = np.abs(turned) * omega
    samples -= float(np.sum(weight * rest) / (np.sum(weight * omega) + 1e-20))
    energy = float(np.sum(np.abs(before) ** 2)) * float(np.sum(np.abs(now) ** 2))
    alike = abs(complex(np.sum(turned * np.exp(1j * omega * samples)))) / math.sqrt(energy + 1e-30)
    return Slide(samples, alike)
