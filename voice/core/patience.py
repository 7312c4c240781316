"""How long the ears wait in a silence before a turn is over, from what was said so far and what was asked.

| what was said so far                                            | silence that ends it      |
| --------------------------------------------------------------- | ------------------------- |
| an answer that fits the question, whole: "no, I don't"          | `QUICK` of the usual      |
| the same in one word, which may open a sentence: "no", "Friday" | `BRIEF` of the usual      |
| the same, but the recogniser heard a comma behind it            | the usual                 |
| ends where nobody ends: "and", "my", "um", a comma, "because"   | the usual and `LONGER`    |
| an unfinished number: "five five five", "a hundred and", "forty"| the usual and `LONGER`    |
| opens a clause that must be answered: "when I swallow"          | the usual and `LONGER`    |
| anything else                                                   | the usual                 |

The usual silence is a setting (`[ears] end_silence`), so a person who needs more time to think gets more in every row.
The words are English; in other languages the last row holds, and the short answers that the server offered.
"""

from __future__ import annotations

import re

from voice.core.choices import match, meaning
from voice.core.expectation import FREE, Expectation
from voice.core.text import listed

USUAL = 0.44
"""Seconds of silence that end a turn. Of the pauses within sentences few last longer, where the words are complete."""

QUICK = 0.6
"""Share of the usual silence after a complete answer of several words: there is nothing to add, mostly."""

BRIEF = 0.8
"""The same after one word: "no" is an answer, and the beginning of "no, but my knee hurts"."""

LONGER = 0.7
"""Seconds more where the sentence cannot be over: pauses to think last about a second."""

_WORD = re.compile(r"[\w']+")
_OPEN_MARK = re.compile(r"(?:[,;:–—-]|\.\.\.|…)\s*$")
"""The recogniser heard the melody of a sentence that goes on. Behind a single word it often hears it wrongly."""

_NOT_LAST = frozenset(
    listed(
        "a|an|the|my|your|his|her|its|our|their|every|no|very|quite|really|so|such"
        "|and|or|but|nor|because|since|although|though|while|when|whenever|where|if|unless|until|whether|than|as|like"
        "|of|in|on|at|to|for|from|with|without|into|onto|about|around|between|behind|during|through|under|over|by|per"
        "|is|are|was|were|am|be|been|being|do|does|did|has|had|have|having|will|would|can|could|should|may|might|must"
        "|i|he|she|we|they|who|which|what|whose|how|i'm|i've|i'd|i'll|he's|she's|it's|there's|that's|you're|we're"
        "|they're|isn't|wasn't|um|uh|er|erm|hm|hmm|mm|well|also|just|only|maybe|perhaps|mr|mrs|dr|number|plus|half"
    )
)
"""Words after which an English sentence does not end."""

_LAST_ANYWAY = re.compile(
    r"\b(?:yes|no|nope|yeah|so) (?:i|it|they|he|she|we) (?:am|is|are|was|were|do|does|did|has|had|have|will|can)$"
    r"|\b(?:think|hope|guess|suppose|believe|told|know|said) (?:so|it|that|not)$"
    r"|\b(?:it|that|this|way) (?:is|was|has|does|did|will|can|would|could)$"
    r"|^no(?: no)+$|\b(?:hold|hang) on$"
    r"|^(?:maybe|perhaps|no|well no|i (?:do|have|am|did|can|will|would))$"
    r"|\b(?:told|asked|see|saw|help|know|with|for|to|of) her$"
    r"|\b(?:came|went|turn|lie|pass|throw|give) (?:on|in|over)$|^(?:please )?(?:go|come|carry|move) on$"
    r"|\b(?:me too|like that|what for|where to|where from|that's all|that's it|all over|what is it|who is it)$"
)
"""The same words, where a sentence ends with them after all ("no, I don't think so")."""

_OPENERS = re.compile(
    r"^(?:well |so |and |um |uh )*(?:when|whenever|if|because|since|although|though|while|after|before) "
)
_OPENER_LONG = 6
"""Words from which on a sentence that opens with "when" has had its second half."""

_DIGIT = frozenset(listed("zero|oh|one|two|three|four|five|six|seven|eight|nine|double"))
_ROUND = frozenset(listed("twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand"))
_WHOLE_NUMBER = 7
"""Digits of a telephone number; of fewer in a row, three or more, there are more to come."""


def patience(text: str, expectation: Expectation = FREE, usual: float = USUAL) -> float:
    """Seconds of silence after which `text` (what the recogniser makes of the utterance so far) is a whole turn."""
    words = _WORD.findall(text.lower().replace("’", "'"))
    if not words:
        return usual
    if _answers(text, words, expectation):
        return usual if _OPEN_MARK.search(text) else usual * (QUICK if len(words) > 1 else BRIEF)
    return usual + LONGER if _unfinished_number(words) or _goes_on(text, words) else usual


def _answers(text: str, words: list[str], expectation: Expectation) -> bool:
    """Whether this is a complete short answer to what was asked."""
    if expectation.choices and match(text, expectation.choices) is not None:
        return True
    if expectation.kind == "yes_no":
        return meaning(text) is not None
    return expectation.kind == "number" and len(words) <= 2 and words[-1].isdecimal()


def _goes_on(text: str, words: list[str]) -> bool:
    if len(words) > 1 and _OPEN_MARK.search(text):
        return True
    said = " ".join(words)
    if words[-1] in _NOT_LAST:
        return _LAST_ANYWAY.search(said) is None
    return len(words) <= _OPENER_LONG and _OPENERS.match(said) is not None and "," not in text


def _unfinished_number(words: list[str]) -> bool:
    if words[-1] in _ROUND:
        return len(words) == 1 or words[-1] not in ("hundred", "thousand")
    digits = 0
    for word in reversed(words):
        if not (word.isdecimal() or word in _DIGIT):
            break
        digits += len(word) if word.isdecimal() else 1
    year = words[-1].isdecimal() and len(words[-1]) == 4 and words[-1][:2] in ("19", "20")
    return 3 <= digits < _WHOLE_NUMBER and not year
