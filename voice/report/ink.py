"""Text that knows how wide it is: fitting words into seconds of a row."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties

_POINTS = 72.0
ELLIPSIS = "…"

Style = Literal["normal", "italic"]


@lru_cache(maxsize=1)
def _ruler() -> RendererAgg:
    return RendererAgg(8, 8, _POINTS)  # type: ignore[no-untyped-call]


@lru_cache(maxsize=20_000)
def _points(text: str, size: float, weight: str, style: Style) -> float:
    font = FontProperties(size=size, weight=weight, style=style)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # glyphs that the font lacks are drawn as boxes of the right width
        return float(_ruler().get_text_width_height_descent(text, font, False)[0])  # type: ignore[no-untyped-call]


class Pen:
    """Writes on one row, `scale` inches a second."""

    def __init__(self, axes: Axes, scale: float) -> None:
        self._axes = axes
        self._scale = scale

    def width(self, text: str, size: float, weight: str = "normal", style: Style = "normal") -> float:
        """Seconds of the row that the text covers."""
        return _points(text, size, weight, style) / _POINTS / self._scale

    def fit(self, text: str, room: float, size: float, weight: str = "normal", style: Style = "normal") -> str:
        """The text, shortened at its end to `room` seconds; empty when not even a few letters fit."""
        if self.width(text, size, weight, style) <= room:
            return text
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            if self.width(text[:middle].rstrip() + ELLIPSIS, size, weight, style) <= room:
                low = middle
            else:
                high = middle - 1
        return text[:low].rstrip() + ELLIPSIS if low >= 2 else ""

    def wrap(self, text: str, room: float, size: float, lines: int, style: Style = "normal") -> str:
        """The text broken into at most `lines` lines of `room` seconds, the last one shortened."""
        found: list[str] = []
        rest = text.split()
        while rest and len(found) < lines - 1:
            count = 1
            while count < len(rest) and self.width(" ".join(rest[: count + 1]), size, style=style) <= room:
                count += 1
            found.append(self.fit(" ".join(rest[:count]), room, size, style=style))
            rest = rest[count:]
        if rest:
            found.append(self.fit(" ".join(rest), room, size, style=style))
        return "\n".join(line for line in found if line)

    def write(self, t: float, y: float, text: str, size: float, **how: Any) -> None:
        """Write at `t` seconds, on a line at height `y`; dollar signs and backslashes are letters like any other."""
        how.setdefault("va", "baseline")
        self._axes.text(t, y, text, fontsize=size, parse_math=False, **how)
