"""The default voice, with the real espeak-ng in its real process."""

import asyncio
import sys

import numpy as np
import pytest
import pytest_asyncio

from tests.tts.speech import RATE, check_marks, say
from voice.tts.base import VoiceError
from voice.tts.espeak import EspeakVoice
from voice.tts.marks import AUDIBLE

LONG = "The harbour was quiet in the early morning, and the boats rocked gently against the stone wall."


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def voice():
    made = EspeakVoice()
    await made.start(RATE)
    yield made
    await made.close()


class TestMarks:
    async def test_words_in_order_one_mark_each(self, voice: EspeakVoice) -> None:
        """Hurts everyone: the heard text is read from these marks."""
        spoken = await say(voice, LONG)
        check_marks(LONG, spoken.marks, spoken.pcm.size)
        assert " ".join(spoken.words()) == LONG

    async def test_words_that_espeak_runs_together_are_heard_together(self, voice: EspeakVoice) -> None:
        """ "in the" has one event; claiming "in" at a guess could claim what was cut."""
        spoken = await say(voice, "Wait in the hall.")
        by_word = dict(zip(spoken.words(), spoken.marks, strict=True))
        assert (by_word["in"].first, by_word["in"].last) == (by_word["the"].first, by_word["the"].last)
        assert by_word["the"].last <= by_word["hall."].first

    async def test_a_number_is_one_word_until_its_last_part_was_said(self, voice: EspeakVoice) -> None:
        """Hurts whoever is told half of a room number."""
        spoken = await say(voice, "Room 123 is free.")
        room, number, verb, _ = spoken.marks
        assert number.last - number.first > 5 * (room.last - room.first)
        assert verb.first >= number.last

    @pytest.mark.parametrize("rate", [8000, 16000, 22050, 24000, 44100, 48000])
    async def test_marks_are_true_to_a_millisecond_at_every_device_rate(self, rate: int) -> None:
        """A resampler's delay, left in, would move every claim on devices with another rate."""
        voice = EspeakVoice()
        await voice.start(rate)
        spoken = await say(voice, "Moon. Apple. Window. River. Lemon. Open.")
        await voice.close()
        loud = np.flatnonzero(np.abs(spoken.pcm) >= AUDIBLE)
        pauses = np.flatnonzero(np.diff(loud) > 0.05 * rate)
        onsets, ends = loud[np.append(0, pauses + 1)], loud[np.append(pauses, -1)] + 1
        assert len(onsets) == 6
        assert np.abs(onsets - [mark.first for mark in spoken.marks]).max() <= rate / 1000
        assert np.abs(ends - [mark.last for mark in spoken.marks]).max() <= rate / 1000

    async def test_the_length_is_the_same_at_every_rate(self) -> None:
        """Samples lost in the resampler would be words cut off at the end of each clause."""
        seconds = []
        for rate in (16000, 22050, 48000):
            voice = EspeakVoice()
            await voice.start(rate)
            seconds.append((await say(voice, LONG)).pcm.size / rate)
            await voice.close()
        assert max(seconds) - min(seconds) < 0.001

    async def test_no_mark_lies_beyond_the_audio_handed_over(self, voice: EspeakVoice) -> None:
        """The session would count samples that the player has not got."""
        total = 0
        async for piece in voice.speak(LONG):
            total += piece.pcm.size
            assert all(mark.last <= total for mark in piece.marks)

    async def test_the_last_word_ends_before_the_pause_that_ends_the_clause(self, voice: EspeakVoice) -> None:
        """Whoever cuts in that pause has heard the clause whole."""
        spoken = await say(voice, "All done.")
        assert spoken.marks[-1].last < spoken.pcm.size - RATE // 20
        assert np.abs(spoken.pcm[spoken.marks[-1].last + RATE // 500 :]).max() < AUDIBLE


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("cmn", "您好，感谢您致电。"),
        ("zh", "今天头疼吗？请告诉我。"),
        ("ja", "お電話ありがとうございます。"),
        ("ko", "안녕하세요, 전화해 주셔서 감사합니다."),
        ("en-us", "您好，感谢您致电。"),
    ],
)
async def test_texts_without_spaces_are_covered_without_gaps(language: str, text: str) -> None:
    """Hurts callers in Chinese, Japanese, Korean: the heard text must be a byte-identical prefix."""
    voice = EspeakVoice(language)
    await voice.start(RATE)
    spoken = await say(voice, text)
    await voice.close()
    check_marks(text, spoken.marks, spoken.pcm.size)
    assert "".join(spoken.words()) == text.replace(" ", "")


