"""Our own words in the room, told from the user's."""

from __future__ import annotations

import pytest

from voice.core.events import Caption, MessageClosed
from voice.core.own_words import OwnWords

QUESTION = "Do you have a headache today, yes or no?"


def spoken(text: str, start: float = 0.0, word: float = 0.3) -> OwnWords:
    own = OwnWords()
    for number, single in enumerate(text.split(), 1):
        own.heard(single, start + number * word)
    return own


def test_text_that_repeats_what_we_said_is_ours() -> None:
    """F13. The program would answer itself, and go round in circles."""
    own = spoken(QUESTION)  # ends at 2.7; it is read 1.5 s later
    assert own.repeats("have a headache today", 0.6, 2.0)
    assert own.repeats("You have a headache to day", 0.8, 2.3), "misread a little"


@pytest.mark.parametrize(("onset", "end"), [(3.0, 3.25), (2.8, 3.1), (4.5, 4.8), (1.0, 1.3)])
def test_the_users_own_no_is_kept(onset: float, end: float) -> None:
    """F13. "Yes or no?" "No." Nobody could answer such a question."""
    assert not spoken(QUESTION).repeats("No.", onset, end)


def test_the_tail_in_the_room_is_ours() -> None:
    """F12. The last word rings on after the voice has ended; it is not the answer."""
    assert spoken(QUESTION).repeats("no", 2.5, 3.0)


def test_an_answer_that_uses_our_words_is_the_users() -> None:
    """ "Yes, a headache since Monday" holds words of the question."""
    own = spoken(QUESTION)
    assert not own.repeats("a headache today", 3.0, 4.0)
    assert not own.repeats("yes I do have one since Monday", 3.0, 5.0)
    assert not own.repeats("a bad headache since Monday", 3.0, 5.0)


def test_words_said_long_ago_are_not_held_against_the_user() -> None:
    """Somebody may well quote what we said a minute ago."""
    assert not spoken(QUESTION).repeats("have a headache today", 60.0, 62.0)


def test_it_follows_what_was_heard_word_by_word() -> None:
    """Text that waits to be spoken cannot echo."""
    own = OwnWords()
    own.note([Caption("m", "follow_up", "one two three four five", 7)], 1.0)
    assert not own.repeats("three four five", 0.5, 1.2)
    own.note([Caption("m", "follow_up", "one two three four five", 13)], 1.5)
    own.note([MessageClosed("m", "t", "follow_up", True, "", "one two three four five", None, False, 0.0, 2.0)], 2.0)
    assert own.repeats("three four five", 0.5, 2.2)


def test_it_knows_single_words_that_we_said() -> None:
    """An order to stop that we have just spoken ourselves may be an echo."""
    own = spoken("If you notice a rash, stop taking the tablets")  # "stop" at 1.8
    assert own.said("stop taking", 1.6, 2.2)
    assert not own.said("stop it", 1.6, 2.2)
    assert not own.said("stop", 4.0, 4.3)


def test_memory_is_bounded() -> None:
    """A kiosk speaks for months."""
    own = spoken("word " * 10_000)
    assert len(own._said) <= 301
