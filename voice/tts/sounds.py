"""Roughly which sounds a word is made of: enough to guess how long it takes and what its audio looks like.

Not a pronunciation: letters are sorted into five classes that differ in the audio of any voice. Digits and signs
count as the English words they are read as.
"""

from __future__ import annotations

import re
import unicodedata

VOWEL, SIBILANT, STOP, SONORANT, BREATH = "V", "S", "P", "N", "F"
"""Vowels; hissing sounds (s, sh, ch, j, z); stops (p, t, k, b, d, g); m, n, l, r, w; quiet ones (f, v, th, h)."""

_ONES = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen",
)
_TENS = re.findall(r"\w+", "zero ten twenty thirty forty fifty sixty seventy eighty ninety")
_SIGNS = {"%": "percent", "&": "and", "@": "at", "+": "plus", "=": "equals", "°": "degrees", "#": "hash", "/": "slash"}
_MONEY = {"$": "dollars", "€": "euros", "£": "pounds", "¥": "yen"}
_DIGIT_BY_DIGIT = 7
"""Numbers of at least this many digits are read digit by digit (telephone and reference numbers)."""

_PIECE = re.compile(r"\d[\d,]*(?:\.\d+)?|[^\W\d_]+|[%&@+=°#/$€£¥]")

_LETTER_NAMES = {**dict.fromkeys("bcdegptvz", "PV"), **dict.fromkeys("flmnsx", "VN"), "w": "PVPVNV", "h": "VS"}

_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), classes)
    for pattern, classes in (
        (r"(?:t|s|ss|c)io(?=n)", "SV"),
        (r"(?:gh|e(?=d$)(?<=[^td]e)(?<=..e)|(?<=[aeiouy][^aeiouy])e$|(?<=[aeiouy][^aeiouy][^aeiouy])e$)", ""),
        (r"(?<=[^aeiouylr])le$", "VN"),
        (r"tch|ch|dg(?=e)", "PS"),
        (r"sh|sch|ss|zz|s|z|c(?=[eiy])|ß", "S"),
        (r"j|g(?=[ei])", "S"),
        (r"th|ph|ff|f|v|h", "F"),
        (r"qu", "PN"),
        (r"x", "PS"),
        (r"wh|ng|mm|m|nn|n|ll|l|rr|r|w|^y|ñ", "N"),
        (r"ck|cc|c|kk|k|q|pp|p|tt|t|bb|b|dd|d|gg|g|ç", "P"),
        (r"[aeiouy]+", "V"),
    )
)


def sounds(word: str) -> str:
    """The classes of a word's sounds, in order; "" if nothing of it is spoken."""
    return "".join(_of_piece(piece) for piece in _PIECE.findall(word))


def _of_piece(piece: str) -> str:
    if piece[0].isdecimal():
        return "".join(_of_letters(word) for word in number(piece))
    if (sign := _SIGNS.get(piece) or _MONEY.get(piece)) is not None:
        return _of_letters(sign)
    if len(piece) <= 4 and piece.isupper() and (len(piece) == 1 or not re.search("[AEIOUY]", piece)):
        return "".join(_LETTER_NAMES.get(letter, "V") for letter in piece.lower())
    return _of_letters(piece.lower())


def _of_letters(word: str) -> str:
    plain = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    classes, at = [], 0
    while at < len(plain):
        for pattern, found in _RULES:
            if match := pattern.match(plain, at):
                classes.append(found)
                at = match.end()
                break
        else:
            classes.append("PV")  # a script without rules: a syllable a character
            at += 1
    return "".join(classes)


def number(digits: str) -> list[str]:
    """The words that a number ("1,249.99") is read as."""
    whole, _, fraction = digits.replace(",", "").partition(".")
    words = ["point", *(_ONES[int(d)] for d in fraction)] if fraction else []
    if len(whole) >= _DIGIT_BY_DIGIT or (whole[0] == "0" and len(whole) > 1):
        return [_ONES[int(d)] for d in whole] + words
    return _cardinal(int(whole)) + words


def _cardinal(n: int) -> list[str]:
    if n < 20:
        return [_ONES[n]]
    if n < 100:
        return [_TENS[n // 10], *(_cardinal(n % 10) if n % 10 else [])]
    if n < 1000:
        return [_ONES[n // 100], "hundred", *(["and", *_cardinal(n % 100)] if n % 100 else [])]
    return [*_cardinal(n // 1000), "thousand", *(_cardinal(n % 1000) if n % 1000 else [])]
