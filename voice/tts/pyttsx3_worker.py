"""The child side of the system voices: pyttsx3 writes one clause to a file, and the file comes back as samples.

pyttsx3 plays through other programs and can neither stop nor time them, so it never plays here.
"""

from __future__ import annotations

import os
import sys
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soxr

from voice.core.events import WordMark
from voice.tts.base import VoiceError
from voice.tts.clean import clean, text_kept_out
from voice.tts.estimate import estimate_marks
from voice.tts.marks import AUDIBLE
from voice.worker import Reply, Servant

_MARKUP = str.maketrans("<>[]", "    ")
"""SAPI5 reads text that begins with "<" as XML, NSSpeech reads "[[...]]" as commands."""

_LISTED = 8
"""Voices named in the error about an unknown one: a line's worth."""


@dataclass(frozen=True, slots=True)
class Request:
    """Speak `text` at `wpm` words per minute; samples at `rate` Hz."""

    text: str
    rate: int
    wpm: int


Part = tuple[bytes, tuple[WordMark, ...], bool]
"""float32 samples, estimated marks in samples, true."""


class SystemVoices:
    """The servant: speaks one `Request` after the other into files of `folder`, each removed at once."""

    def __init__(self, folder: str, voice: str | None) -> None:
        self._folder = Path(folder)
        self._number = 0
        self._engine = _engine()
        self._engine.runAndWait()  # it is born busy, and a busy engine returns from its loop before it has spoken
        if voice is not None:
            self._engine.setProperty("voice", self._find(voice))

    def _find(self, wanted: str) -> str:
        voices = [(str(v.id), str(v.name)) for v in self._engine.getProperty("voices")]
        for identifier, name in voices:
            if wanted.lower() in (identifier.lower(), name.lower()):
                return identifier
        for identifier, name in voices:
            if wanted.lower() in f"{identifier} {name}".lower():
                return identifier
        known = ", ".join(identifier for identifier, _ in voices[:_LISTED])
        raise VoiceError(f"no system voice {wanted!r} among {len(voices)}; some of them: {known}")

    def __call__(self, request: Request, reply: Reply) -> None:
        """Speak; raises VoiceError when the system's voice makes no file."""
        with text_kept_out():
            self._speak(request, reply)

    def _speak(self, request: Request, reply: Reply) -> None:
        text = clean(request.text).translate(_MARKUP)
        pcm = np.zeros(0, np.float32)
        if any(c.isalnum() for c in text):  # some drivers wait for ever for the end of nothing
            pcm = self._synthesise(text, request)
        if not np.any(np.abs(pcm) >= AUDIBLE):
            pcm = pcm[:0]
        part: Part = (pcm.tobytes(), tuple(estimate_marks(request.text, pcm, request.rate)), True)
        reply(part)

    def _synthesise(self, text: str, request: Request) -> npt.NDArray[np.float32]:
        self._number += 1
        file = self._folder / f"{self._number}.wav"  # of its own: a late file must never pass for the next clause
        try:
            _settle()  # a clause that still seems to play would cancel this one's speed, or this one
            self._engine.setProperty("rate", request.wpm)
            _settle()
            self._engine.save_to_file(text, str(file))
            self._engine.runAndWait()
            _settle()
            if not file.exists():
                raise VoiceError("the system's voice made no audio; try another voice, or engine espeak")
            raw, rate = _read(file)
        finally:
            file.unlink(missing_ok=True)
        resampled: npt.NDArray[np.float32] = soxr.resample(raw, rate, request.rate).astype(np.float32)
        return resampled


def _settle() -> None:
    """Wait until pyttsx3's espeak driver, if it is the one in use, has worked through its queue.

    Its library works in a thread of its own, and ending one clause's loop cancels whatever is queued by then.
    """
    if (library := sys.modules.get("pyttsx3.drivers._espeak")) is not None:
        library.Synchronize()


def _read(file: Path) -> tuple[npt.NDArray[np.float32], int]:
    """Mono samples and rate of a 16-bit WAV file."""
    try:
        with wave.open(str(file)) as audio:
            channels, width, rate = audio.getnchannels(), audio.getsampwidth(), audio.getframerate()
            data = audio.readframes(audio.getnframes())
    except (wave.Error, EOFError) as error:
        raise VoiceError(f"the system's voice wrote a file that is no WAV ({error}); use engine espeak") from error
    if width != 2:
        raise VoiceError(f"the system's voice wrote {8 * width}-bit samples, not 16-bit ones; use engine espeak")
    samples = np.frombuffer(data, "<i2").astype(np.float32) / np.float32(32768)
    return samples.reshape(-1, channels).mean(axis=1), rate


def _engine() -> Any:
    try:
        import pyttsx3  # here, not above: its espeak driver loads a GPL library

        return pyttsx3.init()
    except Exception as error:  # each platform's driver fails in its own way
        raise VoiceError(
            f"the system has no voice for pyttsx3 ({type(error).__name__}); on Debian install espeak-ng"
        ) from error


def make_system_voices(folder: str, voice: str | None) -> Servant:
    """The servant of a worker process. Raises VoiceError (voice, engine)."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # pyttsx3 prints a line a clause to standard output
    return SystemVoices(folder, voice)
