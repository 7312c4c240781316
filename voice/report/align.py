"""Which words of the source were sounding when: the spoken words laid along the written ones.

The voice says "forty two dollars" where the server wrote "$42"; both run in the same order. What is spelled the
same is matched first; a run of written words between two matches shares the time of the spoken run between them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from voice.report.words import SpokenWord


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the source; `t_start` and `t_end` are None where nothing of it sounded."""

    text: str
    t_start: float | None
    t_end: float | None


def _plain(word: str) -> str:
    return re.sub(r"\W", "", word.lower())


def align(source: str, words: Sequence[SpokenWord]) -> list[Piece]:
    """The source in pieces that join to it exactly; each word that sounded has its time, blanks have none."""
    pieces = [piece for piece in re.split(r"(\s+)", source) if piece]
    written = [number for number, piece in enumerate(pieces) if not piece.isspace()]
    times: dict[int, tuple[float, float]] = {}
    left = [_plain(pieces[number]) for number in written]
    right = [_plain(word.text) for word in words]
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for _, a1, a2, b1, b2 in matcher.get_opcodes():
        if b1 == b2:
            continue
        if a2 - a1 == b2 - b1:
            for a, b in zip(range(a1, a2), range(b1, b2), strict=True):
                times[written[a]] = (words[b].t_start, words[b].t_end)
        else:
            for a in range(a1, a2):
                times[written[a]] = (words[b1].t_start, words[b2 - 1].t_end)
    return [Piece(piece, *times.get(number, (None, None))) for number, piece in enumerate(pieces)]
