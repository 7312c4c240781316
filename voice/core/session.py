"""The conversation: what comes from the server, the ears and the loudspeaker, and what follows from it.

1. Text is spoken message by message, from its first speakable clause on.
2. While it is spoken, the floor weighs what the ears report. Every cut, whatever its cause, goes through `_cut`:
   the voice stops, the shell answers with the ledger of what was played, and `_stopped` computes what was heard.
3. A cut for the user's voice is settled when the utterance ends. With words, each message gets its one report and
   the user message carries it. Without, nothing was cut: the voice goes on with the clause it was in.
4. Speech that comes while a message may not be interrupted is held, and sent once, when the floor is free; see
   `voice.core.holding`.
5. What is sent is the answer that the server offered, where the user said just that, and else their own words.

The session is pure: it is told the time, keeps no clock and does no I/O. The same inputs give the same outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from voice.core.account import Account, PlayedScope
from voice.core.cards import CardRules, Cards
from voice.core.choices import match as matching_choice
from voice.core.events import (
    Cause,
    ClauseFailed,
    ClauseVoiced,
    DeviceLost,
    Duck,
    Ended,
    Expect,
    FloorChanged,
    Input,
    LinkDown,
    LinkUp,
    Notice,
    Output,
    Played,
    RefreshSnapshot,
    SendUserMessage,
    Shutdown,
    StopVoice,
    Tick,
    Typed,
    UserCut,
    VoiceStopped,
)
from voice.core.evidence import Partial, SpeechPaused, SpeechResumed, SpeechStarted, Utterance, VoiceActivity
from voice.core.floor import Act, Decision, Floor, Playing
from voice.core.floor_rules import FloorRules
from voice.core.holding import Holding, Said, merged
from voice.core.own_words import OwnWords
from voice.core.pacing import Pacing
from voice.core.question import Question
from voice.core.server_events import (
    BadFrame,
    ConversationClosed,
    HandoffRequested,
    Ignored,
    Interruption,
    MessageCompleted,
    MessageDelta,
    MessageWidget,
    ServerFault,
    SettingsChanged,
    Snapshot,
    TurnEnded,
    UserAccepted,
)
from voice.core.server_side import ServerSide
from voice.core.speaking import Speaking, Stopped
from voice.core.text import shorten

DEFAULT_MAX_LENGTH = 1500
"""Unicode code points of a user message until the server states its own limit."""


@dataclass(frozen=True, slots=True)
class SessionRules:
    """The settings of a session."""

    pacing: Pacing = field(default_factory=Pacing)
    floor: FloorRules = field(default_factory=FloorRules)
    language: str = "en"
    played_scope: PlayedScope = "turn"
    cards: CardRules = field(default_factory=CardRules)


@dataclass(slots=True)
class _Cut:
    """A cut under way: from the word to stop until it is settled."""

    cause: Cause
    utterance_id: str
    take: Said | None = None
    """What the user said, when it is known before the voice has stopped."""
    stopped: Stopped | None = None
    t: float = 0.0


class Session:
    """One conversation. `handle` takes an input and its time and returns what is to be done, in order."""

    def __init__(self, rules: SessionRules, rate: int, new_id: Callable[[], str], new_trace: Callable[[], str]) -> None:
        self.rules = rules
        self.speaking = Speaking(rules.pacing, rate, rules.language, Cards(rules.cards))
        self.floor = Floor(rules.floor)
        self.max_message_length = DEFAULT_MAX_LENGTH
        self._new_id, self._new_trace = new_id, new_trace
        self._holding = Holding()
        self._cut_now: _Cut | None = None
        self._account = Account(rules.played_scope)
        self._own = OwnWords()
        self._question = Question()
        self._told = self._question.expectation
        self._server = ServerSide()
        self._ended = False

    # ------------------------------------------------------------------ the one entrance

    def handle(self, event: Input, now: float) -> list[Output]:
        """Take one input at time `now` (seconds of the injected clock)."""
        if self._ended:
            return []
        out = self._noted(self._take(event, now), now)
        return [*out, *self._noted(self._go_on(now), now), *self._expect()]

    def _take(self, event: Input, now: float) -> list[Output]:
        match event:
            case MessageDelta():
                if not self._server.stale(event.turn_id):
                    self.speaking.delta(event)
                return []
            case MessageCompleted():
                return self.speaking.completed(event, now)
            case MessageWidget():
                self.speaking.widget(event)
                return []
            case ClauseVoiced():
                return self.speaking.voiced(event, now)
            case ClauseFailed():
                return self.speaking.failed(event, now)
            case Played():
                halted = self._cut_now is not None and self._cut_now.stopped is not None
                return self.speaking.played(event, now, halted)
            case VoiceStopped():
                return self._stopped(event, now)
            case SpeechStarted() | SpeechPaused() | SpeechResumed() | VoiceActivity() | Partial() | Utterance():
                return self._decide(self.floor.heard(event, now, self._playing()), event, now)
            case Tick():
                return []
            case _:
                return self._from_outside(event, now)

    def _from_outside(self, event: Input, now: float) -> list[Output]:
        match event:
            case UserAccepted():
                self._server.accepted(event)
                return []
            case TurnEnded():
                return self._turn_ended(event, now)
            case Snapshot():
                return self._snapshot(event, now)
            case SettingsChanged():
                self.max_message_length = event.max_message_length
                return []
            case ConversationClosed():
                self._server.closed(event)
                return []
            case Interruption():
                return [*self.speaking.drop_waiting("server", now), *self._cut_playing("server", now)]
            case LinkUp(restored=restored):
                self._server.up(restored)
                return []
            case LinkDown(reason=reason, fatal=fatal):
                self._server.down(reason, fatal)
                ended = self.speaking.end_turns(None, now) if fatal else []
                how = "down" if not fatal else "closed" if self._server.closed_by_server else "fatal"
                return [*ended, Notice(f"link.{how}", reason)]
            case ServerFault():
                return [Notice(f"server.{event.code}", event.message)]
            case BadFrame(reason=reason):
                self._server.doubtful(now)
                return [Notice("frame.bad", reason)]
            case Ignored(type=name):
                return [Notice("frame.ignored", f"unknown frame type {name!r}")]
            case HandoffRequested(reason=reason):
                return [Notice("handoff", reason)]
            case DeviceLost(reason=reason):
                return [Notice("device.lost", reason), *self._cut("device", "", now)]
            case UserCut(cause=cause):
                return self._cut(cause, "", now) if self._next_can_be_cut() else []
            case Typed(text=text):
                return self._typed(Said(Utterance("", text, now, now)), now)
            case Shutdown():
                self._server.closing = "shutdown"
                return self._cut("shutdown", "", now)
        return []

    def _go_on(self, now: float) -> list[Output]:
        """What time and the state as it is now bring: resume, release, the next message, the end."""
        out = self._decide(self.floor.tick(now), None, now)
        if (cut := self._cut_now) is not None:
            overdue = now - cut.t > self.rules.floor.longest and not self.floor.follows(cut.utterance_id)
            return [*out, *(self._settle_without_words(cut.utterance_id, now) if overdue else [])]
        out += self._release(now)
        if self._server.overdue(now):
            out += self._refresh()
        if self.speaking.current is None and self._may_start(now):
            out += self.speaking.start_next(now)
            if self.speaking.current is not None:
                out += self._decide(self.floor.started_speaking(now, self._playing()), None, now)
        else:
            out += self.speaking.feed(now)
        if (
            self._server.closing is not None
            and self.speaking.idle
            and not self._holding
            and not self._server.more_to_come
        ):
            self._ended = True
            out += [*self.speaking.close_all("shutdown", now), Ended(self._server.closing)]
        return out

    def _all_done(self) -> bool:
        return self.speaking.idle and not self._holding and not self._server.more_to_come

    # ------------------------------------------------------------------ the floor

    def _playing(self) -> Playing:
        message, coming = self.speaking.current, self.speaking.next()
        return Playing(
            speaking=message is not None and message.started,
            can_interrupt=message is None or message.can_interrupt or message.stalled,
            waiting=coming is not None,
            stalled=coming is not None and coming.stalled,
            own=self._own.repeats,
            said=self._own.said,
        )

    def _next_can_be_cut(self) -> bool:
        message = self.speaking.next()
        return message is not None and message.can_interrupt

    def _may_start(self, now: float) -> bool:
        return self.speaking.gap_over(now) and not self.floor.holds(now)

    def _decide(self, decisions: list[Decision], evidence: Input | None, now: float) -> list[Output]:
        out: list[Output] = []
        for decision in decisions:
            out.append(FloorChanged(decision.act.value, decision.utterance_id, decision.reason))
            match decision.act:
                case Act.DUCK:
                    out.append(Duck(down=True))
                case Act.RESUME:
                    out.append(Duck(down=False))
                case Act.CUT:
                    out += self._cut(decision.cause, decision.utterance_id, now)
                case Act.TAKE if isinstance(evidence, Utterance):
                    if self._cut_now is not None and decision.cause == "stop_phrase":
                        self._cut_now.cause = decision.cause  # its first words did not show it yet
                    out += self._user_said(self._said(evidence), now)
                case Act.HOLD if isinstance(evidence, Utterance):
                    out += self._hold(evidence, now)
                case Act.IGNORE:
                    out += self._settle_without_words(decision.utterance_id, now)
        return out

    def _hold(self, utterance: Utterance, now: float) -> list[Output]:
        message = self.speaking.current
        if message is not None and self.rules.pacing.rule(message.kind).early_speech == "ignore":
            return [FloorChanged("ignore", utterance.utterance_id, f"pacing of {message.kind}")]
        self._holding.hold(self._said(utterance), now)
        return []

    def _said(self, utterance: Utterance) -> Said:
        return Said(utterance, self._question.expectation)

    def _release(self, now: float) -> list[Output]:
        """Send what was held, once, when nothing is spoken that may not be interrupted."""
        if not self._holding or (self.speaking.current is not None and not self.speaking.current.stalled):
            return []
        if self._server.closing != "shutdown":
            if self.floor.holds(now) or not self._server.reachable:
                return []
            waiting = self.speaking.next()
            if waiting is not None and not (waiting.can_interrupt or waiting.stalled):
                return []
        said = self._holding.take()
        released = FloorChanged("release", said.utterance.utterance_id, "the floor is free")
        if not self._playing().speaking:
            return [released, *self._send(said, now)]
        out = self._cut("voice", said.utterance.utterance_id, now)
        assert self._cut_now is not None
        self._cut_now.take = said
        return [released, *out]

    # ------------------------------------------------------------------ cuts

    def _cut(self, cause: Cause, utterance_id: str, now: float) -> list[Output]:
        """The one way to stop the voice, whatever the cause."""
        if self._cut_now is not None:  # the voice has stopped, or is about to
            if cause != "shutdown":
                return []
            self._cut_now.cause = cause
            return self._settle(now) if self._cut_now.stopped is not None else []
        if not self._playing().speaking and cause not in ("shutdown", "device"):
            out = self.speaking.drop_waiting(cause, now)
            if cause in ("key", "touch"):
                self._account.owe(out, None)
            return out
        self._cut_now = _Cut(cause, utterance_id, t=now)
        return [StopVoice(cause)]

    def _cut_playing(self, cause: Cause, now: float) -> list[Output]:
        return self._cut(cause, "", now) if self._playing().speaking else []

    def _stopped(self, event: VoiceStopped, now: float) -> list[Output]:
        """The voice has stopped: what was heard is known, and stays as it is."""
        cut = self._cut_now
        if cut is None:
            return []
        by_user = cut.cause in ("voice", "stop_phrase")
        cut.stopped = self.speaking.stopped(event, now, full_level=by_user, device_lost=cut.cause == "device")
        if by_user and cut.take is None:
            return [Duck(down=False)]  # until the utterance ends
        return [Duck(down=False), *self._settle(now)]

    def _settle(self, now: float) -> list[Output]:
        """Give each message that the cut ends its one report, and send what the user said with it."""
        cut, self._cut_now = self._cut_now, None
        assert cut is not None
        assert cut.stopped is not None
        if cut.take is not None:
            return self._send(cut.take, now, cut)
        if cut.cause == "device":
            return self._go_back(cut, now)
        out = self._close(cut, now)
        if cut.cause in ("key", "touch"):
            self._account.owe(out, cut.stopped)
        return out

    def _settle_without_words(self, utterance_id: str, now: float) -> list[Output]:
        """The utterance that cut the voice had no words after all: nothing was cut, the voice goes on."""
        cut = self._cut_now
        if cut is None or cut.stopped is None or cut.utterance_id != utterance_id:
            return []
        self._cut_now = None
        return [FloorChanged("resume", utterance_id, "no words after the cut"), *self._go_back(cut, now)]

    def _go_back(self, cut: _Cut, now: float) -> list[Output]:
        """The voice goes on with the clause it was in, unless the server ended that turn in the meantime."""
        assert cut.stopped is not None
        message = cut.stopped.message
        if message is not None and message.turn_id in self.speaking.dead_turns:
            cut.cause = self.speaking.dead_turns[message.turn_id] or cut.cause
            return self._close(cut, now)
        self.speaking.rewind(cut.stopped)
        return []

    def _close(self, cut: _Cut, now: float) -> list[Output]:
        assert cut.stopped is not None
        message = cut.stopped.message
        if message is not None and not (cut.stopped.finished and not self.speaking.queue):
            self.speaking.dead_turns.remember(message.turn_id, cut.cause)
        return self.speaking.finish(cut.stopped, cut.cause, cut.t if message is not None else now)

    def _noted(self, out: list[Output], now: float) -> list[Output]:
        self._account.note(out)
        self._own.note(out, now)
        return out

    # ------------------------------------------------------------------ to the server

    def _expect(self) -> list[Output]:
        """Tell the ears when another answer is expected than before."""
        if self.speaking.latest is not None:
            self._question.heard(self.speaking.latest)
        if self._question.expectation == self._told:
            return []
        self._told = self._question.expectation
        return [Expect(self._told)]

    def _user_said(self, said: Said, now: float) -> list[Output]:
        if self._holding:  # the user went on after what is held: one message
            if self._cut_now is None:
                self._holding.hold(said, now)  # and `_release` sends it
                return []
            said = merged([self._holding.take(), said])
        out: list[Output] = []
        playing = self._playing()
        if self._cut_now is None and playing.speaking:
            if not playing.can_interrupt:  # it began when their own cut had been settled by hand
                self._holding.hold(said, now)
                return []
            out = self._cut("voice", said.utterance.utterance_id, now)
        cut = self._cut_now
        if cut is None:
            return self._send(said, now)
        cut.take = said if cut.take is None else merged([cut.take, said])
        return self._settle(now) if cut.stopped is not None else out

    def _typed(self, typed: Said, now: float) -> list[Output]:
        if not typed.text:
            return []
        playing = self._playing()
        if playing.speaking and not playing.can_interrupt:
            self._holding.hold(typed, now)  # whatever the pacing of speech: nobody types by accident
            return []
        out = self._cut("key", "", now) if playing.speaking else []
        return [*out, *self._user_said(typed, now)]

    def _send(self, said: Said, now: float, cut: _Cut | None = None) -> list[Output]:
        """One user message, with the reports of what it cut before it."""
        if not said.text:
            return []
        out = self._close(cut, now) if cut is not None else self.speaking.drop_waiting("voice", now)
        stopped = cut.stopped if cut is not None else None
        if self._server.turn is not None:
            self.speaking.dead_turns.remember(self._server.turn, "voice")
        if not self._server.reachable:
            self._account.owe(out, stopped)
            self._holding.hold(said, now)
            return [*out, FloorChanged("hold", said.utterance.utterance_id, "the link is down")]
        played = self._account.settle(out, stopped)
        if self._server.closed_by_server:
            return [*out, Notice("conversation.closed", "the conversation is over: what was said is not sent")]
        if self._server.lost:
            return [*out, Notice("message.unsent", "the link is gone for good: what was said is not sent")]
        choice = matching_choice(said.text, said.expectation.choices)
        content = choice.label if choice is not None else said.text
        if len(content) > self.max_message_length:
            content = shorten(content, self.max_message_length)
            out.append(Notice("message.shortened", f"a user message was cut to {len(content)} characters"))
        self._question.answered()
        self.speaking.latest = None
        message = SendUserMessage(
            self._new_id(),
            content,
            played is not None,
            played,
            self._new_trace(),
            said.utterance.utterance_id,
            said.held(now),
        )
        return [*out, message]

    # ------------------------------------------------------------------ from the server

    def _turn_ended(self, event: TurnEnded, now: float) -> list[Output]:
        turn = event.turn_id or self._server.turn
        if turn is None:
            return []
        out = self._refresh() if self._server.doubt is not None or self._server.stale(turn) else []
        self._server.ended(turn)
        if event.outcome == "failed":
            out.append(Notice("turn.failed", f"the server failed a turn ({event.code or 'no code'})"))
        if event.outcome == "interrupted" and turn not in self.speaking.dead_turns:
            self.speaking.dead_turns.remember(turn, "server")
            out += self.speaking.drop_waiting("server", now, turn)
            current = self.speaking.current
            if current is not None and current.turn_id == turn:
                out += self._cut("server", "", now)
        return [*out, *self.speaking.end_turn(turn, now)]

    def _refresh(self) -> list[Output]:
        """Ask for what may have been missed, now that it stands in the history."""
        self._server.doubt = None
        return [RefreshSnapshot()] if self._server.linked else []

    def _snapshot(self, event: Snapshot, now: float) -> list[Output]:
        self.max_message_length = event.max_message_length
        self._server.restored(event)
        rows = event.rows
        last_user = max((i for i, row in enumerate(rows) if row.role == "user"), default=-1)
        out: list[Output] = []
        for i, row in enumerate(rows):
            if row.role == "assistant":
                if event.resumed and i < last_user:  # only what came after their last words is still owed to the ear
                    out += self.speaking.drop_waiting("voice", now, row.turn_id)
                    self.speaking.dead_turns.setdefault(row.turn_id, "voice")
                out += self.speaking.row(row, now)
        if event.completed or last_user >= 0:  # what was under way in another turn than the last will not go on
            out += self.speaking.end_turns(None if event.completed else rows[last_user].turn_id, now)
        return out
