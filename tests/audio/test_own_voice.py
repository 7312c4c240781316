"""Our own voice comes back from the room: it must not pass for a visitor, who must be found all the same."""

import wave
from pathlib import Path

import numpy as np
import pytest

from voice.audio.activity import FRAME_SECONDS, Activity
from voice.audio.base import BLOCK, RATE
from voice.audio.chain import Chain
from voice.audio.echo import TwoFilterCanceller
from voice.audio.people import at_level
from voice.audio.player import Player
from voice.audio.room import Room
from voice.core.clock import ManualClock

SPEECH = Path("/usr/share/pocketsphinx/test/data")
"""Human recordings (Debian's pocketsphinx-testdata): readers stand for our voice, callers of cards for visitors."""

LASTS = 4
"""Frames of voice activity in a row that would duck the voice for longer than a click does."""


def clip(*names: str) -> np.ndarray:
    parts = []
    for name in names:
        with wave.open(str(SPEECH / name)) as file:
            parts.append(np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768)
    return np.concatenate(parts)


OURS = at_level(
    clip(*(f"librivox/sense_and_sensibility_01_austen_64kb-{number}.wav" for number in ("0870", "0890", "0920"))), -20
)


class Scene:
    """The chain in a room, with the probabilities of a voice in its gate; none while the gate itself says that it may
    be our own (the floor then asks for more)."""

    def __init__(self, **settings: object) -> None:
        self.canceller = TwoFilterCanceller()
        self.player = Player()
        self.activity = Activity()
        self.frames: list[tuple[float, float]] = []
        self.echo_db: list[float] = []
        self.chain = Chain(self.player, self.canceller, self.hear, threaded=False)
        self.room = Room(clock=ManualClock(), **settings)  # type: ignore[arg-type]
        self.room.open(self.chain.render, self.chain.capture, lambda reason: None, drive="hand")

    def hear(self, gate: np.ndarray, speech: np.ndarray, time: float, echo_db: float, settled: bool) -> None:
        frames = self.activity.feed(gate, time)
        self.frames += frames if settled else [(end, 0.0) for end, _ in frames]
        self.echo_db.append(echo_db)

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds * RATE / BLOCK)):
            self.room.step()

    def longest(self, since: float = 0.0) -> int:
        """Frames of the longest run of voice activity."""
        longest = run = 0
        for time, probability in self.frames:
            run = run + 1 if probability > 0.5 and time > since else 0
            longest = max(longest, run)
        return longest


@pytest.mark.parametrize("delay", [0.03, 0.12, 0.25])
def test_our_own_voice_10_db_down_is_nobody(delay):
    """From the first word on, without a warm-up, whatever buffers lie between loudspeaker and microphone."""
    scene = Scene(delay=delay, echo_db=-10)
    scene.player.enqueue("m", 0, OURS)
    scene.run(16)
    assert scene.longest() < LASTS


def test_our_own_voice_as_loud_as_a_visitor_is_nobody():
    """A kiosk's microphone is next to its loudspeaker."""
    scene = Scene(response="living", delay=0.06, echo_db=-4)
    scene.player.enqueue("m", 0, OURS)
    scene.run(16)
    assert scene.longest() < LASTS


def test_ducking_and_coming_back_is_nobody():
    """The echo falls and rises by 20 dB within one block; a canceller that stumbles would make it fall again."""
    scene = Scene(delay=0.08, echo_db=-6)
    scene.player.enqueue("m", 0, OURS)
    scene.run(5)
    for _ in range(8):
        scene.player.duck(True)
        scene.run(0.45)
        scene.player.duck(False)
        scene.run(0.8)
    assert scene.longest() < LASTS


def test_a_visitor_as_loud_as_the_echo_is_found():
    """Within a syllable and a half, although the voice goes on at full level."""
    scene = Scene(delay=0.06, echo_db=-6)
    scene.player.enqueue("m", 0, OURS)
    begins, _ = scene.room.say(clip("cards/003.wav"), at=7.0)
    scene.run(9)
    assert scene.longest(since=0) >= LASTS
    found = next(time for time, probability in scene.frames if probability > 0.5 and time > begins)
    said = np.abs(scene.room.user) > 0.1 * np.abs(scene.room.user).max()
    assert found - np.argmax(said) / RATE < 0.25 + FRAME_SECONDS


def test_the_level_of_the_echo_is_told():
    """Whoever is louder than that is somebody."""
    scene = Scene(delay=0.06, echo_db=-6)
    scene.run(0.5)
    assert set(scene.echo_db) == {-100.0}
    scene.player.enqueue("m", 0, OURS)
    scene.run(8)
    told = np.mean(10 ** (np.array(scene.echo_db[-400:]) / 10))
    true = np.mean(scene.room.microphone[-400 * BLOCK :] ** 2)
    assert 10 * np.log10(told) == pytest.approx(10 * np.log10(true), abs=2)
