"""The words of a clause: where each one starts and ends in its text."""

from __future__ import annotations

import re
import unicodedata

Range = tuple[int, int]
"""Start and end (exclusive) in characters."""

_TOKEN = re.compile(r"\S+")

_UNSPACED = re.compile(
    "[\u3040-\u3096\u30a1-\u30fa\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"  # Han
)
"""Characters of scripts that are written without spaces; Korean has spaces, so it needs no rule of its own."""

_SMALL_KANA = frozenset("ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ")
"""They only colour the kana before them, so they belong to its word."""


def words_of(text: str) -> list[Range]:
    """The words of `text`, in order: together they cover everything but white space.

    A word is what stands between white space, with its punctuation. In scripts without spaces each character is
    a word, with the punctuation that follows it (an opening bracket goes with what it opens).
    """
    words: list[Range] = []
    for token in _TOKEN.finditer(text):
        start = token.start()
        full = unspaced = False  # what the word so far holds: something to say; a character that is a word by itself
        for at in range(token.start(), token.end()):
            character = text[at]
            alone = bool(_UNSPACED.match(character)) and character not in _SMALL_KANA
            speaks = alone or character.isalnum()
            opens = unicodedata.category(character) in ("Ps", "Pi")
            joins = character in _SMALL_KANA or unicodedata.category(character) == "Lm"
            if full and not joins and (alone or (unspaced and (speaks or opens))):
                words.append((start, at))
                start, full, unspaced = at, False, False
            full = full or speaks
            unspaced = unspaced or alone
        words.append((start, token.end()))
    return words
