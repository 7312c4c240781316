"""The English model on its own: what is in the wheel is read right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from voice.stt.base import RATE
from voice.stt.moonshine_model import MoonshineModel, model_folder
from voice.stt.moonshine_worker import MoonshineEngine
from voice.stt.words import normalise, word_errors

from .clips import cards, read, transcripts


@pytest.fixture(scope="module")
def model() -> MoonshineModel:
    return MoonshineModel()


def test_reads_people(model: MoonshineModel):
    """Every answer of a visitor comes out of here."""
    counts = []
    for path, said in cards().items():
        clip = read(path)
        counts.append(word_errors(said, model.read(model.encode(clip), len(clip) / RATE)))
    assert sum(errors for errors, _ in counts) / sum(words for _, words in counts) <= 0.2


def test_reads_twelve_seconds_in_one_go(model: MoonshineModel):
    """The longest part that is decoded at once: the frames' mask must be as long as the sound, not as the frames."""
    clips = transcripts("librivox", "transcription")
    audio = np.concatenate([read(path) for path in clips])[: 12 * RATE]
    text = normalise(model.read(model.encode(audio), len(audio) / RATE))
    assert 20 < len(text.split()) < 50


@pytest.mark.parametrize("samples", [0, 1, 512, 1023, 1024])
def test_hardly_any_sound_is_no_fault(model: MoonshineModel, samples: int):
    """An utterance that was cut to nothing must not end the recogniser's process."""
    frames = model.encode(np.zeros(samples, np.float32))
    assert frames.shape[1] == 288
    assert len(model.read(frames, samples / RATE).split()) <= 4


def test_a_text_ends(model: MoonshineModel):
    """A model that goes round in circles would keep the user waiting: the length of the sound bounds the text."""
    noise = np.random.default_rng(1).standard_normal(RATE).astype(np.float32) * 0.1
    assert len(model.read(model.encode(noise), 1.0).split()) <= 7


def test_its_library_is_not_loaded():
    """One model in memory, not two: the wheel is there for its files."""
    assert list(model_folder().glob("*.ort"))
    assert "libmoonshine" not in Path("/proc/self/maps").read_text()


def test_kinds_belong_to_the_beginning():
    """After a second the words decide; what was said before it must not be judged by what comes later."""
    engine = MoonshineEngine()
    clip = read(next(iter(cards())))
    engine.begin()
    engine.feed(clip[: RATE // 2])
    early = engine.partial()
    assert early.kinds is not None
    assert early.kinds.words + early.kinds.stop > 0.5
    engine.feed(clip[RATE // 2 :])
    assert engine.finish().kinds is None
