"""In the child process: Moonshine decodes the open utterance from its beginning each time it is asked."""

from __future__ import annotations

import numpy as np
from moonshine_voice.moonshine_api import ModelArch
from moonshine_voice.transcriber import Transcriber
from moonshine_voice.utils import get_model_path

from voice.stt.base import RATE, Pcm
from voice.stt.process import serve, silence_stdout
from voice.stt.words import clean
from voice.worker import Servant

_MODEL = "tiny-en"
"""The model in the wheel."""

_WARM_UP = RATE // 2
"""Samples decoded at the start: the first decode of a session allocates, and takes several times as long."""


class MoonshineEngine:
    """The tiny English model with its own segmenter off: what is fed was found to be voice already."""

    def __init__(self) -> None:
        options = {"vad_threshold": "0", "return_audio_data": "false"}
        self._transcriber = Transcriber(str(get_model_path(_MODEL)), ModelArch.TINY, options=options)
        self._audio: list[float] = []
        self._decode(np.zeros(_WARM_UP, np.float32).tolist())

    def begin(self) -> None:
        """A new utterance."""
        self._audio = []

    def feed(self, pcm: Pcm) -> None:
        """More of it."""
        self._audio += pcm.tolist()

    def partial(self) -> str:
        """The text so far, decoded from the beginning."""
        return self._decode(self._audio)

    def finish(self) -> str:
        """The same: the decoder keeps no state between calls."""
        return self._decode(self._audio)

    def _decode(self, audio: list[float]) -> str:
        lines = self._transcriber.transcribe_without_streaming(audio, RATE).lines
        return clean(" ".join(str(line.text) for line in lines))


def make() -> Servant:
    """Load the model from the wheel."""
    silence_stdout()
    return serve(MoonshineEngine())
