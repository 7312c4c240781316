from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice.server.understand import affirmed, duration, matcher, number, plain, yes_no


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Yes.", "yes"),
        ("yeah", "yes"),
        ("Uh, yes, I think so.", "yes"),
        ("Yes, no problem.", "yes"),
        ("I do.", "yes"),
        ("Of course!", "yes"),
        ("No, I don't.", "no"),
        ("Nope.", "no"),
        ("No fever, yes.", "no"),
        ("I do not have a fever.", "no"),
        ("I haven’t.", "no"),
        ("That's not right.", "no"),
        ("Of course not.", "no"),
        ("I don't think so.", "no"),
        ("No, none of them.", "no"),
        ("I don't know.", "unsure"),
        ("Not sure.", "unsure"),
        ("Maybe.", "unsure"),
        ("The weather.", None),
        ("", None),
        ("Yesterday.", None),
        ("I know.", None),
    ],
)
def test_yes_and_no_as_people_say_them(said: str, meant: str | None) -> None:
    """Hurts whoever says no in their own words and is sent to the emergency room."""
    assert yes_no(said) == meant


@pytest.mark.parametrize(
    ("said", "days", "words"),
    [
        ("About three days.", 3, "for three days"),
        ("3 days", 3, "for 3 days"),
        ("Since yesterday.", 1, "since yesterday"),
        ("A couple of days", 2, "for a couple of days"),
        ("a few weeks", 21, "for a few weeks"),
        ("twenty-five days", 25, "for twenty five days"),
        ("for a week now", 7, "for a week"),
        ("Three or four days.", 4, "for four days"),
        ("I've had it for 2 weeks", 14, "for 2 weeks"),
        ("This morning", 0.5, "since this morning"),
        ("1.5 days", 1.5, "for 1.5 days"),
        ("Half an hour", 0.5 / 24, "for half an hour"),
        ("one day", 1, "for one day"),
    ],
)
def test_durations_as_people_say_them(said: str, days: float, words: str) -> None:
    """Hurts whoever has been ill for weeks and is taken for a case of today."""
    found = duration(said)
    assert found is not None
    assert (round(found.days, 4), found.words) == (round(days, 4), words)


@pytest.mark.parametrize("said", ["", "Days.", "No idea.", "Quite long.", "Three."])
def test_what_is_no_duration(said: str) -> None:
    """Better asked again than guessed."""
    assert duration(said) is None


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Four.", 4),
        ("38.5 degrees", 38.5),
        ("about 8 out of 10", 8),
        ("twenty-five", 25),
        ("thirty", 30),
        ("It's a seven.", 7),
        ("1,500", 1500),
        ("zero", 0),
        ("none", None),
        ("someone", None),
        ("", None),
    ],
)
def test_numbers_as_people_say_them(said: str, value: float | None) -> None:
    """Hurts whoever says how strong the pain is."""
    assert number(said) == value


def test_a_phrase_is_found_on_word_boundaries_only() -> None:
    """A "scold" is no cold."""
    cold = matcher(["cold"])
    assert cold.find("I have a COLD!") == (9, 13)
    assert cold.find("They scold me") is None
    assert cold.find("colder") is None


def test_a_request_counts_at_the_start_of_an_answer_only() -> None:
    """Hurts whoever says that the pain does not stop: the conversation would."""
    stop = matcher(["stop", "say that again", r"/(speak|talk) to (a )?nurse/"])
    for said in ("Stop!", "Please stop.", "Okay, stop it.", "Could you say that again?", "I want to talk to a nurse"):
        assert stop.begins(said), said
    for said in ("The pain does not stop.", "It stopped.", "", "Nonstop"):
        assert not stop.begins(said), said


@pytest.mark.parametrize(
    ("said", "no"),
    [
        ("no fever", True),
        ("I don't have a fever", True),
        ("never had any fever", True),
        ("I have a fever", False),
        ("No, I have a fever.", False),
        ("No, but a really high fever", False),
        ("It does not hurt. But I have fever.", False),
        ("a cough, and no fever", True),
        ("no fever today, but fever yesterday", False),
    ],
)
def test_a_finding_is_denied_by_the_words_before_it_in_its_clause(said: str, no: bool) -> None:
    """Hurts whoever says "no fever" and has a fever on record, or the other way round."""
    assert affirmed(said, matcher(["fever"])) is not no


@settings(max_examples=100)
@given(st.text())
def test_anything_can_be_said(said: str) -> None:
    """The words come from a recogniser or a keyboard; no text may end a conversation."""
    assert plain(plain(said)) == plain(said)
    yes_no(said), number(said), duration(said), matcher(["a b"]).find(said), matcher(["a b"]).begins(said)
