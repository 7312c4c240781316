"""`voice bench heard`: how well the program knows what was heard when it is cut.

Messages of many forms are spoken by the real engine through the session, the player and the room, and cut at random
moments. The truth is taken from the recording of the loudspeaker, apart from the playhead: so many non-silent samples
left it, hence the audio was played up to there; a word was heard when its last sample had left, the fade included.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from random import Random

import numpy as np

from voice.audio.base import RATE, Pcm
from voice.bench.output import Figure, percentiles
from voice.bench.playback import Playback, Spoken, Trouble, clauses_of, prepared
from voice.bench.rules import RULES, Seen
from voice.core.events import WordMark
from voice.core.script import Clause, speakable
from voice.tts.base import Voice, Voiced
from voice.tts.espeak import EspeakVoice
from voice.tts.pyttsx3 import SystemVoice

GAP = 0.8
"""Seconds that a pause or an underrun lasts."""

SYSTEM_LANGUAGE = "en-gb"
"""The voice that pyttsx3 speaks with by default on Linux."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a message: where it ends in the text, and its samples in the message's audio."""

    text: str
    end: int
    first: int
    last: int


@dataclass(slots=True)
class Tally:
    """Claims against truths, in words."""

    errors: list[int] = field(default_factory=list)

    def add(self, claimed: int, true: int) -> None:
        """One cut."""
        self.errors.append(claimed - true)

    @property
    def mean(self) -> float:
        """Mean words of error."""
        return float(np.mean(np.abs(self.errors)))

    @property
    def exact(self) -> float:
        """Share of cuts without error."""
        return float(np.mean(np.equal(self.errors, 0)))

    @property
    def over(self) -> float:
        """Share of cuts in which a word was claimed that had not been heard."""
        return float(np.mean(np.greater(self.errors, 0)))


def words_in(spoken: Spoken) -> list[Word]:
    """The words of a message with their true places in its audio."""
    words: list[Word] = []
    offset = 0
    for clause in spoken.clauses:
        words += [
            Word(
                clause.clause.spoken[mark.start : mark.end],
                clause.clause.to_source(mark.end),
                offset + mark.first,
                offset + mark.last,
            )
            for mark in clause.truth
        ]
        offset += clause.pcm.size
    return words


def played_until(recording: Pcm, source: Pcm) -> int:
    """Samples of `source` that had left the loudspeaker, from the recording alone: silence is left out on both sides,
    so pauses and underruns don't matter."""
    sounding = np.flatnonzero(source)
    count = min(int(np.count_nonzero(recording)), sounding.size)
    return int(sounding[count - 1]) + 1 if count else 0


async def _pieces(voice: Voice, text: str) -> list[Voiced]:
    async with aclosing(voice.speak(text)) as parts:
        return [part async for part in parts]


async def speak_all(voice: Voice, truth: Voice | None, messages: Sequence[str]) -> list[Spoken]:
    """Let the engine speak every clause once. `truth` gives the word marks to count by (None: the engine's own)."""
    result = []
    for text in messages:
        voiced: list[tuple[Clause, list[Voiced], list[WordMark]]] = []
        for clause in clauses_of(text):
            pieces = await _pieces(voice, clause.spoken) if speakable(clause.spoken) else []
            marked = pieces if truth is None or not pieces else await _pieces(truth, clause.spoken)
            voiced.append((clause, pieces, [mark for piece in marked for mark in piece.marks]))
        result.append(prepared(text, voiced, voice.estimated))
    return result


@dataclass(frozen=True, slots=True)
class Options:
    """How much to measure."""

    messages: Sequence[str]
    cuts: int = 60
    """Of each message, in each condition."""
    seed: int = 1


def _measure(
    name: str, spoken: Sequence[Spoken], options: Options, trouble: Trouble
) -> tuple[list[Figure], list[float]]:
    ours, begun = Tally(), Tally()
    others = {rule: Tally() for rule in RULES}
    others_begun = {rule: Tally() for rule in RULES}
    stops: list[float] = []
    for number, message in enumerate(spoken):
        random = Random(f"{options.seed} {name} {number}")
        words, source = words_in(message), message.source
        length = source.size / RATE
        for _ in range(options.cuts):
            after = random.uniform(0.2, 0.7) * length
            at = random.uniform(0.05, 0.98) * (length + (GAP if trouble else 0.0))
            cut = Playback(message, trouble, after, GAP).cut(at)
            until = played_until(cut.recording, source)
            true = sum(word.last <= until for word in words)
            true_begun = sum(word.first < until for word in words)
            claimed = sum(word.end <= len(cut.heard) for word in words)
            ours.add(claimed, true)
            begun.add(claimed, true_begun)
            seen = Seen(
                [word.text for word in words],
                [word.first / RATE for word in words],
                [word.last / RATE for word in words],
                length,
                cut.at - cut.first,
            )
            for rule, guess in RULES.items():
                others[rule].add(guess(seen), true)
                others_begun[rule].add(guess(seen), true_begun)
            if cut.recording.any():
                stops.append(max(0.0, (np.flatnonzero(cut.recording)[-1] + 1) / RATE - cut.at) * 1000)
    return [
        *_figures(name, ours, others),
        Figure(
            f"{name}.begun_truth.exact_share",
            begun.exact,
            "share",
            len(begun.errors),
            {rule: tally.exact for rule, tally in others_begun.items()},
        ),
    ], stops


def _figures(name: str, ours: Tally, others: dict[str, Tally]) -> list[Figure]:
    values: dict[str, tuple[str, Callable[[Tally], float]]] = {
        "mean_words": ("words", lambda tally: tally.mean),
        "exact_share": ("share", lambda tally: tally.exact),
        "overclaim_share": ("share", lambda tally: tally.over),
    }
    return [
        Figure(f"{name}.{key}", of(ours), unit, len(ours.errors), {rule: of(tally) for rule, tally in others.items()})
        for key, (unit, of) in values.items()
    ]


async def run(options: Options) -> AsyncIterator[Figure]:
    """The figures, one after the other."""
    stops: list[float] = []
    for wpm in (175, 300):
        voice = EspeakVoice("en-us", wpm)
        await voice.start(RATE)
        try:
            spoken = await speak_all(voice, None, options.messages)
        finally:
            await voice.close()
        troubles: tuple[Trouble, ...] = ("", "paused", "underrun")
        for trouble in troubles:
            name = f"heard.espeak.{wpm}" + (f".{trouble}" if trouble else "")
            figures, these = _measure(name, spoken, options, trouble)
            stops += these if not trouble else []
            for figure in figures:
                yield figure
    for wpm in (175, 300):
        system, truth = SystemVoice(wpm), EspeakVoice(SYSTEM_LANGUAGE, wpm, system=True)
        await system.start(RATE)
        await truth.start(RATE)
        try:
            spoken = await speak_all(system, truth, options.messages)
        finally:
            await system.close()
            await truth.close()
        for figure in _measure(f"heard.pyttsx3.{wpm}", spoken, options, "")[0]:
            yield figure
    yield Figure("heard.stop_to_silence_ms", float(np.percentile(stops, 95)), "ms", len(stops))
    for figure in percentiles("heard.stop_to_silence_ms", stops, "ms"):
        yield figure
