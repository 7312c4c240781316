"""Text from outside, made harmless to look at.

A terminal obeys control characters in what it is given to show, and direction marks make a line read as something
else. Neither is ever part of what somebody said.
"""

from __future__ import annotations

import re

_COMMANDS = re.compile(
    r"""(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]                # cursor, colour, erase
      | (?:\x1b[]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?  # titles, clipboard, device strings
      | \x1b.?                                          # any other escape
    """,
    re.VERBOSE | re.DOTALL,
)
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def one_line(text: object) -> str:
    """The text on one line, with single blanks, without control characters, escape sequences and direction marks."""
    return " ".join(_UNSEEN.sub(" ", _COMMANDS.sub(" ", str(text))).split())
