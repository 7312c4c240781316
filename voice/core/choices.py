"""Which of the answers that the server offered was meant, if it is beyond doubt; else nobody's words are touched.

| step       | what fits                                                               | example: offered; said        |
| ---------- | ----------------------------------------------------------------------- | ----------------------------- |
| exact      | the label itself, but for case, punctuation and the way numbers are     | "Check-up"; "check up."       |
|            | written                                                                 |                               |
| synonym    | another way to say yes, no or not sure, if exactly one label says that  | "No"; "nope"                  |
| ordinal    | its place in the list, if no label has a number in it                   | three days; "the second one"  |
| wrapped    | the label in words that add nothing                                     | "Friday"; "on Friday, please" |
| sound      | nearly the same letters, or the same sounds, and no other label is near | "Friday"; "fry day"           |

Whoever says more than the answer is sent as they spoke: "no, but my knee hurts" is not "No". So is a hedge ("no, I
think") and every sentence of more than `LONGEST` words. The lists are English; other languages have the other steps.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import jellyfish
from rapidfuzz.distance import OSA

from voice.core.text import listed

How = Literal["exact", "synonym", "ordinal", "wrapped", "sound"]

LONGEST = 6
"""Words of an answer that may still be nothing but a choice; a longer one has something to say of its own."""

SAME = 0.8
"""Share of the letters that must agree (optimal string alignment). Wrong words ("Thursday" for "Tuesday",
"subscription" for "prescription") reach 0.75. Of 15 slips and 20 wrong words, Jaro-Winkler kept 7 and the insert and
delete distance 8 of the slips above every wrong word, this one 10. Of the codes for sounds, metaphone takes the
fewest wrong words for the same; soundex takes more slips, and more wrong words."""

SOUNDS = 0.55
"""The same where the sounds are equal ("fry day", "mourning"); "coffee" for "cough" has 0.5."""

APART = 0.2
"""How much better the best label must fit than the second best."""

NEAR = 0.6
"""Labels of which so many letters agree ("thirteen", "thirty") are taken apart by their exact words only."""

LETTERS = 6
"""Letters from which on they prove something alone; shorter words ("fewer" for "Fever") must sound the same."""

SHORTEST = 4
"""Letters below which a word is never guessed: among three-letter words nearly everything is near."""

Meaning = Literal["yes", "no", "unsure"]

_SAYS: dict[Meaning, str] = {
    "yes": "yes|yeah|yep|yup|yea|yah|sure|of course|yes of course|yes sure|yes yes|yes i do|yes i have|yes i am|i do"
    "|i have|yes it is|yes it does|yes they do|yes that's right|that's right|correct|yes correct|absolutely|definitely",
    "no": "no|nope|nah|nay|no i don't|no i do not|no i haven't|no i have not|no i'm not|no i am not|i don't|i do not"
    "|i haven't|i have not|no it isn't|no it is not|no it doesn't|no they don't|not at all|no not at all|none"
    "|none of them|none of these|no none|no none of them|never",
    "unsure": "not sure|i'm not sure|i am not sure|unsure|i'm unsure|i don't know|i do not know|don't know|do not know"
    "|dunno|i dunno|no idea|i have no idea|i've no idea|hard to say|i can't say|can't say|not certain|i'm not certain",
}
_MEANINGS: dict[str, Meaning] = {phrase: meaning for meaning, said in _SAYS.items() for phrase in listed(said)}

_BEFORE = listed(
    "um|uh|er|erm|hm|hmm|well|oh|so|a|an|the|in|on|at|for|in the|on the|it's|it is|that's|that is|i'd like|i would like"
    "|i want|i'll take|i will take|i take|i'd rather|make it|let's say|let's take|say"
)
_AFTER = listed("please|thanks|thank you|then|um|uh")
_NEGATIONS = frozenset(["no", "not", "never", "none", "nor", "neither", "without", "cannot", "except"])
_AMOUNT = re.compile(r"\bhyp(?:er|o)")
"""Too much and too little of something, two letters apart in a long word: never one for the other."""

_ORDINALS = {word: place for place, word in enumerate(listed("first|second|third|fourth|fifth|sixth"))}
_ORDINALS |= {word: place for place, word in enumerate(listed("1st|2nd|3rd|4th|5th|6th"))}
_UNITS = "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
_NUMBERS = {word: value for value, word in enumerate(listed(_UNITS + "|seventeen|eighteen|nineteen"))}
_TENS = {word: 10 * n for n, word in enumerate(listed("twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"), 2)}
_PLACE = re.compile(r"(?:the )?(?:(\w+) (?:one|option|choice|answer)|(?:number|option|choice|answer) (\w+)|(\w+))")


@dataclass(frozen=True, slots=True)
class Choice:
    """The answer that was meant: its label in the server's spelling, its place in the list, and how it was found."""

    label: str
    index: int
    how: How


