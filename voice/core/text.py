"""Joining and shortening of texts that go to the server."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NO_BLANKS = re.compile("[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef]")
"""Characters of scripts that put no blanks between sentences (Chinese, Japanese)."""


def joined(texts: Iterable[str]) -> str:
    """Texts one after the other as they are displayed: with a blank between two where the script has one."""
    whole = ""
    for text in filter(None, texts):
        if whole and not (whole[-1].isspace() or text[0].isspace()):
            tight = _NO_BLANKS.match(whole[-1]) and _NO_BLANKS.match(text[0])
            whole += "" if tight else " "
        whole += text
    return whole


def listed(phrases: str) -> list[str]:
    """The phrases of a list written as text, with bars between them."""
    return [" ".join(phrase.split()) for phrase in phrases.split("|")]


def shorten(text: str, limit: int) -> str:
    """The longest beginning of `text` of at most `limit` code points, ending at a word's end where there is one."""
    cut = text[:limit]
    gap = cut.rfind(" ")
    return cut[:gap].rstrip() if gap > 0 and not text[limit : limit + 1].isspace() else cut
