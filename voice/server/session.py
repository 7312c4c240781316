"""A hosted conversation: one turn at a time, streamed at its pace, preempted by the next user message.

It knows no socket: those who follow it are `Follower`s. A turn is a task of its own and outlives them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from voice.core.server_events import (
    AssessmentChanged,
    ConversationClosed,
    GoingAway,
    HandoffRequested,
    HistoryRow,
    MessageCompleted,
    MessageDelta,
    MessageWidget,
    SettingsChanged,
    TurnEnded,
)
from voice.core.widgets import Widget
from voice.server.assessment import assessment
from voice.server.engine import Engine, Reply, State
from voice.server.events import Event, Follower, Malformed, Received
from voice.server.flow import Faults, Line, Step
from voice.server.redact import redact
from voice.wire.assumptions import Assumptions
from voice.wire.infermedica_widgets import decode_widget

_UNINTERRUPTIBLE = frozenset({"acknowledgement", "bridge", "filler"})
"""Stated; the values of the other kinds are in the table of assumptions."""


@dataclass(slots=True)
class _Turn:
    id: str
    before: State
    step: Step
    task: asyncio.Task[None] | None = None
    has_event: bool = True
    """Whether its end is told (the opening is no turn of the user's)."""
    asked: bool = False
    """Something of a question was sent."""
    frames: int = 0
    in_history: deque[str] = field(default_factory=deque)
    """Ids of the messages to come that stand in the history already."""
    late: tuple[Event, ...] = ()
    """What would still come after a preemption, as a fault."""
    partial: HistoryRow | None = None
    """The message under way, as far as it was sent."""

    @property
    def faults(self) -> Faults:
        return self.step.faults


class HostedConversation:
    """One conversation. `new_id()` gives UUIDs."""

    def __init__(
        self,
        engine: Engine,
        settings: Mapping[str, Any],
        assessment: Mapping[str, Any],
        *,
        assumed: Assumptions,
        new_id: Callable[[], str],
        age_years: float | None = None,
    ) -> None:
        self.id = new_id()
        self.settings: Mapping[str, Any] = settings
        self.status = "in_progress"
        self.is_terminated = False
        self.rows: list[HistoryRow] = []
        self.received: list[Received] = []
        self._engine, self._assumed, self._new_id = engine, assumed, new_id
        self._given = assessment
        self._state = engine.start(age_years)
        self._turn: _Turn | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._followers: list[Follower] = []
        self._dropped: set[str] = set()
        """Steps whose sockets were cut: once each."""

    # ------------------------------------------------------------------ followers

    def follow(self, follower: Follower) -> None:
        """From now on `follower` gets every event."""
        self._followers.append(follower)

    def unfollow(self, follower: Follower) -> None:
        """No more events for `follower`; the turn goes on."""
        if follower in self._followers:
            self._followers.remove(follower)

    def assessment(self) -> dict[str, Any]:
        """The whole assessment as of now."""
        return assessment(self._given, self._state, self._assumed)

    # ------------------------------------------------------------------ turns

    def open(self, form: str | None = None) -> None:
        """Say the opening, if the settings ask for it.

        `form`: "events", "snapshot" (rows of the history, there at once) or "both" (the same messages in both ways);
        None: as the flow says, else as assumed.
        """
        if not self.settings["opening_message_enabled"]:
            return
        form = form or self._engine.flow.opening_arrives or self._assumed["opening.arrives"]
        reply = self._engine.opening(self._state)
        turn = _Turn(self._new_id(), self._state, reply.step)
        if form != "events":
            rows = [self._row(self._new_id(), turn.id, line) for line in reply.lines]
            self.rows += rows
            turn.in_history = deque(row.id for row in rows)
        if form != "snapshot":
            turn.has_event = self._assumed["opening.turn_event"] == "turn_completed"
            self._start(turn, reply)

    def has(self, message_id: str | None) -> bool:
        """Whether a user message with this id was taken before."""
        return any(earlier.id == message_id for earlier in self.received)

    def receive(self, message: Mapping[str, Any], now: float) -> None:
        """Take a validated user message: end the running turn and start the next. The same id again: no new turn."""
        found = next((earlier for earlier in self.received if earlier.id == message["id"]), None)
        if found is not None and self._assumed["resend.same_id"] == "one_turn":
            self._emit(found)
            return
        after: list[Event] = []
        if self._turn is not None:
            ended, after = self._preempt(self._turn)
            if self._assumed["preempt.order"] == "interrupted_first":
                self._emit_all(ended)
            else:
                after = ended + after
        played = message.get("played_content")
        received = Received(
            id=message["id"] or self._new_id(),
            turn_id=self._new_id(),
            content=redact(message["content"]),
            is_interrupted=message["is_interrupted"],
            played_content=None if played is None else redact(played),
            traceparent=message.get("traceparent"),
            at=now,
        )
        self.received.append(received)
        self.rows.append(HistoryRow("user", received.id, received.turn_id, received.content))
        before = self._state
        reply = self._engine.answer(before, received.content)
        self._state = reply.state
        self._emit(received)
        self._emit_all(after)
        self._start(_Turn(received.turn_id, before, reply.step), reply, received)

    def _start(self, turn: _Turn, reply: Reply, received: Received | None = None) -> None:
        self._turn = turn
        task = asyncio.create_task(self._run(turn, reply, received), name="voice.server.turn")
        turn.task = task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _preempt(self, old: _Turn) -> tuple[list[Event], list[Event]]:
        """Stop the running turn: the event of its end, and what still comes of it late when that fault is on."""
        self._turn = None
        if old.task is not None:
            old.task.cancel()
        if not old.asked:
            self._state = old.before  # the new message answers the question that was open before that turn
        if old.partial is not None and self._assumed["preempt.history"] == "shortened":
            self.rows.append(old.partial)
        ended: list[Event] = [TurnEnded(old.id, "interrupted")] if old.has_event else []
        return ended, list(old.late)

    async def _run(self, turn: _Turn, reply: Reply, received: Received | None) -> None:
        pace = reply.step.pace or self._engine.flow.pace
        await asyncio.sleep(pace.thinking + turn.faults.delay)
        for line in reply.lines:
            await self._say(turn, line, pace.chars, pace.seconds)
            if turn.faults.fail:
                self._state = turn.before
                self._end(turn, TurnEnded(turn.id, "failed", "engine_unavailable"))
                return
        for event in turn.step.extras.events(turn.id, self._new_id):
            self._tell(turn, event)
        if received is not None:
            self._tell(turn, AssessmentChanged(self.assessment()))
            policy = "stop_intent_handoff" in self.settings["handoff_policies"]
            if reply.handoff is not None and policy:
                self._tell(turn, HandoffRequested(reply.handoff, received.content))
            if reply.state.ended is not None:
                self.status, self.is_terminated = "completed", reply.state.ended == "terminated"
                self._tell(turn, ConversationClosed(self.is_terminated, metadata=turn.step.extras.metadata))
        self._end(turn, TurnEnded(turn.id, "completed"))

    def _end(self, turn: _Turn, event: TurnEnded) -> None:
        self._turn = None
        if turn.has_event:
            self._tell(turn, event)
        if turn.step.extras.go_away and event.outcome == "completed":
            self._emit(GoingAway())

    async def _say(self, turn: _Turn, line: Line, chars: int, seconds: float) -> None:
        known = bool(turn.in_history)
        message_id = turn.in_history.popleft() if known else self._new_id()
        may = can_interrupt(line.kind, self._assumed)
        row = self._row(message_id, turn.id, line)
        faults = turn.faults
        size = len(row.text) if line.kind == "read_back" else chars
        pieces = [row.text[at : at + size] for at in range(0, len(row.text), max(1, size))]
        if faults.malformed:
            self._tell(turn, Malformed())
        widgets: list[Event] = [MessageWidget(message_id, turn.id, widget) for widget in row.widgets]
        deltas: list[Event] = [MessageDelta(message_id, turn.id, line.kind, may, piece) for piece in pieces]
        if faults.no_deltas:
            deltas = []
        elif faults.duplicate_delta:
            deltas.insert(0, deltas[0])
        final = row.text
        if faults.other_text is not None:
            final = "".join(pieces[:-1]) + faults.other_text
        completed = MessageCompleted(message_id, turn.id, line.kind, may, final, row.widgets)
        events = [*widgets, *deltas] if faults.widgets_first else [*deltas, *widgets]
        for index, event in enumerate(events):
            self._tell(turn, event)
            turn.asked = turn.asked or may
            turn.late = tuple([*events[index + 1 :], completed][: faults.late_events])
            if isinstance(event, MessageDelta):
                sent = (turn.partial.text if turn.partial else "") + event.text
                turn.partial = replace(row, text=sent, widgets=())
            await asyncio.sleep(seconds)
        turn.late, turn.partial, turn.asked = (), None, turn.asked or may
        if not known:
            self.rows.append(replace(row, text=final))
        self._tell(turn, completed)

    def _row(self, message_id: str, turn_id: str, line: Line) -> HistoryRow:
        widgets: tuple[Widget, ...] = ()
        text = line.text
        if self.settings["ui_widgets_enabled"]:
            widgets = tuple(decode_widget(entry) for entry in line.widgets)
            if line.kind == "read_back" and widgets:
                text = self._engine.flow.read_back.widget_text
        return HistoryRow("assistant", message_id, turn_id, text, line.kind, widgets)

    def _tell(self, turn: _Turn, event: Event) -> None:
        self._emit(event)
        turn.frames += 1
        if turn.faults.drop_after == turn.frames and turn.step.id not in self._dropped:
            self._dropped.add(turn.step.id)
            for follower in list(self._followers):
                follower.drop()

    def _emit(self, event: Event) -> None:
        for follower in list(self._followers):
            follower.put(event)

    def change_settings(self, settings: Mapping[str, Any]) -> None:
        """Take new effective settings; they hold from the next turn on."""
        self.settings = settings
        self._emit(SettingsChanged(settings, settings["max_message_length"]))

    def end(self) -> None:
        """Stop what is running and cut the followers."""
        for task in self._tasks:
            task.cancel()
        for follower in list(self._followers):
            follower.drop()

    def _emit_all(self, events: list[Event]) -> None:
        for event in events:
            self._emit(event)

    async def close(self) -> None:
        """`end`, and wait until nothing of it runs any more."""
        tasks = list(self._tasks)
        self.end()
        if tasks:
            await asyncio.wait(tasks)


def can_interrupt(kind: str, assumed: Assumptions) -> bool:
    """Whether a message of this kind may be interrupted: stated for the connective kinds, assumed for the rest."""
    if kind in _UNINTERRUPTIBLE:
        return False
    known = kind in ("intro", "follow_up", "read_back")
    return assumed[f"can_interrupt.{kind if known else '*'}"] == "true"
