"""One row of the timeline: a stretch of time with its four lanes. What each lane shows is said in `timeline`."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from voice.report.ink import Pen, Style
from voice.report.kinds import CUT, FAINT, INK, RULE, SOFT, colour, shade, tint
from voice.report.scene import Bar, CutLine, Ghost, Mark, Said, Scene, Spoken
from voice.screen.plain import one_line

Envelope = npt.NDArray[np.float32]
"""How loud each `WAVE_STEP` was, 0..1."""

WAVE_STEP = 0.01
"""Seconds an envelope's point stands for."""

_TOP = 3.75
"""Height of a row in its own units; the lanes' places follow."""
_CUT_LABEL = 3.5
_KIND_LABELS = (3.12, 3.29)
_VOICE = (2.0, 3.05)
_STATES = (1.62, 1.86)
_DECISIONS = (1.38, 1.62)
_USER = (0.6, 0.86)
_SERVER = 0.22

_TOLD_CUT = "#a34700"
_DUCKED, _HELD, _USER_FILL, _USER_EDGE = "#f7e08a", "#d9c7ea", "#e9ecef", "#3d4650"

_KIND_ROOM = 2.5
"""Seconds of a row for the name of a kind; a server may send names of any length."""

_NUDGE = 0.2
"""Seconds by which a word may stand beside its place to be readable; the tick below says where it began."""

_FAR = 0.8
"""Seconds from its mark at which a label would point to the wrong place."""


