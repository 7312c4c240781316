"""Which of two echo cancellers decides whether somebody speaks.

The linear filter finds the user twice as fast in double talk (median 91 against 190 ms at 0 dB), but leaves an echo of
10 to 20 dB less than the microphone's, which reads as speech where the voice is loud. AEC3 leaves next to nothing, but
takes the user away with it, and in the first moments of an unknown path it leaves almost all. So, for each block:

| the loudspeaker                                     | the gate is                                         |
|-----------------------------------------------------|-----------------------------------------------------|
| has been silent for longer than the room sounds     | the linear output: there is no echo in it           |
| sounds, and the linear output stands out of what    | the linear output: somebody is there                |
| the filter is known to leave of the echo            |                                                     |
| sounds otherwise                                    | AEC3's output                                       |

What the filter leaves is measured: (its output / the microphone) in the better of the blocks that are mostly echo. A
young filter, one whose path has just jumped, and one that can do no better leave much; nothing stands out of that,
and the gate is AEC3's. No clock says when the filter has learnt; but in the first moments after a new beginning
neither canceller knows the way, and what is heard may be our own voice: the gate says so (`settled`), and the floor
asks for more.
"""

from __future__ import annotations

import math

from voice.audio.base import BLOCK, Pcm

SOONEST, LATEST = 150, 600
"""Blocks (1.5 and 6 s) of far-end sound after a new beginning within which the gate settles: AEC3 lets the first
sentence through in 1 of 4 cold starts, and either canceller lets some of it through for up to 5 s after a jump."""

_PROVEN_DB = -10.0
"""What the linear filter must be found to leave of the echo for the gate to settle before `LATEST`."""

_SOUND = BLOCK * 10 ** (-50 / 10)
"""Energy of a far-end block at -50 dBFS: the loudspeaker says something."""

_ROOM = 40
"""Blocks (0.4 s) for which the room may sound after the loudspeaker: delay and reverberation."""

_MARGIN_DB = 9.0
"""dB over what is left on average that are somebody. What is left varies: with 7 dB twice as many blocks of the
program's own voice read as speech; with 12 dB users at 0 dB are found 50 ms later, at -10 dB 130 ms."""

_BEST_DB, _WORST_DB = -22.0, 0.0
"""What a linear filter leaves at best: loudspeakers saturate, and a pause of the voice proves nothing."""

_UP_DB, _SURPRISE_DB, _DOWN_DB = 0.1, 0.3, 0.25
"""dB by which one block moves the measure: up, up when the block stands out, down. In balance it is that of the better
third of the blocks. A second of echo alone proves a filter; a user who talks against the voice at full level disproves
it within half a second, by when the voice is ducked and nothing is mostly echo."""

_ECHO_SHARE = 0.3
"""Share of the echo estimate in the microphone's power from which a block is mostly echo."""

_NOISE_RISE = 1.002
"""Factor a block by which the estimate of the room's noise may rise: 0.9 dB a second."""

_AUDIBLE = 8.0
"""Power over the room's noise from which a block measures anything (9 dB)."""

_USELESS, _USELESS_BLOCKS = 0.9, 2
"""Output over input power at which the filter takes nothing out of what it calls echo, and blocks in a row in which it
does: then it knows nothing any more."""

_REVERBERATION = 0.9
"""Of the microphone's power after a block: 46 dB a second, a room with 1.3 s of reverberation."""

_HANG = 10
"""Blocks (0.1 s) for which somebody is there after the last block that stood out: syllables hang together."""


class Gate:
    """See the top of this file. One thread."""

    def __init__(self) -> None:
        self.left_db = _WORST_DB
        """What the linear filter leaves of the echo, in dB of the microphone's power."""
        self._peak = 0.0
        self._noise = 1e-6
        self._sounded = 0
        """Blocks of far-end sound since the last new beginning."""
        self._since = _ROOM
        self._hang = 0
        self._useless = 0

    @property
    def settled(self) -> bool:
        """Whether what is heard now is somebody else than our own voice, as far as can be known."""
        proven = self._sounded >= SOONEST and self.left_db <= _PROVEN_DB
        return proven or self._sounded >= LATEST or self._since >= _ROOM

    def begin_anew(self) -> None:
        """What was learnt about the way of the echo is wrong."""
        self.left_db = _WORST_DB
        self._sounded = 0
        self._hang = 0

    def choose(self, mic: Pcm, far: Pcm, echo_power: float, linear: Pcm, aec3: Pcm) -> Pcm:
        """The signal to decide on: `linear` or `aec3`. All belong to the same block of the microphone;
        `echo_power` is the mean square of the echo estimate."""
        power = float(mic @ mic) / BLOCK
        left = float(linear @ linear) / BLOCK
        sounds = float(far @ far) > _SOUND
        self._since = 0 if sounds else self._since + 1
        self._noise = min(self._noise * _NOISE_RISE, max(power, 1e-9))
        self._peak = max(power, _REVERBERATION * self._peak)
        if self._since >= _ROOM:
            self._hang = 0
            return linear
        # what is louder than the microphone is nobody: the filter expects an echo that has not come yet
        stands_out = power >= left > self._peak * 10 ** ((self.left_db + _MARGIN_DB) / 10)
        self._hang = _HANG if stands_out else self._hang - 1
        self._measure(power, echo_power, left)
        self._sounded += sounds
        if not self.settled:
            return aec3
        return linear if self._hang > 0 else aec3

    def _measure(self, power: float, echo: float, left: float) -> None:
        if power < _AUDIBLE * self._noise or echo < _ECHO_SHARE * power:
            self._useless = 0
            return
        db = 10 * math.log10(left / power + 1e-6)
        up = _SURPRISE_DB if db > self.left_db + _MARGIN_DB else _UP_DB
        step = up if db > self.left_db else -_DOWN_DB
        self.left_db = min(_WORST_DB, max(_BEST_DB, self.left_db + step))
        self._useless = self._useless + 1 if left > _USELESS * power else 0
        if self._useless >= _USELESS_BLOCKS:
            self.begin_anew()
