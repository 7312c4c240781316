"""Who holds the floor: the table at the top of `voice/core/floor.py`, row by row.

Cut too easily, and the program falls silent at every cough. Cut too late, and it talks over a person who is in pain.
"""

from __future__ import annotations

import pytest

from voice.core.evidence import Partial, SpeechPaused, SpeechResumed, SpeechStarted, Utterance, VoiceActivity
from voice.core.floor import Act, Decision, Floor, Playing
from voice.core.floor_rules import FloorRules

SILENT = Playing(speaking=False, can_interrupt=True)
SPEAKING = Playing(speaking=True, can_interrupt=True, waiting=True)
UNINTERRUPTIBLE = Playing(speaking=True, can_interrupt=False, waiting=True)
BETWEEN = Playing(speaking=False, can_interrupt=True, waiting=True)
"""Nothing plays, and the next message waits for the pause before it to end."""


def acts(decisions: list[Decision]) -> list[Act]:
    return [decision.act for decision in decisions]


def said(text: str, playing: Playing, voiced: float = 0.5) -> list[Act]:
    return acts(Floor().heard(Utterance("x", text, 0.0, voiced), voiced + 0.5, playing))


def open_floor(playing: Playing, rules: FloorRules | None = None) -> Floor:
    floor = Floor(rules or FloorRules())
    floor.heard(SpeechStarted("x", 0.0), 0.0, playing)
    return floor


CUT, TAKE, IGNORE, HOLD = [Act.CUT, Act.TAKE], [Act.TAKE], [Act.IGNORE], [Act.HOLD]

SHORT_UTTERANCES = [
    # words, voiced seconds, while silent, while speaking, while an uninterruptible message is spoken
    ("hmm", 0.3, TAKE, IGNORE, IGNORE),
    ("ok", 0.3, TAKE, IGNORE, IGNORE),
    ("Okay.", 0.4, TAKE, IGNORE, IGNORE),
    ("mm hm", 0.4, TAKE, IGNORE, IGNORE),
    ("uh huh", 0.4, TAKE, IGNORE, IGNORE),
    ("right", 0.3, TAKE, IGNORE, IGNORE),
    ("I see.", 0.4, TAKE, IGNORE, IGNORE),
    ("yeah yeah, sure", 0.7, TAKE, IGNORE, IGNORE),
    ("stop", 0.3, TAKE, CUT, HOLD),
    ("Stop!", 0.2, TAKE, CUT, HOLD),
    ("wait", 0.3, TAKE, CUT, HOLD),
    ("hold on", 0.4, TAKE, CUT, HOLD),
    ("no no", 0.4, TAKE, CUT, HOLD),
    ("no wait", 0.5, TAKE, CUT, HOLD),
    ("be quiet", 0.5, TAKE, CUT, HOLD),
    ("listen to me", 0.6, TAKE, CUT, HOLD),
    ("yes", 0.25, TAKE, CUT, HOLD),
    ("no", 0.2, TAKE, CUT, HOLD),
    ("since Monday", 0.6, TAKE, CUT, HOLD),
    ("okay but it hurts", 0.8, TAKE, CUT, HOLD),
    ("you", 0.15, IGNORE, IGNORE, IGNORE),
    ("thank you", 0.2, IGNORE, IGNORE, IGNORE),
    ("thank you", 0.5, TAKE, IGNORE, IGNORE),
    ("help", 0.06, IGNORE, IGNORE, IGNORE),
    ("", 0.6, IGNORE, IGNORE, IGNORE),
    ("...", 0.6, IGNORE, IGNORE, IGNORE),
]


