"""What the server sends, in the order it likes, and what becomes of it at the loudspeaker."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.core.stage import BLOCK, TEN, Stage, WordEngine, words
from voice.core.events import LinkUp, RefreshSnapshot, StopVoice, Typed
from voice.core.evidence import Partial, SpeechStarted
from voice.core.server_events import (
    BadFrame,
    Ignored,
    Interruption,
    MessageCompleted,
    MessageDelta,
    ServerFault,
    SettingsChanged,
    Snapshot,
    TurnEnded,
)
from voice.core.server_side import DOUBT
from voice.core.speaking import AHEAD
from voice.core.widgets import Hints

EMPTY = Snapshot("c1", resumed=False, completed=False, terminated=False, max_message_length=1500, rows=())


class TestPreemption:
    def test_another_device_cuts_with_the_server_as_the_cause(self) -> None:
        """Two people with one conversation: the kiosk would go on with an answer to a question that was taken back."""
        stage = Stage()
        stage.accepted()
        stage.says(TEN)
        stage.says("More of it.", message="m2")
        stage.run(1.0)
        stage.turn_ended(outcome="interrupted")
        assert stage.heard == {"m1": words(3), "m2": ""}
        assert stage.cuts == {"m1": "server", "m2": "server"}
        stage.user("my own words")
        assert not stage.sent[0].is_interrupted

    def test_it_cuts_what_the_user_may_not_cut(self) -> None:
        """The turn is over; there is nothing left to protect."""
        stage = Stage()
        stage.accepted()
        stage.says(TEN, kind="acknowledgement")
        stage.run(1.0)
        stage.turn_ended(outcome="interrupted")
        assert stage.cuts == {"m1": "server"}

    def test_a_turn_that_ends_under_a_doubtful_cut_does_not_come_back(self) -> None:
        """The voice would go on with a turn that no longer exists."""
        stage = Stage()
        stage.accepted()
        stage.says(TEN)
        stage.run(1.0)
        stage.partials("my knee", voiced=0.5)
        stage.turn_ended(outcome="interrupted")
        stage.utterance_ends("")
        stage.run(3.0)
        assert stage.heard == {"m1": words(3)}
        assert stage.cuts == {"m1": "server"}

    def test_late_text_of_a_dead_turn_is_reported_unheard_once_and_not_spoken(self) -> None:
        """The user would hear the answer to what he has just corrected."""
        stage = Stage()
        stage.accepted()
        stage.says(TEN)
        stage.run(1.0)
        stage.user("no it is my knee")
        asked = len(stage.asked)
        stage.delta("Your head hurts. ", message="late")
        stage.delta("Your head hurts much.", message="never completed")
        stage.completed("Your head hurts. ", message="late")
        stage.delta("Your head hurts. ", message="late")
        stage.completed("Your head hurts. ", message="late")
        stage.turn_ended(outcome="interrupted")
        stage.run(2.0)
        assert stage.heard == {"m1": words(3), "late": "", "never completed": ""}
        assert stage.cuts["late"] == "voice"
        assert len(stage.asked) == asked
        stage.accepted("t2")
        stage.says("Your knee, then.", message="m2", turn="t2")
        stage.run(2.0)
        assert stage.heard["m2"] == "Your knee, then."

    def test_words_before_the_first_text_end_that_turn(self) -> None:
        """The user adds something at once; the answer to the first half would still be read out."""
        stage = Stage()
        stage.accepted()
        stage.user("and my neck")
        stage.says("Your head hurts.", message="late")
        stage.run(2.0)
        assert stage.heard == {"late": ""}
        assert stage.asked == []
        assert not stage.sent[0].is_interrupted

    def test_words_between_two_messages_end_the_one_that_was_being_written(self) -> None:
        """It would be spoken after the user had answered."""
        stage = Stage()
        stage.says("Hello there.", message="a", turn="t0")
        stage.delta("How are ", message="b", turn="t0")
        stage.run(0.7)
        stage.spoken_at_once("my head hurts")
        stage.completed("How are you today?", message="b", turn="t0")
        stage.run(2.0)
        assert stage.heard == {"a": "Hello there.", "b": ""}
        assert stage.spoken == "Hello there."

    def test_text_that_is_still_to_come_for_a_cut_message_is_not_spoken(self) -> None:
        """The server writes faster than it reads: the rest of a cut sentence would follow the cut."""
        stage = Stage()
        stage.accepted()
        stage.delta("One two three four five! ")
        stage.run(0.7)
        stage.spoken_at_once("stop please")
        stage.delta("Six seven eight. ")
        stage.completed("One two three four five! Six seven eight. ")
        stage.run(2.0)
        assert stage.heard == {"m1": "One two"}
        assert stage.spoken == "One two three four five!"

    def test_a_failed_turn_is_told_to_the_operator_and_what_came_is_spoken(self) -> None:
        """Half an answer is better than silence, and the operator learns why it is half."""
        stage = Stage()
        stage.accepted()
        stage.delta("One two three")
        stage.feed(TurnEnded(None, "failed", "overload"))
        stage.run(2.0)
        assert stage.notices == ["turn.failed"]
        assert stage.heard == {"m1": "One two three"}


class TestText:
    def test_completed_without_deltas(self) -> None:
        """A server that does not stream would not be heard."""
        stage = Stage()
        stage.completed("One two three.")
        stage.run(1.0)
        assert stage.heard == {"m1": "One two three."}

    def test_a_widget_without_text_is_over_at_once(self) -> None:
        """A card on the screen would block the voice."""
        stage = Stage()
        stage.feed(MessageCompleted("m1", "t1", "intro", True, "", (Hints(),)))
        stage.run(0.1)
        assert stage.heard == {"m1": ""}
        assert stage.cuts == {"m1": None}

    def test_a_delta_after_completed_is_dropped(self) -> None:
        """The last words would be said twice."""
        stage = Stage()
        stage.says("One two three.")
        stage.delta(" three.")
        stage.run(2.0)
        assert stage.heard == {"m1": "One two three."}
        stage.delta("four")
        stage.run(1.0)
        assert stage.spoken == "One two three."

    @pytest.mark.parametrize(
        ("deltas", "final", "spoken"),
        [
            ("One two three. ", "One two three. Four five.", "One two three. Four five."),
            ("One two three. ", "One two three.", "One two three."),
            ("One two three. ", "One two three. ", "One two three."),
            ("One two three. Fo", "One two three. Five.", "One two three. Five."),
            ("One two three. ", "One, two, three. Four five.", "One two three. Four five."),
            ("One two three. ", "One two, three! Four five.", "One two three. Four five."),
            ("One two three. ", "", "One two three."),
            ("One two three. ", "One", "One two three."),
            ("One two three. ", "Something else was meant here.", "One two three. Something else was meant here."),
            ("One two thr", "One two three. Four five.", "One two three. Four five."),
            ("您好，感谢您致电。", "您好，感谢您致电。请说。", "您好，感谢您致电。 请说。"),
            ("您好，感谢您致电。", "您好，谢谢您致电。请说。", "您好，感谢您致电。 请说。"),
            ("好。", "好的。请说。", "好。 请说。"),
        ],
    )
    def test_of_a_text_that_was_changed_only_the_rest_is_spoken(self, deltas: str, final: str, spoken: str) -> None:
        """What was said cannot be taken back; said again, it sounds like a broken record."""
        stage = Stage()
        stage.delta(deltas)
        stage.completed(final)
        stage.run(3.0)
        assert stage.spoken == spoken
        assert stage.heard["m1"] == stage.closed["m1"].source

    def test_a_message_of_100_000_characters_is_spoken_a_little_ahead_and_to_its_end(self) -> None:
        """A server gone wild would fill the memory, or freeze the kiosk."""
        text = "Word and word, and word again; and so it goes on without an end. " * 1540
        stage = Stage(engine=WordEngine(word=0.02), block=20 * BLOCK)
        stage.says(text)
        assert len(stage.spoken.split()) * 0.02 < AHEAD + 0.2
        most = 0.0
        while not stage.closed:
            stage.run(2.0)
            most = max(most, stage.player.queued())
            assert len(stage.session.speaking.playhead._tracks.get("m1", ())) < 50
        assert most < AHEAD + 300 * 0.02
        assert stage.heard["m1"] == text

    def test_an_unknown_kind_may_be_interrupted(self) -> None:
        """A kind that the server invents tomorrow would leave the user without a voice."""
        stage = Stage()
        stage.says(TEN, kind="epilogue")
        stage.run(1.0)
        stage.spoken_at_once("I have a question")
        assert stage.heard == {"m1": words(3)}

    @pytest.mark.parametrize(("kind", "wire", "cut"), [("acknowledgement", True, "voice"), ("intro", False, None)])
    def test_the_value_on_the_wire_wins_over_the_table(self, kind: str, wire: bool, cut: str | None) -> None:
        """The server knows its messages better than a table that was written before them."""
        stage = Stage()
        stage.feed(MessageDelta("m1", "t1", kind, wire, TEN), MessageCompleted("m1", "t1", kind, wire, TEN))
        stage.run(1.0)
        stage.spoken_at_once("I have a question")
        stage.run(3.0)
        assert stage.cuts == {"m1": cut}


class TestBadFrames:
    def test_a_frame_that_cannot_be_read_may_have_been_an_answer(self) -> None:
        """It stands in the history when its turn is over."""
        stage = Stage()
        stage.feed(LinkUp(0), EMPTY)
        stage.accepted("t1")
        stage.feed(BadFrame("not JSON"))
        assert not stage.all(RefreshSnapshot)
        stage.turn_ended("t1")
        assert len(stage.all(RefreshSnapshot)) == 1

    def test_it_may_have_been_the_end_of_the_turn(self) -> None:
        """The program would wait for it for ever."""
        stage = Stage()
        stage.feed(LinkUp(0), EMPTY, BadFrame("not JSON"), BadFrame("not JSON"))
        stage.run(DOUBT + 1.0)
        assert len(stage.all(RefreshSnapshot)) == 1


class TestMessages:
    @pytest.mark.parametrize(
        ("text", "limit", "sent"),
        [
            ("I am ill", 8, "I am ill"),
            ("I am very ill", 9, "I am very"),
            ("I am very ill", 8, "I am"),
            ("😀😀😀", 3, "😀😀😀"),
            ("😀😀😀😀", 3, "😀😀😀"),
            ("  I am ill  ", 8, "I am ill"),
        ],
    )
    def test_length_is_counted_in_code_points(self, text: str, limit: int, sent: str) -> None:
        """Counted in bytes, half of what an emoji-happy user writes would be thrown away; in nothing, the server
        refuses the whole."""
        stage = Stage()
        stage.feed(replace(EMPTY, max_message_length=limit), Typed(text))
        assert [said.content for said in stage.sent] == [sent]
        assert stage.notices == ([] if len(text.strip()) <= limit else ["message.shortened"])

    def test_the_limit_follows_the_settings(self) -> None:
        """A limit of yesterday refuses the words of today."""
        stage = Stage()
        stage.feed(SettingsChanged({}, 4), Typed("I am very ill"))
        assert [said.content for said in stage.sent] == ["I am"]

    def test_faults_and_unknown_frames_reach_the_operator(self) -> None:
        """Someone who looks for a fault finds silence."""
        stage = Stage()
        stage.feed(ServerFault("overload", "try later"), Ignored("conversation.new_thing"))
        assert stage.notices == ["server.overload", "frame.ignored"]

    def test_each_message_has_its_own_id_and_trace(self) -> None:
        """A repeated id is taken for a repeated message, and dropped."""
        stage = Stage()
        stage.feed(Typed("one thing"), Typed("another thing"))
        assert len({said.id for said in stage.sent}) == len({said.traceparent for said in stage.sent}) == 2

    def test_words_while_only_signs_have_arrived_end_that_message(self) -> None:
        """A message of which nothing was speakable yet would be spoken after its turn was cut."""
        stage = Stage()
        stage.accepted()
        stage.delta("... \n\n! ")
        stage.run(0.3)
        stage.spoken_at_once("my head hurts")
        stage.delta("Since when?")
        stage.completed("... \n\n! Since when?")
        stage.run(2.0)
        assert stage.spoken == ""
        assert stage.heard == {"m1": ""}
        assert not stage.sent[0].is_interrupted

    def test_noise_does_not_keep_an_answer_back(self) -> None:
        """In a noisy hall the program would never speak."""
        stage = Stage()
        stage.feed(SpeechStarted("noise", 0.0))
        stage.says("One two three.")
        stage.run(1.0)
        assert stage.spoken == ""
        stage.run(2.5)
        assert stage.heard == {"m1": "One two three."}

    def test_an_answer_waits_for_words_to_end(self) -> None:
        """The program would begin to speak in the middle of a long account."""
        stage = Stage()
        stage.feed(SpeechStarted("x1", 0.0), Partial("x1", "it began", 0.5))
        stage.says("One two three.")
        stage.run(5.0)
        assert stage.spoken == ""
        assert stage.all(StopVoice) == []


class TestInterruptionByTheServer:
    """Google CES tells us to stop: the user spoke over its voice, or another answer replaces this one."""

    @pytest.mark.parametrize("barge_in", [True, False])
    def test_the_voice_stops_and_nothing_of_it_comes_back(self, barge_in: bool) -> None:
        """Hurts the user who would be told what is no longer meant."""
        stage = Stage()
        stage.accepted("t1")
        stage.says("One two three four five six seven eight nine ten.", turn="t1")
        stage.run(1.0)
        stage.feed(Interruption(barge_in, "t1"))
        stage.run(5.0)
        assert stage.closed["m1"].cut == "server"
        assert "One two".startswith(stage.heard["m1"][:7])
        stage.accepted("t2")
        stage.says("Eleven twelve.", "m2", turn="t2")
        stage.run(3.0)
        assert stage.heard["m2"] == "Eleven twelve."

    def test_in_silence_it_changes_nothing(self) -> None:
        stage = Stage()
        stage.feed(Interruption(False, ""))
        stage.accepted("t1")
        stage.says("One two.")
        stage.run(3.0)
        assert stage.heard == {"m1": "One two."}
