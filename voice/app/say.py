"""Speaks one text through the sound card, by the same session as a conversation."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import aclosing

from voice.audio.device import SoundCard
from voice.audio.player import Player
from voice.config import Config, load_pacing
from voice.core.events import ClauseVoiced, Input, MessageClosed, Output, Speak
from voice.core.server_events import MessageCompleted
from voice.core.session import Session, SessionRules
from voice.timeloop import LoopClock
from voice.tts.base import Voice
from voice.tts.choose import make_voice

LOOK = 0.05
"""Seconds between two looks at what has been played."""

DRAIN = 0.3
"""Seconds that the device may still need for its last samples when everything was handed to it."""


def speak(config: Config, text: str) -> None:
    """Speak `text` and return when it was heard. Raises DeviceError and VoiceError."""
    asyncio.run(_Saying(config).run(text))


class _Saying:
    def __init__(self, config: Config) -> None:
        self._config = config
        self._player = Player(lead_in=config.sound.lead_in)
        rules = SessionRules(load_pacing(), language=config.server.language)
        self._session = Session(rules, self._player.rate, lambda: str(uuid.uuid4()), lambda: "")
        self._voice: Voice = make_voice(config.voice.engine, config.voice.language, config.voice.wpm)
        self._asked: asyncio.Queue[Speak] = asyncio.Queue()
        self._over = False

    async def run(self, text: str) -> None:
        clock = LoopClock(asyncio.get_running_loop())
        card = SoundCard(self._config.sound.input, self._config.sound.output)
        speaking: asyncio.Task[None] | None = None
        try:
            await self._voice.start(self._player.rate)
            card.open(self._player.render, lambda pcm, time: None, lambda reason: None)
            speaking = asyncio.create_task(self._speak(clock))
            self._feed(MessageCompleted("say", "say", "follow_up", True, text), clock.now())
            while not self._over:
                await asyncio.sleep(LOOK)
                if speaking.done():
                    speaking.result()
                self._feed(self._player.played(), clock.now())
            await asyncio.sleep(DRAIN)
        finally:
            if speaking is not None:
                speaking.cancel()
                await asyncio.gather(speaking, return_exceptions=True)
            card.close()
            await self._voice.close()

    def _feed(self, event: Input, now: float) -> None:
        for output in self._session.handle(event, now):
            self._carry_out(output)

    def _carry_out(self, output: Output) -> None:
        match output:
            case Speak():
                self._asked.put_nowait(output)
            case MessageClosed():
                self._over = True
            case _:
                pass

    async def _speak(self, clock: LoopClock) -> None:
        while True:
            asked, samples = await self._asked.get(), 0
            async with aclosing(self._voice.speak(asked.text, asked.rate)) as pieces:
                async for piece in pieces:
                    self._player.enqueue(asked.message_id, asked.clause, piece.pcm)
                    samples += piece.pcm.size
                    self._feed(
                        ClauseVoiced(asked.message_id, asked.clause, piece.marks, samples, piece.final), clock.now()
                    )
