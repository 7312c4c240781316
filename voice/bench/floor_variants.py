"""What is compared in the same scenes: our three sensitivities, and how others decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from voice.audio.echo import EchoCanceller, NoCanceller, TwoFilterCanceller, WebRtcCanceller
from voice.core.evidence import Evidence, Partial, Utterance, VoiceActivity
from voice.core.floor import Act, Decision, Floor, Playing
from voice.core.floor_rules import FloorRules, Sensitivity

PLAIN_ACTIVITY = 0.064
"""Seconds of voice (two frames) at which plain voice activity stops."""


@dataclass(slots=True)
class _Simple(Floor):
    """A floor without a duck: it cuts on its one kind of evidence, and takes every utterance that has words."""

    _cut_id: str = ""

    def heard(self, evidence: Evidence, now: float, playing: Playing) -> list[Decision]:
        """See the class."""
        name = evidence.utterance_id
        if isinstance(evidence, Utterance):
            if not evidence.text:
                return [Decision(Act.IGNORE, name, "no words")]
            cut = [] if self._cut_id == name or not playing.speaking else [Decision(Act.CUT, name, "words")]
            return [*cut, Decision(Act.TAKE, name, "words")]
        if self._cut_id == name or not (playing.speaking and playing.can_interrupt) or not self._enough(evidence):
            return []
        self._cut_id = name
        return [Decision(Act.CUT, name, "evidence")]

    def tick(self, now: float) -> list[Decision]:
        """Time alone decides nothing."""
        return []

    def started_speaking(self, now: float, playing: Playing) -> list[Decision]:
        """Nothing."""
        return []

    def _enough(self, evidence: Evidence) -> bool:
        return False


@dataclass(slots=True)
class PlainActivity(_Simple):
    """Stops as soon as the detector has had voice for 64 ms, as programs do that do not duck."""

    def _enough(self, evidence: Evidence) -> bool:
        return isinstance(evidence, VoiceActivity) and evidence.voiced >= PLAIN_ACTIVITY - 1e-6


@dataclass(slots=True)
class WordsFirst(_Simple):
    """Stops with the first recognised word, as most programs do."""

    def _enough(self, evidence: Evidence) -> bool:
        return isinstance(evidence, Partial) and bool(evidence.text)


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to decide."""

    name: str
    sensitivity: Sensitivity = "default"
    canceller: Callable[[], EchoCanceller] = TwoFilterCanceller
    floor: Callable[[FloorRules], Floor] = Floor
    changed: Mapping[str, float] = field(default_factory=dict)
    """Numbers that are not as usual: fields of `FloorRules`, or `END_SILENCE`."""

    @property
    def ours(self) -> bool:
        """Whether it hears as we do; what it then decides may differ."""
        return self.canceller is TwoFilterCanceller and self.floor is Floor

    @property
    def rules(self) -> FloorRules:
        """The numbers that the floor decides by."""
        changed = {name: value for name, value in self.changed.items() if name != END_SILENCE}
        return replace(FloorRules.of(self.sensitivity), **changed)  # type: ignore[arg-type]  # all are floats


END_SILENCE = "end_silence"
"""The one number that may be varied and is not the floor's but the ears'."""

VARIABLE = (END_SILENCE, *(each.name for each in fields(FloorRules) if each.type in ("float", "float | None")))
"""What may be varied."""


def varied(sensitivity: Sensitivity, name: str, values: Sequence[float]) -> tuple[Variant, ...]:
    """A sensitivity with one of its numbers at each of some values."""
    return tuple(Variant(f"{sensitivity}.{name}={value:g}", sensitivity, changed={name: value}) for value in values)


OURS: tuple[Variant, ...] = (
    Variant("eager", "eager"),
    Variant("default", "default"),
    Variant("relaxed", "relaxed"),
)

OUR_NAMES = tuple(variant.name for variant in OURS)

OTHERS: tuple[Variant, ...] = (
    Variant("no_echo_cancelling", canceller=NoCanceller),
    Variant("aec3_alone", canceller=WebRtcCanceller),
    Variant("voice_64ms", floor=PlainActivity),
    Variant("words_first", floor=WordsFirst),
)
"""The first two decide as `default` does."""

VARIANTS: Mapping[str, Variant] = {variant.name: variant for variant in (*OURS, *OTHERS)}
