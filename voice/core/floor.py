"""Who holds the floor: the rule for barge-in.

The voice goes down at the onset of speech, and stops only on evidence that a person wants the floor.

| what is heard                         | nothing plays | plays, may be cut        | plays, may not be cut |
| ------------------------------------- | ------------- | ------------------------ | --------------------- |
| onset of voice                        | -             | duck                     | -                     |
| partial: a stop phrase                | -             | cut (stop_phrase)        | -                     |
| partial: words for us, twice the same | -             | cut (voice)              | -                     |
| partial: backchannel, noise, one try  | -             | stay ducked              | -                     |
| no words for us, `give_up` of silence  | -             | resume                   | -                     |
| utterance: words for us               | take          | cut, take                | hold                  |
| utterance: stop phrase                | take          | cut (stop_phrase), take  | hold                  |
| utterance: backchannel (*)            | take          | resume, ignore           | ignore                |
| utterance: a sound that reads as words| ignore        | resume, ignore           | ignore                |
| utterance: no words                   | ignore        | resume                   | ignore                |

(*) and while nothing plays but a message waits for its turn: ignore; the assistant has not finished yet.

The machine is pure: it takes (seconds, evidence) and owns no clock, no audio and no thread.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from voice.core.events import Cause
from voice.core.evidence import Partial, SpeechPaused, SpeechResumed, SpeechStarted, Utterance


class Act(Enum):
    """What the floor decides."""

    DUCK = "duck"
    RESUME = "resume"
    CUT = "cut"
    TAKE = "take"
    HOLD = "hold"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision about one utterance; `reason` says on what evidence, without the words."""

    act: Act
    utterance_id: str
    reason: str
    cause: Cause = "voice"


@dataclass(frozen=True, slots=True)
class Playing:
    """What the loudspeaker is doing when evidence comes in."""

    speaking: bool
    """A message is being spoken, or is about to go on."""
    can_interrupt: bool
    waiting: bool = False
    """A message is spoken or waits for its turn, so that a backchannel is no answer yet."""


@dataclass(frozen=True, slots=True)
class FloorRules:
    """What counts as what. Phrases are compared in lower case and without punctuation."""

    give_up: float = 0.7
    """Seconds of silence after which a ducked voice comes back without waiting for the recogniser."""
    min_voiced: float = 0.35
    """Seconds of voice before the words of a partial are believed: below about 0.4 s the recogniser often reads the
    wrong words, though it is right that somebody speaks."""
    blip: float = 0.1
    """Seconds of voice below which nothing was said, whatever the recogniser reads: a 0.3 s cough makes the detector
    fire for 0.1 s, a short "no" for 0.2 s."""
    short: float = 0.25
    """Seconds of voice below which only a stop phrase or a short answer is believed while the voice plays, and a
    noise word is not believed at all."""
    short_answers: Sequence[str] = ("yes", "no", "yep", "nope", "none", "never", "both", "help")
    doubt: float = 1.5
    """Seconds after which voice activity without any recognised word does not keep the next message waiting: a
    noisy hall must not silence the program."""
    longest: float = 90.0
    """Seconds after which an utterance that never ended is forgotten: longer than any utterance may last, so only
    ears that died come here."""
    stop_phrases: Sequence[str] = ("stop", "wait", "hold on", "no no", "quiet", "be quiet", "shut up", "pause")
    backchannels: Sequence[str] = (
        *("mm hm", "mm", "mhm", "mm hmm", "uh huh", "aha", "ah", "oh", "hm", "hmm", "right", "okay", "ok", "yeah"),
        *("i see", "sure", "go on", "got it"),
    )
    noise_words: Sequence[str] = ("you", "the", "a", "uh", "um", "er", "eh", "oh", "huh", "thank you", "bye")
    """What the recogniser makes of coughs, clicks and hums."""


def plain(text: str) -> str:
    """`text` in lower case, without punctuation, with single blanks."""
    return " ".join(re.sub(r"[^\w\s']", " ", text.lower().replace("’", "'")).split())


@dataclass(slots=True)
class _Open:
    """The utterance that is under way."""

    id: str
    onset: float
    ducked: bool = False
    cut: bool = False
    silent_since: float | None = None
    said: str = ""
    """The words of the last believed partial."""


