"""Is this machine fit? Each part is tried as the program uses it, and what is missing is told with its remedy."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

import numpy as np

from voice.audio.activity import Activity
from voice.audio.base import BLOCK, RATE, DeviceError
from voice.audio.portaudio import check_sound_card, library, list_devices
from voice.config import Config
from voice.stt.base import RecogniserError
from voice.stt.choose import make_recogniser
from voice.stt.models import folder, installed
from voice.tts.base import Pcm, VoiceError
from voice.tts.choose import make_voice

OLDEST = (3, 11)
"""Of Python; what pyproject.toml asks for."""

WORD = "Hello, this is a test."


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's: what was looked at, what was found or is to be mended, and whether all is well.

    What is not `essential` limits the program (no sound card: the room is used), but does not stop it.
    """

    name: str
    text: str
    well: bool
    essential: bool = True


class _UnfitError(Exception):
    """A part does not work; one line with its remedy."""


async def examine(config: Config) -> AsyncIterator[Finding]:
    """Look at everything, one after the other. Raises nothing for what is broken."""
    spoken: list[Pcm] = []

    async def voice() -> str:
        spoken.append(await _speak(config))
        return f"{config.voice.engine} speaks ({spoken[0].size / RATE:.1f} s of sound)"

    async def recogniser() -> str:
        return await _recognise(config, spoken[0] if spoken else np.zeros(RATE, np.float32))

    async def activity() -> str:
        return _detect(spoken[0] if spoken else None)

    checks: list[tuple[str, Callable[[], Awaitable[str]], bool]] = [
        ("Python", _python, True),
        ("PortAudio", _portaudio, False),
        ("sound devices", lambda: _devices(config), False),
        ("voice", voice, True),
        ("voice activity", activity, True),
        ("recogniser", recogniser, True),
        ("models", _models, False),
    ]
    for name, check, essential in checks:
        try:
            yield Finding(name, await check(), True, essential)
        except (_UnfitError, DeviceError, VoiceError, RecogniserError) as error:
            yield Finding(name, str(error), False, essential)
        except Exception as error:
            yield Finding(name, f"it failed with {type(error).__name__}; install the program anew", False, essential)


async def _python() -> str:
    if sys.version_info < OLDEST:
        raise _UnfitError(f"{platform.python_version()} is too old; install 3.11 or newer and set up again")
    return platform.python_version()


async def _portaudio() -> str:
    return str(library().get_portaudio_version()[1]).split(",")[0]


async def _devices(config: Config) -> str:
    check_sound_card(config.sound.input, config.sound.output)
    return f"{len(list_devices())}; microphone and loudspeaker can be opened at {RATE} Hz"


async def _speak(config: Config) -> Pcm:
    voice = make_voice(config.voice.engine, config.voice.language, config.voice.wpm)
    try:
        await voice.start(RATE)
        async with aclosing(voice.speak(WORD)) as parts:
            sound = np.concatenate([np.zeros(0, np.float32), *[part.pcm async for part in parts]])
    finally:
        await voice.close()
    if not np.any(sound):
        raise _UnfitError(f"{config.voice.engine} makes no sound; install the program anew, or set voice.engine")
    return sound


async def _recognise(config: Config, sound: Pcm) -> str:
    recogniser = make_recogniser(config.ears.engine, config.ears.model)
    try:
        await recogniser.start()
        recogniser.begin()
        recogniser.feed(sound)
        began = asyncio.get_running_loop().time()
        text = (await recogniser.finish()).text
        took = asyncio.get_running_loop().time() - began
    finally:
        await recogniser.close()
    words = len(text.split())
    return f"{config.ears.engine} reads {words} words from {sound.size / RATE:.1f} s of the voice in {took:.2f} s"


def _detect(sound: Pcm | None) -> str:
    detector = Activity()
    if sound is None:
        return "loaded (there is no voice to try it on)"
    blocks = [sound[at : at + BLOCK] for at in range(0, sound.size - BLOCK, BLOCK)]
    frames = [frame for number, block in enumerate(blocks) for frame in detector.feed(block, number * BLOCK / RATE)]
    voiced = sum(probability > 0.5 for _, probability in frames)
    if not voiced:
        raise _UnfitError("it does not notice a voice; install the program anew")
    return f"voice in {100 * voiced / len(frames):.0f} % of the test sentence"


async def _models() -> str:
    here = folder()
    nearest = next(path for path in (here, *here.parents) if path.exists())
    if not os.access(nearest, os.W_OK):
        raise _UnfitError(f"{here} cannot be written to; set VOICE_MODELS to another folder")
    return f"{len(installed())} fetched, in {here}"
