"""The words with which cards are read out, in one language; config/phrases.toml has them for more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

FIELDS: Mapping[str, frozenset[str]] = {
    "choices": frozenset({"choices"}),
    "examples": frozenset({"choices"}),
    "each": frozenset({"choices"}),
    "numbers": frozenset({"first", "last"}),
    "serious": frozenset({"names"}),
    "conditions": frozenset({"names"}),
    "specialist": frozenset({"name"}),
}
"""What each of the sentences that are filled in has between braces."""


@dataclass(frozen=True, slots=True)
class CardWords:
    """Sentences for what stands on cards; English by default. One that is empty is not said."""

    choices: str = "You can say {choices}."
    examples: str = "You can say, for example, {choices}."
    """In place of `choices` where there are more than are read."""
    each: str = "To each of these you can say {choices}."
    numbers: str = "You can say a number from {first} to {last}."
    pair: str = " or "
    """Between two choices."""
    last: str = ", or "
    """Before the last of several choices."""
    serious: str = "Serious findings: {names}."
    emergency: str = "This may be an emergency."
    conditions: str = "Possible causes: {names}."
    specialist: str = "Whom to see: {name}."
    triage: Mapping[str, str] = field(
        default_factory=lambda: {
            "emergency_ambulance": "Recommended: call an ambulance now.",
            "emergency": "Recommended: go to an emergency department now.",
            "consultation_24": "Recommended: see a doctor within 24 hours.",
            "consultation": "Recommended: see a doctor.",
            "self_care": "Recommended: take care of yourself at home.",
        }
    )
    """A sentence for each level; of a level that is not here nothing is said, rather than something wrong."""
    channels: Mapping[str, str] = field(
        default_factory=lambda: {
            "personal_visit": "in person",
            "video_teleconsultation": "by video",
            "audio_teleconsultation": "by telephone",
            "text_teleconsultation": "in writing",
        }
    )
    """How to see them, behind the specialist's name."""
    states: Mapping[str, str] = field(
        default_factory=lambda: {"present": "You reported", "absent": "You ruled out", "unknown": "Not sure"}
    )
    """The title of a group that came without one: its findings alone would not say which way they were noted."""

    def alternatives(self, labels: Sequence[str]) -> str:
        """The labels as a list to choose from: "Yes, No, or Not sure"."""
        if len(labels) < 3:
            return self.pair.join(labels)
        return ", ".join(labels[:-1]) + self.last + labels[-1]


WORDLESS: Final = CardWords(
    choices="",
    examples="",
    each="",
    numbers="",
    pair=", ",
    last=", ",
    serious="{names}.",
    emergency="",
    conditions="",
    specialist="",
    triage={},
    channels={},
    states={},
)
"""For a language that has no words here: only what the server itself wrote on a card, and nothing that only makes sense
with words of ours around it. An English sentence in a Portuguese voice is understood by nobody."""
