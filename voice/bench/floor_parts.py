"""The stand-ins of a scene: a server with one list of messages, our voice rendered beforehand, and a recogniser whose
decodes take their time on the virtual clock.

The voice's clauses and the recogniser's texts are those of the real engines; both run without processes of their own
here, so that a scene depends on nothing but itself.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from voice.audio.chain import Chain
from voice.bench.playback import clauses_of
from voice.core.client_inputs import ClientInput
from voice.core.events import Input, SendUserMessage
from voice.core.script import speakable
from voice.core.server_events import MessageCompleted
from voice.stt.base import RATE, Pcm, Reading
from voice.stt.moonshine_worker import MoonshineEngine
from voice.tts.base import Voiced, VoiceError
from voice.tts.espeak import EspeakVoice

DECODE_SECONDS, DECODE_SHARE = 0.03, 0.03
"""A decode takes 30 ms and 3 % of the audio's length. Measured, the time of one core for 126 decodes of 0.3 to 7 s of
the human recordings (AMD EPYC, the least of three each): the middle one takes 11 ms and 2.2 %, nine of ten take less
than 35 ms and 2.2 %; a few milliseconds are for the way to the worker process and back."""


class TimedRecogniser:
    """Moonshine, with a modelled time for each decode (see above). Texts are kept by the audio's hash: the variants of
    one scene hear the same until they decide."""

    name = "moonshine"

    def __init__(self, engine: MoonshineEngine, memory: dict[bytes, Reading]) -> None:
        self._engine, self._memory = engine, memory
        self._audio: Pcm = np.zeros(0, np.float32)
        self._known = -1
        """Samples of this utterance that the engine holds; -1: it holds another one."""
        self.decodes = 0

    async def start(self) -> None:
        """The engine is loaded already."""

    async def close(self) -> None:
        """The engine stays for the next scene."""

    def begin(self) -> None:
        """A new utterance."""
        self._audio, self._known = np.zeros(0, np.float32), -1

    def feed(self, pcm: Pcm) -> None:
        """More of it."""
        self._audio = np.concatenate([self._audio, pcm])

    async def partial(self) -> Reading:
        """What there is so far."""
        return await self._decode()

    async def finish(self) -> Reading:
        """What the whole utterance is."""
        return await self._decode()

    async def _decode(self) -> Reading:
        if not self._audio.size:
            return Reading()
        self.decodes += 1
        samples, reading = self._audio.size, self._read()
        await asyncio.sleep(DECODE_SECONDS + DECODE_SHARE * samples / RATE)
        return reading

    def read(self, audio: Pcm) -> Reading:
        """What is read of some audio, without taking time."""
        self.begin()
        self.feed(audio)
        return self._read()

    def _read(self) -> Reading:
        key = hashlib.blake2b(self._audio.tobytes(), digest_size=16).digest()
        if key not in self._memory:
            if self._known < 0:
                self._engine.begin()
            self._engine.feed(self._audio[max(0, self._known) :])
            self._known = self._audio.size
            self._memory[key] = self._engine.finish()
        return self._memory[key]


Rendered = Mapping[str, Sequence[Voiced]]
"""Clause to its pieces."""


async def render_messages(messages: Sequence[str]) -> Rendered:
    """What espeak makes of each clause. Raises VoiceError."""
    voice = EspeakVoice()
    await voice.start(RATE)
    try:
        clauses = [clause.spoken for text in messages for clause in clauses_of(text) if speakable(clause.spoken)]
        return {clause: [piece async for piece in voice.speak(clause)] for clause in clauses}
    finally:
        await voice.close()


class RenderedVoice:
    """espeak, its clauses spoken beforehand."""

    name = "espeak"
    estimated = False

    def __init__(self, clauses: Rendered) -> None:
        self._clauses = clauses

    async def start(self, rate: int) -> None:
        """Ready."""

    async def close(self) -> None:
        """Nothing runs."""

    async def speak(self, text: str, rate: float = 1.0) -> AsyncGenerator[Voiced, None]:
        """The pieces of a clause. Raises VoiceError for a clause that was not spoken beforehand."""
        if text not in self._clauses or rate != 1.0:
            raise VoiceError("this clause was not rendered for the bench; render it at rate 1.0 first")
        for piece in self._clauses[text]:
            yield piece


@dataclass
class OneSidedServer:
    """Says its messages one after the other and takes what it is sent, without answering."""

    messages: Sequence[str]
    emit: Callable[[Input], None]
    take: Callable[[str], None]
    """Told of each message that it is sent."""

    async def run(self) -> None:
        """Say everything at once: the session speaks it in order."""
        for number, text in enumerate(self.messages):
            self.emit(MessageCompleted(f"m{number}", "t", "follow_up", True, text))
        await asyncio.Event().wait()

    def send(self, message: SendUserMessage) -> None:
        """Take a user message."""
        self.take(message.content)

    def send_input(self, given: ClientInput) -> None:
        """Nothing else is listened to."""

    def refresh(self) -> None:
        """There is nothing to miss."""

    async def flushed(self) -> None:
        """At once."""

    async def close(self) -> None:
        """Nothing is open."""


class MeteredChain(Chain):
    """A chain that counts the processor's time of its audio thread, while our voice plays and while it does not."""

    cpu: dict[bool, float]
    sound: dict[bool, float]

    def _process(self, pcm: Pcm, time_: float) -> None:
        plays = self.player.queued() > 0
        began = time.thread_time()
        super()._process(pcm, time_)
        self.cpu[plays] += time.thread_time() - began
        self.sound[plays] += pcm.size / RATE
