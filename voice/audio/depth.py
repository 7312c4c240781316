"""How much sound waits in the loudspeaker's buffer: as little as the machine bears.

Whatever waits there is said before the voice can go down or stop. Measured over PulseAudio, from the word to duck to
the fall at the sink (median): 29 ms with a buffer of 20 ms, 18 ms with 15 ms, 13 ms with 10 ms. But a program that is
held up for longer than its buffer lasts leaves a hole in the sound, and behind it the echo canceller has to find its
way again. With two busy programs beside it, in 20 s: no hole with 20 ms, one with 15 ms, three with 10 ms. A person who
is not heard is worse than 16 ms, so 20 ms is where it begins, and a machine that has holes again and again gets more.
"""

from __future__ import annotations

from collections import deque

STEPS = (0.02, 0.04, 0.08)
"""Seconds; the last is what a machine took that ran four programs on two cores."""

MOST_DRY = 3
"""Times that the buffer may run dry `WITHIN` so many seconds. Once is no reason: a program is held up when a recogniser
is loaded, or when a notebook was asleep."""

WITHIN = 10.0

_NEAR = 0.05
"""Weight of a gap between two callbacks in what is usual."""

_BURST = 0.002
"""Seconds; callbacks nearer to each other are one: sound servers take several blocks at once."""


class Rhythm:
    """Tells by the times of callbacks, in order, which of them came when the buffer had run dry: most sound servers
    never tell. `lasts` is how long (seconds) a full buffer lasts.

    What comes later than that is not always too late: a sound server may keep more than it says, and take it in larger
    pieces. So it must be more than twice as late as is usual, too.
    """

    def __init__(self, lasts: float) -> None:
        self._lasts = self._usual = lasts
        self._newest: float | None = None

    def late(self, now: float) -> bool:
        """The next callback comes at `now` (seconds)."""
        gap = 0.0 if self._newest is None else now - self._newest
        self._newest = now
        late = gap > max(self._lasts, 2 * self._usual)
        if gap > _BURST:
            self._usual += (gap - self._usual) * _NEAR
        return late


class Depth:
    """Decides from the moments at which the buffer ran dry; owns no clock and no stream. It never goes back."""

    def __init__(self) -> None:
        self._step = 0
        self._dry: deque[float] = deque(maxlen=MOST_DRY)

    @property
    def seconds(self) -> float:
        """What PortAudio is to be asked for."""
        return STEPS[self._step]

    def ran_dry(self, now: float) -> bool:
        """The buffer ran dry just before `now` (seconds); whether a deeper one is wanted from now on."""
        self._dry.append(now)
        often = len(self._dry) == MOST_DRY and now - self._dry[0] <= WITHIN
        if self._step == len(STEPS) - 1 or not often:
            return False
        self._step += 1
        self._dry.clear()
        return True
