"""A stage for the session: a real player, a clock moved by hand, and an engine whose every word lasts 0.3 s."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from voice.audio.player import Player
from voice.core.clock import ManualClock
from voice.core.events import (
    Cause,
    ClauseFailed,
    ClauseVoiced,
    Duck,
    Ended,
    FloorChanged,
    Input,
    MessageClosed,
    Notice,
    Output,
    SendUserMessage,
    Speak,
    StopVoice,
    WordMark,
)
from voice.core.evidence import Partial, SpeechPaused, SpeechStarted, Utterance, VoiceActivity
from voice.core.script import words_of
from voice.core.server_events import MessageCompleted, MessageDelta, TurnEnded, UserAccepted
from voice.core.session import Session, SessionRules

RATE = 16000
BLOCK = 160
WORD = 0.3
"""Seconds a word lasts."""

TEN = "one two three four five six seven eight nine ten"
"""Ten words, one clause, 3 s."""


def words(count: int) -> str:
    """The first words of `TEN`."""
    return " ".join(TEN.split()[:count])


@dataclass
class WordEngine:
    """An engine that speaks each word for `word` seconds at a constant level."""

    word: float = WORD
    silent: bool = False
    """It takes the text and delivers nothing."""
    estimated: bool = False
    fails: tuple[str, ...] = ()
    """It gives up a clause that holds one of these."""

    def voice(self, text: str) -> tuple[np.ndarray, tuple[WordMark, ...]]:
        if self.silent:
            return np.zeros(0, np.float32), ()
        length = round(self.word * RATE)
        words = words_of(text)
        marks = tuple(WordMark(a, b, i * length, (i + 1) * length) for i, (a, b) in enumerate(words))
        return np.full(length * len(words), 0.5, np.float32), marks


@dataclass
class Stage:
    """Carries out what the session asks, block by block, and keeps all that it said."""

    rules: SessionRules = field(default_factory=SessionRules)
    engine: WordEngine = field(default_factory=WordEngine)
    latency: float = 0.0
    """Seconds from a block's writing to its leaving the converter."""
    block: int = BLOCK
    tick: bool = True
    by_hand: bool = False
    """Leave what is to be spoken in `asked`; the test delivers it with `deliver`."""
    outputs: list[Output] = field(default_factory=list)
    asked: list[Speak] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = ManualClock()
        self.player = Player(RATE, self.block)
        self._ids, self._traces = count(1), count(1)
        self.session = Session(self.rules, RATE, lambda: f"u{next(self._ids)}", lambda: f"trace-{next(self._traces)}")
        self.loudspeaker: list[np.ndarray] = []
        self._inbox: deque[Input] = deque()
        self._feeding = False

    # ------------------------------------------------------------------ the world

    @property
    def now(self) -> float:
        return self.clock.now()

    def feed(self, *events: Input) -> list[Output]:
        """The session takes these inputs, and those that its outputs lead to, one at a time."""
        before = len(self.outputs)
        self._inbox.extend(events)
        if not self._feeding:
            self._feeding = True
            while self._inbox:
                for output in self.session.handle(self._inbox.popleft(), self.clock.now()):
                    self.outputs.append(output)
                    self._carry_out(output)
            self._feeding = False
        return self.outputs[before:]

    def _carry_out(self, output: Output) -> None:
        match output:
            case StopVoice():
                self._inbox.appendleft(self.player.stop())  # before anything else happens
            case Duck(down=down):
                self.player.duck(down)
            case Speak():
                self.asked.append(output)
                if not self.by_hand:
                    self.deliver(output)

    def deliver(self, asked: Speak, first: int = 0, last: int | None = None) -> None:
        """The voice hands over words `first` to `last` (exclusive; None: all that are left, and the clause ends)."""
        if any(word in asked.text for word in self.engine.fails):
            self.feed(ClauseFailed(asked.message_id, asked.clause, "the engine gave up"))
            return
        pcm, marks = self.engine.voice(asked.text)
        length = round(self.engine.word * RATE)
        part = pcm[first * length : None if last is None else last * length]
        self.player.enqueue(asked.message_id, asked.clause, part)
        handed = first * length + part.size
        event = ClauseVoiced(
            asked.message_id, asked.clause, marks[first:last], handed, last is None, self.engine.estimated
        )
        self.feed(event)

    def run(self, seconds: float) -> None:
        """Let the device play; after each block the session is told of the ledger."""
        for _ in range(round(seconds * RATE / self.block)):
            self.render(self.clock.now() + self.latency)
            self.clock.advance(self.block / RATE)
            if self.tick:
                self.feed(self.player.played())

    def render(self, time: float) -> None:
        """The device asks for one block, which leaves the converter from `time` on."""
        block = np.zeros(self.block, np.float32)
        self.player.render(block, time)
        self.loudspeaker.append(block)

    # ------------------------------------------------------------------ shorthands

    def says(self, text: str, message: str = "m1", turn: str = "t1", kind: str = "follow_up") -> None:
        """A whole assistant message arrives."""
        self.feed(
            MessageDelta(message, turn, kind, None, text),
            MessageCompleted(message, turn, kind, None, text),
        )

    def delta(self, text: str, message: str = "m1", turn: str = "t1", kind: str = "follow_up") -> None:
        self.feed(MessageDelta(message, turn, kind, None, text))

    def completed(self, text: str, message: str = "m1", turn: str = "t1", kind: str = "follow_up") -> None:
        self.feed(MessageCompleted(message, turn, kind, None, text))

    def user(self, text: str, name: str = "x1", voiced: float = 0.6) -> None:
        """The user speaks for `voiced` seconds and the recogniser ends the utterance half a second later."""
        onset = self.clock.now()
        self.feed(SpeechStarted(name, onset))
        self.run(voiced)
        self.feed(VoiceActivity(name, self.now, voiced, 0.0, -26.0, -100.0))
        self.feed(SpeechPaused(name, self.clock.now()))
        end = self.clock.now()
        self.run(0.5)
        self.feed(Utterance(name, text, onset, end))

    def spoken_at_once(self, text: str, name: str = "x1", voiced: float = 0.6) -> None:
        """The end of an utterance of which nothing was seen before: no duck, the cut is now."""
        self.feed(Utterance(name, text, self.now - voiced, self.now))

    def partials(self, text: str, name: str = "x1", voiced: float = 0.5) -> None:
        """Speech begins, and two partials say the same."""
        self.feed(SpeechStarted(name, self.clock.now()))
        self.run(voiced)
        self.feed(Partial(name, text, voiced), Partial(name, text, voiced))

    def utterance_ends(self, text: str, name: str = "x1", voiced: float = 0.6) -> None:
        self.feed(Utterance(name, text, self.now - voiced, self.now))

    def accepted(self, turn: str = "t1") -> None:
        self.feed(UserAccepted("u0", turn, "hello"))

    def turn_ended(self, turn: str = "t1", outcome: str = "completed") -> None:
        self.feed(TurnEnded(turn, outcome))  # type: ignore[arg-type]

    # ------------------------------------------------------------------ what came of it

    def all(self, kind: type) -> list:
        return [output for output in self.outputs if isinstance(output, kind)]

    @property
    def closed(self) -> dict[str, MessageClosed]:
        reports = self.all(MessageClosed)
        assert len({report.id for report in reports}) == len(reports), "a message was reported twice"
        return {report.id: report for report in reports}

    @property
    def heard(self) -> dict[str, str]:
        return {name: report.heard for name, report in self.closed.items()}

    @property
    def cuts(self) -> dict[str, Cause | None]:
        return {name: report.cut for name, report in self.closed.items()}

    @property
    def sent(self) -> list[SendUserMessage]:
        return self.all(SendUserMessage)

    @property
    def decisions(self) -> list[str]:
        return [change.decision for change in self.all(FloorChanged)]

    @property
    def notices(self) -> list[str]:
        return [notice.code for notice in self.all(Notice)]

    @property
    def ended(self) -> list[str]:
        return [end.reason for end in self.all(Ended)]

    @property
    def spoken(self) -> str:
        """All that the voice was asked to say."""
        return " ".join(asked.text for asked in self.asked)

    @property
    def sound(self) -> np.ndarray:
        return np.concatenate(self.loudspeaker) if self.loudspeaker else np.zeros(0, np.float32)

    def level(self, since: float, until: float) -> float:
        """Peak of the loudspeaker between two times, in seconds from the start."""
        return float(np.abs(self.sound[round(since * RATE) : round(until * RATE)]).max(initial=0.0))
