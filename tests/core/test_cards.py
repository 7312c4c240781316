"""Cards in words: what stands only on a card is read out, what stands in the text is not said twice."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.stage import Stage
from voice.core.card_words import WORDLESS, CardWords
from voice.core.cards import MOST, CardRules, Cards, ReadChoices, Reading
from voice.core.server_events import MessageCompleted, MessageDelta
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


def group(title: str, *names: str, state: str = "present", highlighted: Sequence[str] = ()) -> Group:
    return Group(state, title, tuple(Item(name, name in highlighted) for name in names))


def content(widgets: Sequence[Widget], text: str = "") -> str:
    return Cards().read(text, widgets).content


READ_BACK = ReadBack((group("you have", "a cough", "a fever"), group("You ruled out", "a rash", state="absent")))
SUMMARY = Summary(
    "Male, 52 years old",
    (Group("present", "You reported", (Item("Sore throat", False, (Item("Painful swallowing"),)),)),),
    Unmatched("Not assessed", "Please mention it to a clinician.", (Item("tingly ear"),)),
)
CAUSES = RecommendationConditions(
    (Condition("c1", "Acute pharyngitis", "Sore throat"), Condition("c2", "Influenza")),
    True,
    (SeriousFinding("s1", "Dyspnea", "Short of breath"), SeriousFinding("s2", "Chest pain")),
)
TRIAGE = RecommendationTriage("consultation_24", Specialist("sp1", "Family doctor"), "personal_visit")
YES_NO = Hints(("Yes", "No", "Not sure"))


class TestContent:
    @pytest.mark.parametrize(
        ("widgets", "words"),
        [
            ((READ_BACK,), "You have: a cough, a fever. You ruled out: a rash."),
            (
                (SUMMARY,),
                "Male, 52 years old. You reported: Sore throat, Painful swallowing. "
                "Not assessed: tingly ear. Please mention it to a clinician.",
            ),
            ((TRIAGE,), "Recommended: see a doctor within 24 hours. Whom to see: Family doctor, in person."),
            ((RecommendationTriage("emergency"),), "Recommended: go to an emergency department now."),
            ((RecommendationTriage("level_nine"),), ""),
            ((UnknownWidget("hologram", {"groups": ["you have", "a cough"]}),), ""),
            ((YES_NO,), ""),
            ((), ""),
        ],
    )
    def test_what_is_read(self, widgets: tuple[Widget, ...], words: str) -> None:
        """Somebody without a screen would confirm what they never heard."""
        assert content(widgets) == words

    def test_what_is_serious_comes_first(self) -> None:
        """Who listens to a list of harmless causes may not listen to its end."""
        assert content([TRIAGE, CAUSES]) == (
            "This may be an emergency. Serious findings: Short of breath, Chest pain. "
            "Recommended: see a doctor within 24 hours. Whom to see: Family doctor, in person. "
            "Possible causes: Sore throat, Influenza."
        )

    def test_every_serious_finding_is_read_and_of_the_causes_only_the_likeliest(self) -> None:
        """A serious one that comes seventh is still serious; the seventh cause only hides the first."""
        many = RecommendationConditions(
            tuple(Condition(f"c{n}", f"cause {n}") for n in range(9)),
            serious_findings=tuple(SeriousFinding(f"s{n}", f"sign {n}") for n in range(9)),
        )
        said = content([many])
        assert all(f"sign {n}" in said for n in range(9))
        assert [n for n in range(9) if f"cause {n}" in said] == list(range(MOST))

    def test_groups_come_in_the_order_of_their_states(self) -> None:
        """ "No fever" heard among what is present is noted as a fever by whoever listens."""
        mixed = ReadBack(
            (
                group("Not sure", "a rash", state="unknown"),
                group("No", "a fever", state="absent"),
                group("Yes", "a cough"),
            )
        )
        assert content([mixed]) == "Yes: a cough. No: a fever. Not sure: a rash."

    @pytest.mark.parametrize(
        ("state", "words"),
        [("present", "You reported: a cough."), ("absent", "You ruled out: a cough."), ("new", "a cough.")],
    )
    def test_a_group_without_a_title_says_its_state(self, state: str, words: str) -> None:
        """A finding that was ruled out would be heard as one that is there."""
        assert content([ReadBack((group("", "a cough", state=state),))]) == words

    def test_what_the_text_has_in_full_is_not_said_twice(self) -> None:
        """A server that writes both would have it read to the patient twice."""
        said = "I noted that you have a cough and a fever, but no rash."
        widgets = [ReadBack((group("You have", "A cough", "fever"), group("You ruled out", "Rash", state="absent")))]
        assert content(widgets, said) == ""
        assert content(widgets, "I noted the cough.") == "You have: A cough, fever. You ruled out: Rash."
        assert content([TRIAGE], "Your family doctor can help.") == "Recommended: see a doctor within 24 hours."

    def test_of_a_summary_that_comes_again_only_the_news_is_read(self) -> None:
        """The whole list would be read after every answer until it is confirmed."""
        again = group("You reported", "Sore throat", "Fever", highlighted=("Fever",))
        assert content([Summary("Male, 52 years old", (again,))]) == "You reported: Fever."

    def test_the_last_of_two_summaries_counts(self) -> None:
        """A card replaces the one before; the old one may be what was just corrected."""
        old, new = Summary(groups=(group("You reported", "Fever"),)), Summary(groups=(group("You reported", "Cough"),))
        assert content([old, new]) == "You reported: Cough."

    def test_in_a_language_without_words_only_the_servers_own_are_read(self) -> None:
        """An English sentence in a Portuguese voice is understood by nobody."""
        cards = Cards(CardRules(words=WORDLESS))
        reading = cards.read("", [TRIAGE, CAUSES, READ_BACK, YES_NO, Hints(("1", "2", "3"))])
        assert reading.content == "Short of breath, Chest pain. You have: a cough, a fever. You ruled out: a rash."
        assert reading.aside == ""

    def test_a_screen_that_shows_them_needs_no_reader(self) -> None:
        """Everything would be there twice, for the eye and for the ear."""
        rules = CardRules(shown=True, choices="always")
        assert Cards(rules).read("", [TRIAGE, CAUSES, SUMMARY, READ_BACK, YES_NO]) == Reading()


class TestChoices:
    def aside(self, text: str, *widgets: Widget, choices: ReadChoices = "useful") -> str:
        return Cards(CardRules(choices=choices)).read(text, widgets).aside

    @pytest.mark.parametrize(
        ("text", "labels", "words"),
        [
            ("Do you have a fever?", ("Yes", "No", "Not sure"), "You can say Yes, No, or Not sure."),
            ("How long?", ("Today", "Longer"), "You can say Today or Longer."),
            ("Do you have a fever?", ("Yes", "No"), ""),
            ("In the morning or the afternoon?", ("Morning", "Afternoon"), ""),
            ("How strong is it?", tuple("0123456789"), "You can say a number from 0 to 9."),
            ("Which?", tuple("abcdefg"), "You can say, for example, a, b, c, d, or e."),
        ],
    )
    def test_they_are_read_when_useful(self, text: str, labels: tuple[str, ...], words: str) -> None:
        """Who sees no chips has to guess what will be understood; who hears them without need loses patience."""
        assert self.aside(text, Hints(labels)) == words

    def test_they_are_read_once_and_again_only_with_the_same_question(self) -> None:
        """After the third "You can say yes, no, or not sure" nobody listens any more."""
        cards = Cards()
        asked = ["Do you have a fever?", "Do you have a cough?", "Do you have a cough?", "Do you smoke?"]
        said = [bool(cards.read(text, [YES_NO]).aside) for text in asked]
        assert said == [True, False, True, False]

    @pytest.mark.parametrize(("rule", "said"), [("never", ""), ("always", "You can say Yes or No.")])
    def test_the_configuration_decides(self, rule: ReadChoices, said: str) -> None:
        """One person cannot bear it, another cannot do without."""
        assert self.aside("Yes or no?", Hints(("Yes", "No")), choices=rule) == said

    def test_a_form_is_read_as_its_questions_and_their_answers(self) -> None:
        """Its questions stand on the card alone: nobody would know what to answer."""
        same = Form((FormItem("Cough", ("Yes", "No", "Not sure")), FormItem("Fever", ("Yes", "No", "Not sure"))))
        assert self.aside("Do you have any of these?", same) == (
            "Cough, Fever. To each of these you can say Yes, No, or Not sure."
        )
        assert self.aside("Do you have a cough, and do you have a fever?", same) == (
            "To each of these you can say Yes, No, or Not sure."
        )
        other = Form((FormItem("Side", ("Left", "Right")), FormItem("Since", ("Today", "Longer")), FormItem("Age")))
        assert self.aside("Please tell me:", other) == "Side: Left or Right. Since: Today or Longer. Age."
        assert self.aside("Please tell me:", same, choices="never") == ""

    def test_they_come_last(self) -> None:
        """The answer is what the ear keeps, and what it is waiting for."""
        reading = Cards().read("Is that right?", [YES_NO, READ_BACK])
        assert reading.content.startswith("You have")
        assert reading.aside == "You can say Yes, No, or Not sure."


WORDS = st.text(max_size=6)
LABELS = st.lists(WORDS, max_size=8).map(tuple)
WIDGETS = st.one_of(
    st.builds(Hints, LABELS),
    st.builds(
        Form, st.lists(st.builds(FormItem, WORDS, st.lists(WORDS, max_size=3).map(tuple)), max_size=3).map(tuple)
    ),
    st.builds(RecommendationTriage, WORDS, st.none() | st.builds(Specialist, WORDS, WORDS), WORDS),
    st.builds(Summary, WORDS, st.lists(st.builds(Group, WORDS, WORDS, st.just((Item("{x}"),))), max_size=2).map(tuple)),
)


@given(WORDS, st.lists(WIDGETS, max_size=4), st.sampled_from([CardWords(), WORDLESS]))
def test_any_card_can_be_read(text: str, widgets: list[Widget], words: CardWords) -> None:
    """One odd card must not end a conversation."""
    Cards(CardRules(choices="always", words=words)).read(text, widgets)


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

    def test_both_shapes_of_a_read_back_are_heard_in_full(self) -> None:
        """With widgets off the findings stand in the text, with widgets on perhaps on the card alone."""
        noted = "I noted a cough and a fever, but no rash."
        for text, widgets, heard in (
            (noted, (), noted),
            ("", (READ_BACK,), "You have: a cough, a fever. You ruled out: a rash."),
        ):
            stage = Stage()
            stage.accepted()
            stage.feed(MessageCompleted("m1", "t1", "read_back", True, text, widgets))
            stage.run(8.0)
            assert stage.spoken == heard
            assert stage.closed["m1"].heard_text == text

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

    def test_who_answers_over_what_is_offered_has_interrupted_nothing(self) -> None:
        """Every quick answer would be told to the server as an interruption of a question that was heard in full."""
        stage = Stage()
        stage.accepted()
        stage.feed(MessageCompleted("m1", "t1", "follow_up", True, "Do you have a fever?", (YES_NO,)))
        stage.run(2.1)
        stage.user("I do not think so")
        assert stage.closed["m1"].heard.startswith("Do you have a fever? You can")
        assert stage.closed["m1"].heard_text == "Do you have a fever?"
        assert stage.cuts == {"m1": None}
        assert [(said.is_interrupted, said.played_content) for said in stage.sent] == [(False, None)]

    def test_a_message_that_nobody_hears_has_offered_nothing(self) -> None:
        """The choices would be missing when the question comes once more."""
        stage = Stage()
        stage.accepted()
        stage.session.speaking.dead_turns.remember("t0", "voice")
        stage.feed(MessageCompleted("m0", "t0", "follow_up", True, "Do you smoke?", (YES_NO,)))
        stage.feed(MessageCompleted("m1", "t1", "follow_up", True, "Do you have a fever?", (YES_NO,)))
        stage.run(6.0)
        assert stage.spoken == "Do you have a fever? You can say Yes, No, or Not sure."
