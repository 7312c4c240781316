"""Comparing what was said with what was recognised."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.stt.words import clean, normalise, one_spelling, word_errors


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("", ""),
        ("♪", ""),
        (" ♪♪♪ ", ""),
        ("...", ""),
        ("?!", ""),
        ("  Yes.  ", "Yes."),
        ("♪ La la ♪", "La la"),
        ("Since\nMonday.", "Since Monday."),
        ("안녕 하세요", "안녕 하세요"),
        ("5", "5"),
    ],
)
def test_only_words_are_text(raw: str, text: str):
    """A music sign sent to the server would be an answer that nobody gave."""
    assert clean(raw) == text


@pytest.mark.parametrize(
    ("heard", "spelt"),
    [
        ("Mm-h", "Mm-hmm"),
        ("Mm-hm.", "Mm-hmm."),
        ("mhm", "mm-hmm"),
        ("M-hm, yes.", "Mm-hmm, yes."),
        ("Mm hmm", "Mm-hmm"),
        ("Mm-hmm.", "Mm-hmm."),
        ("Uh-hu", "Uh-huh"),
        ("uh huh", "uh-huh"),
        ("Uh-uh.", "Uh-uh."),
        ("Hm?", "Hmm?"),
        ("Hmmm...", "Hmm..."),
        ("Mmm.", "Mm."),
        ("O.K. then", "Okay then"),
        ("OK", "Okay"),
        ("The room is 5 mm wide", "The room is 5 mm wide"),
        ("Ham and okra", "Ham and okra"),
    ],
)
def test_hums_have_one_spelling(heard: str, spelt: str):
    """A nod that is spelt in a way nobody put on the list stops the voice."""
    assert one_spelling(heard) == spelt


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("It’s TEN o'clock!", "it's ten o'clock"),
        ("well-known", "well known"),
        ("No, only a headache.", "no only a headache"),
        ("'quoted'", "quoted"),
        ("STRASSE straße", "strasse strasse"),
        ("Proszę, żółć.", "proszę żółć"),
        ("38.5 degrees", "38 5 degrees"),
    ],
)
def test_normalise(text: str, normal: str):
    """Punctuation and case are not recognition errors."""
    assert normalise(text) == normal


@pytest.mark.parametrize(
    ("reference", "hypothesis", "errors"),
    [
        ("ten of clubs", "Ten of clubs.", (0, 3)),
        ("ten of clubs", "ten clubs", (1, 3)),
        ("ten of clubs", "ten of the clubs", (1, 3)),
        ("ten of clubs", "tin of clubs", (1, 3)),
        ("ten of clubs", "", (3, 3)),
        ("", "you", (1, 0)),
        ("a b c d", "b c d e", (2, 4)),
    ],
)
def test_word_errors(reference: str, hypothesis: str, errors: tuple[int, int]):
    """Every published recognition figure rests on this count."""
    assert word_errors(reference, hypothesis) == errors


texts = st.lists(st.sampled_from(["yes", "no", "three", "days", "Monday"]), max_size=8).map(" ".join)


@given(texts, texts)
def test_it_is_a_distance(one: str, other: str):
    """Equal texts have no errors; swapping the texts changes only the length; never more errors than words."""
    errors, length = word_errors(one, other)
    assert (errors == 0) == (normalise(one) == normalise(other))
    assert length == len(one.split())
    assert errors == word_errors(other, one)[0]
    assert errors <= max(length, len(other.split()))
