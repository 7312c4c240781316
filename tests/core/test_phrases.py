"""Short phrases and what they mean to the floor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.core.phrases import Lexicon, Phrases, plain

ENGLISH = Lexicon(Phrases())


def test_a_word_that_begins_like_a_stop_phrase_is_none() -> None:
    """ "Stopping the tablets" is an answer."""
    assert not ENGLISH.is_stop("stopping the tablets")
    assert ENGLISH.is_stop("stop the tablets")
    assert ENGLISH.is_stop("oh okay wait a moment")
    assert not ENGLISH.is_stop("okay")


def test_phrases_are_compared_in_plain_form() -> None:
    """A phrase that an operator wrote with a capital or a full stop would never match."""
    lexicon = Lexicon(Phrases(stop=("Stop!", "Czekaj, proszę.", " ")))
    assert lexicon.is_stop(plain("stop"))
    assert lexicon.is_stop(plain("Czekaj proszę!"))
    assert not lexicon.is_stop(plain("and so on"))
    assert plain("si\u0301") == plain("s\u00ed"), "an accent typed apart from its letter is the same word"


@pytest.mark.parametrize(
    ("words", "for_us"),
    [("", False), ("okay", False), ("yeah okay sure", False), ("you", False), ("okay but", True), ("okay stop", True)],
)
def test_words_for_us(words: str, for_us: bool) -> None:
    """A backchannel before the real thing must not hide it."""
    assert ENGLISH.is_for_us(words) == for_us


@given(st.lists(st.sampled_from(["mm hm", "yeah", "uh huh", "okay", "i see"]), min_size=1, max_size=30))
def test_backchannels_in_a_row_are_one(row: list[str]) -> None:
    """Somebody who nods along with every word must not stop the voice."""
    assert ENGLISH.is_backchannel(" ".join(row))
    assert not ENGLISH.is_backchannel(" ".join([*row, "pain"]))
