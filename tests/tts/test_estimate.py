"""Voices without word times: an estimate that claims too much invents what the user heard."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tts.speech import CLINIC, RATE, check_marks, clauses, say
from voice.tts.espeak import EspeakVoice
from voice.tts.estimate import estimate_marks

CUTS_PER_SECOND = 40


def tone(*ranges: tuple[float, float], seconds: float) -> np.ndarray:
    """Sound in these ranges of seconds, silence elsewhere."""
    pcm = np.zeros(round(seconds * RATE), np.float32)
    for first, last in ranges:
        pcm[round(first * RATE) : round(last * RATE)] = 0.1
    return pcm


def lasts(text: str, pcm: np.ndarray, margin: float = 0.0) -> list[float]:
    return [mark.last / RATE for mark in estimate_marks(text, pcm, RATE, margin)]


class TestTime:
    def test_the_silence_around_the_speech_belongs_to_no_word(self) -> None:
        """Half a second of lead-in would move every claim by a word."""
        first, last = estimate_marks("moon moon", tone((0.5, 1.5), seconds=2.0), RATE, 0.0)
        assert first.first == RATE // 2
        assert last.last == 3 * RATE // 2

    def test_long_words_take_longer(self) -> None:
        """Sharing out by word count is wrong by a word and more."""
        assert lasts("a considerable lot", tone((0, 1), seconds=1))[1] > 0.7

    def test_a_pause_after_punctuation_is_found_in_the_audio(self) -> None:
        """The guess starts afresh there: however the first part was spoken, the second is not off by it."""
        ends = lasts("moon, moon moon", tone((0, 0.65), (0.85, 1.6), seconds=1.6))
        assert ends[0] == pytest.approx(0.65, abs=0.01)
        assert 1.1 < ends[1] < 1.4

    def test_a_closure_inside_a_word_is_no_pause(self) -> None:
        """The hole in "attic" must not be taken for the comma's."""
        ends = lasts("attic, moon moon moon", tone((0, 0.15), (0.22, 0.5), (0.75, 1.6), seconds=1.6))
        assert ends[0] == pytest.approx(0.5, abs=0.01)

    def test_punctuation_without_a_pause(self) -> None:
        """Fast voices run over commas."""
        assert 0.2 < lasts("moon, moon", tone((0, 1), seconds=1))[0] < 0.7


class TestMargin:
    def test_words_are_claimed_later_with_a_margin_and_most_in_mid_stretch(self) -> None:
        """Far from every anchor the guess is worst, so it has to be most careful there."""
        text, pcm = "moon moon moon moon moon moon", tone((0, 3), seconds=3)
        late = np.array(lasts(text, pcm, 2.0)) - lasts(text, pcm)
        assert (late[:-1] > 0).all()
        assert late[-1] == 0
        assert late[2] > late[0]

    def test_the_last_word_is_heard_when_the_sound_ends(self) -> None:
        """A clause played out must not be reported as cut."""
        assert lasts("one two", tone((0, 1), seconds=1.5), 9.0)[-1] == 1.0


class TestNothing:
    def test_no_sound_or_no_word_no_marks(self) -> None:
        """Nothing heard is a value."""
        assert estimate_marks("hello", np.zeros(RATE, np.float32), RATE) == []
        assert estimate_marks("hello", np.zeros(0, np.float32), RATE) == []
        assert estimate_marks(" ", tone((0, 1), seconds=1), RATE) == []

    def test_a_leading_dash_is_not_heard_before_the_word_behind_it(self) -> None:
        """Cut after 20 ms, nothing was heard."""
        ends = lasts("- moon moon", tone((0, 1), seconds=1))
        assert ends[0] == ends[1] > 0.3


async def cuts_against_truth(wpm: int, language: str) -> np.ndarray:
    """Words estimated minus words really heard, at random cuts of every clause of `CLINIC`."""
    voice = EspeakVoice(language, wpm)
    await voice.start(RATE)
    random, errors = np.random.default_rng(7), []
    for text in clauses(CLINIC):
        spoken = await say(voice, text)
        true = np.array([mark.last for mark in spoken.marks])
        guess = np.array([mark.last for mark in estimate_marks(text, spoken.pcm, RATE)])
        at = random.uniform(0, spoken.pcm.size, CUTS_PER_SECOND * spoken.pcm.size // RATE)[:, None]
        errors.append((guess <= at).sum(axis=1) - (true <= at).sum(axis=1))
    await voice.close()
    return np.concatenate(errors)


@pytest.mark.parametrize(("wpm", "language"), [(175, "en-us"), (300, "en-us"), (175, "en-gb"), (300, "en-gb")])
async def test_half_a_word_of_error_and_hardly_a_word_too_many(wpm: int, language: str) -> None:
    """Against the true marks of a real engine, on texts that the numbers were not fitted to."""
    error = await cuts_against_truth(wpm, language)
    assert error.size > 900
    assert np.abs(error).mean() <= 0.5
    assert (error > 0).mean() <= 0.05


@given(
    text=st.text(alphabet="ab1 ,.-您あ가\n😀'\"", max_size=60),
    sounds=st.lists(st.tuples(st.booleans(), st.integers(1, 2000)), max_size=20),
    margin=st.floats(0, 5),
)
def test_marks_of_any_text_and_audio_cover_every_word_once_in_order_within_the_audio(
    text: str, sounds: list[tuple[bool, int]], margin: float
) -> None:
    """Whatever a system's voice writes, the session can only ever read a proper prefix from it."""
    pcm = np.concatenate([np.zeros(0, np.float32), *(np.full(n, 0.1 * loud, np.float32) for loud, n in sounds)])
    marks = estimate_marks(text, pcm, RATE, margin)
    if np.any(pcm) and text.strip():
        check_marks(text, marks, pcm.size)
        assert marks[-1].last == np.flatnonzero(pcm)[-1] + 1
    else:
        assert marks == []
