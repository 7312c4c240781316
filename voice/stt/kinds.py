"""What kind of sound the beginning of an utterance is: a small network over what Moonshine's encoder makes of it.

Trained by tools/make_kinds.py on voices that no published figure is measured with. English, like the encoder.
"""

from __future__ import annotations

from importlib import resources

import numpy as np
import numpy.typing as npt

from voice.core.kinds import Kinds
from voice.stt.base import RATE

LONGEST = RATE
"""Samples: what was trained on. Of a longer utterance the words tell what it is."""

SHORTEST = RATE // 5
"""Samples: on less than 0.2 s nothing is told apart."""

_LATEST = 3
"""Frames (72 ms) that are the newest sound."""

Frames = npt.NDArray[np.float32]


class KindsModel:
    """See the top of this file."""

    def __init__(self) -> None:
        with resources.as_file(resources.files("voice.stt").joinpath("kinds.npz")) as path, np.load(path) as weights:
            self._layers = [
                (weights[f"weight{layer}"].astype(np.float32), weights[f"bias{layer}"].astype(np.float32))
                for layer in (1, 2)
            ]

    def judge(self, frames: Frames, samples: int) -> Kinds | None:
        """`frames`: the encoder's answer to that many samples at 16 kHz; None when they are too few or too many."""
        if not SHORTEST <= samples <= LONGEST:
            return None
        (first, offset), (second, bias) = self._layers
        hidden = np.maximum(summary(frames, samples / RATE) @ first + offset, 0.0)
        scores = hidden @ second + bias
        odds = np.exp(scores - scores.max())
        words, backchannel, stop, noise = (odds / odds.sum()).tolist()
        return Kinds(words, backchannel, stop, noise)


def summary(frames: Frames, seconds: float) -> npt.NDArray[np.float32]:
    """The input of the network, whatever the number of frames: means over all, over the newest and over the first
    half, how much they vary, and the length in seconds."""
    half = max(1, len(frames) // 2)
    parts = (frames.mean(0), frames[-_LATEST:].mean(0), frames[:half].mean(0), frames.std(0), [seconds])
    return np.concatenate(parts).astype(np.float32)
