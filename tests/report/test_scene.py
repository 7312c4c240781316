"""What the picture shows, checked before anything is drawn."""

from tests.report.story import Story, triage
from voice.core import events as ev
from voice.report.record import Record
from voice.report.scene import Scene, scene


def seen(story: Story, **how) -> Scene:
    record = Record()
    story.tell(record)
    return scene(record, story.t0, **how)


class TestAssistant:
    def test_the_unheard_rest_is_a_ghost_behind_the_cut(self):
        """Nobody would see what the interruption cost."""
        ghost, *_ = seen(triage()).ghosts
        assert (ghost.text, round(ghost.t_start, 2)) == ("had chills during the last two days?", 11.4)

    def test_a_ghost_ends_where_the_next_message_sounds(self):
        """What was not said would cover what was."""
        assert all(ghost.t_end <= 13.9 + 1e-6 for ghost in seen(triage()).ghosts)

    def test_a_message_that_never_sounded_is_counted_at_its_cut(self):
        """A question that was dropped would leave no trace in the picture."""
        assert [(round(cut.t, 2), cut.cause, cut.unspoken) for cut in seen(triage()).cuts] == [(11.4, "voice", 1)]

    def test_words_that_sounded_and_are_not_claimed_are_told_apart(self):
        """A word said too softly to be understood would pass for heard."""
        story = Story()
        story.message(1.0, "m", "One two three four", heard=3, cut="voice")
        last = story.items.pop()[1]
        assert isinstance(last, ev.MessageClosed)
        story.at(1.9, ev.MessageClosed("m", "t1", "intro", True, last.source, "One two", "voice", False, 101.0, 101.9))
        assert [word.whole for word in seen(story).spoken[0].words] == [True, True, False]

    def test_an_uninterruptible_message_says_so(self):
        """A user who was not let in would seem to have been ignored."""
        assert [s.can_interrupt for s in seen(triage()).spoken] == [True, False, True, False, True, True]


class TestUser:
    def test_each_utterance_says_what_the_server_was_told(self):
        """The line for which one looks at the picture."""
        assert {said.text: said.told for said in seen(triage()).said} == {
            "I have a headache since yesterday.": "sent",
            "(no words)": "not sent: no words were recognised",
            "No fever, but my neck is stiff.": "sent · heard until “…have a fever, or have you”",
            "Since this morning.": "held 0.9 s, sent",
            "Yes, that is right.": "typed, sent",
        }

    def test_nothing_heard_is_said_in_words(self):
        """An empty quotation looks like a fault of the picture."""
        story = Story()
        story.utterance(1.0, "u", "Stop", sent=3.0, played="")
        assert seen(story).said[0].told == "sent · heard nothing"


class TestFloor:
    def test_a_stop_that_was_taken_back_is_a_pause(self):
        """A hole in the voice would have no explanation."""
        story = Story()
        story.at(1.0, ev.FloorChanged("cut", "u", "two partials agree"))
        story.at(2.0, ev.FloorChanged("resume", "u", "no words after the cut"))
        assert [mark.text for mark in seen(story).marks] == ["paused", "resume"]

    def test_held_lasts_until_it_is_sent(self):
        """The wait that the user felt is the bar's length."""
        held = [bar for bar in seen(triage()).bars if bar.state == "held"]
        assert [(round(bar.t_start, 2), round(bar.t_end, 2)) for bar in held] == [(15.8, 16.2)]


class TestRows:
    def test_a_short_talk_has_rows_of_about_ten_seconds(self):
        """Words would not be readable."""
        made = seen(triage(), length=31.0)
        assert made.rows == 3
        assert 10.0 <= made.row <= 12.5

    def test_the_rows_hold_the_whole_talk(self):
        """The end of a talk would be cut off."""
        for length in (0.5, 9.9, 10.1, 31.0, 599.0, 3600.0, 36000.0):
            made = seen(triage(), length=length)
            assert made.rows * made.row >= length - 1e-6
            assert made.rows <= 60

    def test_no_talk_at_all_has_one_row(self):
        """A conversation that failed at once still has its report."""
        assert seen(Story()).rows == 1
