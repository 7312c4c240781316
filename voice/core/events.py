"""Everything that enters a `Session` and everything that leaves it, as values.

Inputs are what the world tells the session (the server, the ears, the loudspeaker, the voice, the user's
hands). Outputs are what the session asks of the world. The time of an input is given beside it to
`Session.handle(event, now)`; times inside events are seconds on the same clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from voice.core.client_inputs import ClientInput
from voice.core.evidence import Evidence
from voice.core.expectation import Expectation
from voice.core.server_events import ServerEvent

Cause = Literal["voice", "stop_phrase", "key", "touch", "server", "device", "shutdown"]
"""Why a message was cut."""

# --------------------------------------------------------------------------- from the link; `ServerEvent` has the rest


@dataclass(frozen=True, slots=True)
class LinkUp:
    """The socket is open and bound to the conversation."""

    reconnects: int
    restored: bool = False
    """No snapshot follows: the protocol has none, and what it could tell of the time without a link was told before."""


@dataclass(frozen=True, slots=True)
class LinkDown:
    """The socket is gone. `fatal`: it will not be opened again; `reason` says why, in one line."""

    reason: str
    fatal: bool


# --------------------------------------------------------------------------- from the voice and the loudspeaker


@dataclass(frozen=True, slots=True)
class WordMark:
    """Where one word of a clause lies in its audio, in samples from the start of the clause's audio.

    `start`, `end` are characters of the clause's spoken text; `first`..`last` (exclusive) are samples at the
    device's rate. `last` is the word's last audible sample + 1: a pause after the word is not part of it.
    """

    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ClauseVoiced:
    """Marks and audio length of a clause as far as synthesised. Comes in pieces; the last has `final`."""

    message_id: str
    clause: int
    marks: tuple[WordMark, ...]
    samples: int
    """Samples of this clause handed to the player so far (running total)."""
    final: bool
    estimated: bool = False
    """The marks are estimates (they under-claim), not the engine's own."""


@dataclass(frozen=True, slots=True)
class ClauseFailed:
    """The voice could not speak this clause; `reason` in one line, without the text."""

    message_id: str
    clause: int
    reason: str


@dataclass(frozen=True, slots=True)
class Span:
    """A run of frames that the player wrote to the device: `count` frames from device frame `frame` on hold the
    samples from `sample` on of clause `clause`. `level` is the gain: 1 as spoken, less while ducked. Frames of a
    fade, of silence, of a lead-in or of an underrun are in no span."""

    frame: int
    message_id: str
    clause: int
    sample: int
    count: int
    level: float = 1.0


@dataclass(frozen=True, slots=True)
class Stamp:
    """The device says that frame `frame` leaves (or left) its converter at `time`."""

    frame: int
    time: float


@dataclass(frozen=True, slots=True)
class Played:
    """The player's ledger since the last report, and the device's newest stamp (None before the first)."""

    spans: tuple[Span, ...]
    stamp: Stamp | None
    rate: int


@dataclass(frozen=True, slots=True)
class VoiceStopped:
    """The player stopped: nothing from frame `frame` on was written at full level, but for the fade."""

    spans: tuple[Span, ...]
    frame: int
    stamp: Stamp | None
    rate: int


@dataclass(frozen=True, slots=True)
class DeviceLost:
    """The loudspeaker or the microphone is gone or its callbacks stopped; `reason` in one line."""

    reason: str


@dataclass(frozen=True, slots=True)
class Tick:
    """Time went by."""


@dataclass(frozen=True, slots=True)
class UserCut:
    """The user took the floor by hand."""

    cause: Literal["key", "touch"]


@dataclass(frozen=True, slots=True)
class Typed:
    """The user wrote a message instead of saying it."""

    text: str


@dataclass(frozen=True, slots=True)
class Shutdown:
    """The program is asked to end."""


Input = (
    ServerEvent
    | LinkUp
    | LinkDown
    | Evidence
    | ClauseVoiced
    | ClauseFailed
    | Played
    | VoiceStopped
    | DeviceLost
    | Tick
    | UserCut
    | Typed
    | Shutdown
)

# --------------------------------------------------------------------------- outputs


@dataclass(frozen=True, slots=True)
class Speak:
    """Synthesise this clause and queue its audio behind what is queued. `rate` is relative to the voice's own
    rate (1.0)."""

    message_id: str
    clause: int
    text: str
    rate: float


@dataclass(frozen=True, slots=True)
class StopVoice:
    """Fade out at once, drop what is queued, and answer with `VoiceStopped` before anything else happens."""

    cause: Cause


@dataclass(frozen=True, slots=True)
class Duck:
    """Lower the voice within one block, or raise it again. Positions go on."""

    down: bool


@dataclass(frozen=True, slots=True)
class SendUserMessage:
    """One utterance for the server, and what it cut."""

    id: str
    content: str
    is_interrupted: bool
    played_content: str | None
    """None: nothing was interrupted. "": something was, and nothing of it had been heard."""
    traceparent: str
    utterance_id: str = ""
    held: float = 0.0
    """Seconds between the end of the utterance and this."""


@dataclass(frozen=True, slots=True)
class SendInput:
    """Something else than an utterance for the server: keys, an event, variables, a picture, the answer of a tool."""

    input: ClientInput


@dataclass(frozen=True, slots=True)
class RefreshSnapshot:
    """Fetch the conversation anew: some of it may have been missed. The answer is a `Snapshot`."""


@dataclass(frozen=True, slots=True)
class MessageClosed:
    """The one report of an assistant message: it is over, and this is what was heard of it."""

    id: str
    turn_id: str
    kind: str
    can_interrupt: bool
    source: str
    heard: str
    cut: Cause | None
    """None: spoken to its end (or it had nothing to say)."""
    heard_is_estimate: bool
    t_start: float | None
    """When its first sample left the loudspeaker; None if none did."""
    t_end: float
    card: int = 0
    """Characters at the end of `source` that were read from a card of the message; the server's text ends before."""

    @property
    def heard_text(self) -> str:
        """What was heard of the server's text: a verbatim prefix of it."""
        return self.heard[: len(self.source) - self.card].rstrip() if self.card else self.heard


@dataclass(frozen=True, slots=True)
class Caption:
    """What is being said: `text` of message `id`, of which the first `heard` characters were heard."""

    id: str
    kind: str
    text: str
    heard: int


@dataclass(frozen=True, slots=True)
class FloorChanged:
    """A decision of the floor, for the timeline: duck, resume, cut, hold, release, ignore."""

    decision: str
    utterance_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Expect:
    """What the next answer may be has changed: the ears end a turn sooner or later for it."""

    expectation: Expectation


@dataclass(frozen=True, slots=True)
class Notice:
    """Something an operator should know: `code` is stable, `text` is one line without private text."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The conversation is over and everything was spoken."""

    reason: str


Output = (
    Speak
    | StopVoice
    | Duck
    | SendUserMessage
    | SendInput
    | RefreshSnapshot
    | MessageClosed
    | Caption
    | FloorChanged
    | Expect
    | Notice
    | Ended
)