class TestUtterances:
    """F2: backchannels don't cut, stop phrases always do, and all are answers when nothing plays."""

    @pytest.mark.parametrize(("text", "voiced", "silent", "speaking", "may_not"), SHORT_UTTERANCES)
    def test_table(self, text: str, voiced: float, silent: list[Act], speaking: list[Act], may_not: list[Act]) -> None:
        """A user who says "mm hm" wants to hear on; one who says "stop" does not."""
        assert said(text, SILENT, voiced) == silent
        assert said(text, SPEAKING, voiced) == speaking
        assert said(text, UNINTERRUPTIBLE, voiced) == may_not

    def test_the_minimum_of_a_barge_in_does_not_hold_in_silence(self) -> None:
        """F1. "Yes" right after the question, before the room is still: the answer would be lost."""
        floor = open_floor(SPEAKING)  # it began under the last words
        assert acts(floor.heard(Utterance("x", "yes", 0.0, 0.25), 0.75, SILENT)) == [Act.RESUME, Act.TAKE]
        assert said("right", SILENT, 0.12) == TAKE

    def test_a_backchannel_between_two_messages_is_no_answer_to_the_first(self) -> None:
        """ "Thanks." "Mm hm." The question that was about to come would be dropped."""
        assert said("mm hm", BETWEEN) == IGNORE
        assert said("thank you", BETWEEN) == IGNORE
        assert said("my knee", BETWEEN) == TAKE
        assert said("yes", BETWEEN, 0.2) == TAKE

    def test_a_stop_phrase_gives_its_own_cause(self) -> None:
        """Reports could not tell an order to stop from an answer given early."""
        causes = {
            text: [d.cause for d in Floor().heard(Utterance("x", text, 0.0, 0.6), 1.0, SPEAKING) if d.act is Act.CUT]
            for text in ("stop please", "my knee")
        }
        assert causes == {"stop please": ["stop_phrase"], "my knee": ["voice"]}

    def test_a_recogniser_that_repeats_itself_costs_no_time(self) -> None:
        """Phrases made of other phrases, a hundred times over: the whole program would freeze for years."""
        assert said("uh huh " * 100 + "pain", SPEAKING, 9.0) == CUT
        assert said("uh huh " * 100, SPEAKING, 9.0) == IGNORE


class TestOnset:
    def test_onset_ducks_only_what_may_be_cut(self) -> None:
        """Row 1. A safety advice must stay loud."""
        assert acts(Floor().heard(SpeechStarted("x", 0.0), 0.0, SPEAKING)) == [Act.DUCK]
        assert acts(Floor().heard(SpeechStarted("x", 0.0), 0.0, SILENT)) == []
        assert acts(Floor().heard(SpeechStarted("x", 0.0), 0.0, UNINTERRUPTIBLE)) == []

    def test_silence_brings_the_voice_back(self) -> None:
        """F6. After a door slammed the program would whisper until somebody speaks."""
        floor = open_floor(SPEAKING)
        floor.heard(VoiceActivity("x", 0.3, 0.3, 0.0, -30, -40), 0.3, SPEAKING)
        floor.heard(SpeechPaused("x", 0.3), 0.5, SPEAKING)
        assert floor.tick(0.99) == []
        assert acts(floor.tick(1.0)) == [Act.RESUME]
        assert floor.tick(1.1) == []
        assert acts(floor.heard(Utterance("x", "", 0.0, 0.3), 1.2, SPEAKING)) == IGNORE

    def test_a_word_just_before_the_resume_keeps_the_voice_down(self) -> None:
        """F8. The voice would rise over a user who had just been understood."""
        floor = open_floor(SPEAKING)
        floor.heard(VoiceActivity("x", 0.5, 0.5, 0.0, -30, -40), 0.5, SPEAKING)
        floor.heard(SpeechPaused("x", 0.5), 0.7, SPEAKING)
        assert floor.heard(Partial("x", "knee", 0.5), 1.199, SPEAKING) == []
        assert floor.tick(1.2) == []
        assert acts(floor.heard(Utterance("x", "knee", 0.0, 0.5), 1.3, SPEAKING)) == CUT

    def test_speech_that_goes_on_ducks_again(self) -> None:
        """The second half of a hesitant sentence would have to shout."""
        floor = open_floor(SPEAKING)
        floor.heard(VoiceActivity("x", 0.3, 0.3, 0.0, -30, -40), 0.3, SPEAKING)
        floor.heard(SpeechPaused("x", 0.3), 0.4, SPEAKING)
        floor.tick(1.0)
        assert acts(floor.heard(SpeechResumed("x"), 1.1, SPEAKING)) == [Act.DUCK]

    def test_onset_then_ok_comes_back_without_a_cut(self) -> None:
        """F3. A polite listener would never hear a sentence to its end."""
        floor = open_floor(SPEAKING)
        assert floor.heard(Partial("x", "ok", 0.4), 0.5, SPEAKING) == []
        assert floor.heard(Partial("x", "ok", 0.4), 0.6, SPEAKING) == []
        assert acts(floor.heard(Utterance("x", "ok", 0.0, 0.4), 0.9, SPEAKING)) == [Act.RESUME, Act.IGNORE]

    def test_a_message_that_begins_under_speech_is_ducked_or_not_by_its_kind(self) -> None:
        """A new message would shout the user down, or a safety advice would be whispered."""
        floor = open_floor(SILENT)
        assert acts(floor.started_speaking(0.5, SPEAKING)) == [Act.DUCK]
        assert acts(floor.started_speaking(0.6, UNINTERRUPTIBLE)) == [Act.RESUME]
        assert Floor().started_speaking(0.5, SPEAKING) == []


