"""Noises of a public place, synthesised: what people do with their throats, things, music, and talk by others.

Everything is deterministic in its generator and unscaled: the room sets the level. Not recordings: how far a detector
that tells these from speech tells real ones from it, is not shown by them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voice.audio.base import RATE, Pcm
from voice.audio.people import at_level, band
from voice.audio.response import convolve

_SPEECH_DB = -26.0
"""Level at which voices are mixed; only their ratio matters."""

_HEAD_HZ = 1500.0
"""Above this a head that is turned away shadows its own mouth: 6 dB per octave, as measured behind talkers."""

_NOSE = ((250.0, 90.0, 1.0), (1000.0, 150.0, 0.12), (2100.0, 200.0, 0.05))
"""(Hz, bandwidth in Hz, gain) of a hum's resonances."""

_TV_BAND = (250.0, 5000.0)
"""Hz that small television loudspeakers give."""


def throat(rng: np.random.Generator, rate: int = RATE) -> Pcm:
    """A throat is cleared: two rough pushes of 0.2 s each, voice and noise at some 25 pulses a second."""
    t = np.arange(round(0.5 * rate)) / rate
    envelope = sum(np.exp(-0.5 * ((t - centre) / 0.055) ** 2) * gain for centre, gain in ((0.13, 1.0), (0.36, 0.7)))
    rough = 0.55 + 0.45 * np.sign(np.sin(2 * np.pi * rng.uniform(22, 30) * t))
    noise = sum(band(rng, t.size, hz, hz * 0.7, rate) * gain for hz, gain in ((350, 1.0), (900, 0.5), (2200, 0.2)))
    sound: Pcm = (noise * envelope * rough).astype(np.float32)
    return sound


def sniff(rng: np.random.Generator, rate: int = RATE) -> Pcm:
    """Air drawn in through the nose, 0.35 s of noise that rises from 1 to 4 kHz."""
    t = np.arange(round(0.35 * rate)) / rate
    envelope = np.sin(np.pi * t / t[-1]) ** 2
    low, high = band(rng, t.size, 1200, 900, rate), band(rng, t.size, 3800, 2500, rate)
    sound: Pcm = ((low * (1 - t / t[-1]) + high * t / t[-1]) * envelope).astype(np.float32)
    return sound


def slam(rng: np.random.Generator, rate: int = RATE) -> Pcm:
    """A door slams: 5 ms of everything, then 0.6 s of low rumble and the room."""
    t = np.arange(round(0.6 * rate)) / rate
    crack = band(rng, t.size, 1500, 3000, rate) * np.exp(-t / 0.012)
    rumble = band(rng, t.size, 110, 120, rate) * np.exp(-t / 0.15)
    rest = band(rng, t.size, 600, 900, rate) * np.exp(-t / 0.10) * 0.25
    sound: Pcm = ((crack + rumble + rest) * np.clip(t / 0.001, 0, 1)).astype(np.float32)
    return sound


def hum(rng: np.random.Generator, syllables: int = 2, pitch: float = 120.0, head: float = 1.0, rate: int = RATE) -> Pcm:
    """A hum of two syllables ("mm-hm") or one ("mm") by a person of that pitch (Hz): a glottal pulse train through a
    closed mouth (resonances at 250, 1000 and 2100 Hz, times `head`), rising on the second syllable."""
    lengths = rng.uniform(0.14, 0.2, syllables)
    pieces: list[Pcm] = []
    for number, length in enumerate(lengths):
        t = np.arange(round(length * rate)) / rate
        slope = rng.uniform(0.05, 0.2) * (1 if number else -0.3)
        phase = np.cumsum(pitch * (1 + 0.12 * number + slope * t / length)) / rate
        pulses = np.diff(np.floor(phase), prepend=0.0) + 0.002 * rng.standard_normal(t.size)
        envelope = np.clip(t / 0.03, 0, 1) * np.clip((length - t) / 0.05, 0, 1)
        mouth = _resonances(pulses.astype(np.float32), [(hz * head, width, gain) for hz, width, gain in _NOSE], rate)
        pieces.append((mouth * envelope).astype(np.float32))
        if number + 1 < syllables:
            breath = band(rng, round(0.05 * rate), 900, 1200, rate) * 0.02 * float(np.max(np.abs(mouth)) + 1e-9)
            pieces.append(breath)
    return np.concatenate(pieces)


