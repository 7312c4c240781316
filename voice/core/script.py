"""The three texts of one message, cut into clauses.

| text    | what it is                          | example              |
| ------- | ----------------------------------- | -------------------- |
| source  | what the server wrote               | `Call 112,  please!` |
| spoken  | what the engine is told to say      | `Call 112, please!`  |
| caption | what is shown                       | the source           |

A clause is what the voice says in one breath and what the engine is given in one call. The clauses of a message,
joined, are its source, character for character. Text may still be streaming in: a clause is given out as soon as
nothing that can follow would move its end.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

import sentencex

from voice.core.text import joined

SOFT_MIN = 24
"""Characters before a comma, semicolon, colon or dash is worth a clause of its own: about 1.5 s of speech, enough
for the engine to shape its melody."""

HARD_MAX = 300
"""Characters after which a clause is cut at the next gap, punctuation or not: 20 s of speech, and a bound for the
work of one call of the engine."""

_WINDOW = 2 * HARD_MAX
"""Characters looked at to find the end of one clause, so that a message of any length costs linear time."""

_ALIGNED = 200
"""Characters before the end of what was said that are looked for in a final text which differs: more than the
longest sentence in use, and some 30 ms of work."""

_SOFT = re.compile(r"(?:[,;:]|\s[–—-])(?=\s+\S)|[，；：、]")
_SURE_END = re.compile(r"(?:[!?…؟।]|[^\W\d_]{5,}\.)[\"'”’)\]]*\s+$|[。！？]$")
"""A sentence that is over although nothing follows yet. A full stop behind a short or dotted word ("Dr.", "a.m.",
"No.") or a number may belong to the word: there the next characters decide."""
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
"""Two of them are one flag."""
_WORD = re.compile(rf"[{_CJK}][^\s\w]*|[^\s{_CJK}]+")


def words_of(text: str) -> list[tuple[int, int]]:
    """Start and end of each word of `text`: runs without blanks, with their punctuation; in Chinese, Japanese and
    Korean script each character is a word of its own, with the punctuation that follows it."""
    return [match.span() for match in _WORD.finditer(text)]


def speakable(text: str) -> bool:
    """Whether there is anything in `text` that a voice can say."""
    return any(character.isalnum() for character in text)


@dataclass(frozen=True, slots=True)
class Clause:
    """Characters `start`..`end` of the source, and what the engine is told to say for them."""

    index: int
    start: int
    end: int
    spoken: str
    offset: int
    """Characters of the source between `start` and the place that `spoken` begins at. The map from spoken to
    source is one to one for now, so this one number is the whole map."""

    def to_source(self, spoken_position: int) -> int:
        """The position in the source that belongs to a position in the spoken text."""
        return min(self.end, self.start + self.offset + spoken_position)


class Script:
    """The text of one message as it comes in, and the clauses taken from it so far."""

    def __init__(self, language: str = "en") -> None:
        self.language = language
        self.source = ""
        self.complete = False
        self.clauses: list[Clause] = []
        self._next = 0
        """Index of the clause that `take` gives next: less than len(clauses) after a rewind."""

    # ------------------------------------------------------------------ text in

    def append(self, text: str) -> None:
        """A delta. Nothing is put between deltas and nothing taken out."""
        if not self.complete:
            self.source += text

    def finish(self, final: str) -> None:
        """The final text. Where it differs from the deltas, what was taken stays and only what the final text has
        behind that place is still to be said."""
        if self.complete:
            return
        self.complete = True
        cut = self._cut_end
        taken = self.source[:cut]
        self.source = final if final.startswith(taken) else joined([taken, _rest_after(taken, final)])

    # ------------------------------------------------------------------ clauses out

    @property
    def _cut_end(self) -> int:
        return self.clauses[-1].end if self.clauses else 0

    @property
    def exhausted(self) -> bool:
        """Whether the message is complete and every clause was taken."""
        return self.complete and self._next == len(self.clauses) and self._cut_end == len(self.source)

    def ready(self) -> bool:
        """Whether `take` would give a clause now."""
        return self._next < len(self.clauses) or self._find_end() is not None

    def take(self) -> Clause | None:
        """The next clause to speak; None while its end is not certain, or when there is none."""
        if self._next == len(self.clauses):
            end = self._find_end()
            if end is None:
                return None
            self.clauses.append(_clause(len(self.clauses), self._cut_end, end, self.source))
        self._next += 1
        return self.clauses[self._next - 1]

    def rewind(self, index: int) -> None:
        """Let `take` give clause `index` and those after it once more."""
        self._next = min(self._next, index)

    def _find_end(self) -> int | None:
        start = self._cut_end
        rest = self.source[start : start + _WINDOW]
        if not rest.strip():  # nothing but blanks: a clause of their own, once it is sure that no word follows
            return start + len(rest) if len(rest) == _WINDOW or (rest and self.complete) else None
        whole = self.complete and start + len(rest) == len(self.source)
        length = self._length(rest, whole)
        return None if length is None else start + length

    def _length(self, rest: str, whole: bool) -> int | None:
        """Length of the first clause of `rest`, blanks behind it included; `whole`: nothing follows `rest`."""
        first, certain = self._first_sentence(rest, whole)
        for match in _SOFT.finditer(first):
            if match.end() >= SOFT_MIN:
                after = first[match.end() :]
                return match.end() + len(after) - len(after.lstrip())
        if certain and len(first) <= HARD_MAX:
            return len(first)
        if len(first) > HARD_MAX:
            gap = max(first.rfind(blank, 0, HARD_MAX) for blank in (" ", "\n", "\t"))
            if gap > 0:
                return gap + 1
            return next((at for at in range(HARD_MAX, 0, -1) if not _inside(first, at)), HARD_MAX)
        return None

    def _first_sentence(self, rest: str, whole: bool) -> tuple[str, bool]:
        """The first sentence of `rest`, and whether nothing that follows can lengthen it."""
        lead = len(rest) - len(rest.lstrip())
        sentences = _sentences(self.language, rest[lead:])
        first = rest[: lead + len(sentences[0])]
        if len(rest) > lead + len(sentences[0]) or whole:
            return _with_blanks(first, rest), True
        return first, bool(_SURE_END.search(first))


def _sentences(language: str, text: str) -> list[str]:
    return [piece for piece in sentencex.segment(language, text) if piece]


def _with_blanks(first: str, rest: str) -> str:
    """`first` and the blanks that follow it in `rest` (some sentences come without theirs)."""
    behind = rest[len(first) :]
    return rest[: len(first) + len(behind) - len(behind.lstrip())]


def _clause(index: int, start: int, end: int, source: str) -> Clause:
    piece = source[start:end]
    spoken = "".join(c if c.isprintable() or unicodedata.category(c) == "Cf" else " " for c in piece)
    return Clause(index, start, end, spoken.strip(), len(spoken) - len(spoken.lstrip()))


def _inside(text: str, at: int) -> bool:
    """Whether position `at` of `text` lies within what a reader takes for one character: an accent, a joiner, the
    parts of an emoji or of a flag belong to what they follow, and a Korean letter may to the one before it."""
    before, after = text[at - 1], text[at]
    if unicodedata.category(after) in ("Mn", "Mc", "Me") or "\u200c" in (before, after) or "\u200d" in (before, after):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    if "\U0001f1e6" <= after <= "\U0001f1ff":
        return (at - len(text[:at].rstrip(_FLAG_LETTERS))) % 2 == 1
    first = ("\u1100", "\u115f")  # consonants that begin a Korean syllable; what follows them completes it
    return "\u1100" <= before <= "\u11ff" and (
        first[1] < after <= "\u11ff" or (first[0] <= after <= first[1] and before <= first[1])
    )


def _rest_after(taken: str, final: str) -> str:
    """What `final` has behind the place that corresponds to the end of `taken`, from a word's beginning on."""
    if taken.startswith(final.rstrip()):
        return ""
    place = _place_of_end(taken, final)
    inside = [end for start, end in words_of(final) if start < place < end]
    return final[inside[0] if inside else place :]  # of a word that was said half, the other half makes no sense


def _place_of_end(taken: str, final: str) -> int:
    """The place in `final` up to which it is most like `taken` (by edit distance); 0 if it is another text."""
    tail = taken[-_ALIGNED:]
    begin = max(0, len(taken) - len(tail) - _ALIGNED)
    window = final[begin : len(taken) + _ALIGNED]
    row = list(range(len(window) + 1)) if len(tail) == len(taken) else [0] * (len(window) + 1)
    for letter in tail:
        diagonal, row[0] = row[0], row[0] + 1
        for i, other in enumerate(window, 1):
            diagonal, row[i] = row[i], min(diagonal + (letter != other), row[i] + 1, row[i - 1] + 1)
    best = min(row)
    places = [i for i, distance in enumerate(row) if distance == best]
    same = [i for i in places if window[i - 1 : i] == tail[-1:]]
    return begin + (same or places)[0] if best <= len(tail) / 2 else 0
