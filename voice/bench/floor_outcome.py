"""What came of a scene, and the log that says why."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from voice.bench.floor_scenes import Scene
from voice.core.events import Duck, FloorChanged, Input, Output, StopVoice
from voice.core.evidence import Partial, SpeechPaused, SpeechResumed, SpeechStarted, Utterance, VoiceActivity
from voice.core.kinds import Kinds


@dataclass(slots=True)
class Outcome:
    """What came of a scene; times in seconds since the scene began."""

    scene: Scene
    variant: str
    onset: float | None = None
    end: float | None = None
    """Of the person's (or the noise's) signal at the microphone."""
    duck: float | None = None
    silence: float | None = None
    cut: str = ""
    """The cause of the first cut."""
    cuts: int = 0
    ducks: int = 0
    sent: list[tuple[float, str]] = field(default_factory=list)
    clean: str = ""
    """What the recogniser reads without our voice."""
    log: list[tuple[Any, ...]] = field(default_factory=list)
    cpu: dict[bool, float] = field(default_factory=lambda: {False: 0.0, True: 0.0})
    sound: dict[bool, float] = field(default_factory=lambda: {False: 0.0, True: 0.0})
    """Seconds of the audio thread, and of sound, while our voice played or not."""


class Log:
    """An observer that writes down what the floor saw and decided."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self._levels: tuple[float, ...] = ()
        """dBFS of the newest frame, and of the echo that was taken out of it."""

    def __call__(self, t: float, item: Input | Output) -> None:
        """Take what enters or leaves the session at time `t`."""
        out, t = self._outcome, round(t, 3)
        match item:
            case SpeechStarted():
                out.log.append((t, "started", round(item.onset, 3)))
            case SpeechPaused():
                out.log.append((t, "paused", round(item.end, 3)))
            case SpeechResumed():
                out.log.append((t, "resumed"))
            case Partial():
                out.log.append((t, "partial", round(item.voiced, 3), item.text, *self._levels, _rounded(item.kinds)))
            case VoiceActivity():
                self._levels = (round(item.level_db, 1), round(item.echo_db, 1))
            case Utterance():
                out.log.append((t, "utterance", round(item.onset, 3), round(item.end, 3), item.text))
            case FloorChanged():
                out.log.append((t, item.decision, item.reason))
            case StopVoice():
                out.cuts += 1
                out.cut = out.cut or item.cause
                out.log.append((t, "stop", item.cause))
            case Duck(down=True):
                out.ducks += 1


def _rounded(kinds: Kinds | None) -> dict[str, float] | None:
    return None if kinds is None else {name: round(share, 2) for name, share in asdict(kinds).items()}
