"""What a recording of the loudspeaker says was heard of a message: the truth that the program's account is held to."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass

import numpy as np

from voice.audio.base import RATE, Pcm
from voice.bench.live_align import SOUND, place_of, played_whole
from voice.bench.playback import clauses_of
from voice.core.events import WordMark
from voice.core.script import Clause
from voice.tts.espeak import EspeakVoice

MOST_HOLES = RATE // 20
"""Samples (50 ms) in which the loudspeaker's buffer may have run dry: a shift of the echo that the canceller gets over.
With more, other programs take the machine, and what is heard is no longer what was played."""


def milliseconds(samples: int) -> float:
    """Of a number of samples."""
    return round(1000 * samples / RATE, 1)


async def say(*texts: str, **voice: object) -> list[tuple[Pcm, list[WordMark]]]:
    """The audio of each text and its word marks, spoken one after the other by one voice: espeak's sound depends a
    little on what it said before. Raises VoiceError."""
    speaker = EspeakVoice(**voice)  # type: ignore[arg-type]
    await speaker.start(RATE)
    spoken = []
    try:
        for text in texts:
            async with aclosing(speaker.speak(text)) as parts:
                pieces = [part async for part in parts]
            marks = [mark for piece in pieces for mark in piece.marks]
            spoken.append((np.concatenate([piece.pcm for piece in pieces]), marks))
    finally:
        await speaker.close()
    return spoken


@dataclass(frozen=True, slots=True)
class SpokenText:
    """A message as the program speaks it: its clauses, each with its audio and its word marks."""

    text: str
    clauses: tuple[tuple[Clause, Pcm, tuple[WordMark, ...]], ...]

    @property
    def audio(self) -> Pcm:
        """All of it."""
        return np.concatenate([pcm for _, pcm, _ in self.clauses])

    def heard(self, samples: int) -> str:
        """The prefix of the text whose words have ended when so many samples of `audio` were heard."""
        end, before = 0, 0
        for clause, pcm, marks in self.clauses:
            if samples < before + pcm.size:
                ended = [mark.end for mark in marks if before + mark.last <= samples]
                return self.text[: clause.to_source(ended[-1]) if ended else end]
            end, before = clause.end, before + pcm.size
        return self.text[:end]


async def spoken_text(text: str, **voice: object) -> SpokenText:
    """Let the program's voice speak a message as a session has it spoken. Raises VoiceError."""
    clauses = clauses_of(text)
    said = await say(*(clause.spoken for clause in clauses), **voice)
    return SpokenText(
        text, tuple((clause, pcm, tuple(marks)) for clause, (pcm, marks) in zip(clauses, said, strict=True))
    )


@dataclass(frozen=True, slots=True)
class Truth:
    """What the recording says: the prefix of the message that was at full level, and where that ended."""

    heard: str
    until: int
    whole: bool
    holes: int = 0
    """Samples of silence, up to there, in which the sound server had run dry."""
    torn: bool = False
    """The message goes on behind that, unchanged: the sound server lost a piece of it."""

    @property
    def busy(self) -> str | None:
        """Why the recording proves nothing, if it does not: the machine could not keep up with real time."""
        if self.holes > MOST_HOLES:
            return f"the machine was too busy for real time: {milliseconds(self.holes)} ms of holes in the sound"
        return "the machine was too busy for real time: a piece of the sound was lost" if self.torn else None


def truth_of(recording: Pcm, message: SpokenText) -> Truth:
    """Find the message in the recording and see how far it is there, unchanged."""
    audio = message.audio
    start = place_of(recording, audio, 0)
    if start is None:
        return Truth("", 0, False)
    same, at = played_whole(recording, audio, start)
    later = [audio[place : place + RATE // 10] for place in range(same + RATE // 4, audio.size, RATE // 4)]
    torn = any(np.abs(piece).max() > 10 * SOUND and place_of(recording, piece, at) is not None for piece in later)
    return Truth(message.heard(same), at, same == audio.size, at - start - same, torn)
