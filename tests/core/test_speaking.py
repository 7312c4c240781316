"""From deltas to the loudspeaker: how far ahead, in which order, and with which report."""

from __future__ import annotations

import pytest

from tests.core.stage import TEN, Stage
from voice.core.events import Caption, Cause, ClauseFailed, ClauseVoiced
from voice.core.server_events import MessageWidget
from voice.core.speaking import AHEAD, REMEMBERED, Remembered
from voice.core.widgets import Hints

LONG = "One two three four! " * 20


class TestAhead:
    def test_one_clause_at_a_time_is_with_the_voice(self) -> None:
        """A cut would have to wait for a whole queue of synthesis to be called off."""
        stage = Stage(by_hand=True)
        stage.says(LONG)
        stage.run(1.0)
        assert len(stage.asked) == 1
        stage.deliver(stage.asked[0], 0, 2)
        assert len(stage.asked) == 1
        stage.deliver(stage.asked[0], 2)
        assert len(stage.asked) == 2

    def test_the_voice_is_about_two_seconds_ahead_of_the_loudspeaker(self) -> None:
        """Less, and a busy machine makes it stutter; more, and a cut throws away work."""
        stage = Stage()
        stage.says(LONG)
        for _ in range(100):
            stage.run(0.1)
            if len(stage.asked) < 20:
                assert AHEAD - 0.1 <= stage.player.queued() <= AHEAD + 1.2

    def test_messages_keep_the_order_in_which_they_came(self) -> None:
        """The answer would come before the acknowledgement."""
        stage = Stage()
        stage.delta("One two! ", message="a")
        stage.says("Three.", message="b")
        stage.completed("One two! Four.", message="a")
        stage.run(4.0)
        assert stage.spoken == "One two! Four. Three."
        assert list(stage.closed) == ["a", "b"]

    def test_the_voice_waits_for_a_server_that_writes_slowly(self) -> None:
        """The message would be over in the middle of a sentence."""
        stage = Stage()
        stage.delta("One two! ")
        stage.run(5.0)
        assert stage.closed == {}
        stage.delta("Three four! ")
        stage.completed("One two! Three four! ")
        stage.run(1.0)
        assert stage.heard == {"m1": "One two! Three four! "}

    @pytest.mark.parametrize("clause", [1, 7])
    def test_news_of_a_clause_that_was_not_asked_for_is_dropped(self, clause: int) -> None:
        """D6. A confused voice would shift all positions behind it."""
        stage = Stage(by_hand=True)
        stage.says(LONG)
        assert stage.feed(ClauseVoiced("m1", clause, (), 4800, final=True)) == []
        assert stage.feed(ClauseFailed("m1", clause, "late")) == []
        assert len(stage.asked) == 1


class TestReport:
    def test_times_are_those_of_the_loudspeaker(self) -> None:
        """A timeline that shows when text arrived says nothing of what the user lived through."""
        stage = Stage(latency=0.2)
        stage.run(1.0)
        stage.says(TEN)
        stage.run(4.0)
        report = stage.closed["m1"]
        assert report.t_start == pytest.approx(1.2)
        assert report.t_end == pytest.approx(4.2)

    def test_a_message_that_never_sounded_has_no_beginning(self) -> None:
        """It would be drawn into the timeline as spoken."""
        stage = Stage()
        stage.says("...")
        stage.run(0.1)
        assert stage.closed["m1"].t_start is None

    def test_it_says_what_the_message_was(self) -> None:
        """The record would not tell a question from a connective."""
        stage = Stage()
        stage.accepted()
        stage.says("One moment please.", kind="filler")
        stage.run(2.0)
        report = stage.closed["m1"]
        assert (report.turn_id, report.kind, report.can_interrupt) == ("t1", "filler", False)
        assert report.source == report.heard == "One moment please."

    def test_captions_follow_the_voice_word_by_word(self) -> None:
        """A deaf visitor reads what is being said, not what was written."""
        stage = Stage()
        stage.says("One two, three.")
        stage.run(2.0)
        captions = stage.all(Caption)
        assert [caption.text[: caption.heard] for caption in captions] == ["One", "One two,", "One two, three."]
        assert {caption.id for caption in captions} == {"m1"}

    def test_a_transient_widget_is_nothing_for_the_voice(self) -> None:
        """A card that comes before its text would make a message of its own."""
        stage = Stage()
        assert stage.feed(MessageWidget("m1", "t1", Hints())) == []
        assert stage.closed == {}


class TestRemembered:
    def test_it_forgets_the_oldest(self) -> None:
        """C3. A year of messages would be remembered."""
        remembered = Remembered()
        cause: Cause = "voice"
        for n in range(REMEMBERED + 10):
            remembered.remember(f"m{n}", cause)
        assert len(remembered) == REMEMBERED
        assert "m9" not in remembered
        assert remembered["m10"] == "voice"
