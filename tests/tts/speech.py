"""Helpers of the voice tests: a clause spoken whole, and the texts that figures are measured on."""

from __future__ import annotations

from dataclasses import dataclass
from multiprocessing import active_children
from multiprocessing.process import BaseProcess

import numpy as np

from voice.core.events import WordMark
from voice.core.script import Script, words_of
from voice.tts.base import Pcm, Voice

RATE = 16000

CLINIC = """\
Welcome back. I will ask you about the last two weeks, and you can skip any question.
How often did you wake up at night: never, once or twice, or more than that?
The nurse will see you at 10:40 in room 12, which is at the end of the corridor.
Please drink about 250 ml of water, wait for 15 minutes, and then measure the pressure again.
Your reading was 142 over 91, so it is a little higher than it was on Monday.
I am sorry to hear that. Did the cough start before the fever, or after it?
It costs $18.50 at the pharmacy downstairs, or nothing if you bring your insurance card.
This can have several causes, most of which are harmless; nevertheless, a physician should look at it.
If you would rather talk to a person, say operator, and I will connect you straight away.
Do not take more than 4 capsules a day, and never on an empty stomach.
Thank you, that was everything. Your summary has been sent to Dr. Berger.
Now breathe out slowly through your mouth, count to seven, and relax your shoulders.""".splitlines()
"""None of these were used to fit the estimate or to choose its margin."""


@dataclass
class Spoken:
    """One clause, all its pieces together."""

    text: str
    pcm: Pcm
    marks: list[WordMark]
    pieces: int

    def words(self) -> list[str]:
        """The text of each mark."""
        return [self.text[mark.start : mark.end] for mark in self.marks]


async def say(voice: Voice, text: str, rate: float = 1.0) -> Spoken:
    """Speak a clause to its end; the last piece, and no other, must be final."""
    pieces = [piece async for piece in voice.speak(text, rate)]
    assert [piece.final for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    return Spoken(
        text,
        np.concatenate([piece.pcm for piece in pieces]),
        [mark for piece in pieces for mark in piece.marks],
        len(pieces),
    )


def clauses(messages: list[str]) -> list[str]:
    """What the script gives the engine for these messages, call by call."""
    found = []
    for message in messages:
        script = Script("en")
        script.append(message)
        script.finish(message)
        while (clause := script.take()) is not None:
            found.append(clause.spoken)
    return found


def worker_process(name: str) -> BaseProcess:
    """The one running worker process of that name."""
    (process,) = [child for child in active_children() if child.name == name]
    return process


def check_marks(text: str, marks: list[WordMark], samples: int) -> None:
    """The law of marks: every word once, in order, positions never fall and lie within the audio."""
    assert [(mark.start, mark.end) for mark in marks] == words_of(text)
    firsts, lasts = [mark.first for mark in marks], [mark.last for mark in marks]
    assert firsts == sorted(firsts)
    assert lasts == sorted(lasts)
    assert all(0 <= mark.first <= mark.last <= samples for mark in marks)
