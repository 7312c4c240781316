"""What the ears tell the session about one person's speech, from its onset to its end.

Times are seconds on the session's clock.
"""

from __future__ import annotations

from dataclasses import dataclass

from voice.core.kinds import Kinds


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """Voice activity began. `onset` is when the voice itself began, a little before it was noticed."""

    utterance_id: str
    onset: float
    sure: bool = True
    """False: the echo canceller does not know the way of our own voice yet, so this may be it."""


@dataclass(frozen=True, slots=True)
class SpeechPaused:
    """The voice of this utterance fell silent at `end`; the utterance may still go on."""

    utterance_id: str
    end: float


@dataclass(frozen=True, slots=True)
class SpeechResumed:
    """The voice of this utterance went on before its end was decided."""

    utterance_id: str


@dataclass(frozen=True, slots=True)
class Partial:
    """What the recogniser makes of the utterance so far; may be wrong, and is replaced by the next."""

    utterance_id: str
    text: str
    voiced: float
    """Seconds of voice that the text was decoded from."""
    kinds: Kinds | None = None
    """What the beginning of the utterance sounds like; None: the recogniser can't tell."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """The end of turn: one utterance, decoded whole. `text` is empty when no words were in it."""

    utterance_id: str
    text: str
    onset: float
    end: float


@dataclass(frozen=True, slots=True)
class VoiceActivity:
    """The voice of an utterance goes on: one frame of the detector (32 ms), ending at `time`."""

    utterance_id: str
    time: float
    voiced: float
    """Seconds of voice in the utterance so far."""
    silent: float
    """Seconds since its last voice; 0 while it sounds."""
    level_db: float
    """dBFS RMS of the frame with the echo removed."""
    echo_db: float
    """dBFS RMS of the echo that was removed: how loud our own voice is at the microphone."""
    sure: bool = True
    """As for `SpeechStarted`; a jump of the echo's path is found a moment after it."""


Evidence = SpeechStarted | SpeechPaused | SpeechResumed | VoiceActivity | Partial | Utterance
