"""The default recogniser for real: its process and model, human and synthetic speech through the whole listener."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import multiprocessing
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from voice.audio.base import RATE, Pcm
from voice.core.events import Input
from voice.core.evidence import Partial, SpeechStarted, Utterance
from voice.stt.base import Reading, RecogniserError
from voice.stt.listener import Listener
from voice.stt.moonshine import MoonshineRecogniser
from voice.stt.words import normalise, word_errors
from voice.timeloop import run_virtual
from voice.tts.espeak import EspeakVoice

from .clips import cards, play, read, silence, transcripts


def process() -> Any:
    """The recogniser's child process."""
    return next(child for child in multiprocessing.active_children() if child.name == "stt-moonshine")


async def spoken(text: str, wpm: int) -> Pcm:
    """The default voice saying it at that speed, silence at both ends cut off."""
    voice = EspeakVoice(wpm=wpm)
    await voice.start(RATE)
    try:
        pcm = np.concatenate([piece.pcm async for piece in voice.speak(text)])
    finally:
        await voice.close()
    loud = np.flatnonzero(np.abs(pcm) > 0.02 * np.abs(pcm).max())
    return pcm[loud[0] : loud[-1] + 1]


async def listen(*audio: Pcm) -> list[Input]:
    """Everything the listener says about the audio, played piece after piece."""
    events: list[Input] = []
    ids = map(str, itertools.count(1))
    errors: list[str] = []
    listener = Listener(MoonshineRecogniser(), events.append, on_error=errors.append, new_id=lambda: next(ids))
    await listener.start()
    await play(listener, np.concatenate(audio))
    await listener.close()
    assert errors == []
    return events


def texts(events: list[Input]) -> list[str]:
    return [event.text for event in events if isinstance(event, Utterance)]


class TestThroughTheListener:
    def test_human_commands(self):
        """Five people's short commands: no clip split or missed, at most one word in five wrong."""
        clips = cards()
        events = run_virtual(
            listen(*itertools.chain.from_iterable((silence(1.0), read(path), silence(1.0)) for path in clips))
        )
        heard = texts(events)
        assert len(heard) == len(clips)
        counts = [word_errors(said, got) for said, got in zip(clips.values(), heard, strict=True)]
        assert sum(errors for errors, _ in counts) / sum(words for _, words in counts) <= 0.2

    def test_partials_come_before_the_end_and_converge(self):
        """The floor decides on partials: they must be there while somebody speaks, and lead to the final."""
        path, said = next(iter(cards().items()))
        events = run_virtual(listen(silence(1.0), read(path), silence(1.0)))
        assert isinstance(events[0], SpeechStarted)
        partials = [event.text for event in events if isinstance(event, Partial)]
        assert len(partials) >= 3
        assert normalise(partials[-1]) == normalise(texts(events)[0]) == said

    def test_a_short_no_right_after_the_prompt(self):
        """F10: the shortest answer there is, under 250 ms, 50 ms after the microphone began to listen."""

        async def main() -> list[Input]:
            no = await spoken("No.", wpm=230)
            assert len(no) <= 0.25 * RATE
            return await listen(silence(0.05), no, silence(1.0))

        events = run_virtual(main())
        assert [normalise(text) for text in texts(events)] == ["no"]

    def test_same_audio_same_events(self):
        """A conversation in the virtual room must come out the same each time."""
        path = next(iter(cards()))
        audio = (silence(0.5), read(path), silence(1.0))
        assert run_virtual(listen(*audio)) == run_virtual(listen(*audio))


class TestProcess:
    @pytest.fixture
    def clip(self) -> Pcm:
        return read(next(iter(cards())))

    async def test_a_killed_process_loses_no_word(self, clip: Pcm):
        """A native crash in mid-sentence: the next question is answered from all that was said."""
        recogniser = MoonshineRecogniser()
        await recogniser.start()
        try:
            recogniser.begin()
            recogniser.feed(clip[: len(clip) // 2])
            await recogniser.partial()
            dead = process()
            dead.kill()
            await asyncio.to_thread(dead.join)
            recogniser.feed(clip[len(clip) // 2 :])
            text = None
            for _ in range(2):  # the first question may go to the dead process: that is an error, and asked again
                with contextlib.suppress(RecogniserError):
                    text = text or (await recogniser.finish()).text
            assert normalise(text or "") == "ten of clubs"
        finally:
            await recogniser.close()

    async def test_utterances_do_not_mix(self, clip: Pcm):
        """What somebody else said before must not be in the text."""
        recogniser = MoonshineRecogniser()
        await recogniser.start()
        try:
            for _ in range(2):
                recogniser.begin()
                assert await recogniser.finish() == Reading()
                recogniser.feed(clip)
                assert normalise((await recogniser.partial()).text) == "ten of clubs"
                assert normalise((await recogniser.finish()).text) == "ten of clubs"
        finally:
            await recogniser.close()
            await recogniser.close()

    async def test_a_long_story(self):
        """Half a minute without a pause of half a second: decoded in parts, all of it there, in bounded time."""
        clips = transcripts("librivox", "transcription")
        recogniser = MoonshineRecogniser()
        await recogniser.start()
        try:
            recogniser.begin()
            for path in clips:
                recogniser.feed(read(path))
            errors, words = word_errors(" ".join(clips.values()), (await recogniser.finish()).text)
            assert errors / words <= 0.15
        finally:
            await recogniser.close()

    def test_nothing_on_standard_output(self):
        """`voice wire`, `voice bench --json`: standard output is read by other programs."""
        program = (
            "import asyncio, numpy as np\n"
            "from voice.stt.moonshine import MoonshineRecogniser\n"
            "async def main():\n"
            "    r = MoonshineRecogniser(); await r.start(); r.begin()\n"
            "    r.feed(np.zeros(16000, np.float32)); await r.finish(); await r.close()\n"
            "if __name__ == '__main__': asyncio.run(main())\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout == ""
