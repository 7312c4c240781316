"""The one injected clock."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Seconds on the timeline of the sound device; only differences have a meaning."""

    def now(self) -> float:
        """The present, in seconds."""
        ...


class ManualClock:
    """A clock that stands still until it is told to move: for tests, benchmarks and the virtual room."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start

    def now(self) -> float:
        """The present, in seconds."""
        return self._now

    def advance(self, seconds: float) -> float:
        """Move on by `seconds` (>= 0) and return the new time; time never runs backwards."""
        if seconds < 0:
            raise ValueError(f"a clock cannot go back by {-seconds} s")
        self._now += seconds
        return self._now
