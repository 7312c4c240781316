"""A recogniser in a worker process: the part that all engines share.

The parent keeps the audio of the open utterance. Every question to the child carries the audio it has not had
yet and how much it should have; a child that lacks some (it is new, or a question was cancelled) says so and is
sent the rest. So a child may die at any moment and no word is lost.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from voice.stt.base import RATE, Pcm, Reading, RecogniserError
from voice.worker import Reply, Servant, Worker, WorkerError

LONGEST = 90.0
"""Seconds of an utterance that are kept: the longest that the endpointer lets through (60) and a margin."""


_PIECE = RATE
"""Samples (one second) that the child takes between two signs of life."""


@dataclass(frozen=True, slots=True)
class Question:
    """To the child: append `pcm`, which begins at sample `offset` of utterance number `utterance`, and answer."""

    utterance: int
    offset: int
    pcm: Pcm
    final: bool


@dataclass(frozen=True, slots=True)
class Lacks:
    """From the child: it holds only `held` samples of that utterance."""

    held: int


class Engine(Protocol):
    """A recogniser as the child sees it."""

    def begin(self) -> None:
        """A new utterance."""
        ...

    def feed(self, pcm: Pcm) -> None:
        """More of it."""
        ...

    def partial(self) -> Reading:
        """What there is so far."""
        ...

    def finish(self) -> Reading:
        """What all of it is."""
        ...


def serve(engine: Engine) -> Servant:
    """The child's side: a servant around an engine."""
    utterance, held = -1, 0

    def servant(question: Question, reply: Reply) -> None:
        nonlocal utterance, held
        if question.utterance != utterance:
            engine.begin()
            utterance, held = question.utterance, 0
        if question.offset != held:
            reply(Lacks(held))
            return
        for start in range(0, len(question.pcm), _PIECE):
            piece = question.pcm[start : start + _PIECE]
            engine.feed(piece)
            held += len(piece)
            if not reply(None):  # a sign of life: a new child may have a minute of audio to catch up with
                return
        reply(engine.finish() if question.final else engine.partial())

    return servant


def silence_stdout() -> None:
    """In the child: whatever native code prints goes to standard error; standard output belongs to the program."""
    sys.stdout.flush()
    os.dup2(2, 1)


class ProcessRecogniser:
    """`Recogniser` whose engine runs in a process of its own. `timeout`: real seconds of silence taken as a hang."""

    def __init__(self, name: str, make: Callable[..., Servant], *args: Any, timeout: float) -> None:
        self.name = name
        self.worker = Worker(f"stt-{name}", make, *args, timeout=timeout)
        self._utterance = 0
        self._audio: list[Pcm] = []
        self._length = 0
        self._sent = 0
        self._busy = asyncio.Lock()

    async def start(self) -> None:
        """Load the model. Raises RecogniserError."""
        try:
            await self.worker.start()
        except WorkerError as error:
            raise RecogniserError(str(error)) from error

    def begin(self) -> None:
        """A new utterance starts; what is left of the one before is dropped."""
        self._utterance += 1
        self._audio, self._length, self._sent = [], 0, 0

    def feed(self, pcm: Pcm) -> None:
        """Append 16 kHz samples; beyond `LONGEST` seconds they are dropped."""
        room = round(LONGEST * RATE) - self._length
        if room > 0 and len(pcm):
            piece = np.array(pcm[:room], np.float32)
            self._audio.append(piece)
            self._length += len(piece)

    async def partial(self) -> Reading:
        """What there is so far."""
        return await self._ask(final=False)

    async def finish(self) -> Reading:
        """What the whole utterance is. May be called again after more feed."""
        return await self._ask(final=True)

    async def close(self) -> None:
        """End the worker process. Safe to call twice."""
        await self.worker.close()

    async def _ask(self, final: bool) -> Reading:
        async with self._busy:
            utterance = self._utterance
            if not self._length:
                return Reading()
            while True:
                question = Question(utterance, self._sent, self._from(self._sent), final)
                upto = self._length
                try:
                    answer = await self.worker.ask(question)
                except WorkerError as error:
                    raise RecogniserError(str(error)) from error
                if isinstance(answer, Reading):
                    if utterance == self._utterance:
                        self._sent = upto
                    return answer
                if utterance != self._utterance:
                    return Reading()
                self._sent = answer.held

    def _from(self, offset: int) -> Pcm:
        if len(self._audio) > 1:
            self._audio = [np.concatenate(self._audio)]
        return self._audio[0][offset:]
