"""The record is what a dispute about a conversation is settled with; and it runs in a kiosk for weeks."""

from tests.report.story import RATE, Story, triage
from voice.core import events as ev
from voice.core import server_events as sev
from voice.core.evidence import Partial, SpeechStarted
from voice.report.record import Record


def told(story: Story, keep: int = 100) -> Record:
    record = Record(keep)
    story.tell(record)
    return record


class TestMessages:
    def test_each_message_of_the_server_is_there_once(self):
        """An auditor would miss what the server wanted to say."""
        assert list(told(triage()).messages) == ["m1", "m2", "m3", "m4", "m5", "m6", "m7"]

    def test_words_carry_the_time_at_which_they_left_the_loudspeaker(self):
        """Words would light up at the wrong moment."""
        words = told(triage()).words("m2")
        assert [(w.text, round(w.t_start, 3), w.whole) for w in words] == [
            ("Thank", 107.9, True),
            ("you.", 108.2, True),
        ]

    def test_late_marks_of_a_closed_message_change_nothing(self):
        """H4: the next message would be shown with the words of the last."""
        story = triage()
        story.at(20.0, ev.ClauseVoiced("m3", 0, (ev.WordMark(0, 2, 0, 99),), 99, True))
        story.at(20.0, ev.Played((ev.Span(0, "m3", 0, 0, 99),), ev.Stamp(0, 120.0), RATE))
        assert told(story).words("m3") == told(triage()).words("m3")

    def test_a_message_never_closed_claims_only_what_the_captions_showed(self):
        """A program that was killed would claim words that nobody heard."""
        record = Record()
        record(1.0, sev.MessageDelta("m", "t", "intro", None, "One two three."))
        record(2.0, ev.Caption("m", "intro", "One two three.", 7))
        message = record.messages["m"]
        assert (message.source, message.heard) == ("One two three.", "One two")

    def test_a_caption_of_another_text_claims_nothing(self):
        """`heard` must be a verbatim prefix of the source, or the server cannot use it."""
        record = Record()
        record(1.0, sev.MessageDelta("m", "t", "intro", None, "One two three."))
        record(2.0, ev.Caption("m", "intro", "ONE two three.", 7))
        assert record.messages["m"].heard == ""

    def test_text_that_comes_after_the_cut_belongs_to_the_source(self):
        """What was never said because of the cut would vanish from the account."""
        story = Story()
        story.message(1.0, "m", "One two three", heard=2, cut="voice")
        story.at(3.0, sev.MessageDelta("m", "t1", "intro", True, " four"))
        message = told(story).messages["m"]
        assert (message.source, message.heard) == ("One two three four", "One two")

    def test_spans_wait_for_the_first_stamp(self):
        """A device that says late when its frames leave would seem to have said nothing."""
        record = Record()
        record(1.0, ev.Speak("m", 0, "Hi", 1.0))
        record(1.0, ev.ClauseVoiced("m", 0, (ev.WordMark(0, 2, 0, 100),), 100, True))
        record(1.1, ev.Played((ev.Span(0, "m", 0, 0, 100),), None, 1000))
        assert record.words("m") == ()
        record(1.2, ev.Played((), ev.Stamp(100, 1.3), 1000))
        assert [round(w.t_start, 3) for w in record.words("m")] == [1.2]

    def test_frames_of_a_lost_device_that_never_had_a_stamp_did_not_sound(self):
        """The new device's clock would put them at a time of its own."""
        record = Record()
        record(1.0, ev.Speak("m", 0, "Hi", 1.0))
        record(1.0, ev.ClauseVoiced("m", 0, (ev.WordMark(0, 2, 0, 100),), 100, True))
        record(1.1, ev.Played((ev.Span(0, "m", 0, 0, 100),), None, 1000))
        record(1.2, ev.DeviceLost("unplugged"))
        record(1.3, ev.Played((), ev.Stamp(0, 1.3), 1000))
        assert record.words("m") == ()


class TestUser:
    def test_partials_are_replaced_and_the_final_text_stays(self):
        """The account would quote what the recogniser took back."""
        record = told(triage())
        record(140.0, Partial("u1", "late", 9.0))
        assert record.utterances["u1"].text == "I have a headache since yesterday."

    def test_a_voice_without_an_end_keeps_its_last_partial(self):
        """Somebody who was talking when the program was stopped is in the account."""
        record = Record()
        record(1.0, SpeechStarted("u", 0.9))
        record(1.5, Partial("u", "I feel", 0.5))
        utterance = record.utterances["u"]
        assert (utterance.text, utterance.final, utterance.t_start) == ("I feel", False, 0.9)

    def test_ducks_have_a_beginning_and_an_end(self):
        """The picture would show a voice lowered for ever."""
        assert [(round(d.t_start, 2), round(d.t_end or 0, 2)) for d in told(triage()).lowered] == [
            (109.38, 109.9),
            (110.78, 111.4),
        ]

    def test_a_voice_that_was_only_paused_was_not_cut(self):
        """A cough would count as a fast cut and make the figures better than they are."""
        story = triage()
        story.at(12.0, ev.FloorChanged("resume", "u3", "no words after the cut"))
        assert told(story).utterances["u3"].t_silenced is None


class TestNotices:
    def test_known_harmless_codes_are_notices_and_all_others_errors(self):
        """An error that nobody knew of would look like small talk."""
        record = Record()
        for code in ("link.down", "link.closed", "link.fatal", "server.internal", "never.seen"):
            record(1.0, ev.Notice(code, "x"))
        assert [n.code for n in record.notices] == ["link.down", "link.closed"]
        assert [n.code for n in record.errors] == ["link.fatal", "server.internal", "never.seen"]


class TestLongLife:
    def test_a_thousand_turns_keep_no_more_than_was_asked_for(self):
        """C3: a kiosk would grow until it is restarted in front of a visitor."""
        record = Record(keep=50)
        for turn in range(1000):
            story = Story(turn * 100.0)
            story.message(1.0, f"m{turn}", "One two three.")
            story.utterance(3.0, f"u{turn}", "Yes.", sent=5.0, decisions=((3.1, "duck", "onset"),))
            story.at(6.0, ev.Notice("link.down", "x"), ev.Notice("odd", "x"), ev.LinkUp(turn))
            story.tell(record)
        held = (
            *(record.messages, record.utterances, record.decisions, record.sends, record.lowered),
            *(record.errors, record.notices, record.links),
        )
        assert [len(kept) for kept in held] == [50] * 8
        assert record.dropped == 950
        assert not record._tracks
        assert not record._unstamped
