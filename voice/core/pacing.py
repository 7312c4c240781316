"""How a message of a kind is spoken: may it be interrupted, how long a pause comes first, how fast, and what
becomes of speech that comes while it may not be interrupted.

Whether a message may be interrupted follows from its kind alone; the server's own value wins where it is present,
the table serves where it is absent (history rows), and a kind that nobody told us about may be interrupted: the
kinds that may not are short connectives, so that is the safe error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

EarlySpeech = Literal["hold", "ignore"]
"""hold: keep what was said and send it once, when the floor is free. ignore: let it go by."""


@dataclass(frozen=True, slots=True)
class KindRule:
    """The rule of one kind of message."""

    can_interrupt: bool = True
    gap: float = 0.25
    """Seconds of silence between the message before it and its first sample."""
    rate: float = 1.0
    """Speed relative to the voice's own."""
    early_speech: EarlySpeech = "hold"
    """What happens to speech that comes while a message of this kind may not be interrupted."""


DEFAULT_RULES: Mapping[str, KindRule] = {
    "acknowledgement": KindRule(can_interrupt=False, gap=0.1),
    "bridge": KindRule(can_interrupt=False, gap=0.2),
    "filler": KindRule(can_interrupt=False, gap=0.3),
    "intro": KindRule(gap=0.35),
    "follow_up": KindRule(gap=0.25),
    "read_back": KindRule(gap=0.25),
}
"""Kinds of the Conversational Triage API. The last three values of `can_interrupt` are assumed: its page says that
barge-in is allowed on the kinds that carry the question, and shows the value only of the first three."""


@dataclass(frozen=True, slots=True)
class Pacing:
    """The rules of all kinds."""

    rules: Mapping[str, KindRule] = field(default_factory=lambda: DEFAULT_RULES)
    unknown: KindRule = KindRule()

    def rule(self, kind: str) -> KindRule:
        """The rule of `kind`, or the one for unknown kinds."""
        return self.rules.get(kind, self.unknown)

    def can_interrupt(self, kind: str, wire: bool | None) -> bool:
        """Whether the user may cut a message of `kind`, given the value on the wire (None: absent)."""
        return self.rule(kind).can_interrupt if wire is None else wire