class TestPartials:
    def test_a_stop_phrase_cuts_at_once(self) -> None:
        """ "Stop" must not have to be said twice."""
        decisions = open_floor(SPEAKING).heard(Partial("x", "Stop", 0.4), 0.5, SPEAKING)
        assert [(d.act, d.cause) for d in decisions] == [(Act.CUT, "stop_phrase")]

    def test_words_cut_when_two_partials_agree(self) -> None:
        """One guess of the recogniser is no evidence: a slammed door reads as words."""
        floor = open_floor(SPEAKING)
        assert floor.heard(Partial("x", "my", 0.4), 0.5, SPEAKING) == []
        assert acts(floor.heard(Partial("x", "my", 0.6), 0.7, SPEAKING)) == [Act.CUT]
        assert floor.heard(Partial("x", "my knee hurts", 0.9), 1.0, SPEAKING) == []
        assert acts(floor.heard(Utterance("x", "my knee hurts", 0.0, 1.0), 1.5, SPEAKING)) == [Act.TAKE]

    def test_partials_that_disagree_do_not_cut(self) -> None:
        """The television in the hall would stop the voice."""
        floor = open_floor(SPEAKING)
        floor.heard(Partial("x", "my", 0.4), 0.5, SPEAKING)
        assert floor.heard(Partial("x", "news", 0.6), 0.7, SPEAKING) == []

    def test_words_out_of_too_little_voice_are_not_believed(self) -> None:
        """On little voice the recogniser invents words; but nobody invents an order to stop."""
        floor = open_floor(SPEAKING)
        assert floor.heard(Partial("x", "my knee", 0.2), 0.3, SPEAKING) == []
        assert acts(floor.heard(Partial("x", "stop", 0.25), 0.35, SPEAKING)) == [Act.CUT]

    @pytest.mark.parametrize("playing", [SILENT, UNINTERRUPTIBLE])
    def test_partials_cut_nothing_that_may_not_or_cannot_be_cut(self, playing: Playing) -> None:
        """Table: the second and the fourth column."""
        floor = open_floor(playing)
        assert floor.heard(Partial("x", "my knee", 0.5), 0.5, playing) == []
        assert floor.heard(Partial("x", "my knee hurts", 0.6), 0.6, playing) == []

    def test_a_stop_phrase_lowers_what_may_not_be_cut(self) -> None:
        """Somebody who says "stop" over a warning must feel heard, and the warning must still be given."""
        floor = open_floor(UNINTERRUPTIBLE)
        assert acts(floor.heard(Partial("x", "stop", 0.3), 0.4, UNINTERRUPTIBLE)) == [Act.DUCK]
        assert floor.heard(Partial("x", "stop it", 0.5), 0.6, UNINTERRUPTIBLE) == []
        said = floor.heard(Utterance("x", "stop it", 0.0, 0.5), 1.0, UNINTERRUPTIBLE)
        assert acts(said) == [Act.RESUME, Act.HOLD]

    def test_evidence_of_an_utterance_that_is_over_is_ignored(self) -> None:
        """A slow recogniser would cut the answer to its own words."""
        floor = open_floor(SPEAKING)
        floor.heard(Utterance("x", "my knee", 0.0, 0.5), 1.0, SPEAKING)
        assert floor.heard(Partial("x", "stop", 0.6), 1.1, SPEAKING) == []
        assert floor.heard(SpeechPaused("x", 0.6), 1.1, SPEAKING) == []
        assert floor.heard(SpeechResumed("x"), 1.1, SPEAKING) == []


