"""The simulated people: levels that are off make every speech-to-echo ratio wrong."""

import numpy as np
import pytest

from voice.audio.base import BLOCK, RATE
from voice.audio.people import Sounds, active_level, at_level, click, cough, thump


def noise(count: int, level: float = 0.1) -> np.ndarray:
    return (np.random.default_rng(0).standard_normal(count) * level).astype(np.float32)


def test_pauses_do_not_lower_the_level_of_a_voice():
    """A sentence with a long pause is spoken as loudly as one without."""
    voice = noise(RATE)
    assert active_level(voice) == pytest.approx(0.1, rel=0.02)
    assert active_level(np.concatenate([voice, np.zeros(5 * RATE, np.float32)])) == pytest.approx(0.1, rel=0.02)


@pytest.mark.parametrize("level_db", [-40, -26, -10])
def test_a_voice_at_a_level(level_db):
    """`level_db` is what the microphone gets."""
    assert 20 * np.log10(active_level(at_level(noise(RATE, 0.3), level_db))) == pytest.approx(level_db, abs=0.1)


@pytest.mark.parametrize("count", [0, 1, 160])
def test_silence_stays_silence(count):
    """A person who says nothing is not made loud."""
    pcm = np.zeros(count, np.float32)
    assert active_level(pcm) == 0
    assert np.array_equal(at_level(pcm, -20), pcm)


@pytest.mark.parametrize(
    ("make", "seconds", "low", "high"),
    [
        (cough, 0.30, 200, 3000),
        (click, 0.008, 1500, 8000),
        (thump, 0.25, 30, 250),
    ],
)
def test_noises_have_their_length_and_their_place_in_the_spectrum(make, seconds, low, high):
    """A thump that sounds like a cough tests nothing new."""
    sound = make(np.random.default_rng(1))
    assert sound.size == round(seconds * RATE)
    power = np.abs(np.fft.rfft(sound)) ** 2
    hz = np.fft.rfftfreq(sound.size, 1 / RATE)
    assert power[(hz >= low) & (hz <= high)].sum() > 0.8 * power.sum()


def test_sounds_begin_on_their_sample_and_are_forgotten():
    """A long session does not fill up with what was said long ago."""
    sounds = Sounds()
    sounds.add(250, np.ones(100, np.float32), person=True)
    sounds.add(300, np.ones(20, np.float32), person=False)
    mixed = [sounds.mix(start, BLOCK) for start in range(0, 640, BLOCK)]
    people = np.concatenate([part for part, _ in mixed])
    others = np.concatenate([part for _, part in mixed])
    assert np.flatnonzero(people).tolist() == list(range(250, 350))
    assert np.flatnonzero(others).tolist() == list(range(300, 320))
    assert not sounds.waiting