class TestTextThatIsNoSpeech:
    @pytest.mark.parametrize("text", ["", "   ", "...", "?!", "😀🎉", "❤️👍🏽", "\x00\x01\n", "\ud800"])
    async def test_no_audio_is_an_end_not_an_error(self, voice: EspeakVoice, text: str) -> None:
        """A message that gives no sound must not block the ones after it."""
        spoken = await say(voice, text)
        assert spoken.pcm.size == 0
        assert spoken.marks == []
        assert (await say(voice, "The next one.")).pcm.size > 0

    async def test_markup_and_commands_do_nothing(self, voice: EspeakVoice) -> None:
        """A server's text must not reach the engine's controls: silence, other voices, other speeds."""
        plain = await say(voice, "before  after")
        for markup in ("\x01450S", "\x00", "\x1b"):
            assert (await say(voice, f"before {markup[0]} after")).pcm.size > 0.8 * plain.pcm.size
        spoken = await say(voice, 'before <break time="9s"/> after')
        loud = np.flatnonzero(np.abs(spoken.pcm) >= AUDIBLE)
        assert np.diff(loud).max() < RATE
        check_marks(spoken.text, spoken.marks, spoken.pcm.size)

    @pytest.mark.parametrize(
        "text",
        [
            "שלום עולם and مرحبا",
            "a\u202eb\u200bc\u00add",
            "x\x00y\x01120Sz",
            "[[pause]] & <b>you</b>",
            "٣ ½ ² ﬁ",
            "\udfff a",
        ],
    )
    async def test_odd_text_is_spoken_or_skipped(self, voice: EspeakVoice, text: str) -> None:
        """One odd character from a server must not take the voice away."""
        spoken = await say(voice, text)
        check_marks(text, spoken.marks, spoken.pcm.size)


class TestSpeed:
    async def test_rate_changes_the_speed(self, voice: EspeakVoice) -> None:
        """Hurts those who asked for slower speech."""
        slow, normal, fast = [(await say(voice, LONG, rate)).pcm.size for rate in (0.7, 1.0, 1.6)]
        assert slow > 1.2 * normal
        assert fast < 0.75 * normal


class TestStreaming:
    async def test_the_first_piece_is_short_and_the_rest_follows_in_few(self, voice: EspeakVoice) -> None:
        """The first word waits for the first piece; a piece a buffer would crowd the pipe."""
        pieces = [piece async for piece in voice.speak(LONG)]
        assert 0 < pieces[0].pcm.size <= 0.05 * RATE
        assert len(pieces) < 25

    async def test_after_a_cancellation_the_next_clause_is_whole_and_clean(self, voice: EspeakVoice) -> None:
        """Samples of a cut message at the start of the next would be spoken to the user."""
        expected = await say(voice, "The next one.")
        for _ in range(3):
            cut = voice.speak(LONG)
            await anext(cut)
            await cut.aclose()
            spoken = await say(voice, "The next one.")
            onsets = [int(np.argmax(np.abs(one.pcm) >= AUDIBLE)) for one in (spoken, expected)]
            assert abs(onsets[0] - onsets[1]) < 0.001 * RATE
            assert abs(spoken.pcm.size - expected.pcm.size) < 0.01 * RATE  # espeak's own jitter is 1 ms

    async def test_a_second_clause_waits_for_the_first(self, voice: EspeakVoice) -> None:
        """The library is one global state: two clauses at once would mix."""
        first, second = await asyncio.gather(say(voice, LONG), say(voice, "The next one."))
        check_marks(first.text, first.marks, first.pcm.size)
        check_marks(second.text, second.marks, second.pcm.size)


class TestChoice:
    @pytest.mark.parametrize("language", ["en_US", "EN-GB", "de", "pl"])
    async def test_languages_by_any_of_their_names(self, language: str) -> None:
        """Hurts the operator who writes a locale."""
        voice = EspeakVoice(language, variant="f3", pitch=70)
        await voice.start(RATE)
        assert (await say(voice, "Hallo.")).pcm.size > 0
        await voice.close()

    @pytest.mark.parametrize(
        ("voice", "named"), [(EspeakVoice("xx"), "'xx'"), (EspeakVoice(variant="nobody"), "'nobody'")]
    )
    async def test_an_unknown_one_is_named_in_one_line_with_a_remedy(self, voice: EspeakVoice, named: str) -> None:
        """The operator has to see what to mend."""
        with pytest.raises(VoiceError) as caught:
            await voice.start(RATE)
        await voice.close()
        assert named in str(caught.value)
        assert "\n" not in str(caught.value)

    async def test_speaking_before_start_says_so(self) -> None:
        """A wiring fault must not look like a hang."""
        with pytest.raises(VoiceError, match="start"):
            await say(EspeakVoice(), "Hello.")


async def test_the_library_stays_out_of_the_program(voice: EspeakVoice) -> None:
    """It is GPL-3: the program and the library must remain two programs."""
    await say(voice, "Hello.")
    assert "espeakng_loader" not in sys.modules
    with open("/proc/self/maps") as maps:  # noqa: ASYNC230  a few lines, in a test
        assert "espeak" not in maps.read()
