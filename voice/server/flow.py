"""A flow: what the local server asks, what it makes of the answers, and which faults it commits on the way.

`voice.server.flow_file` reads one from TOML; the comments in the shipped flows document the format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from voice.server.extras import Extras
from voice.server.understand import Matcher

Expect = Literal["yes_no", "choices", "free", "number", "duration"]

BACK = "@back"
"""As `next`: the step from which an intent led away; its question is asked again."""

SAME = "@same"
"""As `next`: the present step; its question is asked again."""


@dataclass(frozen=True, slots=True)
class Line:
    """One assistant message to be."""

    kind: str
    text: str
    widgets: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Pace:
    """How text streams."""

    chars: int = 12
    """Code points per delta."""
    seconds: float = 0.05
    """Between two deltas."""
    thinking: float = 0.2
    """Seconds before the first message of a turn."""


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong, on purpose, in the turn that enters a step."""

    drop_after: int | None = None
    """The sockets are cut after this many frames of the turn, once; the turn goes on."""
    delay: float = 0.0
    """Seconds before the first message, on top of the pace's."""
    duplicate_delta: bool = False
    """The first delta of each message is sent twice."""
    malformed: bool = False
    """A frame that is not JSON goes out before each message."""
    other_text: str | None = None
    """`completed` ends with this text instead of the last delta's."""
    widgets_first: bool = False
    no_deltas: bool = False
    """`completed` comes without deltas."""
    late_events: int = 0
    """So many frames of the turn still come after a new user message preempted it."""
    fail: bool = False
    """The turn ends with `conversation.turn.failed` after its first message."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a user may volunteer; then it is read back."""

    id: str
    name: str
    match: Matcher
    asked_in: frozenset[str] = frozenset()
    """Steps that ask for it: an answer there is not volunteered."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A finding as recorded."""

    id: str
    name: str
    state: str
    origin: str = "asked"


@dataclass(frozen=True, slots=True)
class Branch:
    """What follows from one sort of answer."""

    name: str
    match: Matcher | None = None
    at_most: float | None = None
    """For numbers, and for durations in days."""
    say: tuple[Line, ...] = ()
    set: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One question, or the last words."""

    id: str
    messages: tuple[Line, ...]
    expect: Expect = "free"
    save: str | None = None
    branches: tuple[Branch, ...] = ()
    retry: tuple[Line, ...] = ()
    """Said when an answer is not understood."""
    tries: int = 2
    """Answers not understood before the step gives up and takes `next`."""
    next: str | None = None
    """Where to go when no branch says so."""
    end: Literal["completed", "terminated"] | None = None
    recommendation: Mapping[str, Any] | None = None
    pace: Pace | None = None
    faults: Faults = Faults()
    extras: Extras = field(default_factory=Extras)


@dataclass(frozen=True, slots=True)
class Intent:
    """What may be said at any time."""

    id: str
    match: Matcher
    say: tuple[Line, ...] = ()
    next: str = SAME
    handoff: str | None = None


@dataclass(frozen=True, slots=True)
class ReadBackCopy:
    """The server-made copy of a read-back; `{items}` is the list of findings."""

    lead: str = "I noted that "
    present: str = "you have {items}"
    absent: str = "you do not have {items}"
    unknown: str = "you are not sure about {items}"
    and_: str = " and "
    or_: str = " or "
    widget_text: str = "Let me confirm what I noted."


@dataclass(frozen=True, slots=True)
class Flow:
    """A whole conversation."""

    name: str
    language: str
    opening: str
    steps: Mapping[str, Step]
    goodbye: str = "Goodbye."
    """Said when the user interrupts the last words."""
    minimum_age: int = 0
    """Years; below, the conversation is terminated with `too_young` at the first message."""
    too_young: str = ""
    max_message_length: int = 1500
    opening_arrives: Literal["events", "snapshot", "both"] | None = None
    """How the opening reaches a WebSocket client; None: as the server assumes."""
    other_kinds: frozenset[str] = frozenset()
    """Kinds of messages beyond the documented ones, which a client has to bear."""
    pace: Pace = Pace()
    variables: Mapping[str, str] = field(default_factory=dict)
    intents: tuple[Intent, ...] = ()
    findings: tuple[Finding, ...] = ()
    read_back: ReadBackCopy = ReadBackCopy()
