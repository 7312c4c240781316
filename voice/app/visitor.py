"""The simulated user of the demo: a person in the room with a voice of their own and a list of lines.

The visitor acts on what was *heard*: a line waits until the loudspeaker has said certain words, then a moment, and is
spoken into the room. Lines are taken in order. Nothing reaches the conversation but sound.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from voice.audio.base import RATE, Pcm
from voice.audio.room import VOICE_DB, Room
from voice.config import check, read_toml
from voice.core.events import Caption, Input, MessageClosed, Output, Played
from voice.tts.base import Voice
from voice.tts.choose import make_voice

PATIENCE = 20.0
"""Seconds without a word from the loudspeaker after which a visitor goes away, also one who has nothing more to say:
whoever wrote the lines hears that the conversation did not end."""

Meant = Callable[[str, float, float], None]
"""Told what the visitor meant to say, and from when to when (seconds)."""


class LineConfig(BaseModel):
    """One thing the visitor does."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hears: str
    """Words of the assistant that trigger it, as the server writes them."""
    after: float = Field(default=0.6, ge=0, le=30)
    """Seconds between hearing them and acting."""
    say: str = ""
    louder: float = Field(default=0.0, ge=-20, le=20)
    """Decibels above (or below) the visitor's usual voice."""
    sound: Literal["", "cough", "click", "thump"] = ""

    @model_validator(mode="after")
    def _acts(self) -> LineConfig:
        if bool(self.say.strip()) == bool(self.sound):
            raise ValueError("a line needs either say or sound")
        if not self.hears.strip():
            raise ValueError("hears needs the words that the line waits for")
        return self


class VisitorConfig(BaseModel):
    """A visitor's file: the voice and the lines."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    language: str = "en-gb"
    variant: str = "f1"
    """Of espeak; those with breath in them (f2, f3, f5) sound different each time, so a seed would not repeat a run."""
    wpm: int = Field(default=160, ge=80, le=450)
    line: tuple[LineConfig, ...]


def load_visitor(path: Path) -> VisitorConfig:
    """Read a visitor's file. Raises ConfigError."""
    return check(VisitorConfig, read_toml(path), path)


@dataclass(slots=True)
class _Line:
    config: LineConfig
    pcm: Pcm | None


class Visitor:
    """See the top of this file. Give the instance to a conversation as an observer."""

    def __init__(self, config: VisitorConfig, room: Room, meant: Meant, leave: Callable[[], None]) -> None:
        self._config, self._room, self._meant, self._leave = config, room, meant, leave
        self._last_word = 0.0
        self._lines: list[_Line] = []
        self._done = 0
        self._heard_before: dict[str, int] = {}

    async def prepare(self) -> None:
        """Synthesise the lines. Raises VoiceError."""
        config = self._config
        voice = make_voice("espeak", config.language, config.wpm, config.variant)
        await voice.start(RATE)
        try:
            for line in config.line:
                self._lines.append(_Line(line, await _spoken(voice, line.say) if line.say else None))
        finally:
            await voice.close()

    @property
    def waits_for(self) -> str | None:
        """The words that the next line waits for; None when every line was spoken."""
        return self._lines[self._done].config.hears if self._done < len(self._lines) else None

    def __call__(self, t: float, item: Input | Output) -> None:
        """Watch what is heard; act when it is time."""
        match item:
            case Caption(id=message, text=text, heard=heard):
                self._last_word = t
                self._listen(t, message, text[:heard])
            case MessageClosed(id=message, heard=heard_text):
                self._listen(t, message, heard_text)
            case Played() if t - self._last_word > PATIENCE:
                self._last_word = t
                self._leave()

    def _listen(self, t: float, message: str, heard: str) -> None:
        before = self._heard_before.get(message, 0)
        while (words := self.waits_for) is not None:
            place = heard.find(words)
            if place < 0 or place + len(words) <= before:
                break  # not said yet, or said before the line before was
            before = self._heard_before[message] = place + len(words)
            line = self._lines[self._done]
            self._done += 1
            self._act(line, t + line.config.after)

    def _act(self, line: _Line, at: float) -> None:
        if line.pcm is not None:
            begins, ends = self._room.say(line.pcm, at=at, level_db=VOICE_DB + line.config.louder)
            self._meant(line.config.say, begins, ends)
        else:
            sounds = {"cough": self._room.cough, "click": self._room.click, "thump": self._room.thump}
            begins, ends = sounds[line.config.sound](at=at)
            self._meant(f"({line.config.sound})", begins, ends)
        self._last_word = max(self._last_word, ends)  # nobody waits while they speak themselves


async def _spoken(voice: Voice, text: str) -> Pcm:
    async with aclosing(voice.speak(text)) as parts:
        return np.concatenate([np.zeros(0, np.float32), *[part.pcm async for part in parts]])
