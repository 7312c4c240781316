"""The people of the virtual room: their voices and noises at the microphone, placed in time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voice.audio.base import RATE, Pcm

_ACTIVE_FRAME = RATE // 50
"""Samples of a frame of 20 ms, in which speech is either there or not."""
_ACTIVE_RANGE = 10 ** (-30 / 20)
"""Frames more than 30 dB below the loudest one are pauses and don't count towards the level of a voice."""


def active_level(pcm: Pcm) -> float:
    """The RMS (linear) of the frames in which there is speech; 0 for silence."""
    if pcm.size == 0:
        return 0.0
    frames = np.resize(np.pad(pcm, (0, -pcm.size % _ACTIVE_FRAME)), (-(-pcm.size // _ACTIVE_FRAME), _ACTIVE_FRAME))
    rms = np.sqrt(np.mean(np.square(frames, dtype=np.float64), axis=1))
    active = rms[rms > _ACTIVE_RANGE * rms.max()]
    return float(np.sqrt(np.mean(active**2))) if active.size else 0.0


def at_level(pcm: Pcm, level_db: float) -> Pcm:
    """`pcm` scaled so that its active level is `level_db` dBFS; silence stays silence."""
    level = active_level(pcm)
    return (pcm * (10 ** (level_db / 20) / level)).astype(np.float32) if level else pcm


def cough(rng: np.random.Generator, rate: int = RATE) -> Pcm:
    """A cough of 0.3 s: a burst of throat noise (around 400 and 1100 Hz), a short hold, a weaker second burst."""
    t = np.arange(round(0.30 * rate)) / rate
    envelope = np.where(t < 0.12, np.exp(-t / 0.035), 0.0) + np.where(t > 0.16, 0.5 * np.exp(-(t - 0.16) / 0.05), 0.0)
    envelope *= np.clip(t / 0.004, 0, 1)
    throat = np.zeros(t.size)
    for hz, gain in ((400, 1.0), (1100, 0.7), (2600, 0.3)):
        throat += band(rng, t.size, hz, hz * 0.6, rate) * gain
    sound: Pcm = (throat * envelope).astype(np.float32)
    return sound


def click(rng: np.random.Generator, rate: int = RATE) -> Pcm:
    """A key or a switch: 8 ms of noise around 4 kHz that dies within a few milliseconds."""
    t = np.arange(round(0.008 * rate)) / rate
    sound: Pcm = (band(rng, t.size, 4000, 5000, rate) * np.exp(-t / 0.0015)).astype(np.float32)
    return sound


def thump(rng: np.random.Generator, rate: int = RATE) -> Pcm:
    """A knock on the table or a door: 0.25 s of a falling tone around 80 Hz under some low noise."""
    t = np.arange(round(0.25 * rate)) / rate
    body = np.sin(2 * np.pi * (80 * t - 60 * t**2)) + 0.3 * band(rng, t.size, 150, 200, rate)
    sound: Pcm = (body * np.exp(-t / 0.06) * np.clip(t / 0.002, 0, 1)).astype(np.float32)
    return sound


def band(rng: np.random.Generator, count: int, centre: float, width: float, rate: int) -> Pcm:
    """`count` samples of noise in a Gaussian band (Hz) at unit RMS."""
    spectrum = np.fft.rfft(rng.standard_normal(count))
    hz = np.fft.rfftfreq(count, 1 / rate)
    noise = np.fft.irfft(spectrum * np.exp(-0.5 * ((hz - centre) / (width / 2)) ** 2), count)
    noise /= max(np.sqrt(np.mean(noise**2)), 1e-12)
    sound: Pcm = noise.astype(np.float32)
    return sound


@dataclass(slots=True)
class _Sound:
    start: int
    pcm: Pcm
    person: bool


class Sounds:
    """Sounds at the microphone, each from its own sample on."""

    def __init__(self) -> None:
        self._sounds: list[_Sound] = []

    def add(self, start: int, pcm: Pcm, *, person: bool) -> None:
        """Let `pcm` be heard from sample `start` on."""
        self._sounds.append(_Sound(start, pcm, person))

    @property
    def waiting(self) -> int:
        """How many sounds are not over yet."""
        return len(self._sounds)

    def mix(self, start: int, count: int) -> tuple[Pcm, Pcm]:
        """(people, other noises) in the samples `start` to `start + count`; what is over is forgotten."""
        people, others = np.zeros(count, np.float32), np.zeros(count, np.float32)
        for sound in self._sounds:
            first, last = max(start, sound.start), min(start + count, sound.start + sound.pcm.size)
            if first < last:
                out = people if sound.person else others
                out[first - start : last - start] += sound.pcm[first - sound.start : last - sound.start]
        self._sounds = [sound for sound in self._sounds if sound.start + sound.pcm.size > start + count]
        return people, others
