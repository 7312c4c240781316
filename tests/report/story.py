"""A conversation as a session would show it to an observer, written by hand: who said what, when, and what it did."""

from __future__ import annotations

import itertools
import re

from voice.core import events as ev
from voice.core import server_events as sev
from voice.core.evidence import Partial, SpeechPaused, SpeechStarted, Utterance

RATE = 16000
WORD = 0.3
"""Seconds that every word lasts; words follow each other without a pause."""


class Story:
    """Collects `(t, item)`; `tell(observer)` hands them over in order of time."""

    def __init__(self, t: float = 100.0) -> None:
        self.t0 = t
        self.items: list[tuple[float, ev.Input | ev.Output]] = []
        self._frames = itertools.count(0, 1_000_000)

    def at(self, t: float, *items: ev.Input | ev.Output) -> Story:
        """Items at `t` seconds after the story's start."""
        self.items += [(self.t0 + t, item) for item in items]
        return self

    def tell(self, observer) -> None:
        """Hand everything to an observer in order of time."""
        for t, item in sorted(self.items, key=lambda entry: entry[0]):
            observer(t, item)

    def message(
        self,
        t: float,
        message_id: str,
        text: str,
        *,
        kind: str = "intro",
        turn: str = "t1",
        heard: int | None = None,
        cut: ev.Cause | None = None,
        can_interrupt: bool = True,
        ducked: tuple[tuple[float, float], ...] = (),
        arrives: float | None = None,
        estimate: bool = False,
    ) -> float:
        """A message that is spoken from `t` on; with `heard`, it is cut after that many words. Returns its end."""
        words = list(re.finditer(r"\S+", text))
        spoken = len(words) if heard is None else heard
        arrives = t - 0.2 if arrives is None else arrives
        end = t + spoken * WORD
        prefix = text if spoken == len(words) else text[: words[spoken - 1].end()] if spoken else ""
        self.at(arrives, sev.MessageDelta(message_id, turn, kind, can_interrupt, text))
        self.at(arrives, sev.MessageCompleted(message_id, turn, kind, can_interrupt, text))
        if spoken:
            size = round(WORD * RATE)
            marks = tuple(
                ev.WordMark(w.start(), w.end(), n * size, (n + 1) * size - size // 10) for n, w in enumerate(words)
            )
            frame = next(self._frames)
            stamp = ev.Stamp(frame, self.t0 + t)
            self.at(arrives, ev.Speak(message_id, 0, text, 1.0))
            self.at(arrives, ev.ClauseVoiced(message_id, 0, marks, len(words) * size, True, estimate))
            for n in range(spoken):
                low = any(first <= t + n * WORD < last for first, last in ducked)
                span = ev.Span(frame + n * size, message_id, 0, n * size, size, 0.2 if low else 1.0)
                self.at(t + n * WORD, ev.Played((span,), stamp, RATE), ev.Caption(message_id, kind, text, 0))
            if cut:
                self.at(end, ev.StopVoice(cut), ev.VoiceStopped((), frame + spoken * size, stamp, RATE))
        self.at(
            end,
            ev.MessageClosed(
                message_id,
                turn,
                kind,
                can_interrupt,
                text,
                prefix,
                cut,
                estimate,
                self.t0 + t if spoken else None,
                self.t0 + end,
            ),
        )
        return end

    def utterance(
        self,
        t: float,
        utterance_id: str,
        text: str,
        *,
        lasts: float = 1.2,
        partials: tuple[str, ...] = (),
        decisions: tuple[tuple[float, str, str], ...] = (),
        sent: float | None = None,
        played: str | None = None,
        held: float = 0.0,
    ) -> float:
        """The user speaks from `t` on; with `sent`, it goes to the server then. Returns the end of turn."""
        end = t + lasts
        self.at(t + 0.08, SpeechStarted(utterance_id, self.t0 + t))
        for n, partial in enumerate(partials):
            self.at(t + 0.3 * (n + 1), Partial(utterance_id, partial, 0.3 * (n + 1)))
        self.at(end + 0.1, SpeechPaused(utterance_id, self.t0 + end))
        for when, decision, reason in decisions:
            if decision in ("duck", "resume"):
                self.at(when, ev.Duck(decision == "duck"))
            self.at(when, ev.FloorChanged(decision, utterance_id, reason))
        self.at(end + 0.5, Utterance(utterance_id, text, self.t0 + t, self.t0 + end))
        if sent is not None:
            message = ev.SendUserMessage(
                f"send-{utterance_id}", text, played is not None, played, "00-0-0-00", utterance_id, held
            )
            self.at(sent, message)
        return end + 0.5


def triage(t: float = 100.0) -> Story:
    """A whole conversation: an answer, a cough, a cut, something said too early, a reconnect, a typed answer."""
    story = Story(t)
    story.at(0.0, ev.LinkUp(0))
    story.message(0.4, "m1", "Hello. I will ask you a few questions about how you feel today.", arrives=0.1)
    story.utterance(5.0, "u1", "I have a headache since yesterday.", lasts=1.6, sent=7.4,
                    partials=("i have", "i have a headache", "i have a headache since"))  # fmt: skip
    story.message(7.9, "m2", "Thank you.", kind="acknowledgement", turn="t2", can_interrupt=False, arrives=7.5)
    story.utterance(
        9.3, "u2", "", lasts=0.25,
        decisions=((9.38, "duck", "onset"), (9.9, "resume", "silence"), (10.05, "ignore", "no words")),
    )  # fmt: skip
    story.utterance(
        10.7, "u3", "No fever, but my neck is stiff.", lasts=1.9, sent=13.2, partials=("no", "no fever but"),
        decisions=((10.78, "duck", "onset"), (11.4, "cut", "two partials agree"), (13.1, "take", "after its cut")),
        played="Do you also have a fever, or have you",
    )  # fmt: skip
    story.message(
        8.7, "m3", "Do you also have a fever, or have you had chills during the last two days?",
        kind="follow_up", turn="t2", ducked=((9.38, 9.95), (10.78, 11.4)), arrives=7.6, heard=9, cut="voice",
    )  # fmt: skip
    story.message(11.4, "m4", "If you measured it, please tell me the highest value.", kind="follow_up",
                  turn="t2", arrives=7.7, heard=0, cut="voice")  # fmt: skip
    story.message(13.9, "m5", "I see, one moment please, I am writing it down.", kind="bridge", turn="t3",
                  can_interrupt=False, arrives=13.4)  # fmt: skip
    story.utterance(
        14.3, "u4", "Since this morning.", lasts=1.0, sent=16.2, held=0.9,
        decisions=((15.8, "hold", "may not be interrupted"),),
    )  # fmt: skip
    story.at(17.0, ev.LinkDown("the server closed the connection (1012)", False))
    story.at(17.6, ev.LinkUp(1))
    story.message(18.4, "m6", "You told me: a headache since yesterday, a stiff neck since this morning, no fever. "
                  "Is that right?", kind="read_back", turn="t4", arrives=17.9)  # fmt: skip
    story.at(25.0, ev.Typed("Yes, that is right."),
             ev.SendUserMessage("send-typed", "Yes, that is right.", False, None, "00-0-0-00"))  # fmt: skip
    story.message(25.6, "m7", "Please call the emergency number now and do not drive yourself.", turn="t5",
                  arrives=25.2)  # fmt: skip
    story.at(29.5, sev.ConversationClosed(False), ev.Ended("completed"))
    return story
