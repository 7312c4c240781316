"""In the child process: Moonshine decodes the open utterance from its beginning each time it is asked.

Its time grows faster than the audio (measured on a busy core: 1 s of speech 0.023 s, 4 s 0.08 s, 12 s 0.58 s). So of a
long utterance the first part is decoded once, up to a quiet moment, and kept.
"""

from __future__ import annotations

import numpy as np

from voice.stt.base import RATE, Pcm, Reading
from voice.stt.kinds import KindsModel
from voice.stt.moonshine_model import Frames, MoonshineModel
from voice.stt.process import serve, silence_stdout
from voice.stt.words import clean, normalise, one_spelling
from voice.worker import Servant

_LONGEST_PART = 12 * RATE
"""Samples decoded in one go."""

_CUT_FROM, _CUT_TO = 6 * RATE, 11 * RATE
"""Where in a part that became too long the cut is looked for: the rest keeps at least a second, which is never
silence alone (the endpointer ends an utterance before that)."""

_QUIET = RATE // 5
"""Samples of the quiet moment: a pause between words."""

_INVENTED = ("thank you for wat", "thanks for wat")
"""How the whole text begins when the model hears laughter, a hum or a rest of echo; it learnt from films, and nobody
says it to a machine. Cut short like this because partials are."""

_WARM_UP = RATE // 2
"""Samples decoded at the start: the first decode of a session allocates, and takes several times as long."""


class MoonshineEngine:
    """The tiny English model on one utterance after the other."""

    def __init__(self) -> None:
        self._model, self._kinds = MoonshineModel(), KindsModel()
        self.begin()
        self.feed(np.zeros(_WARM_UP, np.float32))
        self.partial()
        self.begin()

    def begin(self) -> None:
        """A new utterance."""
        self._closed: list[str] = []
        self._open = np.zeros(0, np.float32)

    def feed(self, pcm: Pcm) -> None:
        """More of it."""
        self._open = np.concatenate([self._open, pcm])
        while len(self._open) > _LONGEST_PART:
            cut = quietest(self._open[:_LONGEST_PART])
            self._closed.append(self._read(self._open[:cut], self._model.encode(self._open[:cut])))
            self._open = self._open[cut:]

    def partial(self) -> Reading:
        """What there is so far."""
        frames = self._model.encode(self._open)
        text = clean(" ".join([*self._closed, self._read(self._open, frames)]))
        return Reading(text, None if self._closed else self._kinds.judge(frames, len(self._open)))

    def finish(self) -> Reading:
        """The same: the decoder keeps no state between calls."""
        return self.partial()

    def _read(self, audio: Pcm, frames: Frames) -> str:
        text = one_spelling(clean(self._model.read(frames, len(audio) / RATE)))
        return "" if normalise(text).startswith(_INVENTED) else text


def quietest(part: Pcm) -> int:
    """The sample in the middle of the quietest moment of a part, between `_CUT_FROM` and `_CUT_TO`."""
    energy = np.concatenate([[0.0], np.cumsum(np.square(part, dtype=np.float64))])
    starts = np.arange(_CUT_FROM, _CUT_TO - _QUIET)
    return int(starts[np.argmin(energy[starts + _QUIET] - energy[starts])]) + _QUIET // 2


def make() -> Servant:
    """Load the model from the wheel."""
    silence_stdout()
    return serve(MoonshineEngine())
