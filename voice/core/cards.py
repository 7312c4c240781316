"""What stands on a card and not in the text beside it, in words for the ear.

With widgets on, a server writes part of what it has to say on cards. Somebody without a screen would confirm what they
never heard, or look for an answer that they were never offered. So, behind the text of a message, its cards are read:

| card       | read as                                       | not read                                           |
| ---------- | --------------------------------------------- | -------------------------------------------------- |
| conditions | serious findings first, and whether it may be | names that the text has; more than `MOST` possible |
|            | an emergency; then the possible causes        | causes (serious findings are all read)             |
| triage     | the level as a sentence; the specialist       | a specialist that the text names; an unknown level |
| summary    | patient, groups, what could not be matched    | if the text has it all; what is not highlighted    |
| read_back  | groups                                        | if the text has it all                             |
| form       | its questions and their answers               | questions that the text has all                    |
| hints      | the answers offered                           | as `ReadChoices` says                              |

They come in this order, whatever their order in the message: what is serious first, what may be answered last. Groups
come in the order of their states. Of a summary that comes again only the highlighted items are read, if any are.

What is offered is an aside of ours, no words of the server's: whoever speaks over it has interrupted nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from voice.core.card_words import CardWords
from voice.core.choices import meaning
from voice.core.phrases import plain
from voice.core.widgets import (
    STATES,
    Form,
    Group,
    Hints,
    Item,
    ReadBack,
    RecommendationConditions,
    RecommendationTriage,
    Summary,
    Unmatched,
    Widget,
)

ReadChoices = Literal["never", "useful", "always"]
"""useful: where the text does not name them and they are no plain yes or no, the first time that just these are offered
in a conversation, and again where the same question is asked again."""

MOST = 5
"""Choices or possible causes that are read: the ear keeps no more of a list. Of more choices these are examples."""


@dataclass(frozen=True, slots=True)
class CardRules:
    """Whether and how cards are read."""

    shown: bool = False
    """A screen shows them: nothing is read."""
    choices: ReadChoices = "useful"
    words: CardWords = field(default_factory=CardWords)


@dataclass(frozen=True, slots=True)
class Reading:
    """What is read behind the text of a message."""

    content: str = ""
    """What the server wrote on cards; "" for nothing."""
    aside: str = ""
    """What may be answered, in our words; behind the content."""


class Cards:
    """Reads the cards of one conversation."""

    def __init__(self, rules: CardRules | None = None) -> None:
        self._rules = rules or CardRules()
        self._words = self._rules.words
        self._offered: set[tuple[str, ...]] = set()
        self._asked: set[str] = set()

    def read(self, text: str, widgets: Sequence[Widget]) -> Reading:
        """What is to be read behind `text` for these widgets."""
        if self._rules.shown or not widgets:
            return Reading()
        content = [sentence for part in self._parts(text, widgets) for sentence in part]
        return Reading(" ".join(content), " ".join(self._choices(text, widgets)))

    # ------------------------------------------------------------------ content

    def _parts(self, text: str, widgets: Sequence[Widget]) -> Iterable[list[str]]:
        conditions = [widget for widget in widgets if isinstance(widget, RecommendationConditions)]
        yield from (self._serious(text, widget) for widget in conditions)
        yield from (self._triage(text, widget) for widget in widgets if isinstance(widget, RecommendationTriage))
        yield from (self._conditions(text, widget) for widget in conditions)
        summaries = [widget for widget in widgets if isinstance(widget, Summary)]
        yield from (self._summary(text, widget) for widget in summaries[-1:])  # each replaces the one before
        yield from (self._groups(text, widget.groups) for widget in widgets if isinstance(widget, ReadBack))

    def _serious(self, text: str, card: RecommendationConditions) -> list[str]:
        names = _unsaid(text, (found.common_name or found.name for found in card.serious_findings))
        said = [self._words.emergency] if card.has_emergency_findings else []
        return [*filter(None, said), *([self._words.serious.format(names=", ".join(names))] if names else [])]

    def _triage(self, text: str, card: RecommendationTriage) -> list[str]:
        said = [sentence] if (sentence := self._words.triage.get(card.triage_level)) else []
        if card.specialist is not None and _unsaid(text, [card.specialist.name]):
            whom = ", ".join(filter(None, [card.specialist.name, self._words.channels.get(card.channel)]))
            said.append(self._words.specialist.format(name=whom))
        return [*filter(None, said)]

    def _conditions(self, text: str, card: RecommendationConditions) -> list[str]:
        names = _unsaid(text, [cause.common_name or cause.name for cause in card.conditions][:MOST])
        return [*filter(None, [self._words.conditions.format(names=", ".join(names))])] if names else []

    def _summary(self, text: str, card: Summary) -> list[str]:
        rest = card.unmatched
        changed = any(item.highlighted for group in card.groups for item in _flat(group.items))
        changed = changed or (rest is not None and any(item.highlighted for item in _flat(rest.items)))
        if changed:
            return self._groups(text, card.groups, rest, lambda item: item.highlighted)
        groups = self._groups(text, card.groups, rest)
        return [_ended(card.patient), *groups] if groups and _unsaid(text, [card.patient]) else groups

    def _groups(
        self,
        text: str,
        groups: Iterable[Group],
        rest: Unmatched | None = None,
        wanted: Callable[[Item], bool] = lambda item: True,
    ) -> list[str]:
        """A sentence for each group that has something wanted; none if the text has every finding of it."""
        ordered = sorted(groups, key=lambda group: STATES.index(group.state) if group.state in STATES else len(STATES))
        named = [(group, [item.name for item in _flat(group.items) if item.name and wanted(item)]) for group in ordered]
        left = [item.name for item in _flat(rest.items) if item.name and wanted(item)] if rest is not None else []
        if not _unsaid(text, [*(name for _, names in named for name in names), *left]):
            return []
        said = [
            _listed(group.title or self._words.states.get(group.state, ""), names) for group, names in named if names
        ]
        if rest is not None and left:
            said += [_listed(rest.title, left), *([_ended(rest.note)] if rest.note else [])]
        return said

    # ------------------------------------------------------------------ choices

    def _choices(self, text: str, widgets: Sequence[Widget]) -> list[str]:
        if self._rules.choices == "never":
            return []
        again = text in self._asked
        hints = [label for widget in widgets if isinstance(widget, Hints) for label in widget.labels]
        said = [
            sentence for widget in widgets if isinstance(widget, Form) for sentence in self._form(text, widget, again)
        ]
        said += self._offer(text, tuple(dict.fromkeys(hints)), again, self._words.choices)
        if said or hints:
            self._asked.add(text)
        return said

    def _form(self, text: str, form: Form, again: bool) -> list[str]:
        names = [item.name for item in form.items if item.name]
        lists = {item.choices for item in form.items}
        if len(lists) == 1:
            asked = [f"{', '.join(names)}."] if _unsaid(text, names) else []
            return [*asked, *self._offer(text, lists.pop(), again, self._words.each)]
        return [
            f"{item.name}: {self._words.alternatives(item.choices[:MOST])}." if item.choices else f"{item.name}."
            for item in form.items
            if item.name
        ]

    def _offer(self, text: str, labels: tuple[str, ...], again: bool, sentence: str) -> list[str]:
        """The sentence that offers these labels, if they are worth it."""
        if not labels:
            return []
        useful = _unsaid(text, labels) and not all(meaning(label) in ("yes", "no") for label in labels)
        if self._rules.choices == "useful" and not (useful and (again or labels not in self._offered)):
            return []
        self._offered.add(labels)
        if len(labels) > 2 and _in_a_row(labels):
            return [self._words.numbers.format(first=labels[0], last=labels[-1])]
        if len(labels) > MOST:
            sentence = self._words.examples
        return [*filter(None, [sentence.format(choices=self._words.alternatives(labels[:MOST]))])]


def _flat(items: Iterable[Item]) -> list[Item]:
    """The items, each followed by its children."""
    return [entry for item in items for entry in (item, *_flat(item.children))]


def _unsaid(text: str, names: Iterable[str]) -> list[str]:
    """The names, if `text` does not have every one of them; half a list in the text and half behind it would be two
    lists."""
    found = [name for name in names if name]
    said = f" {plain(text)} "
    return found if any(f" {plain(name)} " not in said for name in found) else []


def _listed(title: str, names: Sequence[str]) -> str:
    lead = f"{title[:1].upper()}{title[1:]}: " if title else ""
    return f"{lead}{', '.join(names)}."


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "。")) else f"{sentence}."


def _in_a_row(labels: Sequence[str]) -> bool:
    """Whether these are numbers, each one more than the one before."""
    if not all(label.isascii() and label.isdecimal() and len(label) < 5 for label in labels):
        return False
    numbers = [int(label) for label in labels]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))
