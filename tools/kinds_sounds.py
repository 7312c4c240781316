"""Sounds without words for `make_kinds.py`, none like the other: hums, coughs, throats, slams, and rooms for them."""

import numpy as np
from scipy.signal import lfilter

from voice.audio import people

RATE = 16000
MOUTHS = {
    "nasal": ((260, 80, 1.0), (1050, 250, 0.08), (2200, 300, 0.03)),
    "open": ((560, 150, 1.0), (1150, 200, 0.35), (2300, 250, 0.1)),
}
"""Formants: (Hz, bandwidth in Hz, gain)."""


def resonance(source: np.ndarray, hz: float, width: float) -> np.ndarray:
    """One formant."""
    radius = np.exp(-np.pi * width / RATE)
    return lfilter([1 - radius], [1, -2 * radius * np.cos(2 * np.pi * hz / RATE), radius**2], source)


def voiced(rng: np.random.Generator, seconds: float, start: float, end: float, mouth: str) -> np.ndarray:
    """A hum gliding from one pitch (Hz) to another, at unit RMS."""
    count = round(seconds * RATE)
    pitch = np.linspace(start, end, count) * (1 + 0.01 * np.cumsum(rng.standard_normal(count)) / np.sqrt(count))
    phase = np.cumsum(pitch / RATE) % 1
    source = np.diff(np.where(phase < 0.6, phase * (0.6 - phase), 0), prepend=0) + 5e-4 * rng.standard_normal(count)
    sound = sum(gain * resonance(source, hz * rng.uniform(0.9, 1.15), width) for hz, width, gain in MOUTHS[mouth])
    ramp = RATE // 40
    sound[:ramp] *= np.linspace(0, 1, ramp)
    sound[-2 * ramp :] *= np.linspace(1, 0, 2 * ramp)
    return sound / np.sqrt(np.mean(sound**2))


def breath(rng: np.random.Generator, seconds: float, gain: float) -> np.ndarray:
    """Air through the nose."""
    count = round(seconds * RATE)
    return lfilter([1], [1, -0.5], rng.standard_normal(count)) * np.hanning(count) * gain


def hum(rng: np.random.Generator) -> np.ndarray:
    """ "Mm-hm", "uh-huh", "hmm" or "mm"."""
    pitch, within = rng.uniform(85, 260), rng.uniform
    mouth = "open" if rng.random() < 0.3 else "nasal"
    shape = rng.integers(0, 3)
    if shape == 0:
        first = voiced(rng, within(0.1, 0.22), pitch, pitch * within(0.9, 1.05), mouth) * within(0.5, 0.9)
        second = voiced(rng, within(0.15, 0.32), pitch * within(1, 1.2), pitch * within(1, 1.4), mouth)
        return np.concatenate([first, breath(rng, within(0.03, 0.1), within(0.05, 0.25)), second])
    if shape == 1:
        sound = voiced(rng, within(0.2, 0.5), pitch * 1.1, pitch * within(0.75, 1.2), "nasal")
        return np.concatenate([breath(rng, within(0.02, 0.08), 0.12), sound])
    return voiced(rng, within(0.18, 0.45), pitch, pitch * within(0.75, 1.25), "nasal")


def band(rng: np.random.Generator, count: int, centre: float, width: float) -> np.ndarray:
    """Noise around a frequency (Hz), at unit RMS."""
    hz = np.fft.rfftfreq(count, 1 / RATE)
    shaped = np.fft.rfft(rng.standard_normal(count)) * np.exp(-0.5 * ((hz - centre) / (width / 2)) ** 2)
    sound = np.fft.irfft(shaped, count)
    return sound / np.sqrt(np.mean(sound**2))


def cough(rng: np.random.Generator) -> np.ndarray:
    """Two bursts, each cough of its own length and throat."""
    seconds = rng.uniform(0.2, 0.45)
    t = np.arange(round(seconds * RATE)) / RATE
    burst = rng.uniform(0.3, 0.5) * seconds
    envelope = np.where(t < burst, np.exp(-t / rng.uniform(0.03, 0.06)), 0)
    again = t - 1.2 * burst
    envelope = envelope + np.where(again > 0, 0.6 * np.exp(-again / rng.uniform(0.04, 0.09)), 0)
    throat = sum(
        band(rng, t.size, hz * rng.uniform(0.8, 1.25), hz / 2) * gain
        for hz, gain in ((450, 1), (1200, 0.7), (2700, 0.35))
    )
    return throat * envelope * np.clip(t / 0.004, 0, 1)


def throat(rng: np.random.Generator) -> np.ndarray:
    """Clearing it: a rough low buzz."""
    count = round(rng.uniform(0.3, 0.6) * RATE)
    rough = 1 + 0.25 * np.repeat(rng.standard_normal(count // 80 + 1), 80)[:count]
    phase = np.cumsum(rng.uniform(70, 130) * rough / RATE) % 1
    sound = (phase < 0.15) - 0.15 + 0.2 * rng.standard_normal(count)
    for hz, width in ((600, 150), (1100, 200), (2500, 300)):
        sound = resonance(sound, hz, width) + 0.2 * sound
    return sound * np.hanning(count)


def slam(rng: np.random.Generator) -> np.ndarray:
    """A door."""
    t = np.arange(round(0.35 * RATE)) / RATE
    body = np.sin(2 * np.pi * (rng.uniform(50, 110) * t - 50 * t**2)) + 0.6 * band(rng, t.size, 200, 300)
    crack = 0.15 * band(rng, t.size, 2500, 3000) * np.exp(-t / 0.02)
    return (body + crack) * np.exp(-t / rng.uniform(0.05, 0.12)) * np.clip(t / 0.002, 0, 1)


NOISES = (cough, throat, slam, people.cough, people.thump)


def room(rng: np.random.Generator) -> np.ndarray:
    """An impulse response: the direct sound and a decaying tail 3 to 14 dB below it."""
    count = round(rng.uniform(0.1, 0.35) * RATE)
    tail = rng.standard_normal(count) * np.exp(-5 * np.arange(count) / count)
    tail *= 10 ** (rng.uniform(-14, -3) / 20) / np.sqrt(np.sum(tail**2))
    tail[0] = 1.0
    return tail.astype(np.float32)