def match(text: str, choices: Sequence[str]) -> Choice | None:
    """The one of `choices` that `text` says and nothing else, or None: then the raw words count."""
    labels = [_plain(label) for label in choices]
    said = _plain(text)
    if not said or not any(labels):
        return None

    def found(index: int | None, how: How) -> Choice | None:
        return None if index is None else Choice(choices[index], index, how)

    if (exact := found(_only(labels, said), "exact")) is not None or len(said.split()) > LONGEST:
        return exact
    bare = _unwrapped(said, _AFTER, ())
    stripped = _unwrapped(said, _AFTER, _BEFORE)
    meanings = [_MEANINGS.get(label) for label in labels]
    meaning = _MEANINGS.get(bare) or _MEANINGS.get(stripped)
    if meaning is not None and any(meanings):
        return found(_only(meanings, meaning), "synonym")
    if not any(meanings) and (place := _place(bare, labels)) is not None:
        return found(place, "ordinal")
    unwrapped = [_unwrapped(label, (), _BEFORE) for label in labels]
    if (same := found(_only(unwrapped, stripped), "wrapped")) is not None:
        return same
    return found(_nearest(stripped, unwrapped), "sound")


def meaning(text: str) -> Meaning | None:
    """Whether `text` says yes, no or not sure and nothing else."""
    said = _plain(text)
    return _MEANINGS.get(_unwrapped(said, _AFTER, ())) or _MEANINGS.get(_unwrapped(said, _AFTER, _BEFORE))


def _only(entries: Sequence[str | None], wanted: str) -> int | None:
    """The place of `wanted` if it stands there exactly once."""
    places = [place for place, entry in enumerate(entries) if entry == wanted]
    return places[0] if len(places) == 1 else None


def _plain(text: str) -> str:
    """Lower case words with single blanks; numbers up to ninety-nine in digits."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return _digits(re.findall(r"[^\W_]+(?:'[^\W_]+)*", folded))


def _digits(words: list[str]) -> str:
    written: list[str] = []
    tens = False
    for word in words:
        value = _NUMBERS.get(word)
        if tens and value is not None and 0 < value < 10:
            written[-1] = str(int(written[-1]) + value)
            tens = False
        else:
            tens = word in _TENS
            written.append(str(_TENS[word]) if tens else word if value is None or word == "one" else str(value))
    return " ".join("1" if word == "one" and len(written) == 1 else word for word in written)


def _unwrapped(said: str, after: Sequence[str], before: Sequence[str]) -> str:
    """`said` without words that add nothing, as long as something is left."""
    while True:
        shorter = next((said.removesuffix(" " + phrase) for phrase in after if said.endswith(" " + phrase)), said)
        shorter = next(
            (shorter.removeprefix(phrase + " ") for phrase in before if shorter.startswith(phrase + " ")), shorter
        )
        if shorter == said:
            return said
        said = shorter


def _place(said: str, labels: Sequence[str]) -> int | None:
    """The place that an ordinal names; None where a label has numbers of its own, which "the second" could mean."""
    own = [word for label in labels for word in label.split()]
    if any(_counts(word) for word in own):
        return None
    if (hit := _PLACE.fullmatch(said)) is None:
        return None
    word, number, alone = hit.groups()
    if (named := word or alone) == "last" and (word or said.startswith("the ")):
        return len(labels) - 1
    place = _ORDINALS.get(named or "")
    if number is not None:
        place = int(number) - 1 if number.isdecimal() else 0 if number == "one" else None
    return place if place is not None and 0 <= place < len(labels) else None


def _counts(word: str) -> bool:
    """Whether an ordinal or a number may stand for this word of a label: "second" is what is heard of "Seconds"."""
    return word in ("one", "last") or word.removesuffix("s") in _ORDINALS or any(map(str.isdigit, word))


def _nearest(said: str, labels: Sequence[str]) -> int | None:
    """The label that sounds or reads like `said`, if there is one and no other is near to either."""
    if len(said.replace(" ", "")) < SHORTEST or any(map(str.isdigit, said)):
        return None
    ranked = sorted(((_likeness(said, label), place) for place, label in enumerate(labels)), reverse=True)
    (best, place), second = ranked[0], ranked[1][0] if len(ranked) > 1 else 0.0
    label = labels[place]
    if len(label.replace(" ", "")) < SHORTEST or any(map(str.isdigit, label)):
        return None
    if _AMOUNT.findall(said) != _AMOUNT.findall(label):
        return None
    if _negations(said) != _negations(label) or len(said.split()) > len(label.split()) + 1:
        return None
    if any(_likeness(label, other) >= NEAR for at, other in enumerate(labels) if at != place):
        return None
    return place if best >= SAME and best - second >= APART else None


def _negations(said: str) -> int:
    return sum(word in _NEGATIONS or word.endswith("n't") for word in said.split())


@lru_cache(maxsize=512)
def _likeness(one: str, other: str) -> float:
    """0 to 1: the share of letters that agree, or `SAME` and more where the sounds are equal. 0 where the first
    sounds differ: "impossible" is not "possible"."""
    one, other = one.replace(" ", ""), other.replace(" ", "")
    letters = OSA.normalized_similarity(one, other)
    if not (one.isascii() and one.isalpha() and other.isascii() and other.isalpha()):
        return letters
    sounds = jellyfish.metaphone(one), jellyfish.metaphone(other)
    if sounds[0][:1] != sounds[1][:1]:
        return 0.0
    if sounds[0] == sounds[1] and len(sounds[0]) > 1 and letters >= SOUNDS:
        return max(letters, SAME + (letters - SOUNDS) / 4)
    return letters if min(len(one), len(other)) >= LETTERS else letters * SAME
