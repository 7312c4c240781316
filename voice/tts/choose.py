"""From an engine's name to a voice."""

from __future__ import annotations

from voice.tts.base import Voice, VoiceError
from voice.tts.espeak import EspeakVoice
from voice.tts.pyttsx3 import SystemVoice

ENGINES = ("espeak", "pyttsx3")
"""The engines that a voice can be made of, the default first."""


def make_voice(
    name: str,
    language: str = "en-us",
    wpm: int = 175,
    voice: str | None = None,
    pitch: int | None = None,
) -> Voice:
    """A voice that is not started yet. Raises VoiceError for an unknown engine.

    `wpm` is the speed in words per minute at rate 1.0. `voice` is a variant of an espeak voice ("f3") or the name of a
    system voice. `language` and `pitch` (0 to 100) are for espeak; a system voice has its own.
    """
    if name == "espeak":
        return EspeakVoice(language, wpm, voice or "", pitch)
    if name == "pyttsx3":
        return SystemVoice(wpm, voice)
    raise VoiceError(f"no voice engine {name!r}; choose one of: {', '.join(ENGINES)}")
