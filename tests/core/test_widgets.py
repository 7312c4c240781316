"""What a message shows while it is still coming in."""

from __future__ import annotations

from tests.core.stage import Stage
from voice.core.server_events import MessageCompleted, MessageWidget
from voice.core.widgets import Hints, Summary, with_transient

YES, LEFT = Hints(("Yes", "No")), Hints(("Left", "Right"))
OLD, NEW = Summary("Male, 52 years old"), Summary("Male, 25 years old")


def test_a_summary_takes_the_place_of_the_one_before() -> None:
    """Somebody would confirm what they have just corrected."""
    assert with_transient((OLD, YES), NEW) == (YES, NEW)


def test_what_came_twice_is_there_once() -> None:
    """Chips would be doubled after a resend."""
    assert with_transient((YES,), YES) == (YES,)
    assert with_transient((YES,), LEFT) == (YES, LEFT)


def test_the_complete_message_has_the_last_word_and_the_right_order() -> None:
    """A card that was streamed ahead of its text would be shown, or read, twice, and in the wrong place."""
    stage = Stage()
    stage.accepted()
    stage.delta("Is that right?")
    for widget in (OLD, LEFT, YES):
        stage.feed(MessageWidget("m1", "t1", widget))
    message = stage.session.speaking.next()
    assert message is not None
    assert message.widgets == (OLD, LEFT, YES)
    stage.feed(MessageCompleted("m1", "t1", "follow_up", True, "Is that right?", (YES, NEW)))
    stage.feed(MessageWidget("m1", "t1", OLD))
    assert message.widgets == (YES, NEW)
