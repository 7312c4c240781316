"""The account of one conversation, gathered by watching the values that enter and leave its session.

It keeps what the report needs and nothing else: no audio, no frames, no history. The people's words in it stay in
memory until somebody asks for a report. The newest `keep` messages and as many of everything else are kept, so a
kiosk that runs for weeks holds a bounded amount.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from voice.core import events as ev
from voice.core import server_events as sev
from voice.core.evidence import Partial, SpeechPaused, SpeechStarted, Utterance
from voice.report.entries import Decision, HeardUtterance, Incident, Lowered, Meant, Sent, SpokenMessage
from voice.report.words import SpokenWord, Track

KEEP = 2000
"""Messages; about eight hours of talk without a pause."""

HARMLESS = frozenset(
    {"link.down", "link.closed", "frame.ignored", "handoff", "message.shortened", "conversation.closed", "device.back"}
)
"""Codes of notices that are no errors. A code that is not known here counts as an error: better one too many."""

FULL_LEVEL = 0.99
"""Gain from which on a span is not lowered: the first frames of a ramp say nothing a person could hear."""


class Record:
    """An observer: `record(t, item)` for each input and output in order; `t` in seconds of the session's clock."""

    def __init__(self, keep: int = KEEP) -> None:
        self.t_first: float | None = None
        self.t_last = 0.0
        self.messages: dict[str, SpokenMessage] = {}
        self.utterances: dict[str, HeardUtterance] = {}
        self.dropped = 0
        """Messages that were left out to stay bounded."""
        self.reconnects = 0
        self.ended = ""
        """Why the conversation ended; empty while it goes on."""
        self.decisions: deque[Decision] = deque(maxlen=keep)
        self.sends: deque[Sent] = deque(maxlen=keep)
        self.lowered: deque[Lowered] = deque(maxlen=keep)
        self.errors: deque[Incident] = deque(maxlen=keep)
        self.notices: deque[Incident] = deque(maxlen=keep)
        self.links: deque[Incident] = deque(maxlen=keep)
        self.meanings: deque[Meant] = deque(maxlen=keep)
        self._keep = keep
        self._tracks: dict[str, Track] = {}
        self._open: set[str] = set()
        self._unstamped: list[tuple[ev.Span, int]] = []
        self._speaker = ""
        self._ducker = ""
        self._cutter = ""
        self._decided = ""
        self._take: dict[type, Callable[[float, Any], None]] = {
            sev.MessageDelta: self._delta,
            sev.MessageCompleted: self._completed,
            ev.Speak: self._speak,
            ev.ClauseVoiced: self._voiced,
            ev.Played: self._played,
            ev.VoiceStopped: self._stopped,
            ev.MessageClosed: self._closed,
            ev.Caption: self._caption,
            SpeechStarted: self._started,
            SpeechPaused: self._paused,
            Partial: self._partial,
            Utterance: self._utterance,
            ev.FloorChanged: self._floor,
            ev.Duck: self._duck,
            ev.SendUserMessage: self._send,
            ev.LinkUp: self._link_up,
            ev.LinkDown: self._link_down,
            ev.DeviceLost: self._device_lost,
            ev.Notice: self._notice,
            ev.Ended: self._ended,
        }

    def __call__(self, t: float, item: ev.Input | ev.Output) -> None:
        """Take one value."""
        if self.t_first is None:
            self.t_first = t
        self.t_last = max(self.t_last, t)
        if (take := self._take.get(type(item))) is not None:
            take(t, item)

    def meant(self, text: str, t_start: float, t_end: float) -> None:
        """The simulated user said (or coughed) `text` from `t_start` to `t_end`."""
        self.meanings.append(Meant(text, t_start, t_end))

    def words(self, message_id: str) -> tuple[SpokenWord, ...]:
        """The words of a message that left the loudspeaker so far, in order of time."""
        if (track := self._tracks.get(message_id)) is not None:
            return track.words()
        message = self.messages.get(message_id)
        return message.words if message is not None else ()

    # ------------------------------------------------------------------ the server's messages

    def _message(self, t: float, message_id: str) -> SpokenMessage:
        if (message := self.messages.get(message_id)) is None:
            message = self.messages[message_id] = SpokenMessage(message_id, t)
            message.waited = bool(self._open)
            self._open.add(message_id)
            while len(self.messages) > self._keep:
                oldest = next(iter(self.messages))
                del self.messages[oldest]
                self._tracks.pop(oldest, None)
                self._open.discard(oldest)
                self.dropped += 1
        return message

    def _header(self, t: float, event: sev.MessageDelta | sev.MessageCompleted | ev.MessageClosed) -> SpokenMessage:
        message = self._message(t, event.id)
        message.turn_id, message.kind = event.turn_id, event.kind
        if event.can_interrupt is not None and message.closed is None:
            message.can_interrupt = event.can_interrupt
        return message

    def _delta(self, t: float, event: sev.MessageDelta) -> None:
        self._header(t, event).text += event.text

    def _completed(self, t: float, event: sev.MessageCompleted) -> None:
        self._header(t, event).text = event.text

    def _closed(self, t: float, event: ev.MessageClosed) -> None:
        message = self._header(t, event)
        message.closed = event
        self._open.discard(event.id)
        message.text = message.text or event.source
        if (track := self._tracks.pop(event.id, None)) is not None:
            message.words = track.words()

    def _caption(self, t: float, event: ev.Caption) -> None:
        message = self._message(t, event.id)
        message.kind = message.kind or event.kind
        message.claimed = event.text[: event.heard]

    # ------------------------------------------------------------------ the voice

    def _speak(self, t: float, event: ev.Speak) -> None:
        if self._message(t, event.message_id).closed is None:
            self._tracks.setdefault(event.message_id, Track()).asked(event.clause, event.text)

    def _voiced(self, t: float, event: ev.ClauseVoiced) -> None:
        if (track := self._tracks.get(event.message_id)) is not None:
            track.voiced(event.clause, event.marks)

    def _played(self, t: float, event: ev.Played | ev.VoiceStopped) -> None:
        self._unstamped.extend((span, event.rate) for span in event.spans)
        if event.stamp is None:
            return
        spans, self._unstamped = self._unstamped, []
        for span, rate in spans:
            if (track := self._tracks.get(span.message_id)) is not None:
                left = track.played(span, event.stamp, rate)
                if span.level < FULL_LEVEL and (ducker := self.utterances.get(self._ducker)) is not None:
                    ducker.t_ducked, self._ducker = left, ""

    def _stopped(self, t: float, event: ev.VoiceStopped) -> None:
        self._played(t, event)
        self._raise(t)
        cutter, self._cutter = self.utterances.get(self._cutter), ""
        if cutter is not None and event.stamp is not None and cutter.t_silenced is None:
            cutter.t_silenced = event.stamp.time + (event.frame - event.stamp.frame) / event.rate

    def _duck(self, t: float, event: ev.Duck) -> None:
        self._raise(t)
        if event.down:
            self.lowered.append(Lowered(t))
            speaker = self.utterances.get(self._speaker)
            # A voice that began while the user spoke is lowered, too, but says nothing about speed.
            self._ducker = self._speaker if speaker is not None and speaker.t_noticed == t else ""

    def _raise(self, t: float) -> None:
        if self.lowered and self.lowered[-1].t_end is None:
            self.lowered[-1].t_end = t

    def _device_lost(self, t: float, event: ev.DeviceLost) -> None:
        self._unstamped.clear()  # that device will never say when they left

    # ------------------------------------------------------------------ the user

    def _heard(self, utterance_id: str, onset: float) -> HeardUtterance:
        if (utterance := self.utterances.get(utterance_id)) is None:
            utterance = self.utterances[utterance_id] = HeardUtterance(utterance_id, onset, onset)
            while len(self.utterances) > self._keep:
                del self.utterances[next(iter(self.utterances))]
        return utterance

    def _started(self, t: float, event: SpeechStarted) -> None:
        self._speaker = event.utterance_id
        utterance = self._heard(event.utterance_id, event.onset)
        utterance.t_end = utterance.t_noticed = t

    def _paused(self, t: float, event: SpeechPaused) -> None:
        utterance = self._heard(event.utterance_id, event.end)
        utterance.t_end = max(utterance.t_end, event.end)

    def _partial(self, t: float, event: Partial) -> None:
        utterance = self._heard(event.utterance_id, t)
        if not utterance.final:
            utterance.text = event.text
            utterance.t_end = max(utterance.t_end, utterance.t_start + event.voiced)

    def _utterance(self, t: float, event: Utterance) -> None:
        utterance = self._heard(event.utterance_id, event.onset)
        utterance.text, utterance.final = event.text, True
        utterance.t_start, utterance.t_end = event.onset, event.end

    def _floor(self, t: float, event: ev.FloorChanged) -> None:
        decision = Decision(t, event.decision, event.utterance_id, event.reason)
        self.decisions.append(decision)
        if (utterance := self.utterances.get(event.utterance_id)) is not None:
            utterance.decisions.append(decision)
            if event.decision == "resume":
                utterance.t_silenced = None  # the voice goes on: nothing was cut
        if event.decision == "cut":
            self._cutter = event.utterance_id
        self._decided = event.utterance_id

    def _send(self, t: float, event: ev.SendUserMessage) -> None:
        sent = Sent(t, event)
        self.sends.append(sent)
        if (utterance := self.utterances.get(event.utterance_id)) is not None:
            utterance.sent = sent
            for other in self.utterances.values():  # what was held goes out as one message
                if other.sent is None and other.waits and other is not utterance:
                    other.not_sent = f"sent together with {utterance.id}"

    # ------------------------------------------------------------------ the connection and what went wrong

    def _link_up(self, t: float, event: ev.LinkUp) -> None:
        self.reconnects = max(self.reconnects, event.reconnects)
        self.links.append(Incident(t, "link_up", f"connected (reconnects: {event.reconnects})"))

    def _link_down(self, t: float, event: ev.LinkDown) -> None:
        self.links.append(Incident(t, "link_down", event.reason))

    def _notice(self, t: float, event: ev.Notice) -> None:
        (self.notices if event.code in HARMLESS else self.errors).append(Incident(t, event.code, event.text))
        last = self.utterances.get(self._decided)
        if event.code in ("conversation.closed", "message.unsent") and last is not None:
            last.not_sent = event.text

    def _ended(self, t: float, event: ev.Ended) -> None:
        self.ended = event.reason
