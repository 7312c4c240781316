"""The voices of the operating system, through pyttsx3, used to synthesise files that our own player plays."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import numpy as np

from voice.tts.base import Voiced, VoiceError
from voice.tts.pyttsx3_worker import Request, make_system_voices
from voice.worker import Worker, WorkerError

SLOWEST, FASTEST = 80, 450
"""Words per minute: the range of espeak-ng; the engines of other systems clamp to their own."""

_TIMEOUT = 10.0
"""Seconds without a sign of life after which the engine counts as hung. A clause comes in one piece: espeak needs
0.02 s for it, other systems' voices were not measured."""

_START_TIMEOUT = 60.0
"""Seconds for a process to start and load the engine: 0.5 s on an idle machine, more than 15 s on a drowned one."""


class SystemVoice:
    """A `Voice` whose word marks are estimates that under-claim (`estimated`).

    `wpm` is the speed in words per minute at rate 1.0; `voice` an identifier or part of a name of one of the
    system's voices (None: the system's default); `timeout` seconds without a sign of life after which the engine counts
    as hung. A clause arrives whole. Its file lies in a private folder that is emptied clause by clause and removed
    by `close`, or when the program ends.
    """

    def __init__(self, wpm: int = 175, voice: str | None = None, timeout: float = _TIMEOUT) -> None:
        self.name = "pyttsx3"
        self.estimated = True
        self._wpm = wpm
        self._voice = voice
        self._timeout = timeout
        self._rate = 0
        self._turn = asyncio.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._worker: Worker | None = None

    async def start(self, rate: int) -> None:
        """Start the worker process; samples will come at `rate` Hz. Raises VoiceError."""
        self._rate = rate
        if self._worker is None:
            self._folder = tempfile.TemporaryDirectory(prefix="voice-", ignore_cleanup_errors=True)
            self._worker = Worker(
                "pyttsx3",
                make_system_voices,
                self._folder.name,
                self._voice,
                timeout=self._timeout,
                start_timeout=max(self._timeout, _START_TIMEOUT),
            )
        try:
            await self._worker.start()
        except WorkerError as error:
            raise VoiceError(f"{error}") from error

    async def speak(self, text: str, rate: float = 1.0) -> AsyncGenerator[Voiced, None]:
        """Synthesise one clause; see `Voice.speak`. Raises VoiceError."""
        if self._worker is None:
            raise VoiceError("pyttsx3: not started; call start(rate) first")
        request = Request(text, self._rate, round(min(max(self._wpm * rate, SLOWEST), FASTEST)))
        async with self._turn:
            try:
                async with aclosing(self._worker.request(request)) as parts:
                    async for samples, marks, final in parts:
                        yield Voiced(np.frombuffer(samples, np.float32), marks, final)
            except WorkerError as error:
                self._sweep()
                raise VoiceError(f"{error}; a new process speaks the next clause") from error

    def _sweep(self) -> None:
        """Remove the file that a process left when it died."""
        if self._folder is not None:
            for file in Path(self._folder.name).glob("*"):
                with contextlib.suppress(OSError):
                    file.unlink()

    async def close(self) -> None:
        """End the worker process and remove its folder. Safe to call twice."""
        worker, self._worker = self._worker, None
        folder, self._folder = self._folder, None
        if worker is not None:
            await worker.close()
        if folder is not None:
            folder.cleanup()
