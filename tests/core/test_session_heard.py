"""What was heard.

A doctor reads `played_content` as what the patient knows. A word too many, and the patient is taken to have been
warned of something that nobody told him.
"""

from __future__ import annotations

import pytest

from tests.core.stage import BLOCK, RATE, TEN, Stage, WordEngine, words
from voice.core.events import ClauseVoiced, DeviceLost, Duck, UserCut, WordMark
from voice.core.evidence import Partial, SpeechPaused, SpeechStarted, Utterance


def begins_with(stage: Stage, text: str = TEN, **more: str) -> Stage:
    stage.says(text, **more)
    return stage


class TestCut:
    def test_cut_at_one_second_of_words_of_0_3_s_is_three_words(self) -> None:
        """H1. Whoever counts tokens or characters tells the server another number."""
        stage = begins_with(Stage())
        stage.run(1.0)
        stage.spoken_at_once("I have a question")
        assert stage.heard == {"m1": words(3)}
        assert stage.sent[0].is_interrupted
        assert stage.sent[0].played_content == words(3)

    def test_an_engine_that_plays_nothing_was_not_heard(self) -> None:
        """H2. A user who speaks before the first sound is not told that he was told."""
        stage = begins_with(Stage(by_hand=True))
        stage.run(1.0)
        stage.spoken_at_once("I have a question")
        assert stage.heard == {"m1": ""}
        assert not stage.sent[0].is_interrupted
        assert stage.sent[0].played_content is None

    def test_no_audio_at_all_raises_a_notice_and_the_next_message_is_spoken(self) -> None:
        """H3. The operator would look for the fault in vain, and the user would wait in silence."""
        stage = Stage(engine=WordEngine(silent=True))
        stage.says("You should see a doctor.")
        stage.run(0.1)
        assert stage.heard == {"m1": ""}
        assert stage.notices == ["voice.silent"]
        stage.engine.silent = False
        stage.says("Do you hear me now?", message="m2")
        stage.run(3.0)
        assert stage.heard == {"m1": "", "m2": "Do you hear me now?"}

    def test_late_marks_of_a_cut_message_leave_the_next_one_alone(self) -> None:
        """H4. The user would be reported as having heard a message that had just begun."""
        stage = begins_with(Stage())
        stage.run(1.0)
        stage.spoken_at_once("I have a question")
        stage.says("Yes, I am listening to you.", message="m2", turn="t2")
        stage.run(0.7)
        late = ClauseVoiced("m1", 0, (WordMark(0, 3, 0, 10),), 48000, final=True)
        assert stage.feed(late) == []
        stage.spoken_at_once("one more thing", name="x2")
        assert stage.heard["m2"] == "Yes,"

    def test_late_audio_of_the_cut_clause_does_not_wake_the_voice(self) -> None:
        """The voice would talk over the user whose words are still being recognised."""
        stage = Stage(by_hand=True)
        stage.says("One two three four five six. Seven eight nine ten.")
        stage.deliver(stage.asked[0], 0, 3)
        stage.run(0.5)
        stage.partials("wait a moment please", voiced=0.4)
        asked = len(stage.asked)
        stage.deliver(stage.asked[0], 3)
        stage.run(0.2)
        assert len(stage.asked) == asked

    def test_estimated_marks_are_reported_as_an_estimate(self) -> None:
        """H5. The server would trust a guess like a measurement."""
        stage = begins_with(Stage(engine=WordEngine(estimated=True)))
        stage.run(1.0)
        stage.spoken_at_once("I have a question")
        assert stage.closed["m1"].heard_is_estimate
        assert stage.heard["m1"] == words(3)

    def test_an_estimate_of_nothing_is_an_estimate_too(self) -> None:
        """H5. The engine may have said a first short word by then."""
        stage = begins_with(Stage(engine=WordEngine(estimated=True)))
        stage.run(0.2)
        stage.spoken_at_once("I have a question")
        assert stage.heard["m1"] == ""
        assert stage.closed["m1"].heard_is_estimate

    def test_a_message_heard_to_its_end_is_no_estimate(self) -> None:
        """H5. Readers of the report would distrust what is certain."""
        stage = begins_with(Stage(engine=WordEngine(estimated=True)))
        stage.run(3.5)
        assert stage.heard["m1"] == TEN
        assert not stage.closed["m1"].heard_is_estimate

    def test_a_sink_that_takes_six_seconds_at_once_does_not_move_the_position(self) -> None:
        """H7. Bytes queued in a driver would be taken for words heard: the whole message at its first second."""
        stage = begins_with(Stage(tick=False), " ".join([TEN, TEN]))
        for block in range(600):
            stage.render(block * BLOCK / RATE)
        stage.clock.advance(1.0)
        captions = stage.feed(stage.player.played())
        assert [caption.heard for caption in captions] == [len(words(3))]  # type: ignore[union-attr]
        stage.clock.advance(4.9)
        stage.feed(stage.player.played())
        assert stage.closed == {}
        stage.clock.advance(0.1)
        stage.feed(stage.player.played())
        assert stage.closed["m1"].t_end == pytest.approx(6.0)

    def test_what_a_lost_sink_had_buffered_was_not_heard(self) -> None:
        """H7, D3. The buffer of a headset that was switched off would count as heard."""
        stage = begins_with(Stage(tick=False), " ".join([TEN, TEN]))
        for block in range(600):
            stage.render(block * BLOCK / RATE)
        stage.clock.advance(1.0)
        stage.feed(DeviceLost("unplugged"))
        stage.feed(UserCut("key"))
        assert stage.heard["m1"] == words(3)

    def test_the_position_of_a_cut_is_right_within_one_block(self) -> None:
        """H8. Half a second of drift is two words of a question that were not asked."""
        block = BLOCK / RATE
        stage = begins_with(Stage(engine=WordEngine(word=block)), " ".join(["word"] * 500) + ".")
        stage.run(2.0)
        stage.spoken_at_once("I have a question")
        assert abs(len(stage.heard["m1"].split()) * block - 2.0) <= block

    def test_nothing_heard_is_a_value_of_its_own(self) -> None:
        """H9. "" replaced by the full text says the opposite of the truth."""
        stage = begins_with(Stage())
        stage.run(0.02)
        stage.spoken_at_once("I have a question")
        assert stage.heard == {"m1": ""}
        assert stage.sent[0].is_interrupted
        assert stage.sent[0].played_content == ""

    def test_the_report_never_comes_after_the_words_that_cut(self) -> None:
        """H11. The server would answer the user before it knows what he had heard."""
        stage = begins_with(Stage())
        stage.run(1.0)
        stage.spoken_at_once("I have a question")
        kinds = [type(output).__name__ for output in stage.outputs]
        assert kinds.index("MessageClosed") < kinds.index("SendUserMessage")

    def test_a_message_played_and_one_queued_are_both_known(self) -> None:
        """H12. The one that was heard would be forgotten with the one that was not."""
        stage = begins_with(Stage(), "Thank you for that.", message="a", kind="acknowledgement")
        stage.says("Since when does it hurt?", message="b")
        stage.run(1.25)  # in the pause between the two
        stage.spoken_at_once("it is my left knee")
        assert stage.heard == {"a": "Thank you for that.", "b": ""}
        assert stage.cuts == {"a": None, "b": "voice"}
        assert stage.sent[0].played_content == "Thank you for that."

    def test_a_message_cut_and_one_queued_are_both_known(self) -> None:
        """H12. The queued one would be spoken to somebody who had already answered."""
        stage = begins_with(Stage(), "It may be the knee.", message="a")
        stage.says("Since when does it hurt?", message="b")
        stage.run(0.7)
        stage.spoken_at_once("since Monday I think")
        assert stage.heard == {"a": "It may", "b": ""}
        assert stage.sent[0].played_content == "It may"
        stage.run(2.0)
        assert "Since" not in stage.spoken

    def test_no_interruption_once_a_message_has_finished(self) -> None:
        """H13. The server would repeat what the user had heard to the end."""
        stage = begins_with(Stage(), "Hello there.")
        stage.run(5.0)
        stage.feed(UserCut("key"))
        stage.spoken_at_once("good morning to you")
        assert stage.cuts == {"m1": None}
        assert not stage.sent[0].is_interrupted
        assert stage.sent[0].played_content is None

    def test_a_cut_long_after_the_last_sample_is_clamped_to_it(self) -> None:
        """H13. Time that passed while the server was slow would count as words."""
        stage = Stage()
        stage.delta("One two three. ")
        stage.run(5.0)
        stage.spoken_at_once("are you still there")
        stage.turn_ended()
        assert stage.heard == {"m1": "One two three."}
        assert stage.sent[0].played_content == "One two three."

    def test_speech_while_nothing_plays_interrupts_nothing(self) -> None:
        """H14. An ordinary answer would count as impatience."""
        stage = Stage()
        stage.user("my knee hurts")
        assert [(said.content, said.is_interrupted, said.played_content) for said in stage.sent] == [
            ("my knee hurts", False, None)
        ]
        assert "cut" not in stage.decisions

    def test_a_message_that_may_not_be_interrupted_is_heard_in_full(self) -> None:
        """H15. Half a sentence of a safety advice would be lost."""
        stage = begins_with(Stage(), "Please stay where you are.", kind="acknowledgement")
        stage.run(0.3)
        stage.user("but it hurts so much")
        stage.run(2.0)
        assert stage.heard == {"m1": "Please stay where you are."}
        assert stage.cuts == {"m1": None}
        assert stage.level(0.8, 1.1) == pytest.approx(0.5)
        assert [said.content for said in stage.sent] == ["but it hurts so much"]


