"""What the floor makes of sounds before words can be read, of levels, and of what may be our own voice.

Whoever is not told from a cough has to shout; whoever is taken for an echo is not heard at all.
"""

from __future__ import annotations

import pytest

from tests.core.test_floor import (
    CUT,
    DEFAULT,
    EAGER,
    FRAME,
    IGNORE,
    RELAXED,
    SILENT,
    SPEAKING,
    TAKE,
    UNINTERRUPTIBLE,
    acts,
    open_floor,
    voice,
)
from voice.core.evidence import Partial, SpeechPaused, SpeechResumed, SpeechStarted, Utterance, VoiceActivity
from voice.core.floor import Act, Floor, Playing
from voice.core.floor_rules import FloorRules
from voice.core.kinds import Kinds


class TestNotSure:
    """The first moments of a conversation, and those after an xrun: what is heard may be our own voice."""

    @staticmethod
    def begun(rules: FloorRules = DEFAULT) -> Floor:
        floor = Floor(rules)
        assert acts(floor.heard(SpeechStarted("x", 0.0, sure=False), 0.0, SPEAKING)) == [Act.DUCK]
        return floor

    @pytest.mark.parametrize("rules", [EAGER, DEFAULT])
    def test_what_falls_silent_with_our_voice_is_our_voice(self, rules: FloorRules) -> None:
        """The greeting would interrupt itself, and be taken for the visitor's first words."""
        floor = self.begun(rules)
        assert voice(floor, "#" * 10) == []
        assert floor.heard(Partial("x", "hello and welcome", 0.3, Kinds(1, 0, 0, 0)), 0.35, SPEAKING) == []
        said = floor.heard(Utterance("x", "hello and welcome", 0.0, 0.32), 0.8, SPEAKING)
        assert acts(said) == [Act.RESUME, Act.IGNORE]

    @pytest.mark.parametrize("rules", [EAGER, DEFAULT])
    def test_what_goes_on_is_a_person(self, rules: FloorRules) -> None:
        """Somebody who speaks in the first second must not be talked down."""
        ((at, act),) = voice(self.begun(rules), "#" * 30)
        assert act is Act.CUT
        assert at == pytest.approx(max(rules.ring, rules.sustained or 0), abs=2 * FRAME)

    def test_what_falls_with_our_voice_is_our_voice_however_long_it_lasts(self) -> None:
        """An echo that the canceller cannot take out yet goes on under the lowered voice, twenty decibels lower."""
        floor = self.begun()
        for frame in range(1, 40):
            level = -26 if frame * FRAME < 0.12 else -46
            activity = VoiceActivity("x", frame * FRAME, frame * FRAME, 0.0, level, -50)
            assert floor.heard(activity, frame * FRAME, SPEAKING) == []
        said = floor.heard(Utterance("x", "the second floor", 0.0, 1.3), 1.8, SPEAKING)
        assert acts(said) == [Act.RESUME, Act.IGNORE]

    @pytest.mark.parametrize("rules", [EAGER, DEFAULT])
    def test_it_is_not_forgotten_while_it_is_read(self, rules: FloorRules) -> None:
        """On a slow machine a second click of echo would make the words of the first a person's."""
        floor = self.begun(rules)
        assert voice(floor, "#" * 10) == []
        assert acts(floor.heard(SpeechStarted("y", 0.8, sure=False), 0.8, SPEAKING)) == [Act.DUCK]
        assert acts(floor.heard(Utterance("x", "hello and welcome", 0.0, 0.32), 0.9, SPEAKING)) == [Act.IGNORE]
        assert acts(floor.heard(Utterance("y", "", 0.8, 0.9), 1.4, SPEAKING)) == [Act.RESUME, Act.IGNORE]

    @pytest.mark.parametrize("rules", [EAGER, DEFAULT])
    def test_our_voice_that_comes_back_has_outlasted_nothing(self, rules: FloorRules) -> None:
        """A click of echo lowers the voice, the voice comes back, its echo with it: the greeting would cut itself."""
        floor = self.begun(rules)
        assert voice(floor, "#") == []
        assert acts(floor.heard(SpeechPaused("x", FRAME), 0.24, SPEAKING)) == [Act.RESUME]
        assert acts(floor.heard(SpeechResumed("x"), 0.4, SPEAKING)) == [Act.DUCK]
        for frame in range(1, 4):
            time, voiced = 0.4 + frame * FRAME, (1 + frame) * FRAME
            assert floor.heard(VoiceActivity("x", time, voiced, 0.0, -26, -50, False), time, SPEAKING) == []
        said = floor.heard(Utterance("x", "hello and welcome", 0.0, 0.5), 1.0, SPEAKING)
        assert acts(said) == [Act.RESUME, Act.IGNORE]

    def test_who_goes_on_when_our_voice_has_ended_is_a_person(self) -> None:
        """The first answer of a conversation, begun with a click over the last word of the greeting, would be lost."""
        floor = self.begun()
        assert voice(floor, "#") == []
        assert acts(floor.heard(SpeechPaused("x", FRAME), 0.24, SPEAKING)) == [Act.RESUME]
        floor.heard(SpeechResumed("x"), 0.4, SILENT)
        for frame in range(1, 20):
            time, voiced = 0.4 + frame * FRAME, (1 + frame) * FRAME
            floor.heard(VoiceActivity("x", time, voiced, 0.0, -26, -100, False), time, SILENT)
        assert acts(floor.heard(Utterance("x", "my knee", 0.0, 1.0), 1.5, SILENT)) == [Act.TAKE]

    def test_a_jump_that_is_found_late_counts(self) -> None:
        """After an xrun the canceller learns only from the echo itself that it knows nothing any more."""
        floor = open_floor(SPEAKING, EAGER)
        assert floor.heard(VoiceActivity("x", FRAME, FRAME, 0.0, -40, -30, sure=False), FRAME, SPEAKING) == []
        assert voice(floor, "#" * 8) == []

    def test_but_not_when_we_have_just_said_it_ourselves(self) -> None:
        """ "Stop taking the tablets" is advice, and its echo no order."""
        ours = Playing(speaking=True, can_interrupt=True, waiting=True, said=lambda text, onset, end: "stop" in text)
        assert self.begun().heard(Partial("x", "stop", 0.3), 0.35, ours) == []

    def test_a_short_answer_over_our_last_word_is_believed(self) -> None:
        """The first "no" at a kiosk, a moment too early, must not have to be said twice."""
        floor = self.begun()
        voice(floor, "#" * 8)
        assert acts(floor.heard(Utterance("x", "no", 0.0, 0.26), 0.8, SILENT)) == [Act.RESUME, Act.TAKE]
        floor = self.begun()
        voice(floor, "#" * 8)
        assert acts(floor.heard(Utterance("x", "no", 0.0, 0.26), 0.8, SPEAKING)) == [Act.RESUME, Act.IGNORE]

    def test_stop_is_believed_at_once(self) -> None:
        """Whoever does not want to hear the greeting says so in its first words."""
        floor = self.begun()
        assert acts(floor.heard(Partial("x", "stop", 0.3), 0.35, SPEAKING)) == [Act.CUT]


