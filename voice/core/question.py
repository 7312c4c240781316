"""The question that is open: what the next answer may be, from the newest message that is or was heard.

The server's hints and forms come first. Where it sends none, the wording of an English question tells a yes or no and
a number. A message that may not be interrupted and asks nothing ("One moment, please.") leaves the question open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from voice.core.choices import meaning
from voice.core.expectation import FREE, Expectation
from voice.core.message import Message
from voice.core.widgets import Form, Hints, Widget

_YES_NO = re.compile(
    r"(?:^|[.!?,;:]\s+)(?:and |so |please |now )*"
    r"(?:do|does|did|have|has|had|are|is|am|was|were|can|could|will|would|should|shall|may)(?:n't)? \w+[^.!?]*\?"
    r"|\byes or no\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\bhow (?:many|much|old|tall|often|strong)\b|\bon a scale\b|\bfrom (?:zero|one|\d+) to\b|\bwhat number\b",
    re.IGNORECASE,
)


def expected(text: str, widgets: Iterable[Widget]) -> Expectation:
    """What may be answered to a message with this text and these widgets."""
    if labels := offered(widgets):
        if all(meaning(label) for label in labels):
            return Expectation("yes_no", labels)
        return Expectation("number" if all(map(_is_number, labels)) else "choices", labels)
    if "?" not in text:
        return FREE
    if _NUMBER.search(text):
        return Expectation("number")
    return Expectation("yes_no") if _YES_NO.search(text) else FREE


def offered(widgets: Iterable[Widget]) -> tuple[str, ...]:
    """The answers that hints offer; else those of a form, if all its items have the same: one spoken answer to a form
    whose items differ belongs to none of them alone."""
    found = list(widgets)
    hints = [label for widget in found if isinstance(widget, Hints) for label in widget.labels]
    if hints:
        return tuple(dict.fromkeys(hints))
    lists = {item.choices for widget in found if isinstance(widget, Form) for item in widget.items}
    return lists.pop() if len(lists) == 1 else ()


def _is_number(label: str) -> bool:
    return label.strip().isdecimal()


class Question:
    """The open question of a conversation."""

    def __init__(self) -> None:
        self.expectation = FREE
        self._seen: tuple[str, bool, int] | None = None

    def heard(self, message: Message) -> None:
        """`message` is being heard, or was heard last; call it again when more of it has come."""
        state = (message.id, message.script.complete, len(message.widgets))
        if state == self._seen:
            return
        self._seen = state
        asked = expected(message.script.source, message.widgets)
        if message.can_interrupt or asked != FREE:
            self.expectation = asked

    def answered(self) -> None:
        """The user's answer was sent: nothing is asked until the next message is heard."""
        self.expectation, self._seen = FREE, None