FRAME = 0.032


def voice(floor: Floor, pattern: str, playing: Playing = SPEAKING, start: float = 0.0) -> list[tuple[float, Act]]:
    """One frame of the detector for each sign: "#" voice, "." none. Gives (time, act) of what was decided."""
    voiced = silent = 0.0
    decided = []
    for number, sign in enumerate(pattern, 1):
        now = start + number * FRAME
        voiced, silent = (voiced + FRAME, 0.0) if sign == "#" else (voiced, silent + FRAME)
        decisions = floor.heard(VoiceActivity("x", now, voiced, silent, -26, -50), now, playing)
        decided += [(now, decision.act) for decision in decisions]
    return decided


EAGER, DEFAULT, RELAXED = (FloorRules.of(name) for name in ("eager", "default", "relaxed"))


class TestSustainedVoice:
    def test_it_cuts_without_words(self) -> None:
        """Somebody who cries out, or speaks a language that the recogniser does not know, must be let in."""
        for rules in (EAGER, DEFAULT):
            ((at, act),) = voice(open_floor(SPEAKING, rules), "#" * 40)
            assert act is Act.CUT
            assert rules.sustained is not None
            assert rules.sustained - 1e-6 <= at <= rules.sustained + FRAME

    def test_short_holes_are_consonants(self) -> None:
        """F4: 160 ms of speech with holes of 40 ms counts as speech: nearly every word has such a hole."""
        assert [act for _, act in voice(open_floor(SPEAKING, EAGER), "##.##.##.")] == [Act.CUT]

    @pytest.mark.parametrize("rules", [EAGER, DEFAULT, RELAXED])
    def test_blips_do_not_add_up(self, rules: FloorRules) -> None:
        """F5: ten blips of 20 ms within 2 s: a keyboard beside the microphone would end every sentence."""
        assert voice(open_floor(SPEAKING, rules), "#....." * 10) == []

    def test_a_long_backchannel_is_none(self) -> None:
        """ "Yeah, yeah, okay, sure" from somebody who nods along lasts a second."""
        floor = open_floor(SPEAKING)
        floor.heard(Partial("x", "yeah yeah", 0.4), 0.5, SPEAKING)
        assert voice(floor, "#" * 32) == []

    def test_but_nobody_nods_for_long(self) -> None:
        """Whoever talks on means it, whatever the recogniser makes of it."""
        floor = open_floor(SPEAKING)
        floor.heard(Partial("x", "yeah yeah", 0.4), 0.5, SPEAKING)
        ((at, act),) = voice(floor, "#" * 50)
        assert act is Act.CUT
        assert at == pytest.approx(DEFAULT.held_back, abs=FRAME)

    def test_our_own_voice_is_none(self) -> None:
        """F11: the echo of a long sentence lasts as long as the sentence."""
        ours = Playing(speaking=True, can_interrupt=True, waiting=True, own=lambda text, onset, end: "knee" in text)
        floor = open_floor(ours)
        assert floor.heard(Partial("x", "your knee hurts", 0.5), 0.6, ours) == []
        assert acts(floor.heard(Utterance("x", "your knee hurts", 0.0, 0.6), 1.1, ours)) == [Act.RESUME, Act.IGNORE]

    def test_nothing_of_it_holds_while_the_voice_may_not_or_need_not_be_cut(self) -> None:
        """Minima and maxima of barge-in are about the voice; in silence people may talk as long as they like."""
        assert voice(open_floor(SILENT, EAGER), "#" * 40, SILENT) == []
        assert voice(open_floor(UNINTERRUPTIBLE, EAGER), "#" * 40, UNINTERRUPTIBLE) == []

    def test_relaxed_does_not_cut_for_voice_alone_and_comes_back_in_spite_of_it(self) -> None:
        """In a loud hall the talk never ends, and the voice would be a whisper for good."""
        floor = open_floor(SPEAKING, RELAXED)
        assert voice(floor, "#" * 40) == []
        assert acts(floor.tick(RELAXED.window + 0.01)) == [Act.RESUME]
        assert floor.heard(SpeechPaused("x", 2.0), 2.2, SPEAKING) == []
        assert floor.heard(SpeechResumed("x"), 2.3, SPEAKING) == [], "it lowers the voice no more"
        assert acts(floor.heard(Partial("x", "stop please", 1.5), 2.5, SPEAKING)) == [Act.CUT], (
            "but it may still cut it"
        )


