"""The recogniser for languages other than English: Vosk, with a model that the operator fetches."""

from __future__ import annotations

from pathlib import Path

from voice.stt.base import RecogniserError
from voice.stt.models import is_model
from voice.stt.process import ProcessRecogniser
from voice.worker import Servant


def _make(model_path: str) -> Servant:
    from voice.stt import vosk_worker  # only the child loads the library

    return vosk_worker.make(model_path)


class VoskRecogniser(ProcessRecogniser):
    """Streams: a partial costs only the audio since the last one. `model_path`: the folder of an unpacked model.

    Small models decode at 0.2 to 0.6 of real time on one x86 core and take 300 to 600 MB of memory.
    `timeout`: real seconds without an answer after which the process is replaced.
    """

    def __init__(self, model_path: str | Path, timeout: float = 20.0) -> None:
        self.model_path = Path(model_path)
        super().__init__("vosk", _make, str(self.model_path), timeout=timeout)

    async def start(self) -> None:
        """Load the model. Raises RecogniserError when it is missing or broken."""
        name = self.model_path.name
        if not is_model(self.model_path):
            raise RecogniserError(f"vosk: no model in {self.model_path}; run: voice models fetch {name}")
        try:
            await super().start()
        except RecogniserError as error:
            raise RecogniserError(
                f"vosk: the model in {self.model_path} does not load; delete it and run: voice models fetch {name}"
            ) from error
