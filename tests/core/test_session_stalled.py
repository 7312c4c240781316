"""A server that falls silent in the middle of a message."""

from __future__ import annotations

from tests.core.stage import Stage
from voice.core.server_events import MessageDelta
from voice.core.speaking import STALLED

HALF = "Thank you, I have written that down. One moment please. And"
KIND = "acknowledgement"


def begun() -> Stage:
    stage = Stage()
    stage.accepted()
    stage.feed(MessageDelta("m1", "t1", KIND, False, HALF))
    return stage


class TestStalled:
    def test_what_was_held_is_sent(self) -> None:
        """An answer given over a message that never ends would wait for ever, and the user with it."""
        stage = begun()
        stage.run(0.5)
        stage.user("three days")
        stage.run(STALLED + 4)
        [message] = stage.sent
        assert message.content == "three days"
        assert message.is_interrupted
        assert message.played_content == "Thank you, I have written that down. One moment please."
        assert message.held > STALLED

    def test_the_user_may_take_the_floor(self) -> None:
        """A visitor in front of a silent kiosk speaks, and must be listened to."""
        stage = begun()
        stage.run(4 + STALLED)
        stage.user("are you still there")
        [message] = stage.sent
        assert message.content == "are you still there"

    def test_a_short_answer_is_one(self) -> None:
        """ "Okay" into a long silence is no nod of a listener; the visitor would say it for ever."""
        for text, name in (("yeah", "x1"), ("Okay.", "x2")):
            stage = Stage()
            stage.delta("Do you have pain now? ")
            stage.run(4 + STALLED)
            stage.user(text, name=name)
            assert [message.content for message in stage.sent] == [text]

    def test_text_that_comes_late_is_spoken(self) -> None:
        """A server that was only slow loses nothing."""
        stage = begun()
        stage.run(4 + STALLED)
        stage.feed(MessageDelta("m1", "t1", KIND, False, " now it goes on as before. "))
        stage.run(0.2)
        assert len(stage.asked) > 2
        stage.user("hello there")
        assert not stage.sent, "it goes on, and may not be interrupted again"

    def test_what_was_held_does_not_wait_for_a_message_that_never_begins(self) -> None:
        """An answer over one connective would be lost to the next one, of which the server writes two words."""
        stage = Stage()
        stage.accepted()
        stage.says("Thank you, I have written that down.", "m1", kind=KIND)
        stage.feed(MessageDelta("m2", "t1", "filler", False, "One moment"))
        stage.run(0.5)
        stage.user("three days")
        stage.run(STALLED + 4)
        [message] = stage.sent
        assert message.content == "three days"
        assert not message.is_interrupted, "the message that was heard had been heard to its end"

    def test_what_was_held_waits_for_a_message_that_is_only_slow(self) -> None:
        """A server at its usual pace would be talked over."""
        stage = Stage()
        stage.accepted()
        stage.says("Thank you, I have written that down.", "m1", kind=KIND)
        stage.feed(MessageDelta("m2", "t1", "filler", False, "One moment"))
        stage.run(0.5)
        stage.user("three days")
        stage.run(STALLED - 1)
        stage.feed(MessageDelta("m2", "t1", "filler", False, " please, I am looking it up for you now. And then"))
        stage.run(1)
        assert not stage.sent
        assert "looking it up" in stage.spoken
