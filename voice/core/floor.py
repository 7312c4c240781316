"""Who holds the floor: the rule for barge-in.

The voice goes down at the onset of speech, and stops only on evidence that a person wants the floor.

| what is heard                            | nothing plays | plays, may be cut       | plays, may not be cut |
| ---------------------------------------- | ------------- | ----------------------- | --------------------- |
| onset of voice                           | -             | duck                    | -                     |
| voice for `sustained` seconds (1)        | -             | cut (voice)             | -                     |
| partial: sounds like a stop phrase (2)   | -             | cut (stop_phrase)       | -                     |
| partial: sounds like words (2)           | -             | cut (voice)             | -                     |
| partial: a stop phrase                   | -             | cut (stop_phrase)       | duck                  |
| partial: words for us, enough (3)        | -             | cut (voice)             | -                     |
| partial: backchannel, noise, our own     | -             | stay ducked             | -                     |
| silence after a backchannel or a noise   | -             | resume                  | resume                |
| no words for us, `give_up` of silence    | -             | resume                  | resume                |
| no evidence `window` after the duck      | -             | resume                  | resume                |
| utterance: words for us                  | take          | cut, take               | hold                  |
| utterance: stop phrase                   | take          | cut (stop_phrase), take | hold                  |
| utterance: backchannel (4)               | take          | resume, ignore          | ignore                |
| utterance: a sound that reads as words   | ignore        | resume, ignore          | ignore                |
| utterance: our own words                 | ignore        | resume, ignore          | ignore                |
| utterance: no words                      | ignore        | resume                  | ignore                |

(1) `eager`: whatever it says. `default`: `held_back` seconds if it sounds like, or reads as, a backchannel, a noise or
    our own words. `relaxed`: never.
(2) From 0.2 s of voice on, before words can be read; the shorter the voice, the surer it must be. Not with `relaxed`.
(3) `enough_words` in one reading, or the same beginning in two; not of what sounds like a backchannel or a noise. With
    `relaxed` they must be able to be meant for the machine: nearly as loud as our own voice, and not as people begin
    when they speak to each other ("did you ...").
(4) And while nothing plays but a message waits for its turn: ignore; the assistant has not finished yet. With `eager`
    a backchannel is an answer like any other.

While the echo canceller does not know the way of our own voice yet (the first seconds, after an xrun), onset ducks, and
only what goes on as loud when the duck has arrived (`ring`) is evidence; a stop phrase is, at once.

The machine is pure: it takes (seconds, evidence) and owns no clock, no audio and no thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from voice.core.events import Cause
from voice.core.evidence import (
    Evidence,
    Partial,
    SpeechPaused,
    SpeechResumed,
    SpeechStarted,
    Utterance,
    VoiceActivity,
)
from voice.core.floor_rules import FloorRules
from voice.core.kinds import Kinds
from voice.core.phrases import Lexicon, plain

DUCK_DB = 20.0
"""By how much the voice is lowered."""

_DUCK_ARRIVES = 0.12
"""Seconds until the microphone hears that: devices, walls."""

_DUCK_SHOWS_DB = 9.0
"""dB by which our own voice falls at least at the microphone when it is lowered by `DUCK_DB`; syllables differ, too."""

_AS_LOUD_DB = -6.0
"""dB relative to our own voice at full level from which it is nothing that a canceller leaves of it."""

_EPSILON = 1e-6
"""Seconds: sums of frame lengths are compared up to rounding."""


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


def _nothing_is_ours(text: str, onset: float, end: float) -> bool:
    """For headphones and tests: no echo."""
    return False


@dataclass(frozen=True, slots=True)
class Playing:
    """What the loudspeaker is doing when evidence comes in."""

    speaking: bool
    """A message is being spoken, or is about to go on."""
    can_interrupt: bool
    waiting: bool = False
    """A message is spoken or waits for its turn, so that a backchannel is no answer yet."""
    stalled: bool = False
    """That message has been without text for so long that whatever is said is an answer."""
    own: Callable[[str, float, float], bool] = _nothing_is_ours
    """Whether text that sounded between two times only repeats what the loudspeaker said."""
    said: Callable[[str, float, float], bool] = _nothing_is_ours
    """Whether the loudspeaker said all of its words then."""


@dataclass(slots=True)
class _Open:
    """The utterance that is under way."""

    id: str
    onset: float
    alive: float
    """When the ears last told something of it."""
    sure: bool = True
    """It is not our own voice, as far as the echo canceller knows."""
    ducked: float | None = None
    """When the voice was lowered for it; None: it is not."""
    probed: bool = False
    """The voice was lowered for it once."""
    quiet_since: float | None = None
    """Since when our own voice is lowered or silent; None: it is at full level, and what is heard may be it."""
    cut: bool = False
    dismissed: bool = False
    """The window went by without evidence: it lowers the voice no more."""
    voiced: float = 0.0
    before_run: float = 0.0
    """Seconds of voice before the present run of it."""
    silent_since: float | None = None
    said: str = ""
    """The words of the last partial, in plain form."""
    read: float = 0.0
    """Seconds of voice that they were decoded from."""
    kinds: Kinds | None = None
    """What it sounds like, as far as a recogniser could tell."""
    loudest_db: float = -100.0
    """dBFS of its loudest frame before the last loud echo of our voice had died away."""
    outlasted: bool = False
    """It went on, hardly less loud, when our voice had been lowered and its last loud echo had died away."""
    voice_power: float = 0.0
    own_power: float = 0.0
    """Sums over frames: of the voice, and of our own at full level; both at the microphone."""

    def note_quiet(self, now: float, speaking: bool) -> None:
        """Take in whether our own voice is lowered or silent."""
        if self.ducked is None and speaking:
            self.quiet_since = None
        elif self.quiet_since is None:
            self.quiet_since = now

    def weigh_levels(self, activity: VoiceActivity, ring: float) -> None:
        """Add one frame. Our own voice counts as it would be at full level."""
        lowered = self.ducked is not None and activity.time > self.ducked + _DUCK_ARRIVES
        rung = self.quiet_since is not None and activity.time > self.quiet_since + ring
        if not rung:
            self.loudest_db = max(self.loudest_db, activity.level_db)
        elif activity.silent <= 0:
            self.outlasted |= activity.level_db > self.loudest_db - _DUCK_SHOWS_DB
        self.own_power += 10 ** ((activity.echo_db + (DUCK_DB if lowered else 0.0)) / 10)
        if activity.silent <= 0:
            self.voice_power += 10 ** (activity.level_db / 10)


@dataclass(slots=True)
class Floor:
    """Takes evidence, gives decisions. Whoever asks tells what is playing at that moment."""

    rules: FloorRules = field(default_factory=FloorRules)
    lexicon: Lexicon = field(init=False)
    _open: _Open | None = None
    _before: _Open | None = None
    """The utterance before, which is over and still being read."""

    def __post_init__(self) -> None:
        self.lexicon = Lexicon(self.rules.phrases)

    @property
    def user_speaks(self) -> bool:
        """An utterance is open: the user holds the floor, or seems to."""
        return self._open is not None

    def follows(self, utterance_id: str) -> bool:
        """Whether this utterance is open."""
        return self._open is not None and self._open.id == utterance_id

    def holds(self, now: float) -> bool:
        """The user holds the floor, so that no message may begin now."""
        return self._open is not None and (bool(self._open.said) or now - self._open.onset < self.rules.doubt)

    def heard(self, evidence: Evidence, now: float, playing: Playing) -> list[Decision]:
        """Decisions on one piece of evidence from the ears."""
        match evidence:
            case SpeechStarted(utterance_id=name):
                before, self._open = self._open, _Open(name, evidence.onset, now, evidence.sure)
                down = self._duck(self._open, now, playing)
                if before is None:
                    return down
                up, self._before = self._resume(before, "another began"), before
                return down or up  # nobody else raises what was lowered for the one before
            case Utterance():
                return self._decide(evidence, playing)
        current = self._open
        if current is None or current.id != evidence.utterance_id:
            return []
        current.alive = now
        match evidence:
            case SpeechPaused(end=end):
                current.silent_since = end
                return self._let_go(current)
            case SpeechResumed():
                current.silent_since = None
                current.kinds = None  # of the sound before the pause
                return self._duck(current, now, playing)
            case VoiceActivity():
                current.voiced = evidence.voiced
                if evidence.silent > self.rules.hole:
                    current.before_run = evidence.voiced
                current.note_quiet(evidence.time, playing.speaking)
                current.weigh_levels(evidence, self.rules.ring)
                current.sure &= evidence.sure
                return self._sustained(current, evidence, playing)
            case Partial():
                return self._weigh(current, evidence, now, playing) or self._let_go(current)

    def tick(self, now: float) -> list[Decision]:
        """Decisions that time alone brings: a ducked voice comes back when no evidence came."""
        current = self._open
        if current is None:
            return []
        if now - current.alive > self.rules.longest:
            self._open = None
            return [*self._resume(current, "never ended"), Decision(Act.IGNORE, current.id, "never ended")]
        if current.ducked is None or current.cut:
            return []
        if now - current.ducked > self.rules.window - _EPSILON:
            current.dismissed = True
            return self._resume(current, "no evidence in the window")
        if current.silent_since is None or self.lexicon.is_for_us(current.said):
            return []
        return self._resume(current, "silence") if now - current.silent_since > self.rules.give_up - _EPSILON else []

    def started_speaking(self, now: float, playing: Playing) -> list[Decision]:
        """A message began to play while an utterance was open."""
        current = self._open
        if current is None:
            return []
        if not playing.can_interrupt:
            return self._resume(current, "may not be interrupted")
        return self._duck(current, now, playing)

    # ------------------------------------------------------------------ down and up

    def _duck(self, current: _Open, now: float, playing: Playing) -> list[Decision]:
        if current.ducked is not None or current.cut or current.dismissed:
            return []
        if not (playing.speaking and playing.can_interrupt):
            return []
        current.ducked = now
        current.probed, current.quiet_since = True, now
        return [Decision(Act.DUCK, current.id, "onset")]

    def _resume(self, current: _Open, reason: str) -> list[Decision]:
        if current.ducked is None or current.cut:
            return []
        current.ducked = current.quiet_since = None
        return [Decision(Act.RESUME, current.id, reason)]

    def _let_go(self, current: _Open) -> list[Decision]:
        """In a pause, when there is nothing to read or all was read and is not for us, the voice comes back."""
        if current.silent_since is None:
            return []
        if current.voiced < self.rules.blip:
            return self._resume(current, "blip")
        read = 0 < current.voiced <= current.read + _EPSILON
        return self._resume(current, "backchannel or noise") if read and not self._for_us(current.said) else []

    # ------------------------------------------------------------------ evidence while it goes on

    def _sustained(self, current: _Open, activity: VoiceActivity, playing: Playing) -> list[Decision]:
        rules = self.rules
        if current.cut or rules.sustained is None or not (playing.speaking and playing.can_interrupt):
            return []
        enough = rules.sustained
        if rules.sensitivity != "eager" and self._let_pass(current, activity.time, playing):
            enough = max(enough, rules.held_back)
        if activity.silent > 0 or activity.voiced - current.before_run < enough - _EPSILON:
            return []
        if not self._somebody(current):
            return []
        return self._cut(current, "sustained voice")

    def _somebody(self, current: _Open) -> bool:
        """Whether it cannot be our own voice: the canceller knows the way of the echo and this is much louder than what
        it leaves, or lowering our voice has not made it quieter."""
        faint = current.voice_power < current.own_power * 10 ** (self.rules.faint_db / 10)
        return current.outlasted or (current.sure and not faint)

    def _surely_somebody(self, current: _Open) -> bool:
        """Whether the sound leaves no doubt: as loud as our own voice, and it went on when that was lowered or over."""
        return current.outlasted and current.voice_power >= current.own_power * 10 ** (_AS_LOUD_DB / 10)

    def _let_pass(self, current: _Open, now: float, playing: Playing) -> bool:
        """Whether what was heard so far is nothing to stop for."""
        reads = self.lexicon.is_backchannel(current.said)
        return self._unlikely(current.kinds) or reads or playing.own(current.said, current.onset, now)

    def _unlikely(self, kinds: Kinds | None) -> bool:
        return kinds is not None and kinds.backchannel + kinds.noise > self.rules.unlikely

    def _weigh(self, current: _Open, partial: Partial, now: float, playing: Playing) -> list[Decision]:
        words = plain(partial.text)
        before, current.said, current.read = current.said, words, partial.voiced
        current.kinds = partial.kinds or current.kinds
        if current.cut or not playing.speaking:
            return []
        if playing.own(words, current.onset, now):
            current.said = ""
            return []
        if self._is_stop(words, before, partial) and not self._stop_was_ours(current, words, now, playing):
            return self._stop(current, now, playing)
        if not playing.can_interrupt or self.lexicon.is_backchannel(words):
            return []
        if not self._somebody(current):
            return []
        if (heard := self._sounds(current, partial)) is not None:
            return heard
        return self._words(current, partial, words, before)

    def _is_stop(self, words: str, before: str, partial: Partial) -> bool:
        if partial.voiced < self.rules.blip or not self.lexicon.is_stop(words):
            return False
        kinds = partial.kinds
        return kinds is None or kinds.stop >= self.rules.stop_doubt or self.lexicon.is_stop(before)

    def _stop_was_ours(self, current: _Open, words: str, now: float, playing: Playing) -> bool:
        """Whether the order may be an echo: we have just said it ourselves, and the echo canceller is not sure."""
        return not self._somebody(current) and playing.said(words, current.onset, now)

    def _stop(self, current: _Open, now: float, playing: Playing) -> list[Decision]:
        if playing.can_interrupt:
            return self._cut(current, "stop phrase in a partial", "stop_phrase")
        if current.ducked is not None:
            return []
        current.ducked = now
        return [Decision(Act.DUCK, current.id, "stop phrase")]

    def _sounds(self, current: _Open, partial: Partial) -> list[Decision] | None:
        """What the sound itself says, before words can be read; None: nothing, so the words count."""
        rules, kinds = self.rules, partial.kinds
        if kinds is None or not rules.odds:
            return None
        needed = [odds for voiced, odds in rules.odds if partial.voiced >= voiced - _EPSILON]
        if kinds.stop >= rules.stop_sound and kinds.odds > (needed or [rules.odds[0][1]])[-1] - 1:
            return self._cut(current, "sounds like a stop phrase", "stop_phrase")
        if needed and kinds.odds > needed[-1]:
            return self._cut(current, "sounds like words")
        return None

    def _words(self, current: _Open, partial: Partial, words: str, before: str) -> list[Decision]:
        """What the words say."""
        if partial.voiced < self.rules.min_voiced or not self._for_us(words) or not self._meant(current, words):
            return []
        if self._unlikely(current.kinds) and partial.voiced < self.rules.held_back:
            return []
        if len(words.split()) >= self.rules.enough_words:
            return self._cut(current, "words for us")
        if before and words.split()[0] == before.split()[0]:
            return self._cut(current, "two partials agree")
        return []

    def _meant(self, current: _Open, words: str) -> bool:
        """Whether the words can be meant for the machine and not for somebody else in the hall."""
        if self.rules.near_db is None:
            return True
        near = current.voice_power >= current.own_power * 10 ** (self.rules.near_db / 10)
        return near and not self.lexicon.is_for_others(words)

    def _for_us(self, words: str) -> bool:
        """Whether words may be meant for the machine."""
        return self.lexicon.is_for_us(words)

    def _cut(self, current: _Open, reason: str, cause: Cause = "voice") -> list[Decision]:
        current.cut = True
        return [Decision(Act.CUT, current.id, reason, cause)]

    # ------------------------------------------------------------------ the end of an utterance

    def _decide(self, utterance: Utterance, playing: Playing) -> list[Decision]:
        current = next((one for one in (self._open, self._before) if one and one.id == utterance.utterance_id), None)
        known = current is not None
        back, was_cut = [], False
        if current is not None:
            back, was_cut = self._resume(current, "utterance over"), current.cut
            self._open, self._before = (one if one is not current else None for one in (self._open, self._before))
        name, words = utterance.utterance_id, plain(utterance.text)
        cause: Cause = "stop_phrase" if self.lexicon.is_stop(words) else "voice"
        if not words:
            return [*back, Decision(Act.IGNORE, name, "no words")]
        only_us = not (known and current is not None and self._surely_somebody(current))
        if only_us and playing.own(words, utterance.onset, utterance.end):
            return [*back, Decision(Act.IGNORE, name, "our own words")]
        if (why := self._no_words_for_us(words, utterance.end - utterance.onset, playing)) is not None:
            return [*back, Decision(Act.IGNORE, name, why)]
        talks = playing.speaking and not playing.stalled
        if talks and not was_cut and known and current is not None and self._no_speech(current, words):
            return [*back, Decision(Act.IGNORE, name, "sounds like a backchannel or a noise")]
        if known and current is not None and not was_cut and self._may_be_us(current, words, playing):
            return [*back, Decision(Act.IGNORE, name, "may be our own voice")]
        if was_cut:
            return [Decision(Act.TAKE, name, "after its cut", cause)]
        if not playing.speaking:
            return [*back, Decision(Act.TAKE, name, "nothing plays")]
        if not playing.can_interrupt:
            return [*back, Decision(Act.HOLD, name, "may not be interrupted")]
        return [Decision(Act.CUT, name, "utterance with words", cause), Decision(Act.TAKE, name, "after its cut")]

    def _may_be_us(self, current: _Open, words: str, playing: Playing) -> bool:
        answers = not playing.speaking and self.lexicon.is_answer(words)  # a short "no" over our last word
        return current.probed and not (answers or self.lexicon.is_stop(words) or self._somebody(current))

    def _no_speech(self, current: _Open, words: str) -> bool:
        kinds, rules = current.kinds, self.rules
        if kinds is None or current.voiced >= rules.brief or rules.sensitivity == "eager":
            return False
        meant = self.lexicon.is_stop(words) or self.lexicon.is_answer(words)
        return kinds.backchannel + kinds.noise > rules.surely_not and not meant

    def _no_words_for_us(self, words: str, voiced: float, playing: Playing) -> str | None:
        """Why an utterance is let go by; None if it is meant for us."""
        rules, short = self.rules, voiced < self.rules.short
        if voiced < rules.blip:
            return "blip"
        if playing.stalled or not (playing.speaking or playing.waiting):
            return "short noise" if short and self.lexicon.is_noise(words) else None
        if self.lexicon.is_stop(words) or self.lexicon.is_answer(words):
            return None
        if self.lexicon.is_noise(words):
            return "noise"
        if rules.sensitivity == "eager":
            return None
        if short and playing.speaking:
            return "noise"
        return "backchannel" if self.lexicon.is_backchannel(words) else None
