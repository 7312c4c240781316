"""An engine that hangs or dies takes one clause with it, not the conversation."""

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import pytest

from tests.tts.speech import RATE, check_marks, say, worker_process
from voice.tts.base import Voice, VoiceError
from voice.tts.espeak import EspeakVoice
from voice.tts.pyttsx3 import SystemVoice
from voice.worker import Reply, Servant

SECRET = "my knee hurts"
SHORT = 0.4
"""Seconds without a sign of life, for tests that wait for it."""


class SleepsOnce:
    """A servant that sleeps through its first request and speaks the others; `flag` tells the first one."""

    def __init__(self, flag: str, speak: Servant) -> None:
        self.flag, self.speak = Path(flag), speak

    def __call__(self, request: object, reply: Reply) -> None:
        if not self.flag.exists():
            self.flag.touch()
            signal.pause()
        self.speak(request, reply)


def make_sleeper(language: str, variant: str, pitch: int | None, system: bool) -> Servant:
    from voice.tts.espeak_worker import make_espeak

    return SleepsOnce(os.environ["VOICE_TEST_FLAG"], make_espeak(language, variant, pitch, system))


def make_quoter(language: str, variant: str, pitch: int | None, system: bool) -> Servant:
    """The real engine, without its library call: every clause fails with an error that quotes it."""
    from voice.tts.espeak_worker import Espeak, make_espeak

    servant = make_espeak(language, variant, pitch, system)
    assert isinstance(servant, Espeak)

    def refuse(text: bytes, *_: object) -> int:
        raise ValueError(text.decode())

    servant._lib.espeak_Synth = refuse
    return servant


@pytest.fixture(params=["espeak", "pyttsx3"])
async def voice(request: pytest.FixtureRequest):
    made: Voice = EspeakVoice(timeout=SHORT) if request.param == "espeak" else SystemVoice(timeout=SHORT)
    await made.start(RATE)
    yield made
    await made.close()


async def fails(voice: Voice) -> str:
    with pytest.raises(VoiceError) as caught:
        async with asyncio.timeout(20):
            await say(voice, SECRET)
    return str(caught.value)


class TestHang:
    async def test_a_stopped_process_is_given_up_and_replaced(self, voice: Voice) -> None:
        """Hurts the user who waits in silence for ever."""
        pid = worker_process(voice.name).pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        await fails(voice)
        spoken = await say(voice, "The next one.")
        check_marks(spoken.text, spoken.marks, spoken.pcm.size)

    async def test_an_engine_that_sleeps_in_a_clause(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """The loop goes on meanwhile: the sound can still be stopped."""
        monkeypatch.setenv("VOICE_TEST_FLAG", str(tmp_path / "slept"))
        monkeypatch.setattr("voice.tts.espeak.make_espeak", make_sleeper)
        voice = EspeakVoice(timeout=SHORT)
        await voice.start(RATE)
        turns = 0

        async def go_on() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0.01)

        ticking = asyncio.create_task(go_on())
        assert f"{SHORT:g} s" in await fails(voice)
        ticking.cancel()
        assert turns > 5
        assert (await say(voice, "The next one.")).pcm.size > 0
        await voice.close()

    async def test_the_user_does_not_wait_for_a_hung_engine_to_be_cut(self, voice: Voice) -> None:
        """A cut closes the clause at once, whatever the engine does."""
        pid = worker_process(voice.name).pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        clause = asyncio.create_task(say(voice, SECRET))
        await asyncio.sleep(0)
        clause.cancel()
        with pytest.raises(asyncio.CancelledError):
            await clause


class TestDeath:
    async def test_a_killed_process_is_replaced(self, voice: Voice) -> None:
        """Native code crashes; the conversation must not."""
        worker_process(voice.name).kill()
        with contextlib.suppress(VoiceError):  # the death may be noticed before this clause or in it
            await say(voice, SECRET)
        spoken = await say(voice, "The next one.")
        check_marks(spoken.text, spoken.marks, spoken.pcm.size)

    async def test_close_leaves_no_process_and_can_be_called_twice(self, voice: Voice) -> None:
        """A kiosk that restarts its voice daily must not collect processes."""
        process = worker_process(voice.name)
        await voice.close()
        await voice.close()
        with pytest.raises(ValueError, match="closed"):
            process.is_alive()


async def test_an_error_never_quotes_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors are logged, and what is said may be about somebody's health."""
    monkeypatch.setattr("voice.tts.espeak.make_espeak", make_quoter)
    voice = EspeakVoice()
    await voice.start(RATE)
    message = await fails(voice)
    await voice.close()
    assert SECRET not in message
    assert "ValueError" in message
    assert "\n" not in message
