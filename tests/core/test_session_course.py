"""How a conversation begins, is taken up again after a lost link, and ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.core.stage import TEN, Stage
from voice.core.events import LinkDown, LinkUp, RefreshSnapshot
from voice.core.server_events import (
    ConversationClosed,
    HistoryRow,
    Snapshot,
    UserAccepted,
)

EMPTY = Snapshot("c1", resumed=False, completed=False, terminated=False, max_message_length=1500, rows=())


def user_row(turn: str) -> HistoryRow:
    return HistoryRow("user", f"u-{turn}", turn, "hello")


def assistant_row(name: str, turn: str, text: str, kind: str = "follow_up") -> HistoryRow:
    return HistoryRow("assistant", name, turn, text, kind)


def resumed(*rows: HistoryRow, completed: bool = False) -> Snapshot:
    return replace(EMPTY, resumed=True, rows=rows, completed=completed)


class TestOpening:
    TEXT = "Hello, how can I help?"

    @pytest.mark.parametrize("form", ["live", "row", "both"])
    def test_it_is_spoken_once_however_it_comes(self, form: str) -> None:
        """Greeted twice, or never."""
        stage = Stage()
        rows = (assistant_row("m1", "t0", self.TEXT, "intro"),) if form != "live" else ()
        stage.feed(replace(EMPTY, rows=rows))
        if form != "row":
            stage.delta(self.TEXT[:8], turn="t0", kind="intro")
            stage.delta(self.TEXT[8:], turn="t0", kind="intro")
            stage.completed(self.TEXT, turn="t0", kind="intro")
        stage.run(3.0)
        assert stage.spoken == self.TEXT
        assert stage.heard == {"m1": self.TEXT}

    def test_it_streams_after_a_first_try_to_connect_failed(self) -> None:
        """The first words would wait for the whole text."""
        stage = Stage()
        stage.feed(LinkDown("refused", fatal=False), EMPTY)
        stage.delta("Hello there. ", turn="t0", kind="intro")
        assert stage.spoken == "Hello there."

    def test_the_users_answer_to_it_ends_it(self) -> None:
        """The opening has no turn of a user message, and would be spoken on under the answer."""
        stage = Stage()
        stage.feed(EMPTY)
        stage.delta("One two three. ", turn="t0", kind="intro")
        stage.run(0.7)
        stage.spoken_at_once("my head hurts")
        stage.delta("Four five six.", turn="t0", kind="intro")
        stage.completed("One two three. Four five six.", turn="t0", kind="intro")
        stage.run(2.0)
        assert stage.heard == {"m1": "One two"}
        assert stage.spoken == "One two three."


class TestResume:
    def test_only_rows_after_the_users_last_words_are_spoken(self) -> None:
        """A whole conversation would be read out after each broken link."""
        stage = Stage()
        rows = (user_row("t1"), assistant_row("old", "t1", "Old."), user_row("t2"), assistant_row("new", "t2", "New."))
        stage.feed(resumed(*rows))
        stage.run(2.0)
        assert stage.spoken == "New."

    def test_what_was_spoken_before_is_not_spoken_again(self) -> None:
        """The last answer would be repeated after each broken link."""
        stage = Stage()
        stage.accepted()
        stage.says("Once is enough.")
        stage.run(2.0)
        stage.feed(LinkDown("reset", fatal=False))
        stage.feed(resumed(user_row("t1"), assistant_row("m1", "t1", "Once is enough.")))
        stage.run(2.0)
        assert stage.spoken == "Once is enough."

    def test_a_message_cut_in_two_by_the_link_is_spoken_as_one(self) -> None:
        """A hole in a sentence changes what it says; the final text closes it."""
        stage = Stage()
        stage.accepted()
        stage.delta("Do not take it! ")
        stage.run(0.3)
        stage.feed(LinkDown("reset", fatal=False), resumed(user_row("t1")))
        stage.delta("It is safe.")  # the words between were missed
        stage.run(2.0)
        assert stage.spoken == "Do not take it!"
        stage.completed("Do not take it! Nobody knows whether it is safe.")
        stage.turn_ended()
        stage.run(3.0)
        assert stage.heard == {"m1": "Do not take it! Nobody knows whether it is safe."}

    def test_deltas_of_a_turn_whose_start_was_missed_wait_for_the_whole(self) -> None:
        """ "... take it." for "Do not take it." """
        stage = Stage()
        stage.feed(resumed(user_row("t1")))
        stage.delta("take it.")
        stage.run(1.0)
        assert stage.spoken == ""
        stage.completed("Do not take it.")
        stage.run(2.0)
        assert stage.heard == {"m1": "Do not take it."}

    def test_the_next_turn_streams_again(self) -> None:
        """After one broken link every answer would come late."""
        stage = Stage()
        stage.feed(resumed(user_row("t1")))
        stage.accepted("t2")
        stage.delta("One two three. ", turn="t2")
        assert stage.spoken == "One two three."

    def test_what_the_user_talked_past_while_the_link_was_down_is_reported_unheard(self) -> None:
        """A designer who counts reports would miss an answer that nobody heard."""
        stage = Stage()
        stage.accepted("t1")
        stage.delta("One two three. ", message="under way", turn="t1")
        stage.run(0.4)
        stage.feed(LinkDown("reset", fatal=False))
        rows = (user_row("t1"), assistant_row("missed", "t1", "Missed."), user_row("t2"))
        stage.feed(resumed(*rows))
        stage.run(2.0)
        assert stage.heard == {"missed": "", "under way": "One two three. "}
        assert stage.spoken == "One two three."

    @pytest.mark.parametrize(
        "after", [resumed(user_row("t1"), user_row("t2")), resumed(user_row("t1"), completed=True)]
    )
    def test_a_message_whose_turn_is_over_does_not_wait_for_the_rest(self, after: Snapshot) -> None:
        """The program would stay in the middle of a sentence and never end."""
        stage = Stage()
        stage.accepted("t1")
        stage.delta("One two, ")
        stage.run(1.0)
        stage.feed(LinkDown("reset", fatal=False), after)
        stage.run(1.0)
        assert "m1" in stage.closed

    def test_the_end_of_a_turn_whose_start_was_missed_asks_for_the_history_once(self) -> None:
        """A message whose every frame fell into the gap would never be spoken."""
        stage = Stage()
        stage.feed(LinkUp(1), resumed(user_row("t1")))
        stage.turn_ended("t1")
        assert len(stage.all(RefreshSnapshot)) == 1
        stage.feed(resumed(user_row("t1"), assistant_row("m1", "t1", "One two.")))
        stage.run(2.0)
        assert stage.heard == {"m1": "One two."}
        stage.accepted("t2")
        stage.turn_ended("t2")
        assert len(stage.all(RefreshSnapshot)) == 1


class TestEnd:
    @pytest.mark.parametrize("terminated", [False, True])
    def test_what_comes_after_the_end_is_still_spoken(self, terminated: bool) -> None:
        """The recommendation itself would not be heard: the server says "completed" before it writes it."""
        stage = Stage()
        stage.accepted()
        stage.feed(ConversationClosed(terminated))
        stage.run(1.0)
        stage.says("See a doctor today.")
        stage.turn_ended()
        stage.run(3.0)
        assert stage.heard == {"m1": "See a doctor today."}
        assert stage.ended == ["terminated" if terminated else "completed"]

    def test_a_link_that_breaks_at_the_end_does_not_swallow_it(self) -> None:
        """The recommendation is in the snapshot that the next connect brings."""
        stage = Stage()
        stage.accepted()
        stage.feed(ConversationClosed(False), LinkDown("reset", fatal=False))
        stage.run(1.0)
        assert stage.ended == []
        stage.feed(resumed(user_row("t1"), assistant_row("m1", "t1", "See a doctor today."), completed=True))
        stage.run(3.0)
        assert stage.heard == {"m1": "See a doctor today."}
        assert stage.ended == ["completed"]

    def test_a_link_that_is_gone_for_good_ends_the_conversation_once_all_is_spoken(self) -> None:
        """The user would stand before a silent screen."""
        stage = Stage()
        stage.accepted()
        stage.says("One two three.")
        stage.feed(LinkDown("token refused", fatal=True))
        assert stage.ended == []
        stage.run(2.0)
        assert stage.heard == {"m1": "One two three."}
        assert stage.ended == ["token refused"]
        assert stage.feed(UserAccepted("u1", "t9", "x")) == []

    def test_a_link_that_is_gone_for_good_takes_the_rest_of_a_message_with_it(self) -> None:
        """The program would wait for the rest for ever."""
        stage = Stage()
        stage.accepted()
        stage.delta("One two, ")
        stage.feed(LinkDown("token refused", fatal=True))
        stage.run(2.0)
        assert stage.ended == ["token refused"]

    def test_words_for_a_closed_conversation_are_not_sent_and_the_operator_knows(self) -> None:
        """The server would refuse them, and nobody would know why."""
        stage = Stage()
        stage.accepted()
        stage.says(TEN)
        stage.feed(ConversationClosed(False))
        stage.run(1.0)
        stage.spoken_at_once("wait a moment")
        stage.turn_ended()
        assert stage.sent == []
        assert stage.notices == ["conversation.closed"]
        assert stage.ended == ["completed"]

    def test_a_link_that_closes_behind_the_end_does_not_change_why_it_ended(self) -> None:
        """An operator who reads of a lost link looks for a fault where there was none."""
        stage = Stage()
        stage.accepted()
        stage.says(TEN)
        stage.turn_ended()
        stage.feed(ConversationClosed(terminated=False))
        stage.feed(LinkDown("the server closed the link", fatal=True))
        stage.run(8.0)
        assert stage.ended == ["completed"]
