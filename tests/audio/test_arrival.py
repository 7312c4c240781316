"""When the microphone took a block, read from arrivals that are late by chance and guesses that wander."""

import numpy as np

from voice.audio.arrival import ArrivalLine

BLOCK = 0.01


def times(arrivals, guesses):
    line = ArrivalLine(BLOCK)
    return np.array([line.taken(arrival, guess) for arrival, guess in zip(arrivals, guesses, strict=True)])


def test_late_callbacks_do_not_make_late_sound():
    """A busy machine calls back up to 8 ms late; what the microphone took is where it was."""
    count = np.arange(1000) * BLOCK
    late = np.random.default_rng(1).uniform(0, 0.008, 1000)
    off = times(count + 0.02 + late, count) - count
    assert np.ptp(off[30:]) < 0.002


def test_a_guess_that_wanders_is_not_followed():
    """The sound server's guess of its own delay slid by 30 ms in 8 s, with the sound in order."""
    count = np.arange(1000) * BLOCK
    off = times(count + 0.02, count - np.linspace(0, 0.03, 1000)) - count
    assert np.ptp(off[30:]) < 0.0005
    assert abs(off[-1]) < 0.002


def test_lost_samples_are_noticed():
    """After an overrun of 50 ms the echo comes 50 ms sooner by the count, for good; seen within two seconds."""
    count = np.arange(1000) * BLOCK
    lost = np.where(count >= 5, 0.05, 0.0)
    off = times(count + lost + 0.02, count + lost) - count
    assert np.allclose(off[:500], 0)
    assert np.allclose(off[700:], 0.05)


def test_drift_is_followed():
    """A microphone whose clock is 100 ppm slow stays on the line of its arrivals."""
    count = np.arange(6000) * BLOCK
    true = count * (1 + 100e-6)
    assert np.abs(times(true + 0.02, true) - true).max() < 0.0005
