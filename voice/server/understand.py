"""What an answer means, leniently: it comes from a speech recogniser, with its full stops, contractions and ums.

All functions take the text as it came and work on `plain(text)`: lower case, straight apostrophes, single spaces, no
punctuation but for the points inside numbers. English word lists; a flow in another language brings its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

YES = "yes,yeah,yep,yup,ya,sure,of course,correct,right,that's right,exactly,i do,i have,i am,it does,it is,please do"
NO = "no,nope,nah,not,never,none,don't,do not,haven't,isn't,doesn't,without"
UNSURE = "not sure,don't know,do not know,no idea,maybe,perhaps,unsure,hard to say,i'm not certain,can't say"

_WORDS_BEFORE = "um uh er erm well so oh okay ok please hey hmm and but just wait can could would you"
_FILLERS = frozenset(_WORDS_BEFORE.split())
"""Words before which a short request may stand ("could you repeat that")."""

_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_NUMBERS = {word: float(value) for value, word in enumerate((_UNITS + " seventeen eighteen nineteen").split())}
_TENTHS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 20.0 + 10 * index for index, word in enumerate(_TENTHS.split())}
_VAGUE = {"a": 1.0, "an": 1.0, "couple": 2.0, "few": 3.0, "several": 4.0, "half": 0.5}
_DAYS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1.0, "night": 1.0, "week": 7.0, "month": 30.0, "year": 365.0}
_NAMED_DAYS = {
    "the day before yesterday": 2.0,
    "yesterday": 1.0,
    "last night": 0.5,
    "this morning": 0.5,
    "today": 0.5,
    "last week": 7.0,
    "last month": 30.0,
    "last year": 365.0,
}


def plain(text: str) -> str:
    """Lower case words, single spaces; only apostrophes and the points inside numbers are kept."""
    lowered = text.casefold().replace("’", "'").replace("-", " ")
    kept = re.sub(r"(?<=\d),(?=\d{3})", "", lowered)
    kept = re.sub(r"[^\w' .]|(?<!\d)\.|\.(?!\d)", " ", kept)
    return " ".join(kept.split())


@dataclass(frozen=True, slots=True)
class Matcher:
    """Phrases (found on word boundaries) and patterns (searched) in a plain text."""

    phrases: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...] = ()

    def find(self, text: str) -> tuple[int, int] | None:
        """Where it matches in `plain(text)`: the leftmost place, or None."""
        said = plain(text)
        hits = [re.search(rf"(?<![\w']){re.escape(phrase)}(?![\w'])", said) for phrase in self.phrases]
        hits += [pattern.search(said) for pattern in self.patterns]
        return min((hit.span() for hit in hits if hit), default=None)

    def begins(self, text: str) -> bool:
        """Whether a phrase opens the text (after fillers), or a pattern matches anywhere."""
        words = plain(text).split()
        while words and words[0] in _FILLERS:
            words.pop(0)
        said = " ".join(words) + " "
        return any(said.startswith(phrase + " ") for phrase in self.phrases) or any(
            pattern.search(said) for pattern in self.patterns
        )


def matcher(entries: Iterable[str]) -> Matcher:
    """Of phrases and of patterns written `/like this/`. Raises re.error for a bad pattern."""
    phrases, patterns = [], []
    for entry in entries:
        if len(entry) > 2 and entry.startswith("/") and entry.endswith("/"):
            patterns.append(re.compile(entry[1:-1]))
        else:
            phrases.append(plain(entry))
    return Matcher(tuple(phrases), tuple(patterns))


_YES, _NO, _UNSURE = (matcher(words.split(",")) for words in (YES, NO, UNSURE))


def yes_no(text: str) -> str | None:
    """`"yes"`, `"no"`, `"unsure"` or None. A doubt beats both; else what comes first: "Yes, no fever" is a yes."""
    if _UNSURE.find(text):
        return "unsure"
    yes, no = _YES.find(text), _NO.find(text)
    if yes and (not no or yes[0] < no[0]) and not plain(text)[yes[1] :].startswith(" not"):
        return "yes"
    return "no" if no else None


def affirmed(text: str, finding: Matcher) -> bool:
    """Whether a clause holds what `finding` matches without a negation among the four words before it."""
    for clause in re.split(r"[,;.!?]+|\bbut\b", text):
        if place := finding.find(clause):
            before = plain(clause)[: place[0]].split()[-4:]
            if not any(word in ("no", "not", "never", "without") or word.endswith("n't") for word in before):
                return True
    return False


def number(text: str) -> float | None:
    """The first number, in digits or in words up to ninety-nine; None if there is none."""
    words = plain(text).split()
    for index, word in enumerate(words):
        if re.fullmatch(r"\d+(\.\d+)?", word):
            return float(word)
        if word in _TENS:
            following = _NUMBERS.get(words[index + 1], 0.0) if index + 1 < len(words) else 0.0
            return _TENS[word] + (following if following < 10 else 0.0)
        if word in _NUMBERS:
            return _NUMBERS[word]
    return None


@dataclass(frozen=True, slots=True)
class Duration:
    """How long: in days, and in words that may follow "you have had it"."""

    days: float
    words: str


def duration(text: str) -> Duration | None:
    """ "About three days." or "since yesterday"; None if no duration is in it."""
    said = plain(text)
    units = "|".join(_DAYS)
    for hit in re.finditer(rf"(?:(\S+) )??(\S+) (?:of |or so )?(?:{units})s?\b", said):
        unit = _DAYS[hit[0].split()[-1].removesuffix("s")]
        before = said[: hit.start(2)].split()[-1:]
        lead = before[0] if before and (before[0] in _TENS or before[0] in _VAGUE) else ""
        amount = f"{lead} {hit[2]}".strip()
        value = number(amount)
        if value is None:
            value = next((_VAGUE[word] for word in amount.split() if word in _VAGUE and word not in ("a", "an")), None)
        if value is None and hit[2] in _VAGUE:
            value = _VAGUE[hit[2]]
        if value is not None:
            return Duration(value * unit, " ".join(f"for {lead} {said[hit.start(2) : hit.end()]}".split()))
    for phrase, days in _NAMED_DAYS.items():
        if re.search(rf"\b{phrase}\b", said):
            return Duration(days, f"since {phrase}")
    return None