class TestDuckedPart:
    def test_what_was_said_under_the_words_that_cut_it_is_not_claimed(self) -> None:
        """The user talked over it, at a tenth of its level: he did not take it in."""
        stage = begins_with(Stage())
        stage.run(1.0)
        stage.user("I have a question", voiced=0.6)
        assert stage.heard["m1"] == words(3)

    def test_what_was_said_under_a_cough_is_claimed_once_the_voice_came_back(self) -> None:
        """Without it, the message would be reported as heard to the third word, though it went on to the end."""
        stage = begins_with(Stage())
        stage.run(1.0)
        stage.user("", voiced=0.3)
        stage.run(0.6)
        stage.spoken_at_once("I have a question", name="x2")
        assert stage.heard["m1"] == words(8)

    def test_a_cut_by_hand_claims_the_ducked_part(self) -> None:
        """Somebody in the room spoke, but the user pressed the key when he had heard enough."""
        stage = begins_with(Stage())
        stage.run(1.0)
        stage.feed(SpeechStarted("x1", stage.now))
        stage.run(0.5)
        stage.feed(UserCut("key"))
        assert stage.heard["m1"] == words(5)


class TestWhatDoesNotCount:
    def test_a_queue_that_ran_dry_does_not_count(self) -> None:
        """A slow machine would be reported as a fast reader."""
        stage = begins_with(Stage(by_hand=True))
        stage.deliver(stage.asked[0], 0, 3)
        stage.run(0.9 + 0.8)
        stage.deliver(stage.asked[0], 3)
        stage.run(0.6)
        stage.spoken_at_once("I have a question")
        assert stage.heard["m1"] == words(5)

    def test_silence_between_clauses_does_not_count(self) -> None:
        """A pause for breath would be taken for the words behind it."""
        stage = Stage(by_hand=True)
        stage.says("One two three. Four five six.")
        stage.player.silence(0.5)
        stage.deliver(stage.asked[0])
        stage.player.silence(0.5)
        stage.deliver(stage.asked[1])
        stage.run(0.5 + 0.9 + 0.5 + 0.35)
        stage.spoken_at_once("I have a question")
        assert stage.heard["m1"] == "One two three. Four"

    def test_a_clause_that_fails_ends_what_is_claimed_and_not_what_is_spoken(self) -> None:
        """Behind a hole nothing is a prefix any more; but the user still wants to hear the rest."""
        stage = Stage(engine=WordEngine(fails=("broken",)))
        stage.says("One two three. This is broken. Four five six.")
        stage.run(5.0)
        assert stage.notices == ["voice.failed"]
        assert "Four five six." in stage.spoken
        assert stage.heard == {"m1": "One two three."}
        assert stage.cuts == {"m1": None}

    @pytest.mark.parametrize("text", ["", " ", "...", "👍", "  \n\n", "—", " " * 5000])
    def test_a_message_without_anything_to_say_is_over_at_once(self, text: str) -> None:
        """A widget without words would block the conversation for ever."""
        stage = begins_with(Stage(), text)
        stage.run(0.1)
        assert stage.heard == {"m1": text}
        assert stage.asked == []
        stage.says("And now?", message="m2")
        stage.run(1.5)
        assert stage.heard["m2"] == "And now?"

    def test_an_endless_run_of_blanks_is_no_end(self) -> None:
        """What follows five thousand blanks would never be spoken."""
        stage = begins_with(Stage(), "One two." + " " * 5000 + "Three.")
        stage.run(2.0)
        assert stage.spoken == "One two. Three."
        assert stage.heard == {"m1": stage.closed["m1"].source}


