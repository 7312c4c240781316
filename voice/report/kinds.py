"""One colour for each kind of message, on paper and on the page.

The colours are those of Okabe and Ito ("Color Universal Design", 2008), told apart with every kind of colour
vision. A colour is never the only sign: the kind is always written beside it.
"""

from __future__ import annotations

COLOURS = {
    "intro": "#0072b2",
    "follow_up": "#56b4e9",
    "read_back": "#e69f00",
    "acknowledgement": "#009e73",
    "bridge": "#cc79a7",
    "filler": "#8a8a8a",
}

OTHER = "#5c6b7a"
"""For kinds that this program does not know."""

CUT = "#d55e00"
"""Vermilion, the palette's alarm colour; no kind has it."""

INK, SOFT, FAINT, RULE = "#1b1f24", "#59636e", "#9aa4ae", "#e4e8ec"
"""Of text, of less important text, of frames, of lines that only guide the eye."""


def colour(kind: str) -> str:
    """The kind's colour as `#rrggbb`."""
    return COLOURS.get(kind, OTHER)


def tint(kind: str, white: float = 0.8) -> str:
    """The kind's colour mixed with white, for a ground that black text is read on."""
    channels = (int(colour(kind)[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(value + (255 - value) * white):02x}" for value in channels)


def shade(kind: str, black: float = 0.45) -> str:
    """The kind's colour mixed with black, for text on a light ground."""
    channels = (int(colour(kind)[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(value * (1 - black)):02x}" for value in channels)
