"""What kind of sound somebody makes, told from the sound and not from words read in it."""

from __future__ import annotations

import math
from dataclasses import dataclass

_LEAST = 1e-9
"""Keeps the odds finite."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """Probabilities of what the beginning of an utterance is; they sum to 1.

    They come before words can be read: below half a second a recogniser reads wrong words, but hears well whether
    somebody says "mm-hm" or begins a sentence.
    """

    words: float
    """Somebody says something, and none of the following."""
    backchannel: float
    """"Mm-hm", "yeah", "okay", "right", "I see": go on, I listen."""
    stop: float
    """"Stop", "wait", "hold on", "no no"."""
    noise: float
    """No words: a cough, a throat, a slam, a laugh, or only our own voice."""

    @property
    def odds(self) -> float:
        """Natural logarithm of the odds that something is said, rather than a backchannel or no words at all."""
        return math.log((self.words + self.stop + _LEAST) / (self.backchannel + self.noise + _LEAST))
