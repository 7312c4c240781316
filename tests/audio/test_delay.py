"""A Bluetooth loudspeaker plays a third of a second after its stamps; the program must not hear itself for that."""

import numpy as np
import pytest

from voice.audio.base import BLOCK, RATE
from voice.audio.delay import DelaySearch, correlate
from voice.audio.echo import TwoFilterCanceller
from voice.audio.response import convolve, load


def speechlike(seconds: float, seed: int = 0) -> np.ndarray:
    count = round(seconds * RATE)
    noise = np.convolve(np.random.default_rng(seed).standard_normal(count), np.ones(6) / 6, "same")
    return (0.2 * noise * np.clip(np.sin(2 * np.pi * 3 * np.arange(count) / RATE) + 0.3, 0, 1)).astype(np.float32)


def echo_of(far: np.ndarray, delay: float) -> np.ndarray:
    late = np.concatenate([np.zeros(round(delay * RATE), np.float32), 0.5 * convolve(far, load("kiosk")[0])])
    noise = np.random.default_rng(9).standard_normal(far.size) * 1e-3
    return (late[: far.size] + noise).astype(np.float32)


@pytest.mark.parametrize("delay", [0.01, 0.3, 0.9])
def test_the_echo_is_found_wherever_it_is(delay):
    """Whatever lies between a converter and the air."""
    far = speechlike(3)
    samples, sharpness = correlate(echo_of(far, delay), far)
    assert samples / RATE == pytest.approx(delay, abs=0.004)
    assert sharpness > 100


def test_somebody_else_is_no_echo():
    """A visitor's speech must not pull the far end to a place where there is no echo."""
    search = DelaySearch()
    mic, far = speechlike(4, seed=1), speechlike(4, seed=2)
    for first in range(0, mic.size, BLOCK):
        search.hear(mic[first : first + BLOCK], far[first : first + BLOCK])
    assert search.found() is None


def left_of_the_echo(canceller: TwoFilterCanceller, delay: float, seconds: float) -> float:
    """dB of the last two seconds."""
    far = speechlike(seconds)
    mic = echo_of(far, delay)
    out = [
        canceller.process(mic[first : first + BLOCK], far[first : first + BLOCK]).speech
        for first in range(0, far.size, BLOCK)
    ]
    end = slice(-2 * RATE, None)
    return float(10 * np.log10(np.mean(np.concatenate(out)[end] ** 2) / np.mean(mic[end] ** 2)))


@pytest.mark.parametrize("delay", [0.0, 0.2, 0.6])
def test_it_is_taken_out_wherever_it_is(delay):
    """Beyond the tail of the filter, too, within some seconds of speech; and the operator can read the delay."""
    canceller = TwoFilterCanceller()
    assert left_of_the_echo(canceller, delay, 12) < -15
    assert canceller.echo_delay == pytest.approx(delay, abs=0.004)


def test_nothing_is_known_before_it_is_learnt():
    """A number that means nothing misleads whoever looks for a fault."""
    canceller = TwoFilterCanceller()
    assert canceller.echo_delay is None
    left_of_the_echo(canceller, 0.1, 4)
    canceller.path_changed()
    assert canceller.echo_delay is None
