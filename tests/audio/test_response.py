"""The walls of the room: a convolution that is wrong flatters or ruins every echo figure."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice.audio.response import Convolver, convolve, load


def noise(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)


@given(length=st.integers(1, 900), block=st.sampled_from([1, 7, 160]), blocks=st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_block_by_block_is_the_same_as_at_once(length, block, blocks):
    """Where two blocks meet nothing is lost, whatever the length of the response."""
    response, pcm = noise(length, 1), noise(block * blocks, 2)
    convolver = Convolver(response, block)
    got = np.concatenate([convolver.process(part) for part in pcm.reshape(blocks, block)])
    assert np.allclose(got, np.convolve(pcm, response)[: pcm.size], atol=2e-3)


def test_the_tail_rings_out_into_silence():
    """Skipping silent blocks saves time only if the walls are still again."""
    response = noise(500)
    convolver = Convolver(response)
    pcm = np.zeros(160 * 12, np.float32)
    pcm[:160] = noise(160, 3)
    pcm[160 * 10 :] = noise(320, 4)
    got = np.concatenate([convolver.process(part) for part in pcm.reshape(-1, 160)])
    assert np.allclose(got, np.convolve(pcm, response)[: pcm.size], atol=2e-3)
    assert not got[160 * 6 : 160 * 10].any()


def test_a_whole_sound_at_once():
    """A person's voice goes through the room with its tail."""
    assert np.allclose(convolve(noise(1000), noise(300, 1)), np.convolve(noise(1000), noise(300, 1)), atol=2e-3)


@pytest.mark.parametrize("name", ["kiosk", "living", "dry"])
def test_the_rooms_that_are_shipped(name):
    """Unit energy makes `echo_db` true; a mouth's direct sound at 0 makes the onset of a voice true."""
    echo, people = load(name)
    assert np.sum(echo**2) == pytest.approx(1, abs=0.01)
    assert len(people) == 3
    for mouth in people:
        assert np.sum(mouth**2) == pytest.approx(1, abs=0.01)
        assert int(np.argmax(np.abs(mouth))) == 0
