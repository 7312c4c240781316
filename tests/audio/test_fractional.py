"""A far-end reference between two samples must be as true as one on a sample."""

import numpy as np
import pytest

from voice.audio.base import BLOCK, RATE
from voice.audio.fractional import HALF, Conveyor, read


@pytest.mark.parametrize("hz", [100, 1000, 3000, 6000])
@pytest.mark.parametrize("fraction", [0.0, 0.3, 0.5, 0.99])
def test_between_samples(hz, fraction):
    """An echo canceller takes out only what the reference has in it: -45 dB of error leave 45 dB of echo loss."""
    stream = np.sin(2 * np.pi * hz * np.arange(400) / RATE).astype(np.float32)
    places = HALF - 1 + fraction + np.arange(BLOCK) * 1.0001
    error = read(stream, fraction, 1.0001, BLOCK) - np.sin(2 * np.pi * hz * places / RATE)
    assert 20 * np.log10(np.sqrt(np.mean(error**2)) / np.sqrt(0.5)) < -45


@pytest.mark.parametrize("pace", [1.0, 1.0001, 0.9999])
def test_the_conveyor_never_stumbles(pace):
    """A click every block would be heard by every detector."""
    conveyor, taken = Conveyor(100, pace), []
    stream = np.sin(2 * np.pi * 500 * np.arange(RATE * 20) / RATE).astype(np.float32)
    ahead = 2 * BLOCK
    conveyor.put(stream[:ahead])
    for first in range(ahead, stream.size - 2 * BLOCK, BLOCK):
        conveyor.put(stream[first : first + BLOCK])
        taken.append(conveyor.take(BLOCK))
    heard = np.concatenate(taken)
    lag = 100 if pace == 1 else 100 + HALF + 1
    expected = np.sin(2 * np.pi * 500 * (np.arange(heard.size) * pace - lag) / RATE)
    assert np.abs(heard - expected)[200:].max() < 0.01