class TestOurOwnWords:
    @pytest.mark.parametrize(("lowered_db", "act"), [(-26.0, TAKE), (-46.0, IGNORE)])
    def test_who_goes_on_as_loud_as_we_were_may_repeat_us(self, lowered_db: float, act: list[Act]) -> None:
        """ "In the afternoon", said over the last word of a question that ends so, is the answer to it."""
        floor = open_floor(SPEAKING)
        for frame in range(1, 28):
            time = frame * FRAME
            level, ours = (lowered_db, -46) if time > 0.12 else (-26, -26)
            playing = SPEAKING if time < 0.3 else SILENT
            floor.heard(VoiceActivity("x", time, time, 0.0, level, ours if time < 0.4 else -100), time, playing)
        over = Playing(speaking=False, can_interrupt=True, own=lambda text, onset, end: True)
        said = floor.heard(Utterance("x", "in the afternoon", 0.0, 0.9), 1.4, over)
        assert [decision.act for decision in said if decision.act is not Act.RESUME] == act


class TestFaintVoice:
    def test_what_is_far_below_our_own_voice_is_what_the_canceller_leaves(self) -> None:
        """F11. Ten minutes of talk without an interruption by itself."""
        floor = open_floor(SPEAKING, EAGER)
        for frame in range(1, 30):
            lowered = frame * FRAME > 0.12
            ours, left = (-50, -66) if lowered else (-26, -46)
            activity = VoiceActivity("x", frame * FRAME, frame * FRAME, 0.0, left, ours)
            assert floor.heard(activity, frame * FRAME, SPEAKING) == []

    def test_a_quiet_person_who_goes_on_is_heard(self) -> None:
        """Somebody with a weak voice, twenty decibels below ours, who needs to be let in."""
        floor = open_floor(SPEAKING)
        decided = []
        for frame in range(1, 40):
            activity = VoiceActivity("x", frame * FRAME, frame * FRAME, 0.0, -46, -46 if frame > 3 else -26)
            decided += floor.heard(activity, frame * FRAME, SPEAKING)
        assert acts(decided) == [Act.CUT]


WORDS, NOD, STOP, NOISE = Kinds(1, 0, 0, 0), Kinds(0, 1, 0, 0), Kinds(0, 0, 1, 0), Kinds(0, 0, 0, 1)
LIKELY = Kinds(0.97, 0.02, 0.0, 0.01)
"""Odds of 3.5."""


