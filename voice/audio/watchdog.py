"""Whether a sound device is alive, by the times of its callbacks: a stream may die without a word."""

from __future__ import annotations

SILENT = 0.3
"""Seconds without a callback after which a device is lost; 30 blocks, where 40 ms was the longest gap measured."""
STARTING = 2.0
"""Seconds that a device may take to its first callback (Bluetooth wakes up slowly)."""


class Watchdog:
    """Decides from the times of the newest callbacks whether a device is lost; owns no clock and no thread."""

    def __init__(self, started: float) -> None:
        self._started = self._looked = started
        self._excused = started
        """Silence before this time is not held against a device."""

    def look(self, now: float, loudspeaker: float | None, microphone: float | None) -> str | None:
        """Why the device is lost, or None. Times (seconds) of the newest callbacks; None: there was none yet.

        A look that comes late itself proves nothing: the whole program was held up.
        """
        if now - self._looked > SILENT / 2:
            self._excused = now
        self._looked = now
        for name, time in (("loudspeaker", loudspeaker), ("microphone", microphone)):
            if time is None:
                if now - max(self._started, self._excused) > STARTING:
                    return f"the {name} did not start within {STARTING:g} s"
            elif now - max(time, self._excused) > SILENT:
                return f"the {name} gave no sign of life for {SILENT:g} s"
        return None
