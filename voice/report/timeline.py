"""The conversation as a picture: who spoke, what was heard, who took the floor and what the server was told.

Each row is a stretch of time with four lanes, from top to bottom:

| lane      | shows                                                                                        |
|-----------|----------------------------------------------------------------------------------------------|
| assistant | each message with its words where they sounded; hatched: what a cut left unheard              |
| floor     | while the voice was lowered, while an answer was held back, decisions, the link               |
| user      | what was recognised, where it sounded                                                         |
| server    | an arrow where a message was sent, and what was said in it about the interruption             |
"""

from __future__ import annotations

import io
import math
import warnings

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from voice.report.kinds import CUT, FAINT, INK, colour, tint
from voice.report.row import WAVE_STEP, Envelope, Row
from voice.report.scene import Scene
from voice.screen.plain import one_line

WIDTH = 13.0
"""Inches."""
ROW_HEIGHT = 2.6
"""Inches."""
HEAD = 1.05
"""Inches for the title and the legend."""
DPI = 144
"""Pixels an inch, unless the picture would have more than `MOST_PIXELS`."""
MOST_PIXELS = 20e6
"""80 MB while it is drawn."""

_LEFT, _RIGHT = 0.85, 0.2
"""Inches beside the rows: lane names on the left."""
_AXIS = 0.5
"""Inches below each row: time labels and air."""

_LOUD = 98
"""Percentile of the sounding 10 ms that fills an envelope's height."""


def envelope(pcm: npt.NDArray[np.float32], rate: int) -> Envelope:
    """The loudest sample of every 10 ms, in 0..1. Full is what 2 % of the sound reach, so that one cough does not
    make all speech look like a whisper; the square root makes a ducked voice visible."""
    step = max(1, round(rate * WAVE_STEP))
    peaks = np.abs(pcm[: len(pcm) // step * step]).reshape(-1, step).max(axis=1, initial=0.0)
    loud = peaks[peaks > 0]
    if not loud.size:
        return np.zeros(len(peaks), np.float32)
    return np.asarray(np.sqrt(np.clip(peaks / np.percentile(loud, _LOUD), 0, 1)), np.float32)


def timeline_png(scene: Scene, title: str, voice: Envelope | None = None, user: Envelope | None = None) -> bytes:
    """The picture as PNG. `voice` and `user` are the envelopes of the two sides, if they were recorded."""
    with matplotlib.rc_context({"font.family": "DejaVu Sans", "hatch.linewidth": 0.6}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        height = HEAD + scene.rows * ROW_HEIGHT
        figure = Figure(figsize=(WIDTH, height), dpi=resolution(height), facecolor="white")
        canvas = FigureCanvasAgg(figure)
        _head(figure, scene, title, height)
        for number in range(scene.rows):
            bottom = height - HEAD - (number + 1) * ROW_HEIGHT + _AXIS
            share = min(1.0, scene.length / scene.row - number)
            wide = (WIDTH - _LEFT - _RIGHT) * max(share, 0.02)
            box = (_LEFT / WIDTH, bottom / height, wide / WIDTH, (ROW_HEIGHT - _AXIS) / height)
            Row(figure.add_axes(box), WIDTH - _LEFT - _RIGHT, scene, number, voice, user).draw()
        file = io.BytesIO()
        canvas.print_png(file)  # type: ignore[no-untyped-call]
    return file.getvalue()


def resolution(height: float) -> int:
    """Pixels an inch for a picture of `height` inches, within `MOST_PIXELS`."""
    return min(DPI, int(math.sqrt(MOST_PIXELS / (WIDTH * height))))


def _head(figure: Figure, scene: Scene, title: str, height: float) -> None:
    figure.text(_LEFT / WIDTH, 1 - 0.32 / height, title, fontsize=15, weight="bold", color=INK, va="center",
                parse_math=False)  # fmt: skip
    seen = list(dict.fromkeys(spoken.kind for spoken in scene.spoken))
    handles: list[Patch | Line2D] = [
        Patch(facecolor=tint(kind), edgecolor=colour(kind), label=f" {one_line(kind)[:24]}") for kind in seen[:8]
    ]
    if any(not spoken.can_interrupt for spoken in scene.spoken):
        handles.append(Patch(facecolor="white", edgecolor=INK, lw=1.4, label="framed: may not be interrupted"))
    if scene.ghosts:
        handles.append(Patch(facecolor="white", edgecolor=FAINT, hatch="////", label="not heard"))
    if scene.cuts:
        handles.append(Line2D([], [], color=CUT, lw=2.5, label="cut"))
    legend = (
        figure.legend(
            handles=handles,
            loc="center left",
            bbox_to_anchor=((_LEFT - 0.1) / WIDTH, 1 - 0.7 / height),
            ncols=len(handles),
            frameon=False,
            fontsize=8,
            handlelength=1.4,
            columnspacing=1.3,
        )
        if handles
        else None
    )
    for text in legend.get_texts() if legend is not None else ():
        text.set_parse_math(False)
