"""Human speech with transcripts, from Debian's pocketsphinx-testdata, and a way to play it to a listener."""

from __future__ import annotations

import asyncio
import re
import wave
from pathlib import Path

import numpy as np

from voice.audio.base import BLOCK, RATE, Pcm
from voice.stt.listener import Listener

DATA = Path("/usr/share/pocketsphinx/test/data")


def read(path: Path) -> Pcm:
    """A 16 kHz, 16 bit mono file (.wav or headless .raw) as samples."""
    if path.suffix == ".raw":
        raw = path.read_bytes()
    else:
        with wave.open(str(path)) as file:
            assert (file.getframerate(), file.getnchannels()) == (RATE, 1)
            raw = file.readframes(file.getnframes())
    return np.frombuffer(raw, "<i2").astype(np.float32) / 32768


def transcripts(folder: str, file: str) -> dict[Path, str]:
    """What is said in each clip of a folder of the data set."""
    found = {}
    for line in (DATA / folder / file).read_text().splitlines():
        if match := re.match(r"<s>\s*(.*?)\s*</s>\s*\((.*)\)", line):
            found[DATA / folder / f"{match[2]}.wav"] = match[1]
    return found


def cards() -> dict[Path, str]:
    """Five short commands."""
    return transcripts("cards", "cards.transcription")


def silence(seconds: float, seed: int = 0) -> Pcm:
    """The noise of a quiet room (-66 dB)."""
    noise = np.random.default_rng(seed).standard_normal(round(seconds * RATE)) * 5e-4
    return noise.astype(np.float32)


async def play(listener: Listener, audio: Pcm) -> None:
    """Let the listener hear it, in the loop's time."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    for first in range(0, len(audio) - BLOCK + 1, BLOCK):
        await asyncio.sleep(start + (first + BLOCK) / RATE - loop.time())
        block = audio[first : first + BLOCK]
        listener.hear(block, block, start + first / RATE)
    await asyncio.sleep(0.001)
