"""The people of the scenes: who they are, and the sound of what they say.

Half of them are for tuning, the others are kept for the figures. A recording or a synthetic voice that is resampled
by a few percent sounds like another person: pitch and mouth scale together.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
import soxr

from voice.audio.base import BLOCK, RATE, Pcm
from voice.audio.people import active_level
from voice.bench import floor_piper
from voice.bench.floor_human import Recording, can_read_ogg, missing, read, recordings
from voice.tts.base import VoiceError
from voice.tts.espeak import EspeakVoice
from voice.worker import Worker

_TRIM = 10 ** (-40 / 20)
"""Frames more than 40 dB below the voice are not part of a clip."""


@dataclass(frozen=True, slots=True)
class Person:
    """A synthetic voice."""

    name: str
    engine: Literal["espeak", "flite", "piper"]
    language: str = ""
    variant: str = ""
    wpm: int = 160
    pitch: int | None = None
    scale: float = 1.0
    """piper: how much longer everything takes."""
    shift: float = 1.0
    """Resampled to this many times the length."""


PEOPLE = {
    False: (
        Person("joe", "piper"),
        Person("joe slow deep", "piper", scale=1.1, shift=1.06),
        Person("joe young", "piper", scale=1.05, shift=0.86),
        Person("slt", "flite", variant="slt"),
        Person("awb", "flite", variant="awb"),
        Person("slt deep", "flite", variant="slt", shift=1.1),
        Person("us man deep", "espeak", "en-us", "m3", 165, 35),
        Person("nyc", "espeak", "en-us-nyc", "", 150),
        Person("gb woman", "espeak", "en-gb", "f1", 155),
    ),
    True: (
        Person("joe brisk", "piper", scale=0.9, shift=0.97),
        Person("joe old", "piper", scale=1.25, shift=1.04),
        Person("joe light", "piper", scale=1.0, shift=0.82),
        Person("joe deep", "piper", scale=0.95, shift=1.1),
        Person("joe child", "piper", scale=1.1, shift=0.74),
        Person("us man", "espeak", "en-us", "m1", 150, 40),
        Person("us woman", "espeak", "en-us", "f4", 145),
        Person("rp", "espeak", "en-gb-x-rp", "", 150, 40),
    ),
}
"""By whether they are kept. No voice that is kept was used to train `voice.stt.kinds` (which knows all of flite's and
many of espeak's); piper's one speaker is in both halves, in other sizes. Of espeak those that Moonshine reads best in
silence: a fifth to a quarter of their words wrong; of piper's and flite's a twentieth to an eighth. Variants of espeak
with breath in them (f2, f3, f5) sound different each time."""

Key = tuple[str, str]
"""(voice, text or path): what a clip is found by."""


def people(kept: bool) -> list[Person]:
    """The synthetic voices of one half that can speak here."""
    there = {"espeak": True, "flite": shutil.which("flite") is not None, "piper": floor_piper.installed()}
    return [person for person in PEOPLE[kept] if there[person.engine]]


def tell_missing() -> None:
    """Say on standard error which voices are missing, and how to get them."""
    python = [*([] if floor_piper.installed() else floor_piper.PACKAGES), *([] if can_read_ogg() else ["soundfile"])]
    lacking = [f"pip install {' '.join(python)}"] if python else []
    debian = [*missing(), *([] if shutil.which("flite") else ["flite"])]
    lacking += [f"apt install {' '.join(debian)}"] if debian else []
    for remedy in lacking:
        print(f"voice bench floor: some voices are missing and are left out; {remedy}", file=sys.stderr)


async def render(keys: Iterable[Key], kept: bool) -> Mapping[Key, Pcm]:
    """The sound of each clip. Raises VoiceError or WorkerError when an engine fails."""
    wanted: dict[str, set[str]] = {}
    for voice, text in keys:
        wanted.setdefault(voice, set()).add(text)
    clips: dict[Key, Pcm] = {}
    piper = Worker("piper", floor_piper.make, timeout=60.0, start_timeout=60.0)
    try:
        for voice, texts in sorted(wanted.items()):
            person = next((person for person in PEOPLE[kept] if person.name == voice), None)
            for text, pcm in (await _said(person, sorted(texts), piper)).items():
                clips[voice, text] = trimmed(pcm)
    finally:
        await piper.close()
    return clips


async def _said(person: Person | None, texts: list[str], piper: Worker) -> dict[str, Pcm]:
    if person is None:
        return {text: read(Path(text)) for text in texts}
    if person.engine == "flite":
        return {text: _shifted(await _flite(person.variant, text), person.shift) for text in texts}
    if person.engine == "piper":
        said = {text: np.asarray(await piper.ask((text.capitalize() + ".", person.scale))) for text in texts}
        return {text: _shifted(pcm, person.shift) for text, pcm in said.items()}
    voice = EspeakVoice(person.language, person.wpm, person.variant, person.pitch)
    await voice.start(RATE)
    try:
        return {text: await _spoken(voice, text) for text in texts}
    finally:
        await voice.close()


async def _spoken(voice: EspeakVoice, text: str) -> Pcm:
    async with aclosing(voice.speak(text)) as parts:
        return np.concatenate([np.zeros(0, np.float32), *[part.pcm async for part in parts]])


async def _flite(voice: str, text: str) -> Pcm:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "said.wav"
        process = await asyncio.create_subprocess_exec("flite", "-voice", voice, "-t", text, "-o", str(file))
        if await process.wait():
            raise VoiceError(f"flite failed with voice {voice}; does `flite -voice {voice} -t hello` speak?")
        return read(file)


def _shifted(pcm: Pcm, shift: float) -> Pcm:
    return pcm if shift == 1.0 else np.asarray(soxr.resample(pcm, RATE, RATE * shift), np.float32)


def trimmed(pcm: Pcm) -> Pcm:
    """Without the silence before and after, but for one block."""
    frames = pcm[: pcm.size // BLOCK * BLOCK].reshape(-1, BLOCK)
    loud = np.flatnonzero(np.sqrt(np.mean(frames**2, axis=1)) > active_level(pcm) * _TRIM)
    return pcm[max(0, loud[0] - 1) * BLOCK : (loud[-1] + 2) * BLOCK] if loud.size else pcm


def human_clips(kept: bool) -> list[tuple[Key, str]]:
    """(key, words) of each recording of one half."""
    return [(key_of(each), each.text) for each in recordings(kept)]


def key_of(recording: Recording) -> Key:
    """What a recording's clip is found by."""
    return f"human {recording.person}", str(recording.path)
