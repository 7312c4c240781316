"""The whole program in real time, over a real sound server, with a real voice, recogniser and echo in the room.

A kiosk that interrupts itself never ends a sentence; one that claims words which were not said lets the server believe
that a patient knows what nobody told them. The judge is the recording of the loudspeaker, not the program.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scene import EchoRoom

from voice.audio.base import RATE, Pcm
from voice.bench.live_align import SOUND
from voice.bench.live_pulse import PulseServer, play
from voice.bench.live_truth import milliseconds, say, spoken_text, truth_of
from voice.server.flow_file import parse
from voice.server.serve import FlowServer

LONG = (
    "Please tell me if you have any of these: trouble breathing, a swollen face or tongue, a stiff neck, chest pain, "
    "or trouble opening your mouth, even if it comes and goes. Do you have any of them?"
)
ASKING = f"""
[flow]
name = "asking"
opening = "ask"

[[step]]
id = "ask"
expect = "yes_no"
next = "bye"
messages = [{{ kind = "follow_up", text = "{LONG}" }}]
retry = [{{ kind = "follow_up", text = "Please say yes or no." }}]

[step.branch.no]
next = "bye"

[[step]]
id = "bye"
end = "completed"
messages = [{{ kind = "follow_up", text = "Thank you. Goodbye." }}]
"""
ANSWER = "No, I do not have any of these."

TRIES = 3
"""Whole scenes; each failure is told. The recogniser may miss words on a machine that is busy, and the program then
does right not to stop; a wrong account of what was heard fails at the first time."""

LATENCY = "80"
"""Milliseconds of the program's sound buffers: two cores are the program, the sound server and the room."""


@dataclass
class Held:
    """What came of one conversation."""

    code: int
    errors: str
    summary: dict
    received: list
    room: EchoRoom


Scene = Callable[["Program", EchoRoom], Awaitable[None]]


class Program:
    """`voice talk` in a process of its own: the lines it shows, and Ctrl-C."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def until(self, words: str) -> None:
        """Read what it shows up to a line with these words."""
        assert self.process.stdout is not None
        while words not in (line := (await self.process.stdout.readline()).decode()):
            assert line, "the program ended early"

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)


async def hold(sound: PulseServer, scene: Scene, out: Path) -> Held:
    """One conversation of `voice talk` with a server of this test, in a room in which `scene` happens."""
    server = FlowServer(parse(ASKING))
    await server.start()
    room = EchoRoom(sound)
    try:
        with room:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "voice.cli", "talk"),
                *("--url", f"{server.url}/api/ct/v2/realtime", "--report", str(out)),
                env={**sound.env, "PULSE_LATENCY_MSEC": LATENCY},
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                async with asyncio.timeout(80):
                    await scene(Program(process), room)
                    _, errors = await process.communicate()
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        [conversation] = server.conversations.values()
        summary = json.loads((out / "summary.json").read_text())
        assert process.returncode is not None
        return Held(process.returncode, errors.decode(), summary, list(conversation.received), room)
    finally:
        await server.stop()


def silent_from(recording: Pcm, start: int) -> int:
    """The first sample after `start` from which on 0.2 s are silent."""
    loud = np.abs(recording[start:]) > SOUND
    for at in np.flatnonzero(~loud):
        if not loud[at : at + RATE // 5].any():
            return start + int(at)
    return recording.size


async def interrupted(sound: PulseServer, out: Path) -> str | None:
    """The scene with an interruption; why it has to be played again, or None if all is as it must be."""
    [(person, _)] = await say(ANSWER, language="en-gb", variant="f1", wpm=150)

    async def answer(program: Program, room: EchoRoom) -> None:
        await asyncio.to_thread(room.until_sound)
        await asyncio.sleep(4.5)
        await asyncio.to_thread(play, sound, person)

    held = await hold(sound, answer, out)
    recording, onset = held.room.loudspeaker, held.room.onset_of(person)
    assert onset is not None
    assert held.code == 0, held.errors
    truth = truth_of(recording, await spoken_text(LONG))
    if truth.busy:
        return truth.busy
    if truth.whole or truth.until < onset:
        return "the voice was lowered for good before the person spoke, or not at all"
    first = held.received[0] if held.received else None
    if first is None or not first.is_interrupted:
        return "no words were recognised while the voice spoke"
    silent = silent_from(recording, truth.until)
    told, real = (first.played_content or "").split(), truth.heard.split()
    print(
        f"\nonset to duck {milliseconds(truth.until - onset)} ms, onset to silence {milliseconds(silent - onset)} ms; "
        f"heard {len(told)} words, {len(real)} in the recording; recognised {len(first.content.split())} words"
    )
    assert told == real[: len(told)], "the server was told words that were not said"
    assert len(told) >= len(real) - 1, "the server was told less than was heard"
    lowered = np.abs(recording[truth.until + RATE // 50 : silent]).max(initial=0)
    assert lowered < 0.2 * np.abs(recording[: truth.until]).max(), "the voice was not lowered"
    [cut] = [message for message in held.summary["messages"] if message["cut"]]
    assert cut["heard"].split() == told
    assert cut["cut"] in ("voice", "stop_phrase")  # a "no" that is not over yet may sound like "no, no"
    return None if "these" in first.content else "the recogniser read other words"


async def listened(sound: PulseServer, out: Path) -> str | None:
    """The scene in which nobody speaks but the program; why it has to be played again, or None."""

    async def listen(program: Program, room: EchoRoom) -> None:
        await program.until("assistant")
        program.interrupt()

    held = await hold(sound, listen, out)
    assert held.code == 0, held.errors
    [message] = held.summary["messages"]
    truth = truth_of(held.room.loudspeaker, await spoken_text(LONG))
    if truth.busy:
        return truth.busy
    if message["cut"] or held.received:
        return "the program heard words in its own voice"
    assert message["heard"] == LONG
    assert truth.whole, "the program says that all was heard, and it did not sound"
    return None


async def calm() -> None:
    """Wait, but not for long, until the machine wakes up a sleeper in time."""
    for _ in range(20):
        began = time.monotonic()
        for _ in range(50):
            await asyncio.sleep(0.01)
        if time.monotonic() - began < 0.6:
            return


@pytest.mark.parametrize("scene", [interrupted, listened])
async def test_in_a_real_room(tmp_path: Path, scene) -> None:
    """A person who answers early is listened to, and the server knows to the word what they had been told; somebody
    who only listens hears the whole message, though the microphone hears it, too."""
    reasons = []
    for number in range(TRIES):
        await calm()
        with PulseServer() as sound:
            reason = await scene(sound, tmp_path / str(number))
        if reason is None:
            return
        print(f"\nagain: {reason}")
        reasons.append(reason)
    pytest.fail(f"no scene of {TRIES} went to its end: {'; '.join(reasons)}")
