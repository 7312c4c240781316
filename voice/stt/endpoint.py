"""When an utterance begins, pauses and ends, decided from the probability of a voice alone.

| state | evidence | decision |
| --- | --- | --- |
| silent | `onset_frames` of the last `onset_window` frames above `onset_threshold` | Began, at the first of them |
| voice | no frame above `release_threshold` for `speculate_after` | Paused |
| pause | one frame above `onset_threshold` | Resumed |
| voice or pause | no voice for `end_silence` | Ended |
| voice | `max_utterance` since the onset | Ended, and Began at the same instant |
| pause | `max_utterance` since the onset | Ended |

No audio, no clock, no thread: seconds and probabilities in, decisions out.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EndpointRules:
    """All the numbers of endpointing. Durations in seconds."""

    onset_threshold: float = 0.5
    """Probability above which a frame is voice while there was none; the operating point Silero recommends."""
    release_threshold: float = 0.35
    """Probability above which voice goes on: 0.15 lower, so that a weak syllable does not end it."""
    onset_frames: int = 2
    """Frames of voice that make an onset: 64 ms, which no key click or door thump reached in our measurements."""
    onset_window: int = 4
    """Frames (128 ms) in which they must lie: spans holes of 40 ms, and is shorter than the space of blips 200 ms
    apart."""
    speculate_after: float = 0.2
    """Silence after which the text is decoded in the hope that this was the end."""
    end_silence: float = 0.5
    """Silence that ends an utterance; with 0.3 two of 33 human clips were split, with 0.5 none."""
    pre_roll: float = 0.3
    """Audio from before the onset that belongs to the utterance: weak first consonants precede the detection."""
    max_utterance: float = 60.0
    """An utterance longer than this is closed and the next begins at once: bounds memory and decoding time."""

    def __post_init__(self) -> None:
        if not 0 < self.release_threshold <= self.onset_threshold < 1:
            raise ValueError("thresholds must satisfy 0 < release_threshold <= onset_threshold < 1")
        if not 1 <= self.onset_frames <= self.onset_window:
            raise ValueError("onset_frames must be at least 1 and at most onset_window")
        if not 0 < self.speculate_after <= self.end_silence < self.max_utterance:
            raise ValueError("durations must satisfy 0 < speculate_after <= end_silence < max_utterance")
        if self.pre_roll < 0:
            raise ValueError("pre_roll must not be negative")


@dataclass(frozen=True, slots=True)
class Began:
    """An utterance began at `onset`. `continues`: it goes on, without a gap, where the one before was closed."""

    onset: float
    continues: bool = False


@dataclass(frozen=True, slots=True)
class Paused:
    """Its voice fell silent at `end`."""

    end: float


@dataclass(frozen=True, slots=True)
class Resumed:
    """Its voice came back before the end was decided."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The utterance is over; its voice lasted from `onset` to `end`."""

    onset: float
    end: float


Decision = Began | Paused | Resumed | Ended

_EPSILON = 1e-6
"""Seconds: sums of frame lengths are compared up to rounding."""


class Endpointer:
    """Follows one stream of frames; see the table at the top."""

    def __init__(self, rules: EndpointRules | None = None) -> None:
        self.rules = rules or EndpointRules()
        self.voiced = 0.0
        """Seconds of voice in the open utterance (the last one, when none is open)."""
        self._recent: deque[tuple[float, bool]] = deque(maxlen=self.rules.onset_window)
        self._onset: float | None = None
        self._last_voice = self._newest = 0.0
        self._paused = False

    @property
    def silent(self) -> float:
        """Seconds between the last voice of the open utterance and the end of the newest frame."""
        return self._newest - self._last_voice

    @property
    def open(self) -> bool:
        """Whether an utterance has begun and not ended."""
        return self._onset is not None

    @property
    def paused(self) -> bool:
        """Whether the open utterance is silent at present."""
        return self._onset is not None and self._paused

    def update(self, frame_end: float, probability: float, frame: float) -> list[Decision]:
        """Take the next frame, `frame` seconds long and ending at `frame_end`, and say what it decides."""
        self._newest = frame_end
        if self._onset is None:
            return self._while_silent(frame_end, probability, frame)
        return self._while_open(self._onset, frame_end, probability, frame)

    def _while_silent(self, frame_end: float, probability: float, frame: float) -> list[Decision]:
        self._recent.append((frame_end - frame, probability > self.rules.onset_threshold))
        starts = [start for start, voice in self._recent if voice]
        if len(starts) < self.rules.onset_frames:
            return []
        self._begin(starts[0], frame_end, voiced=len(starts) * frame)
        return [Began(starts[0])]

    def _while_open(self, onset: float, frame_end: float, probability: float, frame: float) -> list[Decision]:
        decisions: list[Decision] = []
        threshold = self.rules.onset_threshold if self._paused else self.rules.release_threshold
        if probability > threshold:
            self._last_voice = frame_end
            self.voiced += frame
            if self._paused:
                self._paused = False
                decisions.append(Resumed())
        silence = frame_end - self._last_voice + _EPSILON
        if not self._paused and silence >= self.rules.speculate_after:
            self._paused = True
            decisions.append(Paused(self._last_voice))
        too_long = frame_end - onset + _EPSILON >= self.rules.max_utterance
        if silence >= self.rules.end_silence or (too_long and self._paused):
            decisions.append(Ended(onset, self._last_voice))
            self._onset = None
            self._recent.clear()
        elif too_long:
            decisions += [Ended(onset, frame_end), Began(frame_end, continues=True)]
            self._begin(frame_end, frame_end, voiced=0.0)
        return decisions

    def _begin(self, onset: float, last_voice: float, voiced: float) -> None:
        self._onset, self._last_voice, self.voiced = onset, last_voice, voiced
        self._paused = False
        self._recent.clear()
