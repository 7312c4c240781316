"""A terminal does what it is shown; a server must not be able to tell it anything."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.screen.plain import one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", "plain words"),
        ("two\nlines\tand  blanks ", "two lines and blanks"),
        ("\x1b[2Jwiped", "wiped"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b2Jwiped", "wiped"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]52;c;ZXZpbA==\x1b\\after", "after"),
        ("\x1b]8;;x:y\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPdevice\x1b\\after", "after"),
        ("\x1bcreset", "reset"),
        ("a\rb\x08c\x7fd", "a b c d"),
        ("\u202egnp.exe", "gnp.exe"),
        ("您好，感谢 naïve", "您好，感谢 naïve"),
        ("[bold]kept[/bold]", "[bold]kept[/bold]"),
        ("end\x1b", "end"),
        ("soft\u00adhyphen", "soft hyphen"),
        ("half a \ud800 pair", "half a pair"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_shows_the_words_and_obeys_nothing(text, shown):
    """Somebody's screen would be wiped, renamed, or made to say something else."""
    assert one_line(text) == shown


@given(st.text())
def test_leaves_no_character_that_a_terminal_obeys(text):
    """Whatever comes, in whatever order."""
    assert not {unicodedata.category(character) for character in one_line(text)} & {"Cc", "Cs", "Zl", "Zp"}
