"""How the local server behaves where the protocol leaves a choice; tests and the demo turn the switches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from voice.wire.spellings import assumed


@dataclass(frozen=True, slots=True)
class ServerRules:
    """The switches. Times in seconds."""

    ping_interval: float = 30.0
    """Between two JSON pings; the documented value."""
    missed_pongs: int = 2
    """Unanswered pings after which the link is closed."""
    first_frame_timeout: float = 10.0
    refusal: Literal["close", "http"] = "close"
    """How a bad token is refused: accepted and closed with 1008, or with an HTTP error."""
    opening: Literal["events", "snapshot"] = "snapshot" if assumed("opening.arrives") == "snapshot" else "events"
    """How the opening message arrives: as live events after the snapshot, or as rows in it."""
    most_conversations: int = 256
    """Kept in memory; the one not used for longest is forgotten first."""
    most_queued: int = 10_000
    """Frames waiting for one slow connection before it is cut."""
    max_frame: int = 64 * 1024
    """Bytes a client may send in one frame; 1,500 code points of any script fit many times over."""
