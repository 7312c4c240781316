"""The bench itself: a benchmark that cannot find a fault proves nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from voice.audio.base import RATE
from voice.bench.heard import Options, Tally, played_until, run, speak_all, words_in
from voice.bench.messages import KEPT, MESSAGES
from voice.bench.output import Figure
from voice.bench.playback import Playback, Spoken, SpokenClause, clauses_of
from voice.bench.rules import RULES, Seen
from voice.core.events import WordMark
from voice.core.script import words_of
from voice.tts.base import Voiced
from voice.tts.espeak import EspeakVoice

WORD = RATE // 4


def spoken(text: str) -> Spoken:
    """Words of a quarter of a second, the last fifth of each silent."""
    clauses = []
    for clause in clauses_of(text):
        words = words_of(clause.spoken)
        word = np.concatenate([np.full(WORD * 4 // 5, 0.5, np.float32), np.zeros(WORD // 5, np.float32)])
        marks = tuple(WordMark(a, b, i * WORD, i * WORD + WORD * 4 // 5) for i, (a, b) in enumerate(words))
        clauses.append(SpokenClause(clause, (Voiced(np.tile(word, len(words)), marks, final=True),), marks))
    return Spoken(text, tuple(clauses), estimated=False)


class TestTruth:
    """What was heard, from the loudspeaker's recording alone."""

    def test_counts_what_sounded(self) -> None:
        """Figures that follow the playhead would hide its faults."""
        source = spoken("One two three.").source
        assert played_until(source[: WORD + 100], source) == WORD + 100
        assert played_until(np.zeros(500, np.float32), source) == 0

    def test_silence_on_either_side_does_not_matter(self) -> None:
        """An underrun in the recording is not speech, and a pause of the voice is."""
        source = spoken("One two three.").source
        dry = np.concatenate([np.zeros(999, np.float32), source[:1000], np.zeros(12800, np.float32), source[1000:2000]])
        assert played_until(dry, source) == 2000

    @pytest.mark.parametrize("trouble", ["", "paused", "underrun"])
    @pytest.mark.parametrize("at", [0.3, 0.6, 0.9, 1.4, 2.0])
    def test_the_program_agrees_with_it(self, trouble: str, at: float) -> None:
        """The one claim that everything else stands on."""
        message = spoken("One two three four five six.")
        cut = Playback(message, trouble, after=0.62, gap=0.8).cut(at)  # type: ignore[arg-type]
        true = sum(word.last <= played_until(cut.recording, message.source) for word in words_in(message))
        claimed = sum(word.end <= len(cut.heard) for word in words_in(message))
        assert claimed == true
        played = {
            "": at,
            "paused": at if at < 0.62 else max(0.62, at - 0.8),
            "underrun": at if at < 0.62 else max(0.62, at - 0.8),
        }
        assert true == pytest.approx(min(6, played[trouble] / 0.25), abs=1.2)

    def test_a_claim_too_many_is_found(self) -> None:
        """A tally that cannot fail would publish any program's figures as ours."""
        tally = Tally()
        tally.add(3, 2)
        tally.add(2, 2)
        assert (tally.mean, tally.exact, tally.over) == (0.5, 0.5, 0.5)


class TestRules:
    """The rules of other programs, on a case that can be counted by hand."""

    CASE = Seen(("One", "two.", "Three", "four."), (0.0, 1.0, 2.0, 3.0), (0.9, 1.9, 2.9, 3.9), 4.0, 2.5)

    @pytest.mark.parametrize(
        ("rule", "words"),
        [
            ("whole_message", 4),
            ("word_begun_wall_clock", 3),
            ("word_ended_wall_clock", 2),
            ("sentence_begun", 4),
            ("sentence_ended", 2),
            ("character_share", 2),
            ("words_150_per_minute", 4),
            ("word_share", 2),
            ("syllable_share", 2),
            ("syllables_3_83_per_second", 4),
        ],
    )
    def test_rule(self, rule: str, words: int) -> None:
        """A baseline that is wrong would flatter us."""
        assert RULES[rule](self.CASE) == words

    def test_every_rule_is_tried(self) -> None:
        """A rule without a case could say anything."""
        cases = self.test_rule.pytestmark[0].args[1]  # type: ignore[attr-defined]
        assert {rule for rule, _ in cases} == set(RULES)


class TestRun:
    """The whole bench on one message, with the real engines."""

    async def test_figures_and_their_form(self) -> None:
        """Whoever reads the figures by machine relies on these names."""
        figures = {figure.name: figure async for figure in run(Options(MESSAGES[4:5], cuts=3))}
        for engine, wpm in (("espeak", 175), ("espeak", 300), ("pyttsx3", 175), ("pyttsx3", 300)):
            for what in ("mean_words", "exact_share", "overclaim_share"):
                assert f"heard.{engine}.{wpm}.{what}" in figures
        assert figures["heard.espeak.175.overclaim_share"].value == 0
        assert set(figures["heard.espeak.300.underrun.mean_words"].baseline) == set(RULES)
        assert 0 < figures["heard.stop_to_silence_ms"].value <= 10 + 12 + 1

    def test_json(self) -> None:
        """One object a line."""
        assert json.loads(Figure("a.b", 0.123456, "words", 3, {"x": 1.0}).json()) == {
            "name": "a.b",
            "value": 0.1235,
            "unit": "words",
            "n": 3,
            "baseline": {"x": 1.0},
        }

    async def test_the_pieces_are_the_session_s_own(self) -> None:
        """A bench that cuts its text differently measures another program."""
        voice = EspeakVoice()
        await voice.start(RATE)
        try:
            [message] = await speak_all(voice, None, [KEPT[4]])
        finally:
            await voice.close()
        words = [word.text for word in words_in(message)]
        assert words == [message.text[a:b] for a, b in words_of(message.text)]
