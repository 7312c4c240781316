"""The one interface of a sound device, with or without hardware behind it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

Pcm = npt.NDArray[np.float32]
"""Mono samples in -1..1, shape (n,)."""

RATE = 16000
"""Hz, of both directions: what voice activity, echo canceller and recognisers work at."""

BLOCK = 160
"""Samples a block: 10 ms, the frame of the echo canceller."""

SILENCE_DB = -100.0
"""dBFS that stand for silence."""


def decibels(power: float) -> float:
    """dBFS of a mean square; `SILENCE_DB` for silence."""
    return 10 * math.log10(power) if power > 10 ** (SILENCE_DB / 10) else SILENCE_DB


Render = Callable[[Pcm, float], None]
"""Fill the block (in place) that leaves the loudspeaker from the given time on, seconds of the app's clock.
Called from the device's own thread: no blocking, no logging."""

Capture = Callable[[Pcm, float], None]
"""Take a block that entered the microphone from the given time on, seconds of the app's clock. The array is the
callee's to keep."""


class DeviceError(Exception):
    """The device cannot be used; one line with cause and remedy."""


class Device(Protocol):
    """A loudspeaker and a microphone on one clock."""

    name: str
    rate: int

    def open(self, render: Render, capture: Capture, lost: Callable[[str], None]) -> None:
        """Start both directions. `lost(reason)` is called once, from any thread, when the callbacks stop or the
        device goes away. Raises DeviceError."""
        ...

    def close(self) -> None:
        """Stop both directions. Safe to call twice."""
        ...
