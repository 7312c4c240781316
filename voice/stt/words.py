"""Words of recognised text: made comparable, and counted when wrong."""

from __future__ import annotations

import re
import unicodedata
from functools import partial

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "´": "'", "＇": "'"})
_WORD = re.compile(r"\w+(?:'\w+)*")

_HUMS = {
    "mm-hmm": re.compile(r"\bm+[- ]?h+m*\b", re.IGNORECASE),
    "uh-huh": re.compile(r"\bu+h+[- ]hu+h*\b", re.IGNORECASE),
    "hmm": re.compile(r"\bh+m+\b", re.IGNORECASE),
    "mm": re.compile(r"\bm{2,}\b(?!-)", re.IGNORECASE),
    "okay": re.compile(r"\bo\.k\.|\bok\b", re.IGNORECASE),
}
"""Sounds that everybody spells another way, a recogniser from one moment to the next ("Mm-h", "Mhm", "Mm hmm")."""


def has_words(text: str) -> bool:
    """Whether there is a letter or a digit in it: "♪", "..." and "" have none."""
    return any(character.isalnum() for character in text)


def clean(text: str) -> str:
    """Recognised text as a person would write it: music signs gone, spaces single, "" when no word is left."""
    return " ".join(text.replace("♪", " ").split()) if has_words(text) else ""


def one_spelling(text: str) -> str:
    """Hums and "okay" in one spelling each; a capital at the beginning of one stays.

    "Mm-h." is "Mm-hmm."; "uh-uh", which means no, is left alone.
    """
    for spelling, pattern in _HUMS.items():
        text = pattern.sub(partial(_spelt, spelling), text)
    return text


def _spelt(spelling: str, found: re.Match[str]) -> str:
    return spelling.capitalize() if found[0][0].isupper() else spelling


def words(text: str) -> list[str]:
    """The words for comparison: NFKC, case folded, without punctuation, apostrophes in words unified and kept.

    "It’s TEN o'clock!" is ["it's", "ten", "o'clock"]; "well-known" is two words.
    """
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_APOSTROPHES).replace("_", " ")
    return _WORD.findall(folded)


def normalise(text: str) -> str:
    """`words` with single spaces between."""
    return " ".join(words(text))


def word_errors(reference: str, hypothesis: str) -> tuple[int, int]:
    """(errors, words of the reference): the least number of substitutions, insertions and deletions between them.

    The word error rate is the first over the second; it may exceed 1, and is undefined for an empty reference.
    """
    wanted, got = words(reference), words(hypothesis)
    row = list(range(len(got) + 1))
    for i, word in enumerate(wanted, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(got, 1):
            diagonal, row[j] = row[j], min(diagonal + (word != other), row[j] + 1, row[j - 1] + 1)
    return row[-1], len(wanted)
