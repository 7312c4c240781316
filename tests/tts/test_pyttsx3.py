"""System voices, with the real pyttsx3 and espeak-ng in their real process."""

import os
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from tests.tts.speech import RATE, check_marks, say, worker_process
from voice.tts.base import VoiceError
from voice.tts.marks import AUDIBLE
from voice.tts.pyttsx3 import SystemVoice

TEXT = "Please sit down, and tell me what happened."


@pytest.fixture
async def voice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = SystemVoice()
    await made.start(RATE)
    yield made
    await made.close()


async def test_a_clause_comes_whole_with_a_mark_a_word(voice: SystemVoice) -> None:
    """Marked as an estimate, because the engine does not say when its words sound."""
    assert voice.estimated
    spoken = await say(voice, TEXT)
    check_marks(TEXT, spoken.marks, spoken.pcm.size)
    assert 2 * RATE < spoken.pcm.size < 5 * RATE
    assert spoken.marks[-1].last == np.flatnonzero(np.abs(spoken.pcm) >= AUDIBLE)[-1] + 1


async def test_a_cut_in_mid_sentence_claims_some_words_but_not_all(voice: SystemVoice) -> None:
    """Neither "nothing" nor "everything" helps the server."""
    spoken = await say(voice, TEXT)
    heard = [mark for mark in spoken.marks if mark.last <= spoken.pcm.size // 2]
    assert 2 <= len(heard) <= len(spoken.marks) - 2


async def test_every_clause_has_the_speed_it_was_given(voice: SystemVoice) -> None:
    """pyttsx3 by itself loses a change of speed when the clause before has just ended."""
    sizes = {rate: {(await say(voice, TEXT, rate)).pcm.size for _ in range(3)} for rate in (1.0, 1.6, 0.7)}
    again = {(await say(voice, TEXT, rate)).pcm.size for rate in (1.6, 1.6)}
    assert max(sizes[1.6] | again) < 0.8 * min(sizes[1.0])
    assert min(sizes[0.7]) > 1.2 * max(sizes[1.0])


async def test_samples_come_at_the_rate_of_the_device(voice: SystemVoice) -> None:
    """The engine has one rate of its own; a device may have another."""
    normal = await say(voice, TEXT)
    await voice.start(48000)
    assert (await say(voice, TEXT)).pcm.size == pytest.approx(3 * normal.pcm.size, rel=0.02)


@pytest.mark.parametrize("text", ["", " ", "...", "😀", "\x00", "\ud800"])
async def test_no_audio_is_an_end_not_an_error_or_a_hang(voice: SystemVoice, text: str) -> None:
    """pyttsx3 waits for ever for the end of an empty text."""
    spoken = await say(voice, text)
    assert spoken.pcm.size == 0
    assert spoken.marks == []
    assert (await say(voice, "The next one.")).pcm.size > 0


@pytest.mark.parametrize("text", ['<break time="9s"/> yes', "[[slnc 9000]] yes", "x\x00y\x01450S", "² ½ שלום 您好"])
async def test_markup_is_never_a_command(voice: SystemVoice, text: str) -> None:
    """A server's text must not control the system's engine."""
    spoken = await say(voice, text)
    check_marks(text, spoken.marks, spoken.pcm.size)
    assert np.diff(np.flatnonzero(np.abs(spoken.pcm) >= AUDIBLE)).max() < RATE


async def test_nothing_is_left_on_the_disk(voice: SystemVoice, tmp_path: Path) -> None:
    """Somebody's health would lie in the temporary folder as a sound file."""
    await say(voice, TEXT)
    (folder,) = os.listdir(tmp_path)
    assert os.stat(tmp_path / folder).st_mode & 0o077 == 0
    assert os.listdir(tmp_path / folder) == []
    await voice.close()
    assert os.listdir(tmp_path) == []


async def test_a_file_left_by_a_process_that_died_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, when the engine crashes in the middle of a clause."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    voice = SystemVoice(timeout=0.4)
    await voice.start(RATE)
    (folder,) = os.listdir(tmp_path)
    (tmp_path / folder / "1.wav").write_bytes(b"half a clause")
    pid = worker_process("pyttsx3").pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(VoiceError):
        await say(voice, TEXT)
    assert os.listdir(tmp_path / folder) == []
    await voice.close()


async def test_nothing_is_printed(voice: SystemVoice, capfd: pytest.CaptureFixture[str]) -> None:
    """Programs read our standard output; pyttsx3 prints a line a clause."""
    await say(voice, TEXT)
    await voice.close()
    printed = capfd.readouterr()
    assert printed.out == printed.err == ""


async def test_the_library_stays_out_of_the_program(voice: SystemVoice) -> None:
    """pyttsx3's engine on Linux is GPL-3."""
    await say(voice, TEXT)
    assert "pyttsx3" not in sys.modules


async def test_a_voice_by_part_of_its_name() -> None:
    """Nobody knows identifiers by heart."""
    voice = SystemVoice(voice="german")
    await voice.start(RATE)
    assert (await say(voice, "Guten Tag.")).pcm.size > 0
    await voice.close()


async def test_an_unknown_voice_is_an_error_of_one_line_with_some_that_exist() -> None:
    """The operator has to see what to choose."""
    voice = SystemVoice(voice="nobody at all")
    with pytest.raises(VoiceError) as caught:
        await voice.start(RATE)
    await voice.close()
    assert "'nobody at all'" in str(caught.value)
    assert "some of them" in str(caught.value)
    assert "\n" not in str(caught.value)
