"""What stands on a card and not in the text beside it, in words for the ear.

With widgets on, a server writes what it has noted on a card and only a lead-in as text. Somebody without a screen
would confirm what they never heard, so the groups of such a card are read out behind the text of their message.
Other cards repeat their text (a recommendation) or are answers to choose from (hints, forms), and are not read.
"""

from __future__ import annotations

from collections.abc import Iterable

from voice.core.widgets import Group, Item, ReadBack, Summary, Unmatched, Widget


def spoken(widgets: Iterable[Widget]) -> str:
    """The words for the ear, "" if there are none: "What you reported: sore throat, fever." for each group.

    A summary that comes once more is read as far as it changed: only the highlighted items, if any are.
    """
    sentences: list[str] = []
    for widget in widgets:
        if isinstance(widget, (ReadBack, Summary)):
            groups: list[Group | Unmatched] = list(widget.groups)
            if isinstance(widget, Summary) and widget.unmatched is not None:
                groups.append(widget.unmatched)
            changed = any(item.highlighted for group in groups for item in _flat(group.items))
            sentences += filter(None, (_sentence(group, changed) for group in groups))
    return " ".join(sentences)


def _sentence(group: Group | Unmatched, changed: bool) -> str:
    names = [item.name for item in _flat(group.items) if item.name and (item.highlighted or not changed)]
    if not names:
        return ""
    lead = f"{group.title[:1].upper()}{group.title[1:]}: " if group.title else ""
    return f"{lead}{', '.join(names)}."


def _flat(items: Iterable[Item]) -> list[Item]:
    """The items, each followed by its children."""
    return [entry for item in items for entry in (item, *_flat(item.children))]