def music(rng: np.random.Generator, seconds: float, rate: int = RATE) -> Pcm:
    """Chords, a tune and a beat at 100 a minute, each note with a few harmonics that die away."""
    out = np.zeros(round(seconds * rate), np.float32)
    beat = 0.3
    roots = (220.0, 174.6, 261.6, 196.0)
    for step in range(int(seconds / beat)):
        root = roots[(step // 4) % 4]
        notes = [root * 2 ** (rng.choice([0, 2, 4, 7, 9, 12]) / 12) * 2]
        if step % 4 == 0:
            notes += [root, root * 1.26, root * 1.5, root / 2]
        t = np.arange(min(round(4 * beat * rate), out.size - round(step * beat * rate))) / rate
        note = sum(
            np.sin(2 * np.pi * hz * harmonic * t) * np.exp(-t * (2 + harmonic)) / harmonic
            for hz in notes
            for harmonic in (1, 2, 3, 4)
        )
        start = round(step * beat * rate)
        out[start : start + t.size] += note
        drum = band(rng, round(0.05 * rate), 5000 if step % 2 else 120, 3000 if step % 2 else 100, rate)
        drum = drum[: out.size - start] * np.exp(-np.arange(min(drum.size, out.size - start)) / (0.012 * rate))
        out[start : start + drum.size] += 0.8 * drum
    return out


def babble(rng: np.random.Generator, clips: Sequence[Pcm], seconds: float, voices: int = 4, rate: int = RATE) -> Pcm:
    """`voices` people talking at once, further away in a reverberant hall: clips in a row, each person's their own."""
    out = np.zeros(round(seconds * rate), np.float32)
    for _ in range(voices):
        out += far_away(rng, in_a_row(rng, clips, seconds, rate), rate)[: out.size]
    return out


def television(rng: np.random.Generator, clips: Sequence[Pcm], seconds: float, rate: int = RATE) -> Pcm:
    """One voice over soft music through a small loudspeaker across the room."""
    speech = in_a_row(rng, clips, seconds, rate)
    both = speech + at_level(music(rng, seconds, rate), _SPEECH_DB - 12)[: speech.size]
    spectrum = np.fft.rfft(both)
    hz = np.fft.rfftfreq(both.size, 1 / rate)
    low, high = _TV_BAND
    shaped = np.fft.irfft(spectrum / (1 + (low / np.maximum(hz, 1)) ** 4) / (1 + (hz / high) ** 4), both.size)
    return far_away(rng, shaped.astype(np.float32), rate, direct_db=0.0)[: both.size]


def in_a_row(rng: np.random.Generator, clips: Sequence[Pcm], seconds: float, rate: int = RATE) -> Pcm:
    """Clips in random order at one level, with pauses of 0.2 to 1 s, for `seconds`."""
    size = round(seconds * rate)
    parts: list[Pcm] = []
    done = 0
    while done < size:
        clip = at_level(clips[int(rng.integers(len(clips)))], _SPEECH_DB)
        pause = np.zeros(round(rng.uniform(0.2, 1.0) * rate), np.float32)
        parts += [clip, pause]
        done += clip.size + pause.size
    return np.concatenate(parts)[:size]


def turned_away(rng: np.random.Generator, pcm: Pcm, rate: int = RATE) -> Pcm:
    """Somebody who speaks to another person: the high notes are shadowed by the head, and much of what arrives came
    by way of the walls."""
    spectrum = np.fft.rfft(pcm)
    hz = np.fft.rfftfreq(pcm.size, 1 / rate)
    shadowed = np.fft.irfft(spectrum / np.sqrt(1 + (hz / _HEAD_HZ) ** 2), pcm.size).astype(np.float32)
    return far_away(rng, shadowed, rate, direct_db=3.0)


def far_away(rng: np.random.Generator, pcm: Pcm, rate: int = RATE, direct_db: float = -3.0, t60: float = 0.6) -> Pcm:
    """`pcm` with a diffuse tail (`t60` seconds to -60 dB); the direct sound is `direct_db` above the tail."""
    t = np.arange(round(t60 * rate)) / rate
    tail = rng.standard_normal(t.size) * 10 ** (-3 * t / t60)
    tail[: round(0.003 * rate)] = 0
    tail /= np.sqrt(np.sum(tail**2))
    tail[0] = 10 ** (direct_db / 20)
    return convolve(pcm, tail.astype(np.float32))


def _resonances(pulses: Pcm, formants: Sequence[tuple[float, float, float]], rate: int) -> Pcm:
    """The pulses through parallel resonances (Hz, bandwidth in Hz, gain)."""
    t = np.arange(round(0.05 * rate)) / rate
    response = sum(np.sin(2 * np.pi * hz * t) * np.exp(-np.pi * width * t) * gain for hz, width, gain in formants)
    return convolve(pulses, np.asarray(response, np.float32))[: pulses.size]
