"""Cards in words: what stands only on a card is read out, what stands in the text is not said twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.stage import Stage
from voice.core.cards import spoken
from voice.core.server_events import MessageCompleted, MessageDelta, Widget


def group(title: str, *names: str, **more: object) -> dict[str, object]:
    return {
        "state": "present",
        "title": title,
        "items": [{"name": name, "highlighted": False} for name in names],
    } | more


READ_BACK = Widget("read_back", {"groups": [group("you have", "a cough", "a fever"), group("You ruled out", "a rash")]})
SUMMARY = Widget(
    "summary",
    {
        "patient": "Male, 52 years old",
        "groups": [
            {
                "title": "You reported",
                "items": [{"name": "Sore throat", "children": [{"name": "Painful swallowing", "children": []}]}],
            }
        ],
        "unmatched": {"title": "Not assessed", "note": "", "items": [{"name": "tingly ear"}]},
    },
)


@pytest.mark.parametrize(
    ("widgets", "words"),
    [
        ((READ_BACK,), "You have: a cough, a fever. You ruled out: a rash."),
        ((SUMMARY,), "You reported: Sore throat, Painful swallowing. Not assessed: tingly ear."),
        ((Widget("hints", {"hints": ["Yes", "No"]}),), ""),
        ((Widget("recommendation_triage", {"triage_level": "self_care"}),), ""),
        ((Widget("form", {"items": [{"name": "Cough", "choices": ["Yes"]}]}),), ""),
        ((Widget("hologram", {"groups": [group("you have", "a cough")]}),), ""),
        ((Widget("read_back", {"groups": [group("", "a cough")]}),), "a cough."),
        ((), ""),
    ],
)
def test_what_is_read(widgets: tuple[Widget, ...], words: str) -> None:
    """Somebody without a screen would confirm what they never heard."""
    assert spoken(widgets) == words


def test_of_a_summary_that_comes_again_only_the_news_is_read() -> None:
    """The whole list would be read after every answer until it is confirmed."""
    again = group("You reported", "Sore throat")
    again["items"] = [{"name": "Sore throat", "highlighted": False}, {"name": "Fever", "highlighted": True}]
    assert spoken([Widget("summary", {"groups": [again]})]) == "You reported: Fever."


JSON = st.recursive(
    st.none() | st.booleans() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["items", "name", "title", "children", "highlighted"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON, JSON)
def test_any_card_can_be_read(groups: object, unmatched: object) -> None:
    """One odd card must not end a conversation."""
    assert isinstance(spoken([Widget("summary", {"groups": groups, "unmatched": unmatched})]), str)


class TestInASession:
    def read_back(self) -> Stage:
        stage = Stage()
        stage.accepted()
        stage.feed(
            MessageDelta("m1", "t1", "read_back", True, "Let me confirm."),
            MessageCompleted("m1", "t1", "read_back", True, "Let me confirm.", (READ_BACK,)),
        )
        return stage

    def test_it_is_heard_once_behind_the_text(self) -> None:
        """The card would be silent, or the lead-in said twice."""
        stage = self.read_back()
        stage.run(8.0)
        assert stage.spoken == "Let me confirm. You have: a cough, a fever. You ruled out: a rash."
        assert stage.heard["m1"] == stage.closed["m1"].source == stage.spoken
        assert stage.cuts == {"m1": None}

    def test_the_server_is_told_of_its_own_text_only(self) -> None:
        """It knows its text, and could not find the card's words in it."""
        stage = self.read_back()
        stage.run(2.0)
        stage.user("no fever")
        assert stage.closed["m1"].heard.startswith("Let me confirm. You have: a")
        assert (stage.sent[0].is_interrupted, stage.sent[0].played_content) == (True, "Let me confirm.")

    def test_a_cut_in_the_text_is_a_cut_in_the_text(self) -> None:
        """What was not heard would be claimed."""
        stage = self.read_back()
        stage.run(0.7)
        stage.user("what")
        assert stage.sent[0].played_content == "Let me"
