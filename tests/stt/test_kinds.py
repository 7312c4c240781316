"""What kind of sound somebody makes: people and voices that were not trained on, through the real encoder."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from voice.audio import people
from voice.core.kinds import Kinds
from voice.stt.base import RATE, Pcm
from voice.stt.kinds import LONGEST, SHORTEST, KindsModel
from voice.stt.moonshine_model import MoonshineModel
from voice.tts.espeak import EspeakVoice

from .clips import cards, read

BEFORE = 0.1
"""Seconds heard before the voice."""


@pytest.fixture(scope="module")
def models() -> tuple[MoonshineModel, KindsModel]:
    return MoonshineModel(), KindsModel()


def judged(models: tuple[MoonshineModel, KindsModel], voice: Pcm, seconds: float = 0.45) -> Kinds:
    """What the first `seconds` of a voice are taken for, in the noise of a room."""
    model, kinds = models
    before, count = round(BEFORE * RATE), round((BEFORE + seconds) * RATE)
    audio = (np.random.default_rng(1).standard_normal(count) * 1e-3).astype(np.float32)
    part = voice[: count - before]
    audio[before : before + len(part)] += part
    result = kinds.judge(model.encode(audio), count)
    assert result is not None
    return result


async def spoken(text: str) -> Pcm:
    """A voice that was kept out of the training, from its first sound on, at the level of a person nearby."""
    voice = EspeakVoice("en-gb", 160, "m7", 45)
    await voice.start(RATE)
    try:
        pcm = np.concatenate([piece.pcm async for piece in voice.speak(text)])
    finally:
        await voice.close()
    loud = np.flatnonzero(np.abs(pcm) > 0.02 * np.abs(pcm).max())
    return (people.at_level(pcm, -26.0))[loud[0] :]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Stop.", "stop"),
        ("Wait.", "stop"),
        ("Okay.", "backchannel"),
        ("Yeah.", "backchannel"),
        ("Right.", "backchannel"),
        ("My daughter is seven years old.", "words"),
        ("Where is the waiting room?", "words"),
        ("It started last night.", "words"),
    ],
)
async def test_half_a_second_is_enough(models: tuple[MoonshineModel, KindsModel], text: str, kind: str):
    """Whoever interrupts waits for this, and whoever nods must not stop the voice."""
    kinds = judged(models, await spoken(text))
    assert max(("words", "backchannel", "stop", "noise"), key=lambda name: getattr(kinds, name)) == kind


def test_people_who_speak_are_heard_as_speaking(models: tuple[MoonshineModel, KindsModel]):
    """The training knew other people: no recording of these."""
    for path in cards():
        clip = read(path)
        start = np.flatnonzero(np.abs(clip) > 0.1 * np.abs(clip).max())[0]
        kinds = judged(models, clip[max(0, start - 400) :], seconds=0.5)
        assert kinds.words + kinds.stop > 0.5, path.name


@pytest.mark.parametrize("make", [people.cough, people.thump])
def test_a_noise_is_no_speech(models: tuple[MoonshineModel, KindsModel], make: object):
    """A cough must not stop the voice."""
    for seed in range(5):
        noise = people.at_level(make(np.random.default_rng(seed)), -20.0)  # type: ignore[operator]
        kinds = judged(models, noise)
        assert kinds.words + kinds.stop < 0.5, seed


def test_probabilities(models: tuple[MoonshineModel, KindsModel]):
    """The floor adds them up and takes their odds."""
    kinds = judged(models, np.zeros(0, np.float32))
    assert sum(astuple(kinds)) == pytest.approx(1.0)
    assert min(astuple(kinds)) >= 0.0


def test_only_beginnings_are_judged(models: tuple[MoonshineModel, KindsModel]):
    """Nothing is made up about lengths that were not trained on: there the words decide."""
    model, kinds = models
    for samples, judged_at_all in ((SHORTEST - 1, False), (SHORTEST, True), (LONGEST, True), (LONGEST + 1, False)):
        frames = model.encode(np.zeros(samples, np.float32))
        assert (kinds.judge(frames, samples) is not None) == judged_at_all
