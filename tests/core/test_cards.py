"""Cards in words: what stands only on a card is read out, what stands in the text is not said twice."""

from __future__ import annotations

import pytest

from tests.core.stage import Stage
from voice.core.cards import spoken
from voice.core.server_events import MessageCompleted, MessageDelta
from voice.core.widgets import (
    Form,
    FormItem,
    Group,
    Hints,
    Item,
    ReadBack,
    RecommendationTriage,
    Summary,
    UnknownWidget,
    Unmatched,
    Widget,
)


def group(title: str, *names: str, highlighted: tuple[str, ...] = ()) -> Group:
    return Group("present", title, tuple(Item(name, name in highlighted) for name in names))


READ_BACK = ReadBack((group("you have", "a cough", "a fever"), group("You ruled out", "a rash")))
SUMMARY = Summary(
    "Male, 52 years old",
    (Group("present", "You reported", (Item("Sore throat", False, (Item("Painful swallowing"),)),)),),
    Unmatched("Not assessed", "", (Item("tingly ear"),)),
)


@pytest.mark.parametrize(
    ("widgets", "words"),
    [
        ((READ_BACK,), "You have: a cough, a fever. You ruled out: a rash."),
        ((SUMMARY,), "You reported: Sore throat, Painful swallowing. Not assessed: tingly ear."),
        ((Hints(("Yes", "No")),), ""),
        ((RecommendationTriage("self_care"),), ""),
        ((Form((FormItem("Cough", ("Yes",)),)),), ""),
        ((UnknownWidget("hologram", {"groups": ["you have", "a cough"]}),), ""),
        ((ReadBack((group("", "a cough"),)),), "a cough."),
        ((), ""),
    ],
)
def test_what_is_read(widgets: tuple[Widget, ...], words: str) -> None:
    """Somebody without a screen would confirm what they never heard."""
    assert spoken(widgets) == words


def test_of_a_summary_that_comes_again_only_the_news_is_read() -> None:
    """The whole list would be read after every answer until it is confirmed."""
    again = group("You reported", "Sore throat", "Fever", highlighted=("Fever",))
    assert spoken([Summary(groups=(again,))]) == "You reported: Fever."


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
