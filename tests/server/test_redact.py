from __future__ import annotations

import pytest

from voice.server.redact import redact


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("My name is Anna Smith.", "My name is [NAME]."),
        ("my name is anna and my throat hurts", "my name is [NAME] and my throat hurts"),
        ("Hi, my name's José Muñoz", "Hi, my name's [NAME]"),
        ("Write to anna.smith+x@clinic.example.org please", "Write to [EMAIL] please"),
        ("anna at example dot com", "[EMAIL]"),
        ("Call 555-123-4567.", "Call [PHONE]."),
        ("+48 601 234 567", "[PHONE]"),
        ("(555) 123 4567", "[PHONE]"),
        ("it's five five five one two three four", "it's [PHONE]"),
        ("My name is Bo, 5551234567, bo@x.org", "My name is [NAME], [PHONE], [EMAIL]"),
    ],
)
def test_what_identifies_a_person_is_replaced(said: str, kept: str) -> None:
    """Hurts the person whose number is in a transcript."""
    assert redact(said) == kept


@pytest.mark.parametrize(
    "said",
    [
        "On Tuesday, October 14th at 9:15 a.m. or 2:40 p.m.",
        "It costs $1,249.99 or $42.50.",
        "My temperature is 38.5, since 3 days",
        "One or two days, three at most.",
        "Eight out of ten",
        "My name is",
        "I am anna",
        "",
    ],
)
def test_all_else_stays_to_the_letter(said: str) -> None:
    """What was played is compared with what was written; a greedy redactor would spoil that."""
    assert redact(said) == said


def test_what_a_misread_digit_leaves_of_a_number_is_masked() -> None:
    """Hurts whoever said it: four digits of a telephone number are most of it."""
    assert redact("Five, five, time, two, nine, four, seven.") == "Five, five, time, [PHONE]."
    assert redact("One, two, three.") == "One, two, three."
