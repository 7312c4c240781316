"""The floor at work in a session: down and up again, held speech, cuts that were none, hands instead of voices."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.stage import BLOCK, RATE, TEN, Stage, words
from voice.core.events import DeviceLost, Duck, MessageClosed, SendUserMessage, Shutdown, StopVoice, Typed, UserCut
from voice.core.evidence import Partial, SpeechPaused, SpeechStarted, Utterance, VoiceActivity
from voice.core.pacing import DEFAULT_RULES, KindRule, Pacing
from voice.core.session import SessionRules

ADVICE = "Please sit down now."
"""Four words, 1.2 s, of a kind that may not be interrupted."""


def advice_then_question(rules: SessionRules | None = None, question: bool = True) -> Stage:
    stage = Stage(rules=rules or SessionRules())
    stage.accepted()
    stage.says(ADVICE, message="a", kind="acknowledgement")
    if question:
        stage.says("Since when does it hurt?", message="b")
    return stage


class TestDuck:
    def test_onset_without_words_goes_down_and_comes_back(self) -> None:
        """F6. Every chair that is moved would end the message or leave it at a whisper."""
        stage = Stage()
        stage.says(TEN)
        stage.run(1.0)
        stage.feed(SpeechStarted("x1", stage.now))
        stage.run(0.3)
        stage.feed(SpeechPaused("x1", stage.now))
        stage.run(0.8)
        stage.run(1.0)
        down, block = 0.5 * 10 ** (-20 / 20), BLOCK / RATE
        assert stage.level(1.0 + block, 1.3) == pytest.approx(down, rel=1e-3)
        assert stage.level(2.1 + block, 3.0) == pytest.approx(0.5)
        assert stage.heard == {"m1": TEN}
        assert stage.decisions == ["duck", "resume"]
        assert stage.sent == []

    def test_who_goes_on_while_they_are_still_being_read_leaves_no_voice_lowered(self) -> None:
        """On a slow machine everything from the next question on would be whispered, for good."""
        stage = Stage()
        stage.says(words(3))
        stage.run(0.7)
        stage.feed(SpeechStarted("x1", stage.now))
        stage.run(0.3)  # and the message is over
        stage.feed(SpeechPaused("x1", stage.now), SpeechStarted("x2", stage.now + 0.45))
        stage.utterance_ends("", name="x1")
        stage.utterance_ends("", name="x2")
        stage.run(1.0)
        stage.says(TEN, message="m2")
        start = stage.now
        stage.run(1.0)
        assert stage.level(start, stage.now) == pytest.approx(0.5)

    def test_a_cough_costs_no_sample(self) -> None:
        """F7. A word swallowed or said twice makes a sentence of advice mean something else."""
        stage = Stage(tick=False)
        stage.says(TEN)
        spans = []
        for event in (None, SpeechStarted("x1", 1.0), SpeechPaused("x1", 1.2), Utterance("x1", "", 1.0, 1.2), None):
            if event is not None:
                stage.feed(event)
            stage.run(0.6)
            spans += stage.player.played().spans
        samples = np.concatenate([np.arange(span.sample, span.sample + span.count) for span in spans])
        assert (samples == np.arange(3 * RATE)).all()

    def test_ok_does_not_cut(self) -> None:
        """F3. A polite listener would never hear a sentence to its end."""
        stage = Stage()
        stage.says(TEN)
        stage.run(0.5)
        stage.partials("ok", voiced=0.4)
        stage.utterance_ends("ok")
        stage.run(3.0)
        assert stage.heard == {"m1": TEN}
        assert stage.all(StopVoice) == []
        assert stage.sent == []

    def test_the_voice_is_loud_again_after_a_cut(self) -> None:
        """The answer to an interruption would be whispered."""
        stage = Stage()
        stage.says(TEN)
        stage.run(1.0)
        stage.user("I have a question")
        stage.says("Yes please go on with it.", message="m2", turn="t2")
        start = stage.now
        stage.run(1.0)
        assert stage.level(start, stage.now) == pytest.approx(0.5)


class TestHeldSpeech:
    def test_outcome_while_queued(self) -> None:
        """F9. Nothing was said yet: the answer goes out, and the message is reported as not heard."""
        stage = Stage()
        stage.says("Hello.", message="h", turn="t0")
        stage.run(0.31)
        stage.says(ADVICE, message="a", kind="acknowledgement")
        stage.spoken_at_once("my head hurts")
        assert stage.heard == {"h": "Hello.", "a": ""}
        assert [said.is_interrupted for said in stage.sent] == [False]

    def test_outcome_while_speaking(self) -> None:
        """F9. What was said is not lost and does not cut the advice."""
        stage = advice_then_question(question=False)
        stage.run(0.2)
        stage.user("my head hurts", voiced=0.3)
        assert stage.sent == []
        stage.run(1.0)
        stage.run(5.0)
        assert [said.content for said in stage.sent] == ["my head hurts"]
        assert stage.sent[0].held == pytest.approx(0.2, abs=0.02)
        assert stage.heard == {"a": ADVICE}
        assert not stage.sent[0].is_interrupted
        assert stage.decisions == ["hold", "release"]

    def test_outcome_when_done(self) -> None:
        """F9. An answer after the message is an ordinary answer."""
        stage = advice_then_question(question=False)
        stage.run(1.3)
        stage.user("my head hurts")
        assert [(said.content, said.held) for said in stage.sent] == [("my head hurts", 0.0)]

    def test_words_after_a_cut_that_was_settled_by_hand_cut_no_advice(self) -> None:
        """Who types while they speak would lose the advice that answers what they typed."""
        stage = Stage()
        stage.says(TEN)
        stage.run(1.0)
        stage.feed(SpeechStarted("x1", stage.now))
        stage.run(0.7)
        stage.feed(VoiceActivity("x1", stage.now, 0.7, 0.0, -26.0, -100.0), Typed("hello"))
        stage.accepted("t2")
        stage.says(ADVICE, message="a", turn="t2", kind="acknowledgement")
        stage.run(1.5)
        stage.utterance_ends("my head hurts")
        stage.run(2.0)
        assert stage.cuts == {"m1": "voice", "a": None}
        assert [said.content for said in stage.sent] == ["hello", "my head hurts"]

    def test_it_goes_out_before_the_next_question_begins(self) -> None:
        """The user would be asked what he has just told; and the server must know that the question was not heard."""
        stage = advice_then_question()
        stage.run(0.2)
        stage.user("since Monday", voiced=0.3)
        stage.run(3.0)
        assert stage.heard == {"a": ADVICE, "b": ""}
        assert stage.cuts == {"a": None, "b": "voice"}
        said = stage.sent[0]
        assert (said.is_interrupted, said.played_content) == (True, ADVICE)
        assert "Since when" not in stage.spoken

    def test_two_utterances_become_one_message(self) -> None:
        """Two frames: the second would kill the turn that answers the first."""
        stage = Stage()
        stage.accepted()
        stage.says(ADVICE + " " + ADVICE, message="a", kind="acknowledgement")
        stage.user("my head hurts", name="x1", voiced=0.3)
        stage.user("and my neck", name="x2", voiced=0.3)
        stage.run(2.0)
        assert [said.content for said in stage.sent] == ["my head hurts and my neck"]
        assert stage.sent[0].utterance_id == "x1"

    def test_it_waits_for_the_user_to_finish(self) -> None:
        """The message would go out in the middle of his second sentence."""
        stage = advice_then_question(question=False)
        stage.user("my head hurts", voiced=0.3)
        stage.feed(SpeechStarted("x2", stage.now))
        stage.feed(Partial("x2", "and my", 0.5))
        stage.run(2.0)
        assert stage.sent == []
        stage.utterance_ends("and my neck", name="x2")
        assert [said.content for said in stage.sent] == ["my head hurts and my neck"]

    def test_noise_does_not_hold_it_back_for_ever(self) -> None:
        """In a noisy hall the answer would never reach the server."""
        stage = advice_then_question()
        stage.user("my head hurts", voiced=0.3)
        stage.feed(SpeechStarted("noise", stage.now))
        stage.run(3.0)
        assert [said.content for said in stage.sent] == ["my head hurts"]
        assert stage.heard["b"] == ""

    def test_it_passes_a_second_message_that_may_not_be_interrupted(self) -> None:
        """Two connectives in a row: the second would be cut after all."""
        stage = advice_then_question(question=False)
        stage.says("One moment please.", message="f", kind="filler")
        stage.user("my head hurts", voiced=0.3)
        stage.run(3.0)
        assert stage.heard == {"a": ADVICE, "f": "One moment please."}
        assert [said.content for said in stage.sent] == ["my head hurts"]

    def test_pacing_may_let_early_speech_go_by(self) -> None:
        """An operator who asked for it would get answers to a welcome that nobody had heard."""
        rules = {**DEFAULT_RULES, "acknowledgement": KindRule(can_interrupt=False, early_speech="ignore")}
        stage = advice_then_question(SessionRules(pacing=Pacing(rules)), question=False)
        stage.user("my head hurts", voiced=0.3)
        stage.run(3.0)
        assert stage.sent == []
        assert "ignore" in stage.decisions

    @pytest.mark.parametrize("early", ["hold", "ignore"])
    def test_what_was_typed_is_held_in_any_case(self, early: str) -> None:
        """Nobody types by accident."""
        kind = KindRule(can_interrupt=False, early_speech=early)  # type: ignore[arg-type]
        stage = advice_then_question(SessionRules(pacing=Pacing({"acknowledgement": kind})), question=False)
        stage.run(0.3)
        stage.feed(Typed("my head hurts"))
        assert stage.sent == []
        stage.run(2.0)
        assert [said.content for said in stage.sent] == ["my head hurts"]
        assert stage.heard == {"a": ADVICE}

    def test_it_survives_a_shutdown(self) -> None:
        """The last thing a user said before the kiosk closed would be lost."""
        stage = advice_then_question()
        stage.user("my head hurts", voiced=0.3)
        stage.feed(Shutdown())
        assert [said.content for said in stage.sent] == ["my head hurts"]
        assert stage.ended == ["shutdown"]
        assert set(stage.closed) == {"a", "b"}

    def test_a_shutdown_does_not_wait_for_somebody_who_speaks(self) -> None:
        """The program could not be ended in a noisy room."""
        stage = advice_then_question()
        stage.user("my head hurts", voiced=0.3)
        stage.feed(SpeechStarted("x2", stage.now), Partial("x2", "and my", 0.5))
        stage.feed(Shutdown())
        assert [said.content for said in stage.sent] == ["my head hurts"]
        assert stage.ended == ["shutdown"]


class TestFalseCut:
    def false_cut(self) -> Stage:
        stage = Stage()
        stage.accepted()
        stage.says("One two three. Four five six seven. Eight nine ten.")
        stage.run(1.3)  # in the second clause
        stage.partials("the the", voiced=0.4)
        stage.feed(Partial("x1", "there is", 0.5), Partial("x1", "there is", 0.6))
        assert stage.all(StopVoice) == [StopVoice("voice")]
        stage.run(0.5)
        return stage

    def test_the_voice_goes_on_with_its_clause(self) -> None:
        """A door that sounded like words would end the question, and both sides would wait for the other."""
        stage = self.false_cut()
        assert stage.closed == {}
        asked = len(stage.asked)
        stage.utterance_ends("")
        assert [clause.clause for clause in stage.asked[asked:]][:1] == [1]
        stage.run(4.0)
        assert stage.heard == {"m1": "One two three. Four five six seven. Eight nine ten."}
        assert stage.cuts == {"m1": None}
        assert stage.sent == []

    def test_a_cut_after_it_takes_nothing_back(self) -> None:
        """What was heard once stays heard, though its clause is being said again."""
        stage = self.false_cut()
        stage.utterance_ends("")
        stage.run(0.05)
        stage.feed(UserCut("touch"))
        assert stage.heard == {"m1": "One two three. Four"}

    def test_ears_that_die_in_a_cut_do_not_silence_the_program(self) -> None:
        """The utterance would be waited for until somebody restarts the kiosk."""
        stage = self.false_cut()
        stage.run(100.0)
        assert stage.heard == {"m1": "One two three. Four five six seven. Eight nine ten."}
        stage.says("Are you still there?", message="m2")
        stage.run(2.0)
        assert stage.heard["m2"] == "Are you still there?"

    def test_a_long_story_after_a_cut_is_heard_to_its_end(self) -> None:
        """After a minute and a half the voice would begin again over somebody who is still telling."""
        stage = self.false_cut()
        for _ in range(11):
            stage.run(10.0)
            stage.feed(VoiceActivity("x1", stage.now, 60.0, 0.0, -26.0, -100.0))
        stage.utterance_ends("there is a lot to tell")
        assert stage.cuts == {"m1": "voice"}
        assert [said.content for said in stage.sent] == ["there is a lot to tell"]

    def test_noise_behind_a_cut_whose_utterance_never_ended_does_not_silence_it_either(self) -> None:
        """The ears were restarted in mid-sentence and hear only the hall since."""
        stage = self.false_cut()
        stage.user("", name="x2")
        stage.run(5.0)
        assert stage.closed == {}
        stage.run(90.0)
        assert stage.cuts == {"m1": None}

    def test_another_utterance_settles_a_cut_whose_own_never_ended(self) -> None:
        """The recogniser was restarted in mid-sentence; the user says it again."""
        stage = self.false_cut()
        stage.user("it hurts a lot", name="x2")
        assert [said.content for said in stage.sent] == ["it hurts a lot"]
        assert stage.cuts == {"m1": "voice"}

    def test_what_is_typed_and_what_is_said_behind_it_is_one_message(self) -> None:
        """The second message would kill the turn that answers the first."""
        stage = advice_then_question()
        stage.run(0.3)
        stage.feed(Typed("my head hurts"))
        stage.feed(SpeechStarted("x1", stage.now))
        stage.feed(Partial("x1", "and my", 0.5))
        stage.run(1.5)
        stage.utterance_ends("and my neck")
        stage.run(1.0)
        assert [said.content for said in stage.sent] == ["my head hurts and my neck"]
        assert stage.heard == {"a": ADVICE, "b": ""}


class TestHands:
    def test_a_key_cuts_and_the_next_words_say_so(self) -> None:
        """The server would learn of the cut from nobody."""
        stage = Stage()
        stage.says(TEN)
        stage.run(1.0)
        stage.feed(UserCut("key"))
        assert stage.cuts == {"m1": "key"}
        assert stage.sent == []
        stage.user("I have a question")
        assert (stage.sent[0].is_interrupted, stage.sent[0].played_content) == (True, words(3))
        stage.user("another one", name="x2")
        assert (stage.sent[1].is_interrupted, stage.sent[1].played_content) == (False, None)

    def test_a_key_after_the_end_owes_nothing(self) -> None:
        """H13. The next answer would be reported as an interruption."""
        stage = Stage(latency=0.3)
        stage.says("One two three.")
        stage.run(1.0)  # all is written, not all has left the converter
        stage.feed(UserCut("key"))
        assert stage.cuts == {"m1": None}
        stage.user("thanks a lot")
        assert not stage.sent[0].is_interrupted

    def test_a_key_between_two_messages_drops_the_second(self) -> None:
        """The user would have to press it twice."""
        stage = Stage()
        stage.says("One two three.", message="a")
        stage.says("Four five six.", message="b")
        stage.run(1.0)
        stage.feed(UserCut("key"))
        stage.run(2.0)
        assert stage.heard == {"a": "One two three.", "b": ""}
        stage.user("I have a question")
        assert (stage.sent[0].is_interrupted, stage.sent[0].played_content) == (True, "One two three.")

    @pytest.mark.parametrize("cause", ["key", "touch"])
    def test_a_key_does_not_cut_what_may_not_be_cut(self, cause: str) -> None:
        """A child that plays with the screen would silence a safety advice."""
        stage = advice_then_question(question=False)
        stage.run(0.5)
        assert stage.feed(UserCut(cause)) == []  # type: ignore[arg-type]
        stage.run(1.0)
        assert stage.heard == {"a": ADVICE}

    def test_typing_cuts_and_carries_the_report(self) -> None:
        """H11. Words that are typed interrupt like words that are said."""
        stage = Stage()
        stage.says(TEN)
        stage.run(1.0)
        stage.feed(Typed("  since Monday "))
        assert [(said.content, said.played_content) for said in stage.sent] == [("since Monday", words(3))]
        kinds = [type(output) for output in stage.outputs if isinstance(output, (MessageClosed, SendUserMessage))]
        assert kinds == [MessageClosed, SendUserMessage]

    def test_blank_typing_is_nothing(self) -> None:
        """An empty line in the terminal would stop the voice for good."""
        stage = Stage()
        stage.says(TEN)
        stage.run(1.0)
        assert stage.feed(Typed("  ")) == []
        stage.run(3.0)
        assert stage.heard == {"m1": TEN}

    def test_a_lost_device_goes_on_where_it_was(self) -> None:
        """D3. A headset that runs out of power would end the question."""
        stage = Stage()
        stage.says("One two three. Four five six. Seven eight nine.")
        stage.run(1.3)
        stage.feed(DeviceLost("unplugged"))
        stage.run(5.0)
        assert stage.all(StopVoice) == [StopVoice("device")]
        assert stage.heard == {"m1": "One two three. Four five six. Seven eight nine."}
        assert stage.notices == ["device.lost"]
        assert stage.all(Duck)[-1] == Duck(down=False)