def sounded(rules: FloorRules, *partials: tuple[float, Kinds], playing: Playing = SPEAKING) -> list[Act]:
    """What is decided on partials of (voiced, kinds)."""
    floor = open_floor(playing, rules)
    return [
        decision.act
        for voiced, kinds in partials
        for decision in floor.heard(Partial("x", "", voiced, kinds), voiced, playing)
    ]


class TestSounds:
    def test_what_surely_sounds_like_words_cuts_before_they_can_be_read(self) -> None:
        """Every tenth of a second here is talked over by the program."""
        assert sounded(DEFAULT, (0.22, WORDS)) == [Act.CUT]
        assert sounded(DEFAULT, (0.22, LIKELY)) == [], "so early, it must be surer"
        assert sounded(DEFAULT, (0.22, LIKELY), (0.3, LIKELY)) == [Act.CUT]

    def test_not_on_less_than_a_syllable(self) -> None:
        """The first 0.1 s of an "okay" sounds like the beginning of anything."""
        assert sounded(DEFAULT, (0.13, WORDS)) == []

    @pytest.mark.parametrize("kinds", [NOD, NOISE])
    def test_backchannels_and_noises_hold_sustained_voice_back(self, kinds: Kinds) -> None:
        """A long "mm-hmmm" and a fit of coughing last as long as a sentence begins."""
        floor = open_floor(SPEAKING)
        floor.heard(Partial("x", "and then", 0.22, kinds), 0.3, SPEAKING)
        assert voice(floor, "#" * 25) == []

    def test_a_stop_phrase_cuts_as_soon_as_it_sounds_like_one(self) -> None:
        """ "Stop" is read wrong more often than any word, over our own voice."""
        floor = open_floor(SPEAKING)
        decisions = floor.heard(Partial("x", "So", 0.22, STOP), 0.3, SPEAKING)
        assert [(d.act, d.cause) for d in decisions] == [(Act.CUT, "stop_phrase")]

    def test_words_are_not_believed_against_the_sound(self) -> None:
        """A recogniser reads "and then" in many a cough."""
        floor = open_floor(SPEAKING)
        assert floor.heard(Partial("x", "and then", 0.6, NOISE), 0.7, SPEAKING) == []
        assert floor.heard(Partial("x", "wait", 0.6, NOISE), 0.75, SPEAKING) == []
        voice(floor, "#" * 19)
        assert acts(floor.heard(Utterance("x", "and then", 0.0, 0.6), 1.2, SPEAKING)) == [Act.RESUME, Act.IGNORE]

    def test_but_an_answer_is(self) -> None:
        """ "No" and "mm" are much alike; the one is an answer."""
        floor = open_floor(SPEAKING)
        floor.heard(Partial("x", "no", 0.25, NOD), 0.3, SPEAKING)
        assert acts(floor.heard(Utterance("x", "no", 0.0, 0.25), 0.8, SPEAKING)) == CUT

    def test_it_cuts_nothing_that_may_not_be_cut(self) -> None:
        """A warning that stops at a cough is no warning."""
        assert sounded(DEFAULT, (0.3, WORDS), (0.4, STOP), playing=UNINTERRUPTIBLE) == []

    def test_relaxed_does_not_go_by_the_sound(self) -> None:
        """In a loud hall everything sounds like words."""
        assert sounded(RELAXED, (0.3, WORDS), (0.4, WORDS)) == []


class TestMeantForUs:
    """relaxed: people who talk to each other beside the machine."""

    @staticmethod
    def hall(text: str, level_db: float) -> list[Act]:
        floor = open_floor(SPEAKING, RELAXED)
        for frame in range(1, 30):
            lowered = frame > 3
            activity = VoiceActivity("x", frame * FRAME, frame * FRAME, 0.0, level_db, -46 if lowered else -26)
            assert floor.heard(activity, frame * FRAME, SPEAKING) == []
        return acts(floor.heard(Partial("x", text, 0.9), 0.95, SPEAKING))

    def test_near_words_that_can_be_for_us(self) -> None:
        """The visitor in front of the machine is let in."""
        assert self.hall("my knee hurts", -26.0) == [Act.CUT]

    def test_far_words_are_for_others(self) -> None:
        """Two people in the queue talk about their knees."""
        assert self.hall("my knee hurts", -36.0) == []

    def test_words_that_people_say_to_each_other(self) -> None:
        """A mother turns to her child."""
        assert self.hall("did you bring the keys", -26.0) == []

    def test_stop_is_for_us_from_anywhere(self) -> None:
        """Somebody steps back from a machine that talks on."""
        assert self.hall("stop it", -36.0) == [Act.CUT]
