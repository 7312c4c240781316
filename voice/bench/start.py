"""`voice bench start`: how soon the program begins to speak.

* From the first speakable clause received to its first sample handed to the device, in real time, with the engine's
  worker process, at the block length that a sound card is opened with. The device is a thread that asks for a block
  as regularly as a card does; a block that was just taken is waited out, as on a card.
* From an empty process table to the first word: imports, engine start, first clause.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from random import Random

import numpy as np

from voice.audio.base import RATE
from voice.audio.device import OUTPUT_BLOCK
from voice.audio.player import Player
from voice.bench.output import Figure, percentiles
from voice.core.events import ClauseVoiced, Input, Output, Speak
from voice.core.server_events import MessageDelta, UserAccepted
from voice.core.session import Session, SessionRules
from voice.tts.base import Voice
from voice.tts.choose import ENGINES, make_voice

SPACING = 0.15
"""Seconds from the first block to the clause, at least; up to a block more by chance, so that every moment between two
blocks is met."""

LONGEST = 30.0
"""Seconds after which a case without a sample is an error."""


class _Pulse(threading.Thread):
    """Asks the player for a block as often as a card does, and notes when the first sample was handed over."""

    def __init__(self, player: Player) -> None:
        super().__init__(name="pulse", daemon=True)
        self._player = player
        self._over = threading.Event()
        self.began = threading.Event()
        self.first = 0.0
        """When the first sample was handed over, once `began`."""

    def run(self) -> None:
        """Until `end`."""
        beat, block = time.monotonic(), np.zeros(OUTPUT_BLOCK, np.float32)
        while not self._over.is_set():
            self._player.render(block, beat)
            if not self.began.is_set() and self._player.played().spans:  # a stop consonant begins with silence
                self.first = time.monotonic()
                self.began.set()
            beat += OUTPUT_BLOCK / RATE
            time.sleep(max(0.0, beat - time.monotonic()))

    def end(self) -> None:
        """Stop asking."""
        self._over.set()
        self.join()


class _Speaker:
    """The session and the voice, wired as in a conversation."""

    def __init__(self, voice: Voice, player: Player) -> None:
        self.session = Session(SessionRules(), RATE, lambda: "id", lambda: "trace")
        self._voice, self._player = voice, player
        self.tasks: list[asyncio.Task[None]] = []

    def feed(self, event: Input) -> None:
        """Take an input and do what follows."""
        for output in self.session.handle(event, time.monotonic()):
            self._carry_out(output)

    def _carry_out(self, output: Output) -> None:
        if isinstance(output, Speak):
            self.tasks.append(asyncio.create_task(self._speak(output)))

    async def _speak(self, asked: Speak) -> None:
        samples = 0
        async with aclosing(self._voice.speak(asked.text, asked.rate)) as pieces:
            async for piece in pieces:
                self._player.enqueue(asked.message_id, asked.clause, piece.pcm)
                samples += piece.pcm.size
                self.feed(ClauseVoiced(asked.message_id, asked.clause, piece.marks, samples, piece.final))


async def _once(voice: Voice, text: str, chance: Random) -> float:
    """Seconds from the delta to the first sample handed over."""
    player = Player()
    pulse, speaker = _Pulse(player), _Speaker(voice, player)
    pulse.start()
    try:
        await asyncio.sleep(SPACING + chance.random() * OUTPUT_BLOCK / RATE)
        speaker.feed(UserAccepted("u", "t", ""))
        received = time.monotonic()
        speaker.feed(MessageDelta("m", "t", "follow_up", True, text))
        if not await asyncio.to_thread(pulse.began.wait, LONGEST):
            raise RuntimeError(f"{voice.name} said nothing for {LONGEST:g} s")
        return pulse.first - received
    finally:
        for task in speaker.tasks:
            task.cancel()
        await asyncio.gather(*speaker.tasks, return_exceptions=True)
        pulse.end()


def _cold() -> float:
    """Seconds from the start of a Python process to the first samples of a word."""
    code = (
        "import asyncio\n"
        "from voice.tts.choose import make_voice\n"
        "async def main():\n"
        "    voice = make_voice('espeak')\n"
        "    await voice.start(16000)\n"
        "    pieces = voice.speak('Hello.')\n"
        "    await anext(pieces)\n"
        "    print('spoken', flush=True)\n"
        "    await pieces.aclose()\n"
        "    await voice.close()\n"
        "if __name__ == '__main__':\n"
        "    asyncio.run(main())\n"
    )
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.readline()
    took = time.monotonic() - began
    process.wait()
    if said.strip() != "spoken":
        raise RuntimeError("a fresh process did not speak")
    return took


async def run(messages: Sequence[str], rounds: int) -> AsyncIterator[Figure]:
    """The figures; each of `messages` is begun `rounds` times with each engine."""
    for engine in ENGINES:
        voice = make_voice(engine)
        await voice.start(RATE)
        try:
            chance = Random(engine)
            await _once(voice, "Ready. ", chance)
            times = [await _once(voice, text + " ", chance) for _ in range(rounds) for text in messages]
        finally:
            await voice.close()
        for figure in percentiles(f"start.first_clause_to_first_sample_ms.{engine}", [1000 * t for t in times], "ms"):
            yield figure
    cold = [await asyncio.to_thread(_cold) for _ in range(max(3, rounds))]
    yield Figure("start.cold_to_first_word_s", float(np.median(cold)), "s", len(cold))
