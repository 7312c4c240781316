"""When an utterance begins, pauses and ends, decided from the probability of a voice alone.

| state | evidence | decision |
| --- | --- | --- |
| silent | `onset_frames` of the last `onset_window` frames above the threshold | Began, at the first of them |
| voice | no frame above `release_threshold` for `speculate_after` | Paused |
| pause | one frame above `onset_threshold` | Resumed |
| pause | `piece` since the onset or the last Split | Split |
| voice | `longest_piece` since the onset or the last Split | Split |
| voice or pause | no voice for `end_silence`, or for what `wait` says for this pause | Ended |
| voice or pause | `max_utterance` since the onset | Ended; then nothing begins before the voice has paused |

One utterance is one turn of a person, however long and with whatever pauses; a Split is a matter of the recogniser,
which gets a long one in pieces. No audio, no clock, no thread: seconds and probabilities in, decisions out.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EndpointRules:
    """All the numbers of endpointing. Durations in seconds."""

    onset_threshold: float = 0.5
    """Probability above which a frame is voice while there was none; the operating point Silero recommends."""
    hasty_threshold: float = 0.3
    """The same while our own voice sounds, and must go down at once for a person: found 10 ms sooner (median), for
    hardly more false frames (6 instead of 5 of 45 stretches of 6 s of our own voice held one)."""
    release_threshold: float = 0.35
    """Probability above which voice goes on: 0.15 lower, so that a weak syllable does not end it."""
    onset_frames: int = 1
    """Frames of voice that make an onset. One: the voice goes down a frame earlier (68 instead of 100 ms after the
    onset, median of 45 human onsets in double talk), and a click that makes one lowers it for a moment only."""
    onset_window: int = 4
    """Frames (128 ms) in which they must lie: spans holes of 40 ms, and is shorter than the space of blips 200 ms
    apart."""
    speculate_after: float = 0.2
    """Silence after which the text is decoded in the hope that this was the end."""
    end_silence: float = 0.44
    """Silence that ends an utterance unless `wait` says otherwise. The detector falls silent 0.08 s after the voice, so
    a message goes out 0.52 s after its last word, and a pause up to that keeps the utterance one. Fourteen frames."""
    unread: float = 0.9
    """Silence that ends it while what was said is still being read: on a busy machine the reader, who knows more,
    comes late."""
    pre_roll: float = 0.3
    """Audio from before the onset that belongs to the utterance: weak first consonants precede the detection."""
    piece: float = 20.0
    """Voice and pauses after which the next pause ends a piece: bounds the time of one decode (1 s at most), and what
    a recogniser made for sentences gets at once."""
    longest_piece: float = 40.0
    """The same without a pause, in the middle of a word if it must be: nobody talks so long in one breath."""
    max_utterance: float = 180.0
    """An utterance longer than this is closed: at 150 words a minute it has some 2,500 characters, more than a message
    may have. Only a loudspeaker nearby or a hall full of people comes here, and is not heard until it pauses."""

    def __post_init__(self) -> None:
        if not 0 < self.release_threshold <= self.onset_threshold < 1:
            raise ValueError("thresholds must satisfy 0 < release_threshold <= onset_threshold < 1")
        if not 1 <= self.onset_frames <= self.onset_window:
            raise ValueError("onset_frames must be at least 1 and at most onset_window")
        if not 0 < self.speculate_after <= self.end_silence < self.max_utterance:
            raise ValueError("durations must satisfy 0 < speculate_after <= end_silence < max_utterance")
        if not 0 < self.piece <= self.longest_piece:
            raise ValueError("durations must satisfy 0 < piece <= longest_piece")
        if self.pre_roll < 0:
            raise ValueError("pre_roll must not be negative")


@dataclass(frozen=True, slots=True)
class Began:
    """An utterance began at `onset`."""

    onset: float


@dataclass(frozen=True, slots=True)
class Paused:
    """Its voice fell silent at `end`."""

    end: float


@dataclass(frozen=True, slots=True)
class Resumed:
    """Its voice came back before the end was decided."""


@dataclass(frozen=True, slots=True)
class Split:
    """A piece of it is over and the next begins, at `time`; the utterance goes on."""

    time: float


@dataclass(frozen=True, slots=True)
class Ended:
    """The utterance is over; its voice lasted from `onset` to `end`."""

    onset: float
    end: float


Decision = Began | Paused | Resumed | Split | Ended

_EPSILON = 1e-6
"""Seconds: sums of frame lengths are compared up to rounding."""


class Endpointer:
    """Follows one stream of frames; see the table at the top."""

    def __init__(self, rules: EndpointRules | None = None) -> None:
        self.rules = rules or EndpointRules()
        self.hasty = False
        """Our own voice sounds: an onset is taken for one at `hasty_threshold`."""
        self.voiced = 0.0
        """Seconds of voice in the open utterance (the last one, when none is open)."""
        self._recent: deque[tuple[float, bool]] = deque(maxlen=self.rules.onset_window)
        self._onset: float | None = None
        self._last_voice = self._newest = 0.0
        self._piece = 0.0
        """When the present piece began."""
        self._paused = False
        self._pauses = 0
        self._wait: tuple[float, int, float] | None = None
        self._deaf = False
        """The last utterance was too long, and what followed it has not paused yet."""

    def wait(self, onset: float, pause: int, seconds: float) -> None:
        """Let `seconds` of silence end the utterance that began at `onset`, in its pause number `pause` (from 1).
        Without effect when that pause is over. May be called from another thread."""
        self._wait = (onset, pause, seconds)

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
        if self._deaf:
            if probability > self.rules.release_threshold:
                self._last_voice = frame_end
            self._deaf = frame_end - self._last_voice + _EPSILON < self.rules.end_silence
            return []
        threshold = self.rules.hasty_threshold if self.hasty else self.rules.onset_threshold
        self._recent.append((frame_end - frame, probability > threshold))
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
            self._pauses += 1
            decisions.append(Paused(self._last_voice))
        too_long = frame_end - onset + _EPSILON >= self.rules.max_utterance
        if too_long or silence >= self._patience(onset):
            decisions.append(Ended(onset, self._last_voice))
            self._onset, self._deaf = None, too_long
            self._recent.clear()
        elif frame_end - self._piece + _EPSILON >= (self.rules.piece if self._paused else self.rules.longest_piece):
            self._piece = frame_end
            decisions.append(Split(frame_end))
        return decisions

    def _patience(self, onset: float) -> float:
        """Seconds of silence that end the utterance in its present pause."""
        wait = self._wait
        if wait is not None and self._paused and wait[:2] == (onset, self._pauses):
            return max(wait[2], self.rules.speculate_after)
        return self.rules.end_silence

    def _begin(self, onset: float, last_voice: float, voiced: float) -> None:
        self._onset, self._last_voice, self.voiced = onset, last_voice, voiced
        self._piece, self._paused, self._pauses = onset, False, 0
        self._recent.clear()
