"""Choices: "yeah" is what the server called "Yes", and "no, but my knee hurts" is nobody's "No"."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.core.choices import match, meaning

YES_NO = ("Yes", "No", "I am not sure")
SPELLED = ("Yes, I do", "No", "Don't know")
DAYS = ("Tuesday", "Wednesday", "Friday")
VISITS = ("Check-up", "Vaccination", "Prescription")
SINCE = ("Today", "A few days", "Longer")
PARTS = ("Throat", "Stomach", "Back")
SCALE = tuple(str(n) for n in range(11))

FITS = [
    ("Yes.", YES_NO, "Yes"),
    ("yeah", YES_NO, "Yes"),
    ("Yep!", YES_NO, "Yes"),
    ("yup", SPELLED, "Yes, I do"),
    ("Well, yes.", YES_NO, "Yes"),
    ("Yes, please.", ("Yes", "No"), "Yes"),
    ("nope", YES_NO, "No"),
    ("Nah.", YES_NO, "No"),
    ("No, I don't.", YES_NO, "No"),
    ("No, thanks.", ("Yes", "No"), "No"),
    ("I don't know.", YES_NO, "I am not sure"),
    ("Dunno", SPELLED, "Don't know"),
    ("I’m not sure", YES_NO, "I am not sure"),
    ("check up", VISITS, "Check-up"),
    ("checkup", VISITS, "Check-up"),
    ("A vaccination, please.", VISITS, "Vaccination"),
    ("I'd like a vaccination", VISITS, "Vaccination"),
    ("prescriptions", VISITS, "Prescription"),
    ("On Friday, please.", DAYS, "Friday"),
    ("fry day", DAYS, "Friday"),
    ("In the mourning.", ("Morning", "Afternoon"), "Morning"),
    ("few days", SINCE, "A few days"),
    ("The second one.", SINCE, "A few days"),
    ("the second one, please", DAYS, "Wednesday"),
    ("Number two.", DAYS, "Wednesday"),
    ("option 3", DAYS, "Friday"),
    ("the last one", DAYS, "Friday"),
    ("last one", SINCE, "Longer"),
    ("The first.", VISITS, "Check-up"),
    ("Three.", SCALE, "3"),
    ("10", SCALE, "10"),
    ("twenty four", ("24", "42"), "24"),
    ("thirteen", ("thirteen", "thirty"), "thirteen"),
    ("Nein.", ("Ja", "Nein"), "Nein"),
    ("second", ("Seconds", "Minutes", "Hours"), "Seconds"),
]

STAYS_RAW = [
    ("no, but my knee hurts", YES_NO, "there is more in it than a no"),
    ("Yes, since Monday", YES_NO, "there is more in it than a yes"),
    ("No, I think.", YES_NO, "a hedge"),
    ("maybe", YES_NO, "neither"),
    ("no no", YES_NO, "an order to stop"),
    ("I don't know", ("Yes", "No"), "nobody offered that"),
    ("know", YES_NO, "three letters prove nothing"),
    ("yes no", YES_NO, "both"),
    ("Thursday", DAYS, "another day, five letters of seven alike"),
    ("Monday", ("Sunday", "Friday"), "another day"),
    ("not Friday", DAYS, "the opposite"),
    ("Tuesday or Friday", DAYS, "two"),
    ("It is my stomach that hurts since Friday", PARTS, "a sentence of its own"),
    ("coffee", ("Cough", "Fever"), "the sounds of cough in another word"),
    ("impossible", ("Possible", "Unlikely"), "the opposite, four letters of five alike"),
    ("fewer", ("Fever", "Cough"), "one letter in five"),
    ("black", PARTS, "one letter in five"),
    ("subscription", VISITS, "another word"),
    ("thirtene", ("thirteen", "thirty"), "two choices are near each other"),
    ("Friday", ("Friday the 13th", "Friday the 20th"), "two choices begin so"),
    ("the second", ("On the first", "On the third"), "a date"),
    ("number two", SCALE, "a number is not a place among numbers"),
    ("two", SINCE, "two days, perhaps"),
    ("the fourth one", DAYS, "there are three"),
    ("second", YES_NO, "nobody counts yes and no"),
    ("hypotension", ("Hypertension", "Diabetes"), "the opposite, ten letters of twelve alike"),
    ("hyperglycemia", ("Hypoglycemia", "Diabetes"), "the opposite"),
    ("", YES_NO, "nothing"),
    ("...", YES_NO, "nothing"),
    ("Yes", ("Yes", "yes!"), "two labels say the same"),
    ("Yes", (), "nothing was offered"),
    ("Yes", ("", "?"), "nothing was offered"),
]


@pytest.mark.parametrize(("text", "choices", "label"), FITS)
def test_what_fits_becomes_the_choice(text: str, choices: tuple[str, ...], label: str) -> None:
    """A server with chips knows its own words best; a slip of the recogniser would make it ask again."""
    found = match(text, choices)
    assert found is not None
    assert (found.label, choices[found.index]) == (label, label)


@pytest.mark.parametrize(("text", "choices", "why"), STAYS_RAW)
def test_what_does_not_stays_as_it_was_said(text: str, choices: tuple[str, ...], why: str) -> None:
    """A patient's words would be replaced by others that they did not say."""
    assert match(text, choices) is None, why


def test_how_it_was_found_is_told() -> None:
    """The steps are tried in the order of the table, the surest first."""
    said = ["Friday", "yes", "the third one", "on Friday", "fry day"]
    offered = [DAYS, ("Yes I do", "No"), DAYS, DAYS, DAYS]
    found = [match(text, choices) for text, choices in zip(said, offered, strict=True)]
    assert [choice and choice.how for choice in found] == ["exact", "synonym", "ordinal", "wrapped", "sound"]


def test_a_meaning_needs_no_labels() -> None:
    """A server without chips asks yes or no, too; the ears want to know that this was an answer."""
    assert [meaning(text) for text in ("Yeah.", "Nope, thanks.", "Not sure", "No, but", "Friday")] == [
        "yes",
        "no",
        "unsure",
        None,
        None,
    ]


LABELS = st.lists(st.text("abdeimnorsty '-", min_size=1, max_size=12), max_size=5).map(tuple)


@given(st.text("abdeimnorsty ,.", max_size=24), LABELS)
def test_a_choice_is_one_of_those_offered(text: str, choices: tuple[str, ...]) -> None:
    """Whatever is recognised, nothing but a label goes out in its place."""
    found = match(text, choices)
    assert found is None or found.label == choices[found.index]


@given(LABELS.filter(lambda labels: len(set(labels)) == len(labels)))
def test_a_denial_is_never_a_choice(choices: tuple[str, ...]) -> None:
    """ "Not that one" would be sent as that one."""
    assert all((found := match(f"not {label}", choices)) is None or "not" in found.label for label in choices)
