"""The one interface of a voice: the text of a clause in, PCM blocks and word marks out, cancellable."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from voice.core.events import WordMark

Pcm = npt.NDArray[np.float32]
"""Mono samples in -1..1, shape (n,)."""


@dataclass(frozen=True, slots=True)
class Voiced:
    """A piece of a clause's audio at the rate the voice was opened with.

    `marks` are the words whose position became known with this piece, in order, positions counted from the
    start of the clause. A word may be reported after its audio (its end is known only when the next begins),
    never twice. `final` is true on the last piece of a clause, which may hold no samples.
    """

    pcm: Pcm
    marks: tuple[WordMark, ...]
    final: bool


class VoiceError(Exception):
    """The voice could not speak; the message is one line with cause and remedy, without the text to speak."""


class Voice(Protocol):
    """A synthesiser. One clause at a time; a second call waits for the first or for its cancellation."""

    name: str
    estimated: bool
    """True when the marks are estimates."""

    async def start(self, rate: int) -> None:
        """Get ready to deliver samples at `rate` Hz. Raises VoiceError."""
        ...

    def speak(self, text: str, rate: float = 1.0) -> AsyncGenerator[Voiced, None]:
        """Synthesise one clause at `rate` times the voice's own speed.

        Closing the generator (aclose) cancels within a few milliseconds. Raises VoiceError when the engine fails,
        hangs or dies; the next call works again.
        """
        ...

    async def close(self) -> None:
        """End the worker process. Safe to call twice."""
        ...
