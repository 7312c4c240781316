"""The default recogniser: Moonshine tiny, English, its model inside the `moonshine-voice` wheel."""

from __future__ import annotations

from voice.stt.process import ProcessRecogniser
from voice.worker import Servant


def _make() -> Servant:
    from voice.stt import moonshine_worker  # only the child loads the library

    return moonshine_worker.make()


class MoonshineRecogniser(ProcessRecogniser):
    """Decodes an open utterance in about 2.5 % of its length (one x86 core), at least some 12 ms.

    Invents words ("You", "The") on anything but speech: feed it only what the voice-activity detector passed.
    `timeout`: real seconds without an answer after which the process is replaced.
    """

    def __init__(self, timeout: float = 10.0) -> None:
        super().__init__("moonshine", _make, timeout=timeout)
