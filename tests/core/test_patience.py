"""Patience: how long a silence ends a turn. Each row is a person cut off, or kept waiting."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice.core.expectation import FREE, Expectation
from voice.core.patience import BRIEF, LONGER, QUICK, USUAL, patience

YES_NO = Expectation("yes_no", ("Yes", "No", "I am not sure"))
ASKED = Expectation("yes_no")
DAYS = Expectation("choices", ("Tuesday", "Wednesday", "Friday"))
SCALE = Expectation("number", tuple(str(n) for n in range(11)))
AGE = Expectation("number")

QUICKLY, SOON, USUALLY, LONG = USUAL * QUICK, USUAL * BRIEF, USUAL, USUAL + LONGER

TABLE = [
    ("No.", YES_NO, SOON),
    ("Nope", ASKED, SOON),
    ("I don't know.", YES_NO, QUICKLY),
    ("The second one.", DAYS, QUICKLY),
    ("On Friday, please.", DAYS, QUICKLY),
    ("Three.", SCALE, SOON),
    ("42", AGE, SOON),
    ("No, I don't.", YES_NO, QUICKLY),
    ("No,", YES_NO, USUALLY),
    ("Three,", SCALE, USUALLY),
    ("No.", FREE, USUALLY),
    ("I do not have any of these.", YES_NO, USUALLY),
    ("Go on.", FREE, USUALLY),
    ("Yes, my neck is stiff.", YES_NO, USUALLY),
    ("No, I don't think so.", YES_NO, USUALLY),
    ("Hold on.", FREE, USUALLY),
    ("No, no, no", FREE, USUALLY),
    ("I have a headache.", FREE, USUALLY),
    ("I came in.", FREE, USUALLY),
    ("My name is John Smith.", FREE, USUALLY),
    ("When I swallow, it hurts.", FREE, USUALLY),
    ("five five five, two nine four seven", FREE, USUALLY),
    ("555-2947", FREE, USUALLY),
    ("It began in 1975.", FREE, USUALLY),
    ("two hundred", FREE, USUALLY),
    ("", FREE, USUALLY),
    ("No, but", YES_NO, LONG),
    ("I have a headache and", FREE, LONG),
    ("It is my", FREE, LONG),
    ("I would like to come on.", FREE, LONG),
    ("Um.", FREE, LONG),
    ("It hurts, um", FREE, LONG),
    ("My knee,", FREE, LONG),
    ("It hurts because...", FREE, LONG),
    ("When I swallow", FREE, LONG),
    ("It hurts when I do", FREE, LONG),
    ("Five five five", FREE, LONG),
    ("My number is 555.", FREE, LONG),
    ("a hundred and", FREE, LONG),
    ("forty", AGE, LONG),
]


@pytest.mark.parametrize(("text", "expectation", "seconds"), TABLE)
def test_table(text: str, expectation: Expectation, seconds: float) -> None:
    """What was said and what was asked say how likely there is more to come."""
    assert patience(text, expectation) == pytest.approx(seconds)


@pytest.mark.parametrize(("text", "expectation", "seconds"), TABLE)
def test_a_calmer_setting_is_calmer_in_every_row(text: str, expectation: Expectation, seconds: float) -> None:
    """Whoever needs a second to find a word needs it after "no", too."""
    assert patience(text, expectation, usual=1.2) > seconds


@settings(deadline=None)  # the first look at a text is slow on a busy machine
@given(st.text(max_size=60), st.sampled_from([FREE, YES_NO, DAYS, SCALE]), st.floats(0.2, 3.0))
def test_bounds(text: str, expectation: Expectation, usual: float) -> None:
    """Whatever the recogniser makes up, nobody waits for ever."""
    assert usual * QUICK <= patience(text, expectation, usual) <= usual + LONGER
