"""What is being spoken: the messages in their order, the clauses on their way to the loudspeaker, and how far each
message was heard.

One message at a time is with the voice. Its clauses are synthesised a little ahead of the loudspeaker. It is over
when the count of samples says that its last one was played, whatever any engine reports or fails to report.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass

from voice.core.cards import Cards
from voice.core.events import (
    Caption,
    Cause,
    ClauseFailed,
    ClauseVoiced,
    MessageClosed,
    Notice,
    Output,
    Played,
    Speak,
    VoiceStopped,
)
from voice.core.message import Message
from voice.core.pacing import Pacing
from voice.core.playhead import Heard, Playhead
from voice.core.script import Script, speakable
from voice.core.server_events import HistoryRow, MessageCompleted, MessageDelta, MessageWidget
from voice.core.text import joined
from voice.core.widgets import with_transient

AHEAD = 2.0
"""Seconds of audio kept between the synthesiser and the loudspeaker: outlasts a stall of the machine, and bounds
the memory of a message of any length."""

STALLED = 4.0
"""Seconds without further text after which an unfinished message may be interrupted, whatever its kind: a server that
never ends it must not keep the user waiting, nor what the user has said."""

REMEMBERED = 1024
"""How many closed messages and finished turns are remembered, so that what comes late for them is dropped."""


class Remembered(OrderedDict[str, Cause | None]):
    """The last few keys put in; older ones are forgotten."""

    def remember(self, key: str, value: Cause | None) -> None:
        """Put a key in."""
        self[key] = value
        while len(self) > REMEMBERED:
            self.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Stopped:
    """Where the voice stopped: the message it was in (None: between messages) and what was heard of it."""

    message: Message | None
    heard: Heard
    finished: bool
    """The message had been heard to its end: nothing was cut off."""


class Speaking:
    """The assistant's side of the conversation, from deltas to samples heard."""

    def __init__(self, pacing: Pacing, rate: int, language: str = "en", cards: Cards | None = None) -> None:
        self.pacing = pacing
        self._cards = cards or Cards()
        self.playhead = Playhead(rate)
        self.language = language
        self.current: Message | None = None
        self.latest: Message | None = None
        """The message that began last."""
        self.queue: deque[Message] = deque()
        self.dead_turns = Remembered()
        """Turns of which nothing more is spoken, with the cause."""
        self._open: dict[str, Message] = {}
        self._closed = Remembered()
        self._free_since: float | None = None
        """When the last message ended."""

    # ------------------------------------------------------------------ text in

    def delta(self, event: MessageDelta) -> None:
        """Append a chunk of text."""
        if (message := self._message(event)) is not None:
            message.script.append(event.text)

    def completed(self, event: MessageCompleted, now: float) -> list[Output]:
        """Take the final form of a message. One of a dead turn is closed at once, unheard."""
        message = self._message(event)
        if message is None:
            return []
        if not message.script.complete:
            self._finish(message, event)
        message.widgets = event.widgets
        if message.turn_id in self.dead_turns and message is not self.current:
            return [self.close(message, Heard(0, 0, False), self.dead_turns[message.turn_id], now)]
        return []

    def _finish(self, message: Message, event: MessageCompleted) -> None:
        """The final text, and behind it what is read from the message's cards, if anybody will hear it."""
        dead = message.turn_id in self.dead_turns and message is not self.current
        reading = self._cards.read(event.text, () if dead else event.widgets)
        card = joined([reading.content, reading.aside])
        message.script.finish(joined([event.text, card]))
        if card and message.script.source.endswith(card):
            message.card, message.aside = len(card), len(reading.aside)

    def row(self, row: HistoryRow, now: float) -> list[Output]:
        """Take a message from the history."""
        return self.completed(MessageCompleted(row.id, row.turn_id, row.kind, None, row.text, row.widgets), now)

    def widget(self, event: MessageWidget) -> None:
        """A widget that comes before the message is complete; the complete one has it, too."""
        message = self._open.get(event.id)
        if message is not None and not message.script.complete:
            message.widgets = with_transient(message.widgets, event.widget)

    def _message(self, event: MessageDelta | MessageCompleted) -> Message | None:
        if event.id in self._closed:
            return None
        message = self._open.get(event.id)
        if message is None:
            can_interrupt = self.pacing.can_interrupt(event.kind, event.can_interrupt)
            message = Message(event.id, event.turn_id, event.kind, can_interrupt, Script(self.language))
            self._open[event.id] = message
            if event.turn_id not in self.dead_turns:
                self.queue.append(message)
        return message

    # ------------------------------------------------------------------ on to the loudspeaker

    def next(self) -> Message | None:
        """The message that is or will be spoken first."""
        return self.current or (self.queue[0] if self.queue else None)

    @property
    def idle(self) -> bool:
        """Nothing is being spoken and nothing waits."""
        return self.current is None and not self.queue

    def gap_over(self, now: float) -> bool:
        """Whether the pause before the next message is over."""
        return (
            self._free_since is None
            or not self.queue
            or now >= self._free_since + self.pacing.rule(self.queue[0].kind).gap - 1e-9
        )

    def start_next(self, now: float) -> list[Output]:
        """Make the first waiting message the current one, if there is anything to say or to close in it."""
        if self.current is not None or not self.queue:
            return []
        message = self.queue[0]
        if not message.script.ready() and not message.script.complete:
            return []
        self.current = self.latest = self.queue.popleft()
        return self.feed(now)

    def feed(self, now: float) -> list[Output]:
        """Give the voice the next clause when less than `AHEAD` is between it and the loudspeaker."""
        message = self.current
        if message is None or message.synthesising is not None:
            return []
        frame = self.playhead.frame_at(now)
        while self.playhead.waiting(message.id, frame) < AHEAD and (clause := message.script.take()) is not None:
            if speakable(clause.spoken):
                message.started = True
                message.synthesising = clause.index
                return [Speak(message.id, clause.index, clause.spoken, self.pacing.rule(message.kind).rate)]
            self.playhead.voiced(ClauseVoiced(message.id, clause.index, (), 0, final=True))
        return []

    def voiced(self, event: ClauseVoiced, now: float) -> list[Output]:
        """A piece of a clause's audio is on its way to the loudspeaker."""
        message = self.current
        if message is None or message.id != event.message_id or message.synthesising != event.clause:
            return []  # late, of a message that is over
        self.playhead.voiced(event)
        if not event.final:
            return []
        message.synthesising = None
        notice = Notice("voice.silent", f"the voice made no sound of clause {event.clause} of a {message.kind}")
        return [*([notice] if event.samples == 0 else []), *self.feed(now)]

    def failed(self, event: ClauseFailed, now: float) -> list[Output]:
        """The voice gave up a clause: the next one is tried."""
        message = self.current
        if message is None or message.id != event.message_id or message.synthesising != event.clause:
            return []
        self.playhead.failed(message.id, event.clause)
        message.synthesising = None
        return [Notice("voice.failed", event.reason), *self.feed(now)]

    def played(self, event: Played, now: float, halted: bool = False) -> list[Output]:
        """Take the ledger; show what was heard; close the current message when its last sample was played, unless
        the voice is `halted` by a cut: then how much was heard is known, and whoever settles the cut closes it."""
        self.playhead.played(event.spans, event.stamp)
        message = self.current
        frame = self.playhead.frame_at(now)
        if message is None and self.queue:
            self._watch(self.queue[0], frame, now)
        if message is None or halted:
            return []
        self._mark_start(message)
        self.playhead.settle(message.id, message.script.clauses, frame)
        heard = self._heard(message, frame)
        out: list[Output] = []
        if heard.end != message.heard:
            message.heard = heard.end
            out.append(Caption(message.id, message.kind, message.script.source, heard.end))
        self._watch(message, frame, now)
        if self._over(message, frame):
            self.current = None
            last = self.playhead.last_frame(message.id)
            ended = self.playhead.time_of(last) if last is not None else None
            self._free_since = ended if ended is not None else now
            out.append(self.close(message, heard, None, self._free_since))
        return out

    def _heard(self, message: Message, frame: int | None, full_level: bool = False) -> Heard:
        """What was heard of the message; a clause that is said once more takes nothing back."""
        heard, known = self.playhead.heard(message.id, message.script.clauses, frame, full_level), message.known
        if known is None or heard.end >= known.end:
            return heard
        return Heard(known.end, heard.clause, known.estimated)

    def _over(self, message: Message, frame: int | None) -> bool:
        return (
            message.script.exhausted
            and message.synthesising is None
            and all(self.playhead.finished(message.id, clause.index, frame) for clause in message.script.clauses)
        )

    def _watch(self, message: Message, frame: int | None, now: float) -> None:
        """Notice that the server has stopped in the middle of a message, or before its first words."""
        script = message.script
        dry = not script.complete and message.synthesising is None and not script.ready()
        if not dry or self.playhead.waiting(message.id, frame) > 0:
            message.dry_since, message.stalled = None, False
        elif message.dry_since is None:
            message.dry_since = now
        elif now - message.dry_since > STALLED:
            message.stalled = True

    def _mark_start(self, message: Message) -> None:
        if message.t_start is None and (first := self.playhead.first_frame(message.id)) is not None:
            message.t_start = self.playhead.time_of(first)

    # ------------------------------------------------------------------ the end of it

    def stopped(self, event: VoiceStopped, now: float, full_level: bool, device_lost: bool) -> Stopped:
        """The voice stopped: what was heard, counted up to where the fade began. `device_lost`: what was written
        but had not left the converter by `now` will not be heard any more."""
        self.playhead.played(event.spans, event.stamp)
        message = self.current
        if message is None:
            return Stopped(None, Heard(0, 0, False), True)
        self._mark_start(message)
        message.synthesising = None  # what is still on its way of this clause comes too late
        left = self.playhead.frame_at(now) if device_lost else None
        frame = event.frame if left is None else min(left, event.frame)
        heard = self._heard(message, frame, full_level)
        source = message.script.source
        whole = message.script.complete and heard.end >= len(source[: len(source) - message.aside].rstrip())
        return Stopped(message, heard, whole)

    def rewind(self, stopped: Stopped) -> None:
        """Nothing is cut after all: go on with the first clause that was not heard to its end."""
        message = stopped.message
        if message is None:
            return
        message.known = stopped.heard
        self.playhead.forget(message.id, stopped.heard.clause)
        message.script.rewind(stopped.heard.clause)

    def finish(self, stopped: Stopped, cause: Cause, now: float) -> list[Output]:
        """Close the message that the voice stopped in, and every message that waits behind it, unheard."""
        out: list[Output] = []
        if stopped.message is not None:
            self.current = None
            self._free_since = now
            out.append(self.close(stopped.message, stopped.heard, None if stopped.finished else cause, now))
        return [*out, *self.drop_waiting(cause, now)]

    def drop_waiting(self, cause: Cause, now: float, turn_id: str | None = None) -> list[Output]:
        """Close every message that waits (of one turn, if given), unheard. Text that is still to come for their
        turns is not spoken either."""
        if self.current is not None and not self.current.started:
            self.queue.appendleft(self.current)  # nothing of it went to the voice, so it waits as well
            self.current = None
        doomed = [message for message in self.queue if turn_id in (None, message.turn_id)]
        self.queue = deque(message for message in self.queue if message not in doomed)
        for message in doomed:
            self.dead_turns.remember(message.turn_id, cause)
        return [self.close(message, Heard(0, 0, False), cause, now) for message in doomed if message.script.complete]

    def end_turn(self, turn_id: str, now: float) -> list[Output]:
        """No more text comes for this turn: its messages are as complete as they will be."""
        out: list[Output] = []
        for message in [message for message in self._open.values() if message.turn_id == turn_id]:
            message.script.finish(message.script.source)
            if turn_id in self.dead_turns and message is not self.current:
                out.append(self.close(message, Heard(0, 0, False), self.dead_turns[turn_id], now))
        return out

    def end_turns(self, running: str | None, now: float) -> list[Output]:
        """No more text comes but for the turn `running`."""
        turns = {message.turn_id for message in self._open.values()} - {running}
        return [report for turn in sorted(turns) for report in self.end_turn(turn, now)]

    def close_all(self, cause: Cause, now: float) -> list[Output]:
        """Close whatever is still open, unheard but for the current message, which `finish` closes before."""
        self.queue.clear()
        return [self.close(message, Heard(0, 0, False), cause, now) for message in list(self._open.values())]

    def close(self, message: Message, heard: Heard, cut: Cause | None, now: float) -> MessageClosed:
        """The one report of a message."""
        source = message.script.source
        whole = message.script.exhausted and heard.clause == len(message.script.clauses)
        text = source if whole and (heard.end or not speakable(source)) else source[: heard.end].rstrip()
        self._open.pop(message.id, None)
        self._closed.remember(message.id, cut)
        self.playhead.forget(message.id)
        return message.report(text, heard.estimated, cut, now)
