"""The widgets that a server puts beside its text: what a screen shows, and what is read out where there is none.

Every field of every documented widget has its place here. What a server leaves out is empty, never an error; a widget
of a type that is not known keeps its data as they came.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

STATES: Final = ("present", "absent", "unknown")
"""The states of a group of findings, in the order in which groups are shown and read."""


@dataclass(frozen=True, slots=True)
class Hints:
    """Suggested answers."""

    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FormItem:
    """One question of a form: its label and the answers allowed, in display order."""

    name: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """Several questions to be answered together."""

    items: tuple[FormItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Specialist:
    """Whom to see."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class RecommendationTriage:
    """How soon to seek care, from whom and by which way. Emergencies have no specialist and no channel."""

    triage_level: str
    specialist: Specialist | None = None
    channel: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """What may be the cause. `name` is a clinician's word, `common_name` the patient's."""

    id: str
    name: str
    common_name: str = ""
    probability: float | None = None
    """0 to 1; None where the server gave none."""
    details: Mapping[str, Any] | None = None
    """`condition_details` as they came: its fields are not documented but for `has_patient_education`."""


@dataclass(frozen=True, slots=True)
class SeriousFinding:
    """A finding that calls for care by itself. `parent_ids` name the findings that it is a kind of."""

    id: str
    name: str
    common_name: str = ""
    parent_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecommendationConditions:
    """What may be the cause, the likeliest first, and what is serious in it."""

    conditions: tuple[Condition, ...] = ()
    has_emergency_findings: bool = False
    serious_findings: tuple[SeriousFinding, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One finding. `highlighted`: the newest turn touched it."""

    name: str
    highlighted: bool = False
    children: tuple[Item, ...] = ()
    """Finer findings of the same group; their own children are always empty."""


@dataclass(frozen=True, slots=True)
class Group:
    """Findings of one state. `title` is ready for display and says nothing to a program; `state` does."""

    state: str
    title: str
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Unmatched:
    """What the user reported and the assessment cannot take in, in their own words."""

    title: str
    note: str
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything recorded so far. A summary that comes again replaces the one before."""

    patient: str = ""
    groups: tuple[Group, ...] = ()
    unmatched: Unmatched | None = None


@dataclass(frozen=True, slots=True)
class ReadBack:
    """What the user volunteered in one message, to be confirmed; its items have no children."""

    groups: tuple[Group, ...] = ()


@dataclass(frozen=True, slots=True)
class UnknownWidget:
    """A widget of a type that this program does not know: the type, and the rest of the object as it came."""

    type: str
    data: Mapping[str, Any] = field(default_factory=dict)


Widget = Hints | Form | RecommendationTriage | RecommendationConditions | Summary | ReadBack | UnknownWidget


def with_transient(shown: tuple[Widget, ...], widget: Widget) -> tuple[Widget, ...]:
    """What a message shows when `widget` comes before the message is complete: a summary takes the place of the one
    before, and what came twice is there once. The complete message replaces them all, in its order."""
    if isinstance(widget, Summary):
        shown = tuple(other for other in shown if not isinstance(other, Summary))
    return shown if widget in shown else (*shown, widget)
