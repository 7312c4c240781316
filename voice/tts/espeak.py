"""The default voice: espeak-ng with its own word marks, in a worker process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import numpy as np

from voice.tts.base import Voiced, VoiceError
from voice.tts.espeak_worker import Part, Request, make_espeak
from voice.worker import Worker, WorkerError

SLOWEST, FASTEST = 80, 450
"""Words per minute: espeak-ng's own range; beyond it the speed no longer follows or word marks go astray."""

_START_TIMEOUT = 60.0
"""Seconds for a process to start and load the library: 0.5 s on an idle machine; more than 15 s was seen on a
drowned one, and a conversation that cannot begin is worse than one that begins late."""


def words_per_minute(wpm: float, rate: float) -> int:
    """The speed for a clause spoken at `rate` times `wpm`, within what espeak-ng can do."""
    return round(min(max(wpm * rate, SLOWEST), FASTEST))


class EspeakVoice:
    """A `Voice`: first samples within milliseconds, word marks to the sample.

    `wpm` is the speed in words per minute at rate 1.0; `variant` one of espeak's voice variants ("f3"); `pitch` 0 to
    100 (50 is the voice's own); `system`: use the system's library instead of the one that comes with the program;
    `timeout` seconds without a sign of life after which the engine counts as hung.
    """

    def __init__(
        self,
        language: str = "en-us",
        wpm: int = 175,
        variant: str = "",
        pitch: int | None = None,
        timeout: float = 5.0,
        system: bool = False,
    ) -> None:
        self.name = "espeak"
        self.estimated = False
        self._wpm = wpm
        self._rate = 0
        self._turn = asyncio.Lock()
        self._worker = Worker(
            "espeak",
            make_espeak,
            language,
            variant,
            pitch,
            system,
            timeout=timeout,
            start_timeout=max(timeout, _START_TIMEOUT),
        )

    async def start(self, rate: int) -> None:
        """Start the worker process; samples will come at `rate` Hz. Raises VoiceError."""
        self._rate = rate
        try:
            await self._worker.start()
        except WorkerError as error:
            raise VoiceError(f"{error}") from error

    async def speak(self, text: str, rate: float = 1.0) -> AsyncGenerator[Voiced, None]:
        """Synthesise one clause; see `Voice.speak`. Raises VoiceError."""
        if self._rate <= 0:
            raise VoiceError("espeak: not started; call start(rate) first")
        request = Request(text, self._rate, words_per_minute(self._wpm, rate))
        async with self._turn:
            try:
                async with aclosing(self._worker.request(request)) as parts:
                    async for part in parts:
                        yield _voiced(part)
            except WorkerError as error:
                raise VoiceError(f"{error}; a new process speaks the next clause") from error

    async def close(self) -> None:
        """End the worker process. Safe to call twice."""
        await self._worker.close()


def _voiced(part: Part) -> Voiced:
    samples, marks, final = part
    return Voiced(np.frombuffer(samples, np.float32), marks, final)
