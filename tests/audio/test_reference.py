"""The echo canceller removes only what it is told was played, at the time at which it was played."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice.audio.base import BLOCK, RATE
from voice.audio.reference import LATE, SLACK, Reference

PLAYED = np.random.default_rng(0).standard_normal(20 * RATE).astype(np.float32)


def play_and_hear(blocks, dac, adc, reference=None, latency_blocks=4):
    """Blocks are written `latency_blocks` before they are heard; returns the reference of each heard block."""
    reference = reference or Reference()
    out = []
    for k in range(blocks):
        reference.wrote(PLAYED[k * BLOCK : (k + 1) * BLOCK], dac(k))
        if k >= latency_blocks:
            out.append(reference.at(adc(k - latency_blocks), BLOCK))
    return np.concatenate(out)


@given(offset=st.integers(-200, 400), start=st.floats(0, 1e6))
@settings(max_examples=30)
def test_to_the_nearest_sample(offset, start):
    """Half a millisecond of error costs an adaptive filter most of what it has learnt."""
    got = play_and_hear(20, lambda k: start + k * 0.01, lambda k: start + k * 0.01 + offset / RATE)
    expected = np.zeros(got.size, np.float32)
    offset -= LATE
    first = max(0, -offset)
    expected[first:] = PLAYED[offset + first : offset + got.size]
    assert np.array_equal(got, expected)


def test_shivering_stamps_do_not_shake_it():
    """On a busy machine every stamp is off by up to a millisecond; the samples themselves are in order."""
    rng = np.random.default_rng(5)
    shiver = rng.uniform(-0.001, 0.001, (2, 1500))
    got = play_and_hear(1500, lambda k: k * 0.01 + shiver[0, k], lambda k: k * 0.01 + shiver[1, k]).reshape(-1, BLOCK)
    lags = []
    for k in range(300, len(got)):
        around = PLAYED[k * BLOCK - 40 - LATE : (k + 1) * BLOCK + 40 - LATE]
        lags.append(int(np.argmax(np.correlate(around, got[k]))) - 40)
    assert max(map(abs, lags)) <= 5
    assert np.count_nonzero(np.diff(lags)) <= 10


def test_drift_is_followed():
    """A USB microphone whose clock is 60 ppm off must not slide away from the loudspeaker, nor shake on its way."""
    reference, lags = Reference(), []
    block = np.zeros(BLOCK, np.float32)
    for k in range(60_000):  # ten minutes
        reference.wrote(block, k * 0.01)
        reference.at(k * 0.01 * (1 + 60e-6), BLOCK)
        lags.append(reference.lag)
    true = 60_000 * BLOCK * 60e-6
    assert true > 500
    assert 0 <= true - lags[-1] < 0.005 * RATE
    assert np.count_nonzero(np.diff(lags)) <= true / SLACK
    assert reference.jumps == 0


@pytest.mark.parametrize("ppm", [60.0, -100.0])
def test_measured_drift_is_resampled_away(ppm):
    """Sample by sample and without a jump: a step of a millisecond costs the canceller what it has learnt."""
    reference, got = Reference(), []
    tone = np.sin(2 * np.pi * 1000 * np.arange(70 * RATE) / RATE).astype(np.float32)
    reference.drift_ppm = ppm
    heard = 0
    for k in range(6600):
        reference.wrote(tone[k * BLOCK : (k + 1) * BLOCK], k * 0.01 + 0.04)
        while (heard + 1) * 0.01 / (1 + ppm * 1e-6) <= k * 0.01:
            got.append(reference.at(heard * 0.01 / (1 + ppm * 1e-6), BLOCK))
            heard += 1
    assert reference.jumps == 0
    far = np.concatenate(got)[RATE:]
    n = RATE + np.arange(far.size)
    expected = np.sin(2 * np.pi * 1000 * ((n - LATE) / RATE / (1 + ppm * 1e-6) - 0.04))
    assert np.abs(far - expected).max() < 0.02


def test_a_new_measure_of_the_drift_moves_nothing_at_once():
    """The echo stays where it is; only its pace changes."""
    reference = Reference()
    for k in range(200):
        reference.wrote(PLAYED[k * BLOCK : (k + 1) * BLOCK], k * 0.01)
        if k >= 10:
            reference.at((k - 10) * 0.01, BLOCK)
    before = reference.lag
    reference.drift_ppm = 80.0
    for k in range(190, 195):
        reference.at(k * 0.01, BLOCK)
    assert reference.lag == pytest.approx(before, abs=0.1)
    assert reference.jumps == 0


def test_wandering_stamps_do_not_drag_it_along():
    """PulseAudio on a busy machine: its guesses slid by 25 ms within 8 s and came back in steps, with no sample lost.
    Whoever follows them takes no echo out, and the program interrupts itself."""
    steps = np.interp(np.arange(2000), [0, 100, 900, 901, 1300, 1301, 2000], [0, 0, -25, -18, -16, -9, 0]) / 1000
    reference, lags = Reference(), []
    for k in range(2000):
        reference.wrote(PLAYED[:BLOCK], k * 0.01)
        reference.at(k * 0.01 + steps[k], BLOCK)
        lags.append(reference.lag)
    assert reference.jumps == 0
    assert max(lags) - min(lags) <= 0.005 * RATE
    assert np.count_nonzero(np.diff(lags)) <= 5


def test_one_odd_stamp_is_no_jump():
    """A callback that was held up for 30 ms says nothing about the sound."""
    reference = Reference()
    got = play_and_hear(100, lambda k: k * 0.01 + (0.03 if k == 50 else 0), lambda k: k * 0.01, reference)
    assert np.array_equal(got[LATE:], PLAYED[: got.size - LATE])
    assert reference.jumps == 0


def with_a_gap(gap: float) -> Reference:
    """Half a second is played, then nothing for `gap` seconds, then another 0.1 s."""
    reference = Reference()
    for k in range(60):
        reference.wrote(PLAYED[k * BLOCK : (k + 1) * BLOCK], k * 0.01 + (gap if k >= 50 else 0))
    return reference


@pytest.mark.parametrize("gap", [0.02, 0.5, 10.0])
def test_after_an_xrun_the_echo_comes_later(gap):
    """By exactly the gap: the canceller must not go on with the old place."""
    reference = with_a_gap(gap)
    assert reference.jumps == 1
    assert np.array_equal(reference.at(0.59 + gap, BLOCK), PLAYED[59 * BLOCK - LATE : 60 * BLOCK - LATE])


def test_in_the_gap_nothing_was_played():
    """What a device never played must not be searched for in the microphone."""
    assert not with_a_gap(0.5).at(0.75, BLOCK).any()


def test_a_jump_of_the_microphone():
    """Lost microphone blocks move the microphone's place, not the loudspeaker's."""
    reference = Reference()
    for k in range(100):
        reference.wrote(PLAYED[k * BLOCK : (k + 1) * BLOCK], k * 0.01)
    for k in range(20):
        reference.at(k * 0.01, BLOCK)
    got = [reference.at(k * 0.01, BLOCK) for k in range(40, 60)]
    assert np.array_equal(np.concatenate(got[3:]), PLAYED[43 * BLOCK - LATE : 60 * BLOCK - LATE])
    assert reference.jumps == 1


def test_nothing_played_yet():
    """Before the first word the canceller is told of silence, whatever the times are."""
    reference = Reference()
    assert not reference.at(123.4, BLOCK).any()
    reference.wrote(PLAYED[:BLOCK], 200.0)
    assert not reference.at(123.41, BLOCK).any()
