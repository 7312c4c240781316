"""Noises of a public place: the benchmark's claims about coughs and halls stand on them."""

from collections.abc import Callable

import numpy as np
import pytest

from voice.audio import noises
from voice.audio.base import RATE, Pcm
from voice.audio.people import active_level


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def clip() -> Pcm:
    """Half a second of something with high and low notes."""
    return (rng(3).standard_normal(RATE // 2) * 0.1).astype(np.float32)


def centre(pcm: Pcm) -> float:
    """Hz of the middle of the spectrum."""
    power = np.abs(np.fft.rfft(pcm)) ** 2
    return float(np.sum(power * np.fft.rfftfreq(pcm.size, 1 / RATE)) / np.sum(power))


SOUNDS: dict[str, tuple[Callable[[np.random.Generator], Pcm], float, float]] = {
    "throat": (noises.throat, 0.4, 0.6),
    "sniff": (noises.sniff, 0.3, 0.4),
    "slam": (noises.slam, 0.5, 0.7),
    "hum": (noises.hum, 0.3, 0.6),
    "music": (lambda r: noises.music(r, 3.0), 3.0, 3.0),
    "babble": (lambda r: noises.babble(r, [clip()], 3.0), 3.0, 3.0),
    "television": (lambda r: noises.television(r, [clip()], 3.0), 3.0, 3.0),
}


@pytest.mark.parametrize("name", SOUNDS)
def test_the_same_generator_makes_the_same_noise(name: str) -> None:
    """A benchmark that can't be repeated can't be compared."""
    make, shortest, longest = SOUNDS[name]
    sound = make(rng())
    assert np.array_equal(sound, make(rng()))
    assert not np.array_equal(sound[: RATE // 4], make(rng(2))[: RATE // 4])
    assert sound.dtype == np.float32
    assert np.isfinite(sound).all()
    assert active_level(sound) > 0
    assert shortest <= sound.size / RATE <= longest


def test_who_turns_away_sounds_duller_and_longer() -> None:
    """Talk to others would else be told from talk to us by its level alone."""
    away = noises.turned_away(rng(), clip())
    assert centre(away) < 0.8 * centre(clip())
    assert away.size > clip().size


def test_a_hum_has_its_pitch() -> None:
    """A backchannel at 60 Hz or at 2 kHz is none."""
    hum = noises.hum(rng(), syllables=1, pitch=150.0)
    middle = hum[hum.size // 4 : -hum.size // 4]
    lags = np.correlate(middle, middle, "full")[middle.size :]
    period = int(np.argmax(lags[RATE // 400 : RATE // 80])) + RATE // 400 + 1
    assert RATE / period == pytest.approx(150, rel=0.15)


def test_in_a_row_fills_the_time() -> None:
    """Background talk that ends before the scene does makes the rest of it easy."""
    row = noises.in_a_row(rng(), [clip()], 10.0)
    assert row.size == 10 * RATE
    assert np.abs(row[-2 * RATE :]).max() > 0
