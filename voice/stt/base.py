"""The one interface of a recogniser: 16 kHz PCM of an utterance in, text out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from voice.core.kinds import Kinds

Pcm = npt.NDArray[np.float32]
"""Mono samples in -1..1, shape (n,)."""

RATE = 16000
"""Hz; what every recogniser and the voice-activity detector here are trained on."""


class RecogniserError(Exception):
    """The recogniser could not work; one line with cause and remedy, without any recognised text."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a recogniser makes of an utterance so far."""

    text: str = ""
    """"" when there are no words in it."""
    kinds: Kinds | None = None
    """None: the engine can't tell, or the utterance is too long for its beginning to matter."""


class Recogniser(Protocol):
    """Recognises one utterance at a time: begin, any number of feed and partial, then finish (or the next begin).

    Calls are queued to a worker process in order. A worker that dies or hangs raises RecogniserError from the
    pending call and is replaced; the audio of the open utterance is fed to the new one again, so nothing that
    was said is lost.
    """

    name: str

    async def start(self) -> None:
        """Load the model. Raises RecogniserError."""
        ...

    def begin(self) -> None:
        """A new utterance starts; what is left of the one before is dropped."""
        ...

    def feed(self, pcm: Pcm) -> None:
        """Append 16 kHz samples to the utterance."""
        ...

    async def partial(self) -> Reading:
        """What there is so far. Concurrent calls while one is running may share its answer."""
        ...

    async def finish(self) -> Reading:
        """What the whole utterance is. May be called again after more feed."""
        ...

    async def close(self) -> None:
        """End the worker process. Safe to call twice."""
        ...
