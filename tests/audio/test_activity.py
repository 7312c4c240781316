"""Voice activity on real speech, real silence and noises that are not speech."""

from __future__ import annotations

import wave

import numpy as np
import pytest

from voice.audio.activity import FRAME, FRAME_SECONDS, Activity
from voice.audio.base import BLOCK, RATE, Pcm
from voice.core.floor_rules import FloorRules
from voice.stt.endpoint import Began, Endpointer

CLIP = "/usr/share/pocketsphinx/test/data/cards/001.wav"


def human() -> Pcm:
    with wave.open(CLIP) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768


def room(seconds: float) -> Pcm:
    return (np.random.default_rng(1).standard_normal(round(seconds * RATE)) * 5e-4).astype(np.float32)


def feed(activity: Activity, audio: Pcm, start: float = 0.0) -> list[tuple[float, float]]:
    frames = []
    for first in range(0, len(audio), BLOCK):
        frames += activity.feed(audio[first : first + BLOCK], start + first / RATE)
    return frames


def onsets(audio: Pcm) -> int:
    """Utterances that the endpointer begins on this audio."""
    endpointer, activity = Endpointer(), Activity()
    return sum(
        isinstance(decision, Began)
        for end, probability in feed(activity, audio)
        for decision in endpointer.update(end, probability, FRAME_SECONDS)
    )


def test_frame_ends_are_exact():
    """A wrong frame time would shift every onset, and with it what counts as said over the voice."""
    frames = feed(Activity(), room(0.2), start=10.0)
    assert len(frames) == round(0.2 * RATE) // FRAME
    assert [end for end, _ in frames] == pytest.approx([10 + FRAME_SECONDS * (n + 1) for n in range(len(frames))])


def test_block_size_does_not_matter():
    """A device that delivers other blocks must not be heard differently."""
    audio = human()[: FRAME * 40]
    assert Activity().feed(audio, 0.0) == pytest.approx(np.array(feed(Activity(), audio)))


def test_a_human_voice_is_voice_and_a_quiet_room_is_not():
    """The user is not heard at all, or the kiosk listens to nobody."""
    voiced = [p for _, p in feed(Activity(), np.concatenate([room(0.5), human()]))]
    assert sum(p > 0.5 for p in voiced) * FRAME_SECONDS > 0.5
    assert max(p for _, p in feed(Activity(), room(5.0))) < 0.35


def test_reset_forgets_the_stream():
    """After the device was lost, the first frames must not be judged by what was heard on the old one."""
    activity = Activity()
    first = feed(activity, human())
    activity.feed(human()[:100], 0.0)
    activity.reset()
    assert feed(activity, human()) == pytest.approx(np.array(first))


def test_speech_with_holes_is_speech():
    """160 ms of speech with 40 ms holes (a packet lost here and there) counts as speech."""
    speech = human()
    loudest = int(np.argmax(np.convolve(np.abs(speech), np.ones(2560), "valid")))
    piece = speech[loudest - 640 : loudest + 5120 - 640].copy()
    holes = np.arange(len(piece)) // 640 % 3 == 2
    piece[holes] = 0
    assert onsets(np.concatenate([room(1.0), piece, room(1.0)])) == 1


@pytest.mark.parametrize("kind", ["tone", "noise", "click"])
def test_ten_blips_are_not_speech(kind: str):
    """Ten blips of 20 ms within 2 s (a keyboard, a phone) must not cut the voice."""
    audio = room(4.0)
    rng = np.random.default_rng(2)
    n = np.arange(320)
    for number in range(10):
        first = RATE + number * 3200
        blip = {
            "tone": 0.3 * np.sin(2 * np.pi * 1000 * n / RATE),
            "noise": 0.3 * rng.standard_normal(320),
            "click": 0.5 * np.exp(-n / 40) * rng.standard_normal(320),
        }[kind]
        audio[first : first + 320] += blip.astype(np.float32)
    voice = "".join("#" if probability > 0.5 else "." for _, probability in feed(Activity(), audio))
    assert max(map(len, voice.split("."))) * FRAME_SECONDS < FloorRules.of("eager").sustained
