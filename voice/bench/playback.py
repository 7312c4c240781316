"""One message through the real session, player and room, on a clock moved by hand, cut at a chosen moment."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np

from voice.audio.base import BLOCK, RATE, Pcm
from voice.audio.player import Player
from voice.audio.room import Room
from voice.core.clock import ManualClock
from voice.core.events import ClauseVoiced, Input, MessageClosed, Output, Speak, StopVoice, UserCut, WordMark
from voice.core.script import Clause, Script
from voice.core.server_events import MessageCompleted
from voice.core.session import Session, SessionRules
from voice.tts.base import Voiced

Trouble = Literal["", "paused", "underrun"]
"""What happens in mid-sentence: nothing; the device stands still; the voice delivers nothing for a while."""

BLOCK_SECONDS = BLOCK / RATE
SETTLE = 3
"""Blocks played after the cut, so that the fade is in the recording."""


@dataclass(frozen=True, slots=True)
class SpokenClause:
    """A clause with its audio as the engine delivered it, and the marks that count as the truth."""

    clause: Clause
    pieces: tuple[Voiced, ...]
    truth: tuple[WordMark, ...]

    @property
    def pcm(self) -> Pcm:
        """All of its samples."""
        return np.concatenate([np.zeros(0, np.float32), *[piece.pcm for piece in self.pieces]])


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message and its clauses."""

    text: str
    clauses: tuple[SpokenClause, ...]
    estimated: bool

    @property
    def source(self) -> Pcm:
        """The whole audio, as it leaves the loudspeaker when nothing goes wrong."""
        return np.concatenate([spoken.pcm for spoken in self.clauses])


@dataclass(frozen=True, slots=True)
class Cut:
    """What came of one cut."""

    heard: str
    recording: Pcm
    """What left the loudspeaker, from time 0 on."""
    first: float
    """When the first sample left, seconds."""
    at: float
    """When the cut was asked for, seconds."""


def clauses_of(text: str) -> list[Clause]:
    """The clauses in which the session speaks a message."""
    script = Script()
    script.append(text)
    script.finish(text)
    clauses = []
    while (clause := script.take()) is not None:
        clauses.append(clause)
    return clauses


@dataclass
class Playback:
    """Speaks `spoken`; `trouble` begins after `after` seconds of its audio and lasts `gap` seconds."""

    spoken: Spoken
    trouble: Trouble = ""
    after: float = 0.0
    gap: float = 0.8
    _inbox: deque[Input] = field(default_factory=deque)
    _closed: list[MessageClosed] = field(default_factory=list)
    _late: list[tuple[Speak, Voiced]] = field(default_factory=list)
    _handed: int = 0
    _samples: dict[int, int] = field(default_factory=dict)
    _dry_until: float | None = None

    def cut(self, at: float) -> Cut:
        """Let it be spoken from time 0 on, cut it `at` seconds, and say what came of it."""
        self.clock, self.player = ManualClock(), Player()
        self.room = Room(response="dry", noise_db=-200.0, clock=self.clock)
        self.session = Session(SessionRules(), RATE, lambda: "id", lambda: "trace")
        self._open()
        self._feed(MessageCompleted("m", "t", "follow_up", True, self.spoken.text))
        self._play_until(at)
        self._feed(UserCut("key"))
        self._play_until(self.clock.now() + SETTLE * BLOCK_SECONDS)
        self.room.close()
        report = self._closed[0]
        recording = self.room.loudspeaker
        first = int(np.flatnonzero(recording)[0]) / RATE if recording.any() else 0.0
        return Cut(report.heard, recording, first, at)

    # ------------------------------------------------------------------ the world

    def _open(self) -> None:
        self.room.open(self.player.render, lambda pcm, time: None, lambda reason: None, drive="hand")

    def _play_until(self, end: float) -> None:
        """Do every block that begins by `end`; the clock then stands at `end`, in the midst of the last one."""
        while self.room.time <= end:
            if self.trouble == "paused" and self.room.time >= self.after:
                self.trouble = ""
                self.room.close()
                self._go_to(min(end, self.room.time + self.gap))
                self._open()
                continue
            self._go_to(self.room.time)
            self._deliver_late()
            self.room.step()
            self._feed(self.player.played())
        self._go_to(end)

    def _go_to(self, time: float) -> None:
        self.clock.advance(max(0.0, time - self.clock.now()))

    def _feed(self, event: Input) -> None:
        self._inbox.append(event)
        if len(self._inbox) > 1:
            return
        while self._inbox:
            for output in self.session.handle(self._inbox[0], self.clock.now()):
                self._carry_out(output)
            self._inbox.popleft()

    def _carry_out(self, output: Output) -> None:
        match output:
            case StopVoice():
                self._inbox.insert(1, self.player.stop())
            case MessageClosed():
                self._closed.append(output)
            case Speak(clause=index):
                for piece in self.spoken.clauses[index].pieces:
                    self._hand_over(output, piece)
            case _:
                pass

    # ------------------------------------------------------------------ the voice

    def _hand_over(self, asked: Speak, piece: Voiced) -> None:
        """Give the player a piece, but for what an underrun holds back."""
        limit = round(self.after * RATE)
        if self.trouble == "underrun" and self._dry_until is None and self._handed + piece.pcm.size > limit:
            before, marks = self._samples.get(asked.clause, 0), self.spoken.clauses[asked.clause].truth
            early, late = _split(piece, max(0, limit - self._handed), before, marks)
            self._give(asked, early)
            self._late.append((asked, late))
            return
        if self._late:
            self._late.append((asked, piece))
        else:
            self._give(asked, piece)

    def _deliver_late(self) -> None:
        if not self._late:
            return
        if self._dry_until is None:
            if self.player.queued() == 0:
                self._dry_until = self.clock.now() + self.gap
        elif self.clock.now() >= self._dry_until - 1e-9:
            late, self._late = self._late, []
            for asked, piece in late:
                self._give(asked, piece)

    def _give(self, asked: Speak, piece: Voiced) -> None:
        self.player.enqueue(asked.message_id, asked.clause, piece.pcm)
        self._handed += piece.pcm.size
        total = self._samples[asked.clause] = self._samples.get(asked.clause, 0) + piece.pcm.size
        self._feed(ClauseVoiced(asked.message_id, asked.clause, piece.marks, total, piece.final, self.spoken.estimated))


def _split(piece: Voiced, count: int, before: int, marks: Sequence[WordMark]) -> tuple[Voiced, Voiced]:
    """The first `count` samples of a piece, and the rest. The end of a word is known once the next has begun, so the
    first part has the marks of those words only. `before`: samples of the clause in the pieces before it; `marks`:
    all of the clause."""
    known = {mark for mark, after in pairwise(marks) if after.first <= before + count}
    early = tuple(mark for mark in piece.marks if mark in known)
    return (
        Voiced(piece.pcm[:count], early, final=False),
        Voiced(piece.pcm[count:], piece.marks[len(early) :], piece.final),
    )


def prepared(
    text: str, voiced: Sequence[tuple[Clause, Sequence[Voiced], Sequence[WordMark]]], estimated: bool
) -> Spoken:
    """A message with what the engine made of its clauses."""
    clauses = (SpokenClause(clause, tuple(pieces), tuple(truth)) for clause, pieces, truth in voiced)
    return Spoken(text, tuple(clauses), estimated)
