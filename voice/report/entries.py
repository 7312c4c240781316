"""What a `Record` holds: one small noun each. Times are seconds of the session's clock."""

from __future__ import annotations

from dataclasses import dataclass, field

from voice.core.events import MessageClosed, SendUserMessage
from voice.report.words import SpokenWord


@dataclass(slots=True)
class SpokenMessage:
    """One message of the server and what became of it."""

    id: str
    t_arrived: float
    turn_id: str = ""
    kind: str = ""
    can_interrupt: bool = True
    text: str = ""
    """What the server wrote so far."""
    claimed: str = ""
    """The prefix that the captions showed as heard so far; counts only while the session has not closed it."""
    closed: MessageClosed | None = None
    words: tuple[SpokenWord, ...] = ()
    waited: bool = False
    """Something else was still to be spoken when it came, so that its start says nothing about speed."""

    @property
    def source(self) -> str:
        """What the server wrote: of two versions, the one that the heard text is a prefix of."""
        if self.closed is None or self.text.startswith(self.closed.source):
            return self.text
        return self.closed.source

    @property
    def heard(self) -> str:
        """A verbatim prefix of the source; in doubt the shorter one."""
        if self.closed is not None:
            return self.closed.heard
        return self.claimed if self.text.startswith(self.claimed) else ""

    @property
    def t_start(self) -> float | None:
        """When its first sample left the loudspeaker; None if none did."""
        if self.closed is not None:
            return self.closed.t_start
        return self.words[0].t_start if self.words else None

    @property
    def t_end(self) -> float:
        """When it was over; for one that was never closed, when its last word ended or it came."""
        if self.closed is not None:
            return self.closed.t_end
        return self.words[-1].t_end if self.words else self.t_arrived

    @property
    def t_order(self) -> float:
        """Where it belongs in the transcript: by its sound, else by its end."""
        return self.t_end if self.t_start is None else self.t_start


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision of the floor."""

    t: float
    decision: str
    utterance_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Sent:
    """One message to the server."""

    t: float
    message: SendUserMessage


@dataclass(frozen=True, slots=True)
class Meant:
    """What the simulated user was to say, and when it sounded."""

    text: str
    t_start: float
    t_end: float


@dataclass(slots=True)
class HeardUtterance:
    """One stretch of the user's voice and what became of it."""

    id: str
    t_start: float
    t_end: float
    text: str = ""
    """The final text, or the newest partial as long as there is none."""
    final: bool = False
    decisions: list[Decision] = field(default_factory=list)
    sent: Sent | None = None
    not_sent: str = ""
    """Why it was not sent as a message of its own, where that is known for certain."""
    t_noticed: float | None = None
    """When the session learned that the voice began."""
    t_ducked: float | None = None
    """When the lowered voice left the loudspeaker, if this utterance lowered it."""
    t_silenced: float | None = None
    """When the loudspeaker fell silent, if this utterance cut it."""

    @property
    def waits(self) -> bool:
        """The floor took or held it, it was not sent, and nothing says why."""
        last = self.decisions[-1].decision if self.decisions else ""
        return self.sent is None and not self.not_sent and last in ("take", "hold", "release")


@dataclass(frozen=True, slots=True)
class Incident:
    """A notice or an error; `code` is stable, `text` is one line."""

    t: float
    code: str
    text: str


@dataclass(slots=True)
class Lowered:
    """A time during which the voice was ducked; `t_end` is None while it is."""

    t_start: float
    t_end: float | None = None
