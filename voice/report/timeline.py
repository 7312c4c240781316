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
from typing import Protocol

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from voice.report.ink import Pen, Style, one_line
from voice.report.kinds import CUT, colour, shade, tint
from voice.report.scene import Bar, CutLine, Ghost, Mark, Said, Scene, Spoken

WIDTH = 16.0
"""Inches."""
ROW_HEIGHT = 2.35
"""Inches."""
HEAD = 1.0
"""Inches for the title and the legend."""
DPI = 110

_LEFT, _RIGHT = 0.95, 0.2
"""Inches beside the rows: lane names on the left."""
_AXIS = 0.52
"""Inches below each row: time labels and air."""

_TOP = 3.5
"""Height of a row in its own units; the lanes' places follow."""
_VOICE = (1.95, 3.0)
_FLOOR = (1.45, 1.8)
_USER = (0.62, 1.3)
_SERVER = 0.22

_INK, _SOFT, _FAINT, _RULE = "#1b1f24", "#59636e", "#9aa4ae", "#e4e8ec"
_DUCKED, _HELD, _USER_FILL, _USER_EDGE = "#f7e08a", "#d9c7ea", "#e9ecef", "#3d4650"

_WAVE_STEP = 0.01
"""Seconds an envelope's point stands for."""


class Recordings(Protocol):
    """Both sides of a conversation as mono float32 samples at `rate` Hz; `t0` is when the first one sounded."""

    loudspeaker: npt.NDArray[np.float32]
    user: npt.NDArray[np.float32]
    t0: float


Envelope = npt.NDArray[np.float32]