@dataclass(slots=True)
class Floor:
    """Takes evidence, gives decisions. Whoever asks tells what is playing at that moment."""

    rules: FloorRules = field(default_factory=FloorRules)
    _open: _Open | None = None
    _stops: frozenset[str] = frozenset()
    _backchannels: frozenset[str] = frozenset()
    _noises: frozenset[str] = frozenset()
    _answers: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        rules = self.rules
        self._stops, self._backchannels, self._noises, self._answers = (
            frozenset(filter(None, map(plain, phrases)))
            for phrases in (rules.stop_phrases, rules.backchannels, rules.noise_words, rules.short_answers)
        )

    @property
    def user_speaks(self) -> bool:
        """An utterance is open: the user holds the floor, or seems to."""
        return self._open is not None

    def holds(self, now: float) -> bool:
        """The user holds the floor, so that no message may begin now."""
        return self._open is not None and (bool(self._open.said) or now - self._open.onset < self.rules.doubt)

    def heard(
        self,
        evidence: SpeechStarted | SpeechPaused | SpeechResumed | Partial | Utterance,
        now: float,
        playing: Playing,
    ) -> list[Decision]:
        """Decisions on one piece of evidence from the ears."""
        match evidence:
            case SpeechStarted(utterance_id=name):
                self._open = _Open(name, evidence.onset)
                return self._duck(self._open, playing)
            case Utterance():
                return self._decide(evidence, playing)
        current = self._open
        if current is None or current.id != evidence.utterance_id:
            return []
        match evidence:
            case SpeechPaused(end=end):
                current.silent_since = end
                return []
            case SpeechResumed():
                current.silent_since = None
                return self._duck(current, playing)
            case Partial():
                return self._weigh(current, evidence, playing)

    def tick(self, now: float) -> list[Decision]:
        """Decisions that time alone brings: a ducked voice comes back when no evidence came."""
        current = self._open
        if current is None:
            return []
        if now - current.onset > self.rules.longest:
            self._open = None
            back = [Decision(Act.RESUME, current.id, "never ended")] if current.ducked and not current.cut else []
            return [*back, Decision(Act.IGNORE, current.id, "never ended")]
        if not current.ducked or current.cut or current.silent_since is None or self.is_for_us(current.said):
            return []
        if now - current.silent_since < self.rules.give_up:
            return []
        current.ducked = False
        return [Decision(Act.RESUME, current.id, "silence")]

    def started_speaking(self, playing: Playing) -> list[Decision]:
        """A message began to play while an utterance was open."""
        current = self._open
        if current is None:
            return []
        if current.ducked and not playing.can_interrupt:
            current.ducked = False
            return [Decision(Act.RESUME, current.id, "may not be interrupted")]
        return self._duck(current, playing)

    def _duck(self, current: _Open, playing: Playing) -> list[Decision]:
        if current.ducked or current.cut or not (playing.speaking and playing.can_interrupt):
            return []
        current.ducked = True
        return [Decision(Act.DUCK, current.id, "onset")]

    def _weigh(self, current: _Open, partial: Partial, playing: Playing) -> list[Decision]:
        if partial.voiced < self.rules.min_voiced:
            return []
        words = plain(partial.text)
        before, current.said = current.said, words
        if current.cut or not (playing.speaking and playing.can_interrupt):
            return []
        if self.is_stop(words):
            current.cut = True
            return [Decision(Act.CUT, current.id, "stop phrase in a partial", "stop_phrase")]
        if self.is_for_us(words) and before and words.split()[0] == before.split()[0]:
            current.cut = True
            return [Decision(Act.CUT, current.id, "two partials agree")]
        return []

    def _decide(self, utterance: Utterance, playing: Playing) -> list[Decision]:
        current = self._open
        known = current is not None and current.id == utterance.utterance_id
        ducked = known and current is not None and current.ducked
        was_cut = known and current is not None and current.cut
        if known:
            self._open = None
        name, words = utterance.utterance_id, plain(utterance.text)
        back = [Decision(Act.RESUME, name, "utterance over")] if ducked and not was_cut else []
        if not words:
            return [*back, Decision(Act.IGNORE, name, "no words")]
        if was_cut:
            return [Decision(Act.TAKE, name, "after its cut", "stop_phrase" if self.is_stop(words) else "voice")]
        if (why := self._no_words_for_us(words, utterance.end - utterance.onset, playing)) is not None:
            return [*back, Decision(Act.IGNORE, name, why)]
        if not playing.speaking:
            return [*back, Decision(Act.TAKE, name, "nothing plays")]
        if not playing.can_interrupt:
            return [*back, Decision(Act.HOLD, name, "may not be interrupted")]
        cause: Cause = "stop_phrase" if self.is_stop(words) else "voice"
        return [Decision(Act.CUT, name, "utterance with words", cause), Decision(Act.TAKE, name, "after its cut")]

    def _no_words_for_us(self, words: str, voiced: float, playing: Playing) -> str | None:
        """Why an utterance is let go by; None if it is meant for us."""
        rules, short = self.rules, voiced < self.rules.short
        if voiced < rules.blip:
            return "blip"
        if not playing.speaking and not playing.waiting:
            return "short noise" if short and _only(words, self._noises) else None
        if self.is_stop(words) or _only(words, self._answers):
            return None
        if (short and playing.speaking) or _only(words, self._noises):
            return "noise"
        return "backchannel" if _only(words, self._backchannels) else None

    # ------------------------------------------------------------------ what words are

    def is_stop(self, words: str) -> bool:
        """Whether the words begin with a stop phrase."""
        return any(words == phrase or words.startswith(phrase + " ") for phrase in self._stops)

    def is_for_us(self, words: str) -> bool:
        """Whether there are words that are neither backchannels nor what noises read as."""
        return bool(words) and not _only(words, self._backchannels | self._noises)


def _only(words: str, phrases: frozenset[str]) -> bool:
    """Whether the words are nothing but these phrases, any number of them in a row."""
    single = words.split()
    longest = max((len(phrase.split()) for phrase in phrases), default=0)
    reached = {0}  # numbers of words that phrases fill up from the beginning
    for end in range(1, len(single) + 1):
        starts = range(max(0, end - longest), end)
        if any(start in reached and " ".join(single[start:end]) in phrases for start in starts):
            reached.add(end)
    return len(single) in reached
