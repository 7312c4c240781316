"""Text from outside, made harmless to look at.

A terminal obeys control characters in what it is given to show, and direction marks make a line read as something
else. Neither is ever part of what somebody said.
"""

from __future__ import annotations

import re
import unicodedata

_COMMANDS = re.compile(
    r"""(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]                # cursor, colour, erase
      | (?:\x1b[]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?  # titles, clipboard, device strings
      | \x1b.?                                          # any other escape
    """,
    re.VERBOSE | re.DOTALL,
)
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode's categories of controls, formats, halves of pairs, private and unassigned characters, line separators."""

_JOINERS = "\u200c\u200d"
"""Formats that belong to words (Persian, Indic scripts) and to emoji."""


def one_line(text: object) -> str:
    """The text on one line, with single blanks, without control characters, escape sequences and direction marks."""
    shown = (
        character if unicodedata.category(character) not in _UNSEEN or character in _JOINERS else " "
        for character in _COMMANDS.sub(" ", str(text))
    )
    return " ".join("".join(shown).split())
