"""A recogniser by its name."""

from __future__ import annotations

from pathlib import Path

from voice.stt.base import Recogniser, RecogniserError
from voice.stt.models import ModelError, locate
from voice.stt.moonshine import MoonshineRecogniser
from voice.stt.vosk import VoskRecogniser

ENGINES = ("moonshine", "vosk")


def make_recogniser(name: str, model: str | None = None) -> Recogniser:
    """The recogniser called `name`, not yet started.

    `model` is for "vosk": the folder of a model, or the name or language of one that was fetched; without it, the
    English one. "moonshine" has its model inside. Raises RecogniserError for a name or a model that is not there.
    """
    if name == "moonshine":
        if model is not None:
            raise RecogniserError("moonshine has its one model inside; leave the model away, or choose vosk")
        return MoonshineRecogniser()
    if name == "vosk":
        if model is not None and Path(model).is_dir():
            return VoskRecogniser(model)
        try:
            return VoskRecogniser(locate(model or "en"))
        except ModelError as error:
            raise RecogniserError(f"vosk: {error}") from error
    raise RecogniserError(f'no recogniser is called "{name}"; there are: {", ".join(ENGINES)}')