def envelope(pcm: npt.NDArray[np.float32], rate: int) -> Envelope:
    """The loudest sample of every 10 ms, on a scale of which full is the loudest of all."""
    step = max(1, round(rate * _WAVE_STEP))
    peaks = np.abs(pcm[: len(pcm) // step * step]).reshape(-1, step).max(axis=1, initial=0.0)
    top = float(peaks.max(initial=0.0))
    return np.asarray(peaks / top if top > 0 else peaks, np.float32)


def timeline_png(scene: Scene, title: str, voice: Envelope | None = None, user: Envelope | None = None) -> bytes:
    """The picture as PNG. `voice` and `user` are the envelopes of the two sides, if they were recorded."""
    with matplotlib.rc_context({"font.family": "DejaVu Sans", "hatch.linewidth": 0.6}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        height = HEAD + scene.rows * ROW_HEIGHT
        figure = Figure(figsize=(WIDTH, height), dpi=DPI, facecolor="white")
        canvas = FigureCanvasAgg(figure)
        _head(figure, scene, title, height)
        for number in range(scene.rows):
            bottom = height - HEAD - (number + 1) * ROW_HEIGHT + _AXIS
            box = (_LEFT / WIDTH, bottom / height, (WIDTH - _LEFT - _RIGHT) / WIDTH, (ROW_HEIGHT - _AXIS) / height)
            _Row(figure.add_axes(box), scene, number, voice, user).draw()
        file = io.BytesIO()
        canvas.print_png(file)  # type: ignore[no-untyped-call]
    return file.getvalue()


def _head(figure: Figure, scene: Scene, title: str, height: float) -> None:
    figure.text(_LEFT / WIDTH, 1 - 0.32 / height, title, fontsize=15, weight="bold", color=_INK, va="center",
                parse_math=False)  # fmt: skip
    seen = list(dict.fromkeys(spoken.kind for spoken in scene.spoken))
    handles: list[Patch | Line2D] = [Patch(facecolor=tint(k), edgecolor=colour(k), label=one_line(k)) for k in seen]
    handles += [
        Patch(facecolor="white", edgecolor=_FAINT, hatch="////", label="not heard"),
        Patch(facecolor=_DUCKED, label="voice lowered"),
        Patch(facecolor=_HELD, label="answer held back"),
        Line2D([], [], color=CUT, lw=2, label="cut"),
        Line2D([], [], color=_INK, marker="v", lw=0, label="sent to the server"),
    ]
    figure.legend(handles=handles, loc="center left", bbox_to_anchor=((_LEFT - 0.1) / WIDTH, 1 - 0.68 / height),
                  ncols=len(handles), frameon=False, fontsize=8.5, handlelength=1.4, columnspacing=1.5)  # fmt: skip


class _Row:
    """One stretch of time."""

    def __init__(self, axes: Axes, scene: Scene, number: int, voice: Envelope | None, user: Envelope | None) -> None:
        self.axes, self.scene = axes, scene
        self.start, self.end = number * scene.row, (number + 1) * scene.row
        self.pen = Pen(axes, (WIDTH - _LEFT - _RIGHT) / scene.row)
        self.voice, self.user = voice, user

    def draw(self) -> None:
        self._frame()
        for spoken in self.scene.spoken:
            if self._touches(spoken.t_start, spoken.t_end):
                self._spoken(spoken)
        self._wave(self.voice, _VOICE[0] + 0.02, 0.3, _SOFT)
        for ghost in self.scene.ghosts:
            if self._touches(ghost.t_start, ghost.t_end):
                self._ghost(ghost)
        for bar in self.scene.bars:
            if self._touches(bar.t_start, bar.t_end):
                self._bar(bar)
        self._marks([mark for mark in self.scene.marks if self._holds(mark.t)])
        self._users([said for said in self.scene.said if self._touches(said.t_start, said.t_end)])
        self._wave(self.user, _USER[0] + 0.02, 0.2, _SOFT)
        self._told([said for said in self.scene.said if self._holds(_told_at(said))])
        for cut in self.scene.cuts:
            if self._holds(cut.t):
                self._cut(cut)

    # ------------------------------------------------------------------ where things are

    def _touches(self, t_start: float, t_end: float) -> bool:
        return t_start < self.end and max(t_end, t_start + 1e-3) > self.start

    def _holds(self, t: float) -> bool:
        return self.start <= t < self.end

    def _box(self, t_start: float, t_end: float, lane: tuple[float, float], **how: object) -> None:
        left, right = max(t_start, self.start), min(t_end, self.end)
        self.axes.add_patch(Rectangle((left, lane[0]), right - left, lane[1] - lane[0], **how))  # type: ignore[arg-type]

    def _frame(self) -> None:
        axes = self.axes
        axes.set_xlim(self.start, self.end)
        axes.set_ylim(0, _TOP)
        axes.set_yticks([])
        for side in ("left", "right", "top"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color(_FAINT)
        step = next(s for s in (1, 2, 5, 10, 20, 30, 60, 120) if self.scene.row / s <= 20)
        ticks = [t for t in range(math.ceil(self.start), math.floor(self.end) + 1) if t % step == 0]
        axes.set_xticks(ticks, [f"{t // 60}:{t % 60:02d}" for t in ticks], fontsize=7.5, color=_SOFT)
        axes.tick_params(axis="x", length=3, color=_FAINT, pad=2)
        for tick in ticks:
            axes.axvline(tick, color=_RULE, lw=0.6, zorder=0)
        lanes = (("assistant", sum(_VOICE) / 2), ("floor", sum(_FLOOR) / 2), ("user", sum(_USER) / 2))
        for name, y in (*lanes, ("server", _SERVER)):
            axes.annotate(name, (self.start, y), xytext=(-8, 0), textcoords="offset points", ha="right", va="center",
                          fontsize=8.5, color=_SOFT, annotation_clip=False)  # fmt: skip
        axes.axhspan(*_FLOOR, color="#f6f7f9", zorder=0)

    def _wave(self, wave: Envelope | None, base: float, height: float, ink: str) -> None:
        if wave is None:
            return
        first, last = round(self.start / _WAVE_STEP), round(self.end / _WAVE_STEP)
        part = wave[first:last]
        t = self.start + np.arange(len(part)) * _WAVE_STEP
        self.axes.fill_between(t, base, base + part * height, color=ink, alpha=0.45, lw=0, zorder=3)

    # ------------------------------------------------------------------ the lanes

    def _spoken(self, spoken: Spoken) -> None:
        self._box(spoken.t_start, spoken.t_end, _VOICE, facecolor=tint(spoken.kind), lw=0, zorder=1)
        edge = (_VOICE[1] - 0.05, _VOICE[1])
        self._box(spoken.t_start, spoken.t_end, edge, facecolor=colour(spoken.kind), lw=0, zorder=2)
        if self._holds(spoken.t_start):
            label = one_line(spoken.kind) + ("" if spoken.can_interrupt else " · may not be interrupted")
            self.pen.write(spoken.t_start, _VOICE[1] + 0.13, label, 7.5, weight="bold", color=shade(spoken.kind))
        free = [self.start, self.start]
        for word in spoken.words:
            if not self._holds(word.t_start):
                continue
            if not word.whole:
                self._box(word.t_start, word.t_end, (2.3, 2.93), facecolor="none", edgecolor=CUT, hatch="////", lw=0,
                          zorder=2)  # fmt: skip
            text = one_line(word.text)
            style: Style = "normal" if word.whole else "italic"
            line = 0 if free[0] <= word.t_start else 1
            width = self.pen.width(text, 8.5, style=style)
            if free[line] <= word.t_start and word.t_start + width <= self.end + 0.1:
                self.pen.write(word.t_start + 0.02, 2.76 - 0.25 * line, text, 8.5, color=_INK, style=style, zorder=4)
                free[line] = word.t_start + width + 0.04
            self.axes.plot([word.t_start] * 2, [2.3, 2.36], color=colour(spoken.kind), lw=0.8, zorder=2)

    def _ghost(self, ghost: Ghost) -> None:
        left, right = max(ghost.t_start, self.start), min(ghost.t_end, self.end)
        self._box(left, right, (_VOICE[0] + 0.3, _VOICE[1]), facecolor="white", edgecolor=tint(ghost.kind, 0.55),
                  hatch="////", lw=0.8, zorder=1)  # fmt: skip
        if left > ghost.t_start and right - ghost.t_start > 2 * (right - left):
            return  # its text stands in the row before
        text = self.pen.wrap(one_line(ghost.text), right - left - 0.1, 8, 2, "italic")
        if text:
            self.pen.write(left + 0.06, _VOICE[0] + 0.68, text, 8, color=_SOFT, style="italic", linespacing=1.35,
                           zorder=4, bbox={"facecolor": "white", "alpha": 0.85, "lw": 0, "pad": 1.0})  # fmt: skip

    def _bar(self, bar: Bar) -> None:
        fill = _DUCKED if bar.state == "ducked" else _HELD
        self._box(bar.t_start, bar.t_end, _FLOOR, facecolor=fill, lw=0, zorder=1)
        left = max(bar.t_start, self.start)
        if text := self.pen.fit(bar.state, min(bar.t_end, self.end) - left - 0.06, 7.5):
            self.pen.write(left + 0.04, sum(_FLOOR) / 2, text, 7.5, color=_INK, zorder=3)

    def _marks(self, marks: list[Mark]) -> None:
        busy = sorted(
            (bar.t_start, bar.t_start + self.pen.width(bar.state, 7.5) + 0.1)
            for bar in self.scene.bars
            if self._touches(bar.t_start, bar.t_end)
        )
        free = self.start
        for mark in marks:
            text = one_line(mark.text)
            self.axes.plot([mark.t], [_FLOOR[0]], marker="^", ms=4, color=_SOFT, clip_on=False, zorder=4)
            left = max(mark.t + 0.06, free)
            width = self.pen.width(text, 7.5)
            if left - mark.t < 1.0 and not any(left < end and left + width > start for start, end in busy):
                self.pen.write(left, sum(_FLOOR) / 2, text, 7.5, color=_SOFT, zorder=4)
                free = left + width + 0.08

    def _users(self, said: list[Said]) -> None:
        for entry, following in zip(said, [*said[1:], None], strict=True):
            self._box(entry.t_start, max(entry.t_end, entry.t_start + 0.04), _USER, facecolor=_USER_FILL,
                      edgecolor=_USER_EDGE, lw=0.8, zorder=1)  # fmt: skip
            left = max(entry.t_start, self.start)
            room = (self.end if following is None else min(following.t_start, self.end)) - left - 0.1
            if left > entry.t_start and left - entry.t_start > 0.5 * (entry.t_end - entry.t_start):
                continue  # its text stands in the row before
            text = self.pen.wrap(one_line(entry.text), min(room, max(entry.t_end - left, 3.0)), 8.5, 2)
            self.pen.write(left + 0.05, sum(_USER) / 2 + 0.08, text, 8.5, color=_INK, linespacing=1.1, zorder=4)

    def _told(self, said: list[Said]) -> None:
        self.axes.axhline(_SERVER, color=_RULE, lw=0.8, zorder=0)
        for entry, following in zip(said, [*said[1:], None], strict=True):
            at = _told_at(entry)
            if entry.t_sent is not None:
                self.axes.annotate("", (at, _SERVER - 0.12), (at, _USER[0]), zorder=4,
                                   arrowprops={"arrowstyle": "-|>", "color": _INK, "lw": 1.2, "shrinkA": 0,
                                               "shrinkB": 0})  # fmt: skip
            room = (self.end if following is None else _told_at(following)) - at - 0.15
            weight = "bold" if entry.is_interrupted else "normal"
            ink = _FAINT if entry.t_sent is None else shade("", 0) if not entry.is_interrupted else "#a34700"
            text = self.pen.fit(one_line(entry.told), room, 8, weight)
            self.pen.write(at + 0.09, _SERVER + 0.12, text, 8, color=ink, weight=weight, zorder=4)

    def _cut(self, cut: CutLine) -> None:
        self.axes.plot([cut.t, cut.t], [_FLOOR[0], _VOICE[1] + 0.24], color=CUT, lw=2, zorder=5, clip_on=False)
        label = f"cut: {cut.cause.replace('_', ' ')}"
        if cut.unspoken:
            label += f" · {cut.unspoken} message{'s' if cut.unspoken > 1 else ''} never spoken"
        right = cut.t + self.pen.width(label, 8, "bold") + 0.15 > self.end
        self.pen.write(cut.t + (-0.06 if right else 0.06), _VOICE[1] + 0.16, label, 8, color="white", weight="bold",
                       ha="right" if right else "left", zorder=6,
                       bbox={"facecolor": CUT, "lw": 0, "pad": 1.6})  # fmt: skip


def _told_at(said: Said) -> float:
    return said.t_start if said.t_sent is None else said.t_sent
