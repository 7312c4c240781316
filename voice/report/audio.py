"""The conversation as a sound file: the loudspeaker on the left, the user on the right."""

from __future__ import annotations

import io
import wave
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from voice.report.files import write_private

Pcm = npt.NDArray[np.float32]
"""Mono samples in -1..1, shape (n,)."""


class Recordings(Protocol):
    """Both sides of a conversation as mono samples; a room is one."""

    @property
    def loudspeaker(self) -> Pcm:
        """What left the loudspeaker."""
        ...

    @property
    def user(self) -> Pcm:
        """What the user said."""
        ...

    @property
    def t0(self) -> float:
        """When the first sample of both sounded, in seconds of the session's clock."""
        ...


_FULL_SCALE = 32767
"""The largest 16-bit sample; the smallest is kept symmetrical to it."""


def conversation_wav(left: Pcm, right: Pcm, rate: int) -> bytes:
    """A 16-bit stereo WAV file. The shorter side is filled up with silence; what is too loud is limited, never
    wrapped around; a sample that is not a number becomes silence."""
    stereo = np.zeros((max(len(left), len(right)), 2), dtype=np.float32)
    stereo[: len(left), 0] = left
    stereo[: len(right), 1] = right
    np.nan_to_num(stereo, copy=False, nan=0.0, posinf=1.0, neginf=-1.0)
    samples = np.rint(np.clip(stereo, -1.0, 1.0) * _FULL_SCALE).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(samples.tobytes())
    return file.getvalue()


def write_conversation(path: Path, left: Pcm, right: Pcm, rate: int) -> None:
    """Write `conversation_wav` to `path`; a reader never sees half of it. Raises OSError."""
    write_private(path, conversation_wav(left, right, rate))
