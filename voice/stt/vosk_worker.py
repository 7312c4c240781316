"""In the child process: Vosk decodes the utterance as it comes in."""

from __future__ import annotations

import json

import numpy as np
import vosk

from voice.stt.base import RATE, Pcm, Reading
from voice.stt.process import serve, silence_stdout
from voice.stt.words import clean
from voice.worker import Servant

_QUIET = -1
"""Vosk's log level without any output."""

_PIECE = RATE // 10
"""Samples decoded at a time, so that Vosk's own endpoints fall near where they were heard."""


class VoskEngine:
    """Streams one utterance. The text of parts that Vosk has closed is kept; partials show them and the open part."""

    def __init__(self, model_path: str) -> None:
        vosk.SetLogLevel(_QUIET)
        self._decoder = vosk.KaldiRecognizer(vosk.Model(model_path), RATE)
        self._closed: list[str] = []
        self._open = False

    def begin(self) -> None:
        """A new utterance.

        The decoder is kept: a new one would have to build its search graph again, which took 1.3 s of the first
        second of speech with the Korean model. Its slow adaptation to the speaker is kept with it.
        """
        self._decoder.Reset()
        self._closed, self._open = [], False

    def feed(self, pcm: Pcm) -> None:
        """Decode more of it."""
        samples = (np.clip(pcm, -1.0, 1.0) * 32767.0).astype("<i2")
        for start in range(0, len(samples), _PIECE):
            self._open = True
            if self._decoder.AcceptWaveform(samples[start : start + _PIECE].tobytes()):
                self._close(self._decoder.Result())

    def partial(self) -> Reading:
        """The text so far."""
        open_part = str(json.loads(self._decoder.PartialResult())["partial"]) if self._open else ""
        return Reading(clean(" ".join([*self._closed, open_part])))

    def finish(self) -> Reading:
        """The text of all of it; what is fed afterwards is decoded as a new part."""
        if self._open:
            self._close(self._decoder.FinalResult())
        return Reading(clean(" ".join(self._closed)))

    def _close(self, result: str) -> None:
        self._closed.append(str(json.loads(result)["text"]))
        self._open = False


def make(model_path: str) -> Servant:
    """Load the model in that folder."""
    silence_stdout()
    return serve(VoskEngine(model_path))
