"""When a microphone's blocks were taken: a steady line through the moments at which they arrived.

PortAudio computes the time of a block from the sound server's guess of its own delay. On PulseAudio and a busy machine
that guess was seen to slide by 30 ms within 8 s and to come back in steps, while no sample was lost: an echo canceller
that follows it never learns. The arrivals themselves are late by chance, but never early, so the earliest of them lie
on a line that is as steady as the sound. The guess is only asked how far before its arrival a block was taken.
"""

from __future__ import annotations

from statistics import median

_AGES = 25
"""Guesses (0.25 s) whose median is the age: later ones only wander."""

_WINDOW = 100
"""Blocks (1 s); the earliest arrival is looked for in the newest one to two windows. One that is late by more than its
neighbours, and whose successors are, too, means that samples were lost."""


class ArrivalLine:
    """Give it each block's arrival and the driver's guess, in order; get the time at which the block was taken.

    `block` is a block's length; all in seconds of one clock.
    """

    def __init__(self, block: float) -> None:
        self._block = block
        self._count = 0
        self._ages: list[float] = []
        self._age = 0.0
        self._earliest = self._earliest_before = float("inf")

    def taken(self, arrival: float, guess: float) -> float:
        """The time of the next block's first sample."""
        if len(self._ages) < _AGES:
            self._ages.append(arrival - guess)
            self._age = median(self._ages)
        late = arrival - self._count * self._block
        if self._count % _WINDOW == 0:
            self._earliest_before, self._earliest = self._earliest, late
        self._earliest = min(self._earliest, late)
        time = self._count * self._block + min(self._earliest, self._earliest_before) - self._age
        self._count += 1
        return time