class TestTurn:
    def test_two_messages_of_one_turn_are_joined(self) -> None:
        """The server would take the acknowledgement for not heard."""
        stage = begins_with(Stage(), "Thanks for telling me.", message="a", kind="acknowledgement")
        stage.says("How long have you had it?", message="b")
        stage.run(1.2 + 0.25 + 0.9)
        stage.spoken_at_once("about a week now")
        assert stage.sent[0].played_content == "Thanks for telling me. How long have"

    def test_messages_of_a_language_without_blanks_are_joined_as_they_were_written(self) -> None:
        """H6. A blank between two Chinese sentences is in nobody's text."""
        stage = begins_with(Stage(), "好的。", message="a", kind="acknowledgement")
        stage.says("疼了多久？", message="b")
        stage.run(0.6 + 0.25 + 0.61)
        stage.spoken_at_once("一个星期")
        assert stage.sent[0].played_content == "好的。疼了"

    def test_only_the_cut_turn_is_reported(self) -> None:
        """The answer to an earlier question would be repeated to the server as part of this one."""
        stage = begins_with(Stage(), "Hello there.", message="a", turn="t0")
        stage.run(1.0)
        stage.user("hello", name="x1")
        stage.says("How long have you had it?", message="b", turn="t1")
        stage.run(0.65)
        stage.spoken_at_once("about a week now", name="x2")
        assert stage.sent[-1].played_content == "How long"

    def test_a_report_is_made_once_when_the_cut_meets_the_end(self) -> None:
        """H10. The last word was written to the device but not yet out at the cut: two reports of one message."""
        stage = begins_with(Stage(latency=0.4), "One two three four five.")
        stage.run(1.1)
        stage.feed(SpeechStarted("x1", stage.now))
        stage.feed(Partial("x1", "yes I do", 0.4))
        stage.run(0.4)
        stage.feed(Partial("x1", "yes I do know", 0.6))
        stage.run(0.8)
        stage.feed(SpeechPaused("x1", stage.now))
        stage.feed(Utterance("x1", "yes I do know", 1.1, stage.now))
        stage.run(0.5)
        assert list(stage.closed) == ["m1"]
        assert len(stage.sent) == 1
        assert stage.all(Duck)[-1] == Duck(down=False)