class Row:
    """Draws the row `number` of a scene into `axes`; a full row is `inches` wide."""

    def __init__(
        self, axes: Axes, inches: float, scene: Scene, number: int, voice: Envelope | None, user: Envelope | None
    ) -> None:
        self.axes, self.scene = axes, scene
        self.start = number * scene.row
        self.end = max(min(self.start + scene.row, scene.length), self.start + 0.02 * scene.row)
        self.pen = Pen(axes, inches / scene.row)
        self.voice, self.user = voice, user

    def draw(self) -> None:
        """Draw all lanes."""
        self._frame()
        shown = [spoken for spoken in self.scene.spoken if self._touches(spoken.t_start, spoken.t_end)]
        for spoken in shown:
            self._spoken(spoken)
        self._kinds([spoken for spoken in shown if self._holds(spoken.t_start)])
        self._wave(self.voice, _VOICE[0] + 0.02, 0.3)
        for ghost in self.scene.ghosts:
            if self._touches(ghost.t_start, ghost.t_end):
                self._ghost(ghost)
        for bar in self.scene.bars:
            if self._touches(bar.t_start, bar.t_end):
                self._bar(bar)
        self._marks([mark for mark in self.scene.marks if self._holds(mark.t)])
        self._users([said for said in self.scene.said if self._touches(said.t_start, said.t_end)])
        self._wave(self.user, _USER[0] + 0.02, 0.22)
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
        axes.spines["bottom"].set_color(FAINT)
        step = next(s for s in (1, 2, 5, 10, 20, 30, 60, 120) if self.scene.row / s <= 20)
        ticks = [t for t in range(math.ceil(self.start), math.floor(self.end) + 1) if t % step == 0]
        axes.set_xticks(ticks, [f"{t // 60}:{t % 60:02d}" for t in ticks], fontsize=7.5, color=SOFT)
        axes.tick_params(axis="x", length=3, color=FAINT, pad=2)
        for tick in ticks:
            axes.axvline(tick, color=RULE, lw=0.6, zorder=0)
        lanes = (("assistant", sum(_VOICE) / 2), ("floor", _STATES[0]), ("user", _USER[1] + 0.1))
        for name, y in (*lanes, ("server", _SERVER)):
            axes.annotate(name, (self.start, y), xytext=(-8, 0), textcoords="offset points", ha="right", va="center",
                          fontsize=8.5, color=SOFT, annotation_clip=False)  # fmt: skip
        axes.axhspan(_DECISIONS[0], _STATES[1], color="#f6f7f9", zorder=0)

    def _wave(self, wave: Envelope | None, base: float, height: float) -> None:
        if wave is None:
            return
        first, last = round(self.start / WAVE_STEP), round(self.end / WAVE_STEP)
        part = wave[first:last]
        t = self.start + np.arange(len(part)) * WAVE_STEP
        self.axes.fill_between(t, base, base + part * height, color=SOFT, alpha=0.45, lw=0, zorder=3)

    # ------------------------------------------------------------------ the lanes

    def _spoken(self, spoken: Spoken) -> None:
        self._box(spoken.t_start, spoken.t_end, _VOICE, facecolor=tint(spoken.kind), lw=0, zorder=1)
        edge = (_VOICE[1] - 0.05, _VOICE[1])
        self._box(spoken.t_start, spoken.t_end, edge, facecolor=colour(spoken.kind), lw=0, zorder=2)
        if not spoken.can_interrupt:
            self._box(spoken.t_start, spoken.t_end, _VOICE, facecolor="none", edgecolor=shade(spoken.kind), lw=1.4,
                      zorder=3)  # fmt: skip
        free = [self.start, self.start]
        for word in spoken.words:
            if not self._holds(word.t_start):
                continue
            if not word.whole:
                self._box(word.t_start, word.t_end, (2.34, 2.98), facecolor="none", edgecolor=CUT, hatch="////", lw=0,
                          zorder=2)  # fmt: skip
            text = one_line(word.text)
            style: Style = "normal" if word.whole else "italic"
            width = self.pen.width(text, 8.5, style=style)
            start = min(word.t_start, self.end - width)
            line = 0 if free[0] <= start or (free[1] > start and free[0] <= free[1]) else 1
            left = max(start, free[line])
            if left - start <= _NUDGE and left + width <= self.end + _NUDGE:
                self.pen.write(left + 0.02, 2.76 - 0.25 * line, text, 8.5, color=INK, style=style, zorder=4)
                free[line] = left + width + 0.04
            self.axes.plot([word.t_start] * 2, [2.34, 2.4], color=colour(spoken.kind), lw=0.8, zorder=2)

    def _kinds(self, shown: list[Spoken]) -> None:
        free = [self.start, self.start]
        for spoken in shown:
            text = self.pen.fit(one_line(spoken.kind), _KIND_ROOM, 7.5, "bold")
            width = self.pen.width(text, 7.5, "bold")
            left = min(spoken.t_start, self.end - width)
            level = 0 if free[0] <= left else 1
            if free[level] <= left:
                ink = shade(spoken.kind)
                self.pen.write(left, _KIND_LABELS[level], text, 7.5, weight="bold", color=ink)
                free[level] = left + width + 0.08

    def _ghost(self, ghost: Ghost) -> None:
        left, right = max(ghost.t_start, self.start), min(ghost.t_end, self.end)
        self._box(left, right, (_VOICE[0] + 0.3, _VOICE[1]), facecolor="white", edgecolor=tint(ghost.kind, 0.55),
                  hatch="////", lw=0.8, zorder=1)  # fmt: skip
        if left > ghost.t_start and right - ghost.t_start > 2 * (right - left):
            return  # its text stands in the row before
        text = self.pen.wrap(one_line(ghost.text), right - left - 0.1, 8, 2, "italic")
        if text:
            self.pen.write(left + 0.06, _VOICE[0] + 0.68, text, 8, color=SOFT, style="italic", linespacing=1.35,
                           zorder=4, bbox={"facecolor": "white", "alpha": 0.85, "lw": 0, "pad": 1.0})  # fmt: skip

    def _bar(self, bar: Bar) -> None:
        fill = _DUCKED if bar.state == "ducked" else _HELD
        self._box(bar.t_start, bar.t_end, _STATES, facecolor=fill, lw=0, zorder=1)
        left = max(bar.t_start, self.start)
        if text := self.pen.fit(bar.state, min(bar.t_end, self.end) - left - 0.06, 7.5):
            self.pen.write(left + 0.04, _STATES[0] + 0.07, text, 7.5, color=INK, zorder=3)

    def _marks(self, marks: list[Mark]) -> None:
        free = self.start
        for mark in marks:
            text = one_line(mark.text)
            self.axes.plot([mark.t] * 2, [_STATES[0] - 0.02, _STATES[1]], color=SOFT, lw=1.2, zorder=4)
            width = self.pen.width(text, 7.5)
            left = max(mark.t + 0.05, free)
            if left + width > self.end:
                left = max(mark.t - 0.05 - width, free)
            if left - mark.t < _FAR and left + width <= self.end:
                self.pen.write(left, _DECISIONS[0] + 0.06, text, 7.5, color=SOFT, zorder=4)
                free = left + width + 0.1

    def _users(self, said: list[Said]) -> None:
        free = self.start
        for entry, following in zip(said, [*said, None][1:], strict=True):
            self._box(entry.t_start, max(entry.t_end, entry.t_start + 0.04), _USER, facecolor=_USER_FILL,
                      edgecolor=_USER_EDGE, lw=0.8, zorder=1)  # fmt: skip
            left = max(entry.t_start, self.start)
            if left > entry.t_start and left - entry.t_start > 0.5 * (entry.t_end - entry.t_start):
                continue  # its text stands in the row before
            text = one_line(entry.text)
            if following is None:
                left = max(free, min(left, self.end - min(self.pen.width(text, 8.5), 2.5)))
            room = (self.end if following is None else following.t_start - 0.1) - left
            text = self.pen.wrap(text, min(room, max(entry.t_end - left, 2.5)), 8.5, 2)
            free = left + max(self.pen.width(line, 8.5) for line in ("", *text.splitlines())) + 0.1
            self.pen.write(left, _USER[1] + 0.08, text, 8.5, va="bottom", color=INK, linespacing=1.1, zorder=4)

    def _told(self, said: list[Said]) -> None:
        self.axes.axhline(_SERVER, color=RULE, lw=0.8, zorder=0)
        free = self.start
        for entry, following in zip(said, [*said, None][1:], strict=True):
            at = _told_at(entry)
            if entry.t_sent is not None:
                self.axes.annotate("", (at, _SERVER - 0.12), (at, _USER[0]), zorder=4,
                                   arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.2, "shrinkA": 0,
                                               "shrinkB": 0})  # fmt: skip
            left = at + 0.09
            weight = "bold" if entry.is_interrupted else "normal"
            ink = _TOLD_CUT if entry.is_interrupted else SOFT
            text = one_line(entry.told)
            if following is None and entry.t_sent is None:
                left = max(free, min(left, self.end - self.pen.width(text, 8, weight)))
            text = self.pen.fit(text, (self.end if following is None else _told_at(following) - 0.06) - left, 8, weight)
            free = left + self.pen.width(text, 8, weight) + 0.1
            self.pen.write(left, _SERVER + 0.06, text, 8, color=ink, weight=weight, zorder=4)

    def _cut(self, cut: CutLine) -> None:
        self.axes.plot([cut.t, cut.t], [_DECISIONS[0], _CUT_LABEL + 0.1], color=CUT, lw=2.2, zorder=5)
        label = f"cut: {cut.cause.replace('_', ' ')}"
        if cut.unspoken:
            label += f" · {cut.unspoken} message{'s' if cut.unspoken > 1 else ''} never spoken"
        right = cut.t + self.pen.width(label, 8, "bold") + 0.15 > self.end
        self.pen.write(cut.t + (-0.06 if right else 0.06), _CUT_LABEL, label, 8, color="white", weight="bold",
                       ha="right" if right else "left", zorder=6,
                       bbox={"facecolor": CUT, "lw": 0, "pad": 1.6})  # fmt: skip


def _told_at(said: Said) -> float:
    return said.t_start if said.t_sent is None else said.t_sent
