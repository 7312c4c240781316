"""Without its own echo removed, the program would interrupt itself."""

import numpy as np
import pytest

from voice.audio.base import BLOCK, RATE, SILENCE_DB
from voice.audio.echo import NoCanceller, WebRtcCanceller
from voice.audio.room import Room
from voice.core.clock import ManualClock


def speechlike(seconds: float, seed: int = 0) -> np.ndarray:
    """Noise under 2 kHz in syllables of a quarter of a second, at -22 dBFS."""
    count = round(seconds * RATE)
    noise = np.convolve(np.random.default_rng(seed).standard_normal(count), np.ones(8) / 8, "same")
    syllables = np.clip(np.sin(2 * np.pi * 4 * np.arange(count) / RATE), 0, 1)
    pcm = noise * syllables
    return (pcm * 0.08 / np.sqrt(np.mean(pcm**2))).astype(np.float32)


def db(pcm: np.ndarray) -> float:
    return float(10 * np.log10(np.mean(np.square(pcm, dtype=np.float64)) + 1e-12))


def scene(far: np.ndarray, said: np.ndarray | None = None, at: float = 0.0, level_db: float = -26):
    """(microphone, what was played meanwhile) in the kiosk."""
    blocks = iter(far[: far.size // BLOCK * BLOCK].reshape(-1, BLOCK))
    room = Room(noise_db=-65, clock=ManualClock())

    def render(out: np.ndarray, time: float) -> None:
        out[:] = next(blocks)

    room.open(render, lambda pcm, time: None, lambda reason: None, drive="hand")
    if said is not None:
        room.say(said, at=at, level_db=level_db)
    for _ in range(far.size // BLOCK):
        room.step()
    return room.microphone, room.loudspeaker[: room.microphone.size], room.user


def cancel(canceller, mic: np.ndarray, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    pairs = [canceller.process(mic[i : i + BLOCK], far[i : i + BLOCK]) for i in range(0, mic.size, BLOCK)]
    return np.concatenate([block.gate for block in pairs]), np.concatenate([block.speech for block in pairs])


def test_the_echo_is_gone_from_the_first_second_on():
    """A greeting that interrupts itself is the first thing that a visitor would see."""
    mic, far, _ = scene(speechlike(6))
    gate, _ = cancel(WebRtcCanceller(), mic, far)
    for first, last in ((0.3, 1), (1, 3), (3, 6)):
        part = slice(round(first * RATE), round(last * RATE))
        assert db(mic[part]) - db(gate[part]) > 15


def test_the_user_is_still_there():
    """A canceller that takes the user out as well makes barge-in impossible."""
    said = speechlike(1.5, seed=9)
    mic, far, user = scene(speechlike(6), said, at=4.0, level_db=-20)
    gate, speech = cancel(WebRtcCanceller(), mic, far)
    during = slice(round(4.0 * RATE), round(5.5 * RATE))
    before = slice(round(2.4 * RATE), round(3.9 * RATE))
    for out in (gate, speech):
        assert db(out[during]) > db(out[before]) + 15
        assert db(out[during]) > db(user[during]) - 15


def test_in_silence_the_user_comes_through():
    """While nothing is played the recogniser hears the microphone, `delay` samples late."""
    said = speechlike(2, seed=4)
    mic, far, user = scene(np.zeros(3 * RATE, np.float32), said, at=0.5, level_db=-26)
    canceller = WebRtcCanceller()
    _, speech = cancel(canceller, mic, far)
    part = user[RATE : 2 * RATE]
    lag = int(np.argmax(np.correlate(speech[RATE : 2 * RATE + 400], part)))
    assert abs(lag - canceller.delay) <= 2
    assert db(speech[RATE : 2 * RATE]) == pytest.approx(db(part), abs=2)


def test_without_a_canceller_nothing_changes():
    """The measure of all others."""
    mic = speechlike(0.01)
    cleaned = NoCanceller().process(mic, mic)
    assert np.array_equal(cleaned.gate, mic)
    assert np.array_equal(cleaned.speech, mic)
    assert cleaned.echo_db == SILENCE_DB


def test_blocks_of_another_size_are_refused():
    """The native code would read past the end."""
    with pytest.raises(ValueError, match="160"):
        WebRtcCanceller().process(np.zeros(80, np.float32), np.zeros(80, np.float32))
