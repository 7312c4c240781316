"""Widgets: every documented field arrives, and an odd one costs nothing around it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.core.widgets import (
    Condition,
    Form,
    FormItem,
    Group,
    Hints,
    Item,
    ReadBack,
    RecommendationConditions,
    RecommendationTriage,
    SeriousFinding,
    Specialist,
    Summary,
    UnknownWidget,
    Unmatched,
    Widget,
)
from voice.wire.infermedica_widgets import decode_widget, encode_widget

FULL: list[tuple[dict[str, Any], Widget]] = [
    ({"type": "hints", "hints": ["Yes", "No"]}, Hints(("Yes", "No"))),
    (
        {"type": "form", "items": [{"name": "Cough", "choices": ["Yes", "Don't know"]}]},
        Form((FormItem("Cough", ("Yes", "Don't know")),)),
    ),
    (
        {
            "type": "recommendation_triage",
            "triage_level": "consultation_24",
            "specialist": {"id": "sp_1", "name": "General practitioner"},
            "channel": "personal_visit",
        },
        RecommendationTriage("consultation_24", Specialist("sp_1", "General practitioner"), "personal_visit"),
    ),
    (
        {"type": "recommendation_triage", "triage_level": "emergency", "specialist": None, "channel": None},
        RecommendationTriage("emergency"),
    ),
    (
        {
            "type": "recommendation_conditions",
            "conditions": [
                {
                    "id": "c_1",
                    "probability": 0.61,
                    "name": "Acute pharyngitis",
                    "common_name": "Sore throat",
                    "condition_details": {"has_patient_education": True},
                }
            ],
            "has_emergency_findings": True,
            "serious_findings": [
                {"id": "s_1", "name": "Dyspnea", "common_name": "Short of breath", "parent_ids": ["s_0"]}
            ],
        },
        RecommendationConditions(
            (Condition("c_1", "Acute pharyngitis", "Sore throat", 0.61, {"has_patient_education": True}),),
            True,
            (SeriousFinding("s_1", "Dyspnea", "Short of breath", ("s_0",)),),
        ),
    ),
    (
        {
            "type": "summary",
            "patient": "Female, 34 years old",
            "groups": [
                {
                    "state": "present",
                    "title": "Symptoms you reported",
                    "items": [
                        {
                            "name": "Headache",
                            "highlighted": False,
                            "children": [{"name": "Throbbing headache", "highlighted": True, "children": []}],
                        }
                    ],
                }
            ],
            "unmatched": {
                "title": "Things I cannot assess",
                "note": "Mention them to a clinician.",
                "items": [{"name": "strange taste", "highlighted": False}],
            },
        },
        Summary(
            "Female, 34 years old",
            (
                Group(
                    "present", "Symptoms you reported", (Item("Headache", False, (Item("Throbbing headache", True),)),)
                ),
            ),
            Unmatched("Things I cannot assess", "Mention them to a clinician.", (Item("strange taste"),)),
        ),
    ),
    ({"type": "summary", "patient": "Male, 5 years old", "groups": []}, Summary("Male, 5 years old")),
    (
        {
            "type": "read_back",
            "groups": [{"state": "absent", "title": "Ruled out", "items": [{"name": "Fever", "highlighted": False}]}],
        },
        ReadBack((Group("absent", "Ruled out", (Item("Fever"),)),)),
    ),
    ({"type": "hologram", "depth": {"cm": 3}}, UnknownWidget("hologram", {"depth": {"cm": 3}})),
]


@pytest.mark.parametrize(("written", "widget"), FULL, ids=[str(written["type"]) for written, _ in FULL])
def test_every_field_arrives_and_goes_out_again(written: dict[str, Any], widget: Widget) -> None:
    """A finding that is dropped here is one that nobody sees or hears."""
    assert decode_widget(written) == widget
    assert encode_widget(widget) == written


ODD: list[tuple[dict[str, Any], Widget]] = [
    ({"type": "hints"}, Hints()),
    ({"type": "hints", "hints": "Yes"}, Hints()),
    ({"type": "hints", "hints": ["Yes", 3, None, " ", "No"]}, Hints(("Yes", "No"))),
    ({"type": "form", "items": [3, {"name": 4, "choices": {}}]}, Form((FormItem("", ()),))),
    ({"type": "recommendation_triage", "specialist": "sp_1", "triage_level": 5}, RecommendationTriage("")),
    (
        {"type": "recommendation_conditions", "conditions": [{"name": "Flu", "probability": "high"}, None]},
        RecommendationConditions((Condition("", "Flu"),)),
    ),
    (
        {"type": "recommendation_conditions", "conditions": [{"name": "Flu", "probability": True}]},
        RecommendationConditions((Condition("", "Flu"),)),
    ),
    (
        {"type": "recommendation_conditions", "conditions": [{"name": "Flu", "probability": 61}]},
        RecommendationConditions((Condition("", "Flu"),)),
    ),
    ({"type": "summary", "groups": [{"items": [{"name": "Fever"}]}]}, Summary("", (Group("", "", (Item("Fever"),)),))),
    ({"type": "summary", "unmatched": []}, Summary()),
    ({"type": ["summary"]}, UnknownWidget("")),
]


@pytest.mark.parametrize(("written", "widget"), ODD, ids=range(len(ODD)))
def test_what_is_odd_is_left_out_and_the_rest_is_kept(written: dict[str, Any], widget: Widget) -> None:
    """One odd field would cost somebody the whole card."""
    assert decode_widget(written) == widget


KEYS = [
    *("hints", "items", "groups", "unmatched", "children", "conditions", "serious_findings", "specialist"),
    *("name", "title", "state", "note", "highlighted", "choices", "probability", "condition_details", "parent_ids"),
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=20,
)


@given(st.sampled_from([written["type"] for written, _ in FULL]), st.dictionaries(st.sampled_from(KEYS), VALUES))
def test_any_widget_can_be_read_and_reading_it_again_changes_nothing(kind: str, rest: dict[str, Any]) -> None:
    """One odd widget would end a conversation."""
    widget = decode_widget({**rest, "type": kind})
    assert decode_widget(encode_widget(widget)) == widget