class TestAfterACut:
    def test_a_cut_for_what_was_no_speech_is_taken_back(self) -> None:
        """A fit of coughing stops an eager voice; the sentence must be said to its end all the same."""
        floor = open_floor(SPEAKING, EAGER)
        assert [act for _, act in voice(floor, "#####")] == [Act.CUT]
        assert acts(floor.heard(Utterance("x", "you", 0.0, 0.16), 0.7, SPEAKING)) == [Act.IGNORE]

    def test_eager_takes_a_backchannel_for_an_answer(self) -> None:
        """Somebody who needs a second for "yeah" must not say it twice."""
        floor = open_floor(SPEAKING, EAGER)
        voice(floor, "#####")
        assert acts(floor.heard(Utterance("x", "yeah", 0.0, 0.2), 0.7, SPEAKING)) == [Act.TAKE]


class TestComingBack:
    def test_a_backchannel_is_let_go_as_soon_as_it_is_read(self) -> None:
        """A whole second at a whisper for every "mm-hm" would make the voice unsteady."""
        floor = open_floor(SPEAKING)
        voice(floor, "#" * 10)
        assert floor.heard(Partial("x", "okay", 0.32), 0.4, SPEAKING) == []
        assert acts(floor.heard(SpeechPaused("x", 0.32), 0.52, SPEAKING)) == [Act.RESUME]

    def test_a_blip_is_let_go_at_once(self) -> None:
        """A key click lowers the voice for a fifth of a second, not longer."""
        floor = open_floor(SPEAKING)
        voice(floor, "#")
        assert acts(floor.heard(SpeechPaused("x", 0.03), 0.23, SPEAKING)) == [Act.RESUME]

    def test_what_is_not_read_yet_is_waited_for(self) -> None:
        """The voice would rise just when a slow recogniser understands."""
        floor = open_floor(SPEAKING)
        voice(floor, "#" * 10)
        floor.heard(Partial("x", "okay", 0.2), 0.4, SPEAKING)
        assert floor.heard(SpeechPaused("x", 0.32), 0.52, SPEAKING) == []


class TestHolds:
    def test_noise_holds_the_floor_only_for_a_while(self) -> None:
        """A noisy hall would silence the program for good."""
        floor = open_floor(SILENT)
        assert floor.holds(1.4)
        assert not floor.holds(1.6)

    def test_words_hold_it_to_their_end(self) -> None:
        """The program would begin to speak in the middle of a long account."""
        floor = open_floor(SILENT)
        floor.heard(Partial("x", "it began on", 0.8), 0.9, SILENT)
        assert floor.holds(20.0)
        floor.heard(Utterance("x", "it began on Monday", 0.0, 21.0), 21.5, SILENT)
        assert not floor.holds(21.5)

    def test_an_utterance_that_never_ends_is_forgotten(self) -> None:
        """Ears that died in mid-word would leave the program mute, waiting for a sentence that never ends."""
        floor = open_floor(SPEAKING)
        floor.heard(Partial("x", "it began", 0.8), 0.9, SPEAKING)  # and cuts
        assert acts(floor.tick(90.0)) == []
        assert acts(floor.tick(91.0)) == [Act.IGNORE]
        assert not floor.holds(90.1)
        assert not floor.user_speaks
