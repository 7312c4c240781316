"""Two devices whose clocks differ: unmeasured, the echo slides away from whatever has learnt it."""

import numpy as np
import pytest

from voice.audio.base import BLOCK, RATE
from voice.audio.chain import Chain
from voice.audio.drift import DriftMeter, slide
from voice.audio.echo import TwoFilterCanceller
from voice.audio.player import Player
from voice.audio.room import Room
from voice.core.clock import ManualClock

OMEGA = 2 * np.pi * np.arange(BLOCK + 1) / (2 * BLOCK)


def path(later: float, seed: int = 0, noise: float = 0.0) -> np.ndarray:
    """A decaying response in 32 partitions, `later` samples later."""
    rng = np.random.default_rng(seed)
    response = rng.standard_normal((32, BLOCK)) * np.exp(-np.arange(32 * BLOCK) / 800).reshape(32, BLOCK)
    response[:, BLOCK // 2 :] = 0
    turned = np.fft.rfft(response, 2 * BLOCK, axis=1) * np.exp(-1j * OMEGA * later)
    turned += noise * (rng.standard_normal(turned.shape) + 1j * rng.standard_normal(turned.shape))
    return turned.astype(np.complex64)


PATH = path(0)


@pytest.mark.parametrize("samples", [-1.6, -0.05, 0.0, 0.3, 1.6])
def test_a_slide_is_seen_between_samples(samples):
    """100 ppm are 1.6 samples a second, 3 ppm are 0.05."""
    seen = slide(PATH[:, 1:60], path(samples)[:, 1:60])
    assert seen.samples == pytest.approx(samples, abs=0.01)
    assert seen.likeness > 0.99


def test_another_path_is_not_a_slide():
    """Somebody moved the microphone: the clocks are none the wiser."""
    assert slide(PATH[:, 1:60], path(0, seed=8)[:, 1:60]).likeness < 0.5


def test_a_path_that_stands_still_is_left_alone():
    """Resampling a single sound card would take away what it is good for."""
    meter = DriftMeter()
    rng = np.random.default_rng(3)
    looks = [meter.observe(path(rng.uniform(-0.02, 0.02)), True) for _ in range(500)]
    assert meter.ppm == 0
    assert sum(looks) == 5


def test_a_pause_measures_nothing():
    """What the voice does not excite the filter cannot follow; the path of before the pause proves nothing."""
    meter = DriftMeter()
    for block in range(1000):
        meter.observe(path(block / 100), 0 <= block % 400 < 60)
    assert meter.ppm == 0


@pytest.mark.parametrize("ppm", [60.0, -60.0])
def test_drift_is_found_and_resampled_away(ppm):
    """A separate USB microphone: without this the filter takes out 5 dB of the echo, with it 20."""
    canceller, speech = TwoFilterCanceller(), []
    chain = Chain(Player(), canceller, lambda gate, pcm, *_: speech.append(pcm), threaded=False)
    room = Room(noise_db=-65, clock=ManualClock(), drift_ppm=ppm)
    room.open(chain.render, chain.capture, lambda reason: None, drive="hand")
    count = 15 * RATE
    noise = np.convolve(np.random.default_rng(1).standard_normal(count), np.ones(6) / 6, "same")
    syllables = np.clip(np.sin(2 * np.pi * 3 * np.arange(count) / RATE) + 0.3, 0, 1)
    chain.player.enqueue("m", 0, (0.1 * noise * syllables).astype(np.float32))
    for _ in range(1450):
        room.step()
    assert chain.reference.drift_ppm == pytest.approx(ppm, abs=6)
    out = np.concatenate(speech)[-2 * RATE :]
    assert 10 * np.log10(np.mean(room.microphone[-2 * RATE :] ** 2) / np.mean(out**2)) > 15
    assert chain.reference.jumps == 0
