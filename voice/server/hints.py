"""The answers that a question offers (`hints` widgets), for clients that show chips or listen for them.

What the flow's author wrote comes first, and is offered again with the retry. A question of yes or no offers these
answers by itself. One of choices offers the names of its branches, if each of them is an answer that leads there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from voice.server.flow import Branch, Line, Step

OFFERS = ("hints", "form")
"""Types of widgets that offer answers."""

QUESTION_KINDS = ("intro", "follow_up")
"""Kinds of messages that ask."""


@dataclass(frozen=True, slots=True)
class Labels:
    """How yes, no and not sure are written; empty: they are not offered."""

    yes: str = ""
    no: str = ""
    unsure: str = ""


ENGLISH = Labels("Yes", "No", "I am not sure")


def with_hints(step: Step, labels: Labels) -> Step:
    """`step` with its answers offered by its question and by the retry."""
    offer = _written(step) or _offered(step, labels)
    if offer is None or step.end is not None:
        return step
    return replace(step, messages=_offering(step.messages, offer), retry=_offering(step.retry, offer))


def _written(step: Step) -> Mapping[str, Any] | None:
    found = [widget for line in step.messages for widget in line.widgets if widget["type"] in OFFERS]
    return found[-1] if found else None


def _offered(step: Step, labels: Labels) -> Mapping[str, Any] | None:
    hints: list[str] = []
    if step.expect == "yes_no" and labels.yes and labels.no:
        unsure = any(branch.name == "unsure" for branch in step.branches)
        hints = [labels.yes, labels.no, *([labels.unsure] if unsure and labels.unsure else [])]
    elif step.expect == "choices":
        names = [_label(branch) for branch in step.branches]
        leads = [branch for branch, name in zip(step.branches, names, strict=True) if _first(step, name) is branch]
        hints = names if len(leads) == len(names) else []
    return {"type": "hints", "hints": hints} if hints else None


def _label(branch: Branch) -> str:
    name = branch.name.replace("_", " ")
    return name[:1].upper() + name[1:]


def _first(step: Step, answer: str) -> Branch | None:
    return next((branch for branch in step.branches if branch.match is not None and branch.match.find(answer)), None)


def _offering(lines: tuple[Line, ...], offer: Mapping[str, Any]) -> tuple[Line, ...]:
    """The lines, of which the last question offers these answers, unless one of them offers some already."""
    questions = [place for place, line in enumerate(lines) if line.kind in QUESTION_KINDS]
    if not questions or any(widget["type"] in OFFERS for line in lines for widget in line.widgets):
        return lines
    place = questions[-1]
    asking = replace(lines[place], widgets=(*lines[place].widgets, offer))
    return (*lines[:place], asking, *lines[place + 1 :])
