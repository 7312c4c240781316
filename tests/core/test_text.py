"""Joining and shortening of texts that go to the server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.core.text import joined, shorten


@pytest.mark.parametrize(
    ("texts", "whole"),
    [
        ([], ""),
        (["", "a", ""], "a"),
        (["a.", "b."], "a. b."),
        (["a. ", "b."], "a. b."),
        (["a.", "\nb."], "a.\nb."),
        (["好的。", "疼了多久？"], "好的。疼了多久？"),
        (["はい。", "ええ"], "はい。ええ"),
        (["네.", "언제요?"], "네. 언제요?"),
        (["OK.", "好的。"], "OK. 好的。"),
    ],
)
def test_texts_are_joined_as_they_are_displayed(texts: list[str], whole: str) -> None:
    """H6. A blank in Chinese, or two English words in one: the server looks in vain for what was heard."""
    assert joined(texts) == whole


@given(st.text(), st.integers(1, 50))
def test_a_shortened_text_is_a_prefix_within_the_limit(text: str, limit: int) -> None:
    """One code point too many, and the server refuses the whole message."""
    short = shorten(text, limit)
    assert text.startswith(short)
    assert len(short) <= limit


def test_a_shortened_text_ends_with_a_word_where_it_can() -> None:
    """Half a word may be another word."""
    assert shorten("I cannot see", 7) == "I"
    assert shorten("I cannot see", 8) == "I cannot"
    assert shorten("Donaudampfschiff", 5) == "Donau"
