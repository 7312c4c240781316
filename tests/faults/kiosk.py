"""A kiosk for plans of faults: the real session, player and link against the real local server, on virtual time.

The voice is one whose every word lasts a tenth of a second, and the visitor's words come from a list, so that a
conversation takes some milliseconds. Everything that a fault can reach is the program's own.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.core.stage import WordEngine
from voice.app.conversation import FLUSH_WITHIN, Link
from voice.audio.player import Player
from voice.core.events import (
    ClauseVoiced,
    Duck,
    Ended,
    Input,
    LinkUp,
    MessageClosed,
    Output,
    RefreshSnapshot,
    SendInput,
    SendUserMessage,
    Speak,
    StopVoice,
)
from voice.core.evidence import SpeechPaused, SpeechStarted, Utterance, VoiceActivity
from voice.core.session import Session, SessionRules

RATE = 16000
BLOCK = 800
"""Samples; 50 ms, so that a minute takes few steps."""

LONGEST = 1800.0
"""Virtual seconds after which a conversation that did not end never will."""

VOICED = 0.6
"""Seconds of each of the visitor's utterances."""

TOKENS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "kilo", "lima")
"""One in each utterance, so that each can be found again wherever it arrives."""

LAST = "finish"
"""The word that ends a conversation."""


@dataclass
class Kiosk:
    """The client's side. `link_of(emit)` makes its link."""

    link_of: Callable[[Callable[[Input], None]], Link]
    rules: SessionRules = field(default_factory=SessionRules)
    seen: list[Input | Output] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.player = Player(RATE, BLOCK)
        ids = count(1)
        self.session = Session(self.rules, RATE, lambda: f"00000000-0000-4000-8000-{next(ids):012d}", lambda: "")
        self.engine = WordEngine(word=0.1)
        self.link = self.link_of(self.feed)
        self._inbox: deque[Input] = deque()
        self._feeding = False
        self.over = asyncio.Event()

    def feed(self, event: Input) -> None:
        """As `Conversation.feed`."""
        self._inbox.append(event)
        if self._feeding:
            return
        self._feeding = True
        while self._inbox:
            item = self._inbox.popleft()
            self.seen.append(item)
            for output in self.session.handle(item, self._loop.time()):
                self.seen.append(output)
                self._carry_out(output)
        self._feeding = False

    def _carry_out(self, output: Output) -> None:
        match output:
            case Speak():
                pcm, marks = self.engine.voice(output.text)
                self.player.enqueue(output.message_id, output.clause, pcm)
                self._inbox.append(ClauseVoiced(output.message_id, output.clause, marks, pcm.size, True))
            case StopVoice():
                self._inbox.appendleft(self.player.stop())
            case Duck(down=down):
                self.player.duck(down)
            case SendUserMessage():
                self.link.send(output)
            case SendInput(input=given):
                self.link.send_input(given)
            case RefreshSnapshot():
                self.link.refresh()
            case Ended():
                self.over.set()

    async def play(self) -> None:
        """The loudspeaker."""
        block = np.zeros(BLOCK, np.float32)
        while True:
            self.player.render(block, self._loop.time())
            await asyncio.sleep(BLOCK / RATE)
            self.feed(self.player.played())

    async def say(self, words: str, name: str) -> None:
        """The visitor speaks."""
        onset = self._loop.time()
        self.feed(SpeechStarted(name, onset))
        await asyncio.sleep(VOICED)
        self.feed(VoiceActivity(name, self._loop.time(), VOICED, 0.0, -26.0, -100.0))
        self.feed(SpeechPaused(name, self._loop.time()))
        end = self._loop.time()
        await asyncio.sleep(0.5)
        self.feed(Utterance(name, words, onset, end))

    def of(self, kind: type) -> list[Any]:
        """What was seen of a kind."""
        return [item for item in self.seen if isinstance(item, kind)]

    @property
    def quiet(self) -> bool:
        """Nothing is being said, and nothing waits to be."""
        return self.session.speaking.idle


async def visit(kiosk: Kiosk, seed: int) -> list[str]:
    """One visitor from the first word to the last; returns the tokens of what they said.

    They answer when it is quiet, or interrupt, by chance. In the end they say that it was all, and say so again if
    they are still asked a minute later.
    """
    random, said = Random(seed), []
    many = random.randint(2, 5)
    for number, token in enumerate(TOKENS):
        last = number >= many
        patience = 60.0 if number > many else random.choice((random.uniform(0.1, 4.0), 60.0))
        until = asyncio.get_running_loop().time() + patience
        while asyncio.get_running_loop().time() < until and (last or not (kiosk.quiet and kiosk.of(LinkUp))):
            await asyncio.sleep(0.05)
            if kiosk.over.is_set():
                return said
        await asyncio.sleep(random.uniform(0.0, 1.5))
        if kiosk.over.is_set():
            return said
        said.append(token)
        await kiosk.say(f"{LAST if last else 'my reason is'} {token}", token)
    return said


def open_sockets(port: int) -> int:
    """Connections to a local port that are open, as the kernel sees their client's end."""
    count, wanted = 0, f":{port:04X}"
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, _, remote, state = line.split()[:4]
        count += remote.endswith(wanted) and state == "01"
    return count


def tokens_in(texts: list[str]) -> Counter[str]:
    """How often each token stands in some texts."""
    return Counter(word for text in texts for word in text.split() if word in TOKENS)


async def hold(kiosk: Kiosk, seed: int) -> list[str]:
    """The whole conversation with the visitor of this seed; returns the tokens of what they said. Raises TimeoutError
    if it does not end."""
    running = asyncio.create_task(kiosk.link.run())
    playing = asyncio.create_task(kiosk.play())
    visiting = asyncio.create_task(visit(kiosk, seed))
    try:
        async with asyncio.timeout(LONGEST):
            said = await visiting
            await kiosk.over.wait()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_WITHIN):
                    await kiosk.link.flushed()
            return said
    finally:
        visiting.cancel()
        await kiosk.link.close()
        playing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(running, playing, visiting, return_exceptions=True)


def reports(kiosk: Kiosk) -> dict[str, list[MessageClosed]]:
    """The reports of each message."""
    found: dict[str, list[MessageClosed]] = {}
    for report in kiosk.of(MessageClosed):
        found.setdefault(report.id, []).append(report)
    return found
