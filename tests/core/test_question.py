"""The open question: what the next answer may be."""

from __future__ import annotations

import pytest

from tests.core.stage import Stage
from voice.core.events import Expect, Typed
from voice.core.expectation import FREE, Expectation
from voice.core.question import expected
from voice.core.server_events import MessageCompleted, MessageWidget, UserAccepted
from voice.core.widgets import Form, FormItem, Hints, Widget


def hints(*labels: str) -> Widget:
    return Hints(labels)


def form(*choices: list[str]) -> Widget:
    return Form(tuple(FormItem("Cough", tuple(entry)) for entry in choices))


YES_NO = ("Yes", "No", "I am not sure")
ASKED = Expectation("yes_no")


@pytest.mark.parametrize(
    ("text", "widgets", "answer"),
    [
        ("Do you?", (hints(*YES_NO),), Expectation("yes_no", YES_NO)),
        ("Which day?", (hints("Tuesday", "Friday"),), Expectation("choices", ("Tuesday", "Friday"))),
        ("How strong?", (hints("1", "2", "3"),), Expectation("number", ("1", "2", "3"))),
        ("These?", (form(["Yes", "No"], ["Yes", "No"]),), Expectation("yes_no", ("Yes", "No"))),
        ("These?", (form(["Yes", "No"], ["Left", "Right"]),), FREE),
        ("Do you?", (form(["Left", "Right"]), hints("Yes", "No")), Expectation("yes_no", ("Yes", "No"))),
        ("Have you had a fever?", (), ASKED),
        ("Thank you. So, do you have a cough?", (), ASKED),
        ("Do you? Please say yes or no.", (), ASKED),
        ("How old are you?", (), Expectation("number")),
        ("On a scale from zero to ten, how strong is it? Ten is the worst.", (), Expectation("number")),
        ("What is troubling you today?", (), FREE),
        ("I will ask you a few questions.", (), FREE),
        ("Czy ma pan gorączkę?", (), FREE),
        ("Do you have a cough.", (), FREE),
    ],
)
def test_what_is_expected(text: str, widgets: tuple[Widget, ...], answer: Expectation) -> None:
    """The ears would cut off a story, or wait after a no."""
    assert expected(text, widgets) == answer


class TestInASession:
    def asks(self, text: str = "Do you have a fever?", kind: str = "follow_up", *widgets: Widget) -> Stage:
        stage = Stage()
        stage.accepted()
        stage.feed(MessageCompleted("m1", "t1", kind, None, text, widgets))
        return stage

    def expectations(self, stage: Stage) -> list[Expectation]:
        return [output.expectation for output in stage.all(Expect)]

    def test_the_ears_are_told_when_the_question_begins_and_when_it_is_answered(self) -> None:
        """A no to the next question would be taken for one to this."""
        stage = self.asks("Do you?", "follow_up", hints("Yes", "No"))
        assert self.expectations(stage) == [Expectation("yes_no", ("Yes", "No"))]
        stage.run(1.0)
        stage.user("nope")
        assert self.expectations(stage) == [Expectation("yes_no", ("Yes", "No")), FREE]

    def test_a_question_that_waits_is_not_asked_yet(self) -> None:
        """What is said over "Thank you" cannot answer it."""
        stage = self.asks("Please sit down now.", "acknowledgement")
        stage.feed(MessageCompleted("m2", "t1", "follow_up", None, "Which?", (hints("Left", "Right"),)))
        stage.run(0.2)
        stage.user("the second one", voiced=0.3)
        stage.run(3.0)
        assert [said.content for said in stage.sent] == ["the second one"]

    def test_words_that_add_nothing_leave_it_open(self) -> None:
        """ "One moment, please." asks nothing, and the answer to the question before it still counts."""
        stage = self.asks("Which?", "intro", hints("Left", "Right"))
        stage.feed(MessageCompleted("m2", "t1", "filler", None, "One moment please.", ()))
        stage.run(3.0)
        stage.user("the second one")
        assert [said.content for said in stage.sent] == ["Right"]

    def test_what_is_sent_is_the_servers_word(self) -> None:
        """ "Nope" would be asked again by a server that knows its chips only."""
        stage = self.asks("Do you?", "follow_up", hints(*YES_NO))
        stage.run(1.0)
        stage.user("Nope.")
        assert [said.content for said in stage.sent] == ["No"]

    def test_and_the_users_where_there_is_more_in_it(self) -> None:
        """The knee would be lost."""
        stage = self.asks("Do you?", "follow_up", hints(*YES_NO))
        stage.run(1.0)
        stage.user("No, but my knee hurts.")
        assert [said.content for said in stage.sent] == ["No, but my knee hurts."]

    def test_an_interruption_is_matched_too(self) -> None:
        """Whoever knows the answer need not hear the list to its end."""
        stage = self.asks(
            "Please tell me which day would suit you best of all?", "follow_up", hints("Monday", "Friday")
        )
        stage.run(1.0)
        stage.user("On Friday, please.")
        assert [(said.content, said.is_interrupted) for said in stage.sent] == [("Friday", True)]

    def test_hints_that_come_before_the_text_is_complete_count(self) -> None:
        """A server streams its widgets; a quick answer must not be too quick for them."""
        stage = Stage()
        stage.accepted()
        stage.delta("Is it the left or is it the right one? ")
        stage.feed(MessageWidget("m1", "t1", hints("Left", "Right")))
        stage.run(1.0)
        stage.user("The right, please.")
        assert [said.content for said in stage.sent] == ["Right"]

    def test_what_was_typed_stays_as_it_is(self) -> None:
        """Who writes has chosen the letters."""
        stage = self.asks("Do you?", "follow_up", hints(*YES_NO))
        stage.run(1.0)
        stage.feed(Typed("nope"))
        assert [said.content for said in stage.sent] == ["nope"]

    def test_an_answer_is_used_once(self) -> None:
        """The words after it would be taken for another answer to the same question."""
        stage = self.asks("Which?", "follow_up", hints("Left", "Right"))
        stage.run(1.0)
        stage.user("the second one")
        stage.feed(UserAccepted("u1", "t2", "Right"))
        stage.user("the first one")
        assert [said.content for said in stage.sent] == ["Right", "the first one"]
