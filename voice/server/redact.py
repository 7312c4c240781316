"""A toy redactor: e-mail addresses, telephone numbers and names given as "my name is ..."."""

from __future__ import annotations

import re

_EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b\w+ at \w+ dot (?:com|org|net)\b", re.IGNORECASE)

_PHONE = re.compile(r"(?<![\w$€£.,])\+?\(?\d(?:[ ().-]{0,2}\d){6,14}(?!\w|,\d)")
"""Seven digits or more (the shortest subscriber numbers), at most fifteen (E.164)."""

_DIGIT = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
_SPOKEN_PHONE = re.compile(
    rf"\b(?:(?:double |triple )?{_DIGIT}[ ,-]+){{3,14}}(?:double |triple )?{_DIGIT}\b", re.IGNORECASE
)
"""Four spoken digits or more: a recogniser misreads one of seven, and what is left on either side is still private."""

_NAME_WORD = r"(?!(?:and|but|my|i|the|is|on|at|from|please|thank|thanks)\b)[^\W\d_][\w'’-]*"
_NAME = re.compile(
    rf"\b((?:my name is|my name's|my name’s|i am called|i'm called)\s+){_NAME_WORD}(?:\s+{_NAME_WORD})?", re.IGNORECASE
)


def redact(text: str) -> str:
    """`text` with personal data replaced by [EMAIL], [PHONE] and [NAME]."""
    text = _EMAIL.sub("[EMAIL]", text)
    text = _PHONE.sub("[PHONE]", text)
    text = _SPOKEN_PHONE.sub("[PHONE]", text)
    return _NAME.sub(r"\1[NAME]", text)
