"""What was said and cannot be sent yet.

Speech over a message that may not be interrupted has one of three outcomes:

| that message is                            | what is said                                                            |
| ------------------------------------------ | ----------------------------------------------------------------------- |
| queued: nothing of it went to the voice    | is sent at once; the message is closed as not heard                     |
| speaking                                   | is held, and sent once when the message is over, before the next begins |
| done, or stalled without text for long     | is an answer like any other                                             |

Whoever goes on while something is held adds to it: all of it becomes one user message. What is said while the link is
down is held in the same way until the link is back, so that two answers do not meet the server as two turns, of which
the second ends the first. A shutdown does not wait for any of this.

What is not sent has a visible outcome: a backchannel, a noise, our own words or speech that the pacing lets go by is an
"ignore" of the floor; what is said after the end of the conversation or of the link is a notice.
"""

from __future__ import annotations

from dataclasses import dataclass

from voice.core.evidence import Utterance
from voice.core.expectation import FREE, Expectation
from voice.core.text import joined


@dataclass(frozen=True, slots=True)
class Said:
    """Words for the server, what they may answer, and since when they wait (seconds; None: they do not)."""

    utterance: Utterance
    expectation: Expectation = FREE
    since: float | None = None

    @property
    def text(self) -> str:
        """The words without blanks around them."""
        return self.utterance.text.strip()

    def held(self, now: float) -> float:
        """Seconds for which they have waited."""
        return 0.0 if self.since is None else now - self.since


def merged(said: list[Said]) -> Said:
    """One of several, in order: the name and the onset of the first, the end of the last. What they may answer is what
    all of them may."""
    first, last = said[0], said[-1]
    text = joined(one.text for one in said)
    whole = Utterance(first.utterance.utterance_id, text, first.utterance.onset, last.utterance.end)
    same = all(one.expectation == first.expectation for one in said)
    return Said(whole, first.expectation if same else FREE, first.since)


class Holding:
    """Keeps what was said, in order."""

    def __init__(self) -> None:
        self._said: list[Said] = []

    def __bool__(self) -> bool:
        return bool(self._said)

    def hold(self, said: Said, now: float) -> None:
        """Keep it; it waits from now on, unless it waited before."""
        since = now if said.since is None else said.since
        self._said.append(Said(said.utterance, said.expectation, since))

    def take(self) -> Said:
        """All of it as one, and nothing is held any more."""
        said, self._said = self._said, []
        return merged(said)
