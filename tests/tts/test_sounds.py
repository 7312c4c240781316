"""A word taken for shorter than it is said would be claimed before it was heard."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.tts.sounds import number, sounds


@pytest.mark.parametrize(
    ("digits", "words"),
    [
        ("0", "zero"),
        ("12", "twelve"),
        ("45", "forty five"),
        ("118", "one hundred and eighteen"),
        ("1,249.99", "one thousand two hundred and forty nine point nine nine"),
        ("38.5", "thirty eight point five"),
        ("0800", "zero eight zero zero"),
        ("5551234", "five five five one two three four"),
        ("1,000", "one thousand"),
    ],
)
def test_numbers_are_as_long_as_they_are_read(digits: str, words: str) -> None:
    """Hurts whoever cuts in a sentence with an amount: six digits take two seconds."""
    assert number(digits) == words.split()


@pytest.mark.parametrize(
    ("word", "classes"),
    [
        ("strength", "SPNVNF"),
        ("please", "PNVS"),
        ("walked", "NVNPP"),
        ("wanted", "NVNPVP"),
        ("little", "PVPVN"),
        ("question", "PNVSSVN"),
    ],
)
def test_letters_are_sorted_by_how_they_sound(word: str, classes: str) -> None:
    """The estimate shares speech time out by these."""
    assert sounds(word)[1:] == classes[1:]


def test_signs_and_letters_by_name_count() -> None:
    """ "$5", "20%", "MRI" are longer than they look."""
    assert len(sounds("$5")) > len(sounds("5"))
    assert len(sounds("20%")) > len(sounds("20"))
    assert len(sounds("MRS")) > len(sounds("mrs"))


@pytest.mark.parametrize("word", ["--", "...", "😀", "«", "\x00", "\ud800"])
def test_what_is_not_spoken_has_no_sounds(word: str) -> None:
    """A dash must not take time from the words around it."""
    assert sounds(word) == ""


@given(st.text(max_size=30))
def test_any_word_has_an_answer(word: str) -> None:
    """No text of a server may break the estimate."""
    assert set(sounds(word)) <= set("VSPNF")
