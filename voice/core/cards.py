"""What stands on a card and not in the text beside it, in words for the ear.

With widgets on, a server writes what it has noted on a card and only a lead-in as text. Somebody without a screen
would confirm what they never heard, so the groups of such a card are read out behind the text of their message.
Other cards repeat their text (a recommendation) or are answers to choose from (hints, forms), and are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from voice.core.server_events import Widget

_READ = ("read_back", "summary")


def spoken(widgets: Iterable[Widget]) -> str:
    """The words for the ear, "" if there are none: "What you reported: sore throat, fever." for each group.

    A summary that comes once more is read as far as it changed: only the highlighted items, if any are.
    """
    sentences: list[str] = []
    for widget in widgets:
        if widget.type in _READ:
            groups = [*_mappings(widget.data.get("groups")), *_mappings([widget.data.get("unmatched")])]
            changed = any(item.get("highlighted") is True for group in groups for item in _items(group))
            sentences += filter(None, (_sentence(group, changed) for group in groups))
    return " ".join(sentences)


def _sentence(group: Mapping[str, Any], changed: bool) -> str:
    names = [
        name
        for item in _items(group)
        if (item.get("highlighted") is True or not changed) and isinstance(name := item.get("name"), str) and name
    ]
    if not names:
        return ""
    title = group.get("title")
    lead = f"{title[:1].upper()}{title[1:]}: " if isinstance(title, str) and title else ""
    return f"{lead}{', '.join(names)}."


def _items(group: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The items of a group, each followed by its children."""
    return [entry for item in _mappings(group.get("items")) for entry in (item, *_mappings(item.get("children")))]


def _mappings(found: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in found if isinstance(entry, Mapping)] if isinstance(found, (list, tuple)) else []
