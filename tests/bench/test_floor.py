"""The floor's bench: a benchmark that cannot find a fault proves nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from voice.audio.activity import Activity
from voice.audio.base import RATE, Pcm
from voice.bench.floor import BenchError, Options, jobs_of, points, scene_kinds, sensitivities
from voice.bench.floor_figures import curve, figures, split, to_message, yielded
from voice.bench.floor_human import recordings
from voice.bench.floor_measure import begins_and_ends, fell_silent, went_down, with_pause
from voice.bench.floor_outcome import Outcome
from voice.bench.floor_phrases import KEPT, MESSAGES, TUNING
from voice.bench.floor_scenes import KINDS, Kind, Plan, Scene
from voice.bench.floor_variants import OUR_NAMES, VARIANTS, PlainActivity, WordsFirst
from voice.bench.floor_voices import PEOPLE
from voice.core.evidence import Partial, SpeechStarted, Utterance, VoiceActivity
from voice.core.floor import Act, Playing
from voice.core.floor_rules import FloorRules


def noise(seconds: float, level: float = 0.1, seed: int = 0) -> Pcm:
    return (np.random.default_rng(seed).standard_normal(round(seconds * RATE)) * level).astype(np.float32)


def quiet(seconds: float) -> Pcm:
    return np.zeros(round(seconds * RATE), np.float32)


class TestMeasure:
    """Moments are read from recordings, not from what the program says of itself."""

    def test_onset_and_end(self) -> None:
        """Latency is counted from here."""
        begins, ends = begins_and_ends(np.concatenate([quiet(0.5), noise(1.0), quiet(0.5)])) or (0.0, 0.0)
        assert begins == pytest.approx(0.5, abs=0.011)
        assert ends == pytest.approx(1.5, abs=0.011)

    def test_a_faint_beginning_counts_from_25_db_on(self) -> None:
        """A breath before the word would else make every latency look long."""
        voice = np.concatenate([noise(0.3, 0.1 * 10 ** (-40 / 20)), noise(0.3, 0.1 * 10 ** (-20 / 20)), noise(1.0)])
        assert (begins_and_ends(voice) or (0.0, 0.0))[0] == pytest.approx(0.3, abs=0.011)

    def test_nobody_has_no_onset(self) -> None:
        """Silence is not somebody who begins at 0."""
        assert begins_and_ends(quiet(1.0)) is None

    def test_duck(self) -> None:
        """The moment the level fell, to 2 ms."""
        full = noise(3.0)
        ours = full.copy()
        ours[RATE:] *= 0.1
        assert went_down(ours, full, after=0.8) == pytest.approx(1.0, abs=0.005)
        assert went_down(full, full, after=0.8) is None

    def test_a_voice_that_was_down_before_did_not_duck_for_this_person(self) -> None:
        """A false duck just before would else pass for the fastest of all."""
        full = noise(3.0)
        ours = full.copy()
        ours[RATE:] *= 0.1
        assert went_down(ours, full, after=1.5) is None

    def test_silence(self) -> None:
        """The last sample that can be heard; the noise of a converter is none."""
        recording = np.concatenate([noise(1.0), noise(1.0, 1e-5)])
        assert fell_silent(recording, by=1.8) == pytest.approx(1.0, abs=0.001)
        assert fell_silent(quiet(1.0), by=1.0) == 0

    @pytest.mark.parametrize("seconds", [0.2, 0.6])
    def test_a_pause_is_as_long_as_it_says(self, seconds: float) -> None:
        """Silence that a clip brings along would make it longer, and every pause a split."""
        both = with_pause(np.concatenate([noise(0.5), quiet(0.05)]), np.concatenate([quiet(0.03), noise(0.5)]), seconds)
        silent = np.flatnonzero(both == 0)
        assert silent.size / RATE == pytest.approx(seconds, abs=0.011)


class TestScenes:
    """What is drawn from a seed."""

    PLAN = Plan(dict.fromkeys(KINDS, 6), seed=3)

    def test_the_same_seed_gives_the_same_scenes(self) -> None:
        """Figures that nobody can repeat are no figures."""
        assert self.PLAN.scenes() == self.PLAN.scenes()
        assert self.PLAN.scenes() != Plan(dict.fromkeys(KINDS, 6), seed=4).scenes()

    def test_a_quick_run_is_part_of_a_full_one(self) -> None:
        """Else a quick run says nothing about the full one."""
        assert set(Plan(dict.fromkeys(KINDS, 2), seed=3).scenes()) <= set(self.PLAN.scenes())

    def test_every_kind_is_there_and_within_its_bounds(self) -> None:
        """The figures say delays of 20 to 250 ms and levels of -10 to +6 dB."""
        scenes = Plan(dict.fromkeys(KINDS, 40), seed=1).scenes()
        assert {scene.kind for scene in scenes} == set(KINDS)
        assert all(0.02 <= scene.delay <= 0.25 for scene in scenes)
        spoken = [scene for scene in scenes if scene.kind in ("interruption", "stop", "backchannel", "pause")]
        assert all(-10 <= scene.level_db <= 6 and scene.onset >= 0.5 for scene in spoken)
        assert all(scene.level_db == 0 and not scene.background for scene in spoken if scene.required)
        assert any(scene.onset < 1.0 for scene in spoken)

    def test_what_is_kept_was_not_tuned_with(self) -> None:
        """Figures from the scenes that one tuned with flatter."""
        assert not {person.name for person in PEOPLE[False]} & {person.name for person in PEOPLE[True]}
        assert not {clip.path for clip in recordings(False)} & {clip.path for clip in recordings(True)}
        assert not set(TUNING.interruption) & set(KEPT.interruption)
        assert not set(TUNING.others) & set(KEPT.others)
        assert not set(TUNING.backchannel) & set(KEPT.backchannel)

    @pytest.mark.parametrize("phrases", [TUNING, KEPT])
    def test_an_interruption_has_two_words(self, phrases: object) -> None:
        """One word may be a backchannel, and would be scored as the wrong one of the two."""
        assert all(len(text.split()) >= 2 for text in phrases.interruption)  # type: ignore[attr-defined]

    def test_messages_last_as_long_as_a_scene(self) -> None:
        """A message that ends by itself before the person speaks cannot be interrupted."""
        assert all(len(text.split()) > 45 for text in MESSAGES)


class TestOptions:
    """What the command line asks for."""

    def test_one_sensitivity(self) -> None:
        """Tuning one must not wait for three."""
        assert sensitivities("eager") == ("eager",)
        jobs = jobs_of(Options(sensitivities=("eager",), baselines=False))
        assert {variant.name for _, variants in jobs for variant in variants} == {"eager"}

    def test_an_unknown_name_is_told(self) -> None:
        """A typo must not run an empty bench that reports nothing wrong."""
        with pytest.raises(BenchError, match="no sensitivity is called 'eagre'; there are: eager, default, relaxed"):
            sensitivities("eagre")
        with pytest.raises(BenchError, match="no kind of scene is called 'stops'"):
            scene_kinds("interruption, stops")

    def test_others_play_too(self) -> None:
        """A figure without its baseline says little."""
        assert any(VARIANTS["voice_64ms"] in variants for _, variants in jobs_of(Options(quick=True)))


class TestCurve:
    """One number of the floor at several values, in the same scenes."""

    def test_a_point_changes_one_number_and_no_other(self) -> None:
        """A trade-off in which two things move proves nothing."""
        low, high = points("relaxed", "near_db=-14,-6")
        assert (low.rules.near_db, high.rules.near_db) == (-14.0, -6.0)
        assert replace(low.rules, near_db=-10.0) == FloorRules.of("relaxed")
        assert low.name == "relaxed.near_db=-14"
        assert points("default", "end_silence=0.6")[0].rules == FloorRules.of("default")

    def test_only_the_points_play_and_each_is_told(self) -> None:
        """Baselines beside each of five points would take an hour."""
        both = points("default", "sustained=0.4,0.7")
        assert all(variants == both for _, variants in jobs_of(Options(quick=True, curve=both)))
        outs = [Outcome(scene("backchannel"), both[0].name), Outcome(scene("backchannel"), both[1].name, cuts=1)]
        told = {figure.name: figure.value for figure in curve(outs, both)}
        assert (told["floor.default.sustained=0.4.S_BC"], told["floor.default.sustained=0.7.S_BC"]) == (1.0, 0.0)

    @pytest.mark.parametrize("wrong", ["sustain=0.4", "phrases=1", "sustained", "sustained=a", "sustained=0.4,"])
    def test_what_cannot_be_varied_is_told(self, wrong: str) -> None:
        """A typo must not measure the usual rules under another name."""
        with pytest.raises(BenchError, match=r"there are: end_silence, sustained|write --vary sustained=0\.4"):
            points("default", wrong)


def scene(kind: Kind, number: int = 0, text: str = "two words") -> Scene:
    return Scene(kind, number, 1, 0, "dry", 0.05, 0.0, 7.0, text=text)


class TestFigures:
    """From outcomes that were made by hand."""

    def value(self, outcomes: list[Outcome], name: str) -> float | None:
        return next((figure.value for figure in figures(outcomes) if figure.name == name), None)

    @pytest.mark.parametrize(
        ("silence", "expected"), [(2.5, True), (4.0, True), (4.1, False), (1.5, False), (None, False)]
    )
    def test_yields(self, silence: float | None, expected: bool) -> None:
        """A voice that stopped before anybody spoke, or after two seconds, gave nobody the floor."""
        assert yielded(Outcome(scene("interruption"), "default", onset=2.0, end=3.0, silence=silence)) is expected

    def test_rates(self) -> None:
        """The field's four."""
        outcomes = [
            Outcome(scene("interruption"), "default", onset=2.0, end=3.0, silence=2.3, cuts=1),
            Outcome(scene("stop"), "default", onset=2.0, end=2.4),
            Outcome(scene("backchannel"), "default", onset=2.0, end=2.4),
            Outcome(scene("backchannel", 1), "default", onset=2.0, end=2.4, silence=2.6, cuts=1),
            Outcome(scene("tic"), "default", onset=2.0, end=2.4),
            Outcome(scene("others"), "default", onset=2.0, end=3.0, silence=2.5, cuts=1),
        ]
        names = {"R_Y": 0.5, "S_BC": 0.5, "S_VT": 1.0, "S_ND": 0.0, "silence_ms.p50": pytest.approx(300)}
        for name, expected in names.items():
            assert self.value(outcomes, f"floor.default.{name}") == expected, name
        assert self.value(outcomes, "floor.eager.R_Y") is None

    def test_levels_other_than_0_db_are_apart(self) -> None:
        """The targets are for 0 dB."""
        loud = Scene("interruption", 2, 1, 0, "dry", 0.05, 6.0, 7.0, text="a b", required=False)
        outcomes = [
            Outcome(loud, "default", onset=2.0, end=3.0, silence=2.3, cuts=1),
            Outcome(scene("interruption"), "default", onset=2.0, end=3.0),
        ]
        assert self.value(outcomes, "floor.default.R_Y") == 0.0
        assert self.value(outcomes, "floor.default.all_levels.R_Y") == 0.5

    def test_splits_and_delays(self) -> None:
        """Two messages of one utterance, or one before its end, are splits; no end of speech is counted for them."""
        whole = Outcome(scene("pause"), "default", onset=2.0, end=3.0, sent=[(3.5, "two words")])
        early = Outcome(scene("pause"), "default", onset=2.0, end=3.0, sent=[(2.5, "two")])
        twice = Outcome(scene("pause"), "default", onset=2.0, end=3.0, sent=[(3.2, "two"), (3.6, "words")])
        assert [split(out) for out in (whole, early, twice)] == [False, True, True]
        assert [to_message(out) for out in (whole, early, twice)] == [pytest.approx(0.5), None, None]

    def test_only_errors_beyond_the_clean_reading_count(self) -> None:
        """A recogniser's own weakness is not the echo's fault."""
        out = Outcome(scene("interruption"), "default", onset=2.0, end=3.0, silence=2.3, sent=[(3.5, "to birds")])
        out.clean = "to words"
        assert self.value([out], "floor.double_talk_extra_word_errors") == 0.5

    def test_self_interruptions_per_hour(self) -> None:
        """Of our own voice alone, drift apart."""
        still = Scene("silence", 0, 1, 0, "dry", 0.05, 0.0, 0.0, seconds=60.0)
        drift = Scene("silence", 0, 1, 0, "dry", 0.05, 0.0, 0.0, seconds=60.0, drift_ppm=60.0)
        outcomes = [Outcome(still, "default", ducks=2), Outcome(drift, "default", cuts=1, ducks=1)]
        assert self.value(outcomes, "floor.self_interruptions_per_hour") == 0
        assert self.value(outcomes, "floor.false_ducks_per_hour") == 120
        assert self.value(outcomes, "floor.self_interruptions_per_hour.drift_60ppm") == 60


class TestOthers:
    """The ways that others decide."""

    PLAYS = Playing(speaking=True, can_interrupt=True)

    def test_plain_activity_stops_with_the_second_frame(self) -> None:
        """A baseline that is slower than it is in fact would flatter us."""
        floor = PlainActivity(FloorRules())
        assert not floor.heard(SpeechStarted("u", 1.0), 1.04, self.PLAYS)
        assert not floor.heard(VoiceActivity("u", 1.04, 0.032, 0.0, -30.0, -40.0), 1.04, self.PLAYS)
        [decision] = floor.heard(VoiceActivity("u", 1.07, 0.064, 0.0, -30.0, -40.0), 1.07, self.PLAYS)
        assert decision.act is Act.CUT

    def test_words_first_stops_with_the_first_word(self) -> None:
        """As above."""
        floor = WordsFirst(FloorRules())
        floor.heard(SpeechStarted("u", 1.0), 1.04, self.PLAYS)
        assert not floor.heard(Partial("u", "", 0.3), 1.4, self.PLAYS)
        [decision] = floor.heard(Partial("u", "I", 0.4), 1.5, self.PLAYS)
        assert decision.act is Act.CUT
        assert [each.act for each in floor.heard(Utterance("u", "I see", 1.0, 1.6), 2.1, self.PLAYS)] == [Act.TAKE]


class TestRun:
    """The whole bench, with the real engines."""

    def test_quick(self, tmp_path: Path) -> None:
        """Two runs of one seed agree in every moment and word, in one process or in two."""
        from voice.bench.floor_run import outcomes

        options = Options(quick=True, kinds=("stop",), sensitivities=OUR_NAMES[:1], baselines=False)
        once, again = ([*outcomes(jobs_of(options), False, processes)] for processes in (1, 2))
        for one, other in zip(once, again, strict=True):
            assert (one.log, one.sent, one.duck, one.silence) == (other.log, other.sent, other.duck, other.silence)
        assert json.loads(figures(once)[0].json())["name"].startswith("floor.eager.")
        assert any(out.cuts for out in once)


def test_the_detector_forgets() -> None:
    """Scenes share one detector; what it remembered of one would change the next."""
    detector, fresh, sound = Activity(), Activity(), noise(1.0, 0.3)
    detector.feed(sound, 0.0)
    detector.reset()
    assert detector.feed(sound, 0.0) == fresh.feed(sound, 0.0)
