"""The times and limits of the local server. What a protocol leaves open is no rule but an assumption, with a table of
its own (voice/wire/spellings.py)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerRules:
    """Times in seconds."""

    ping_interval: float = 30.0
    """Between two JSON pings; the documented value."""
    missed_pongs: int = 2
    """Unanswered pings after which the link is closed."""
    first_frame_timeout: float = 10.0
    most_conversations: int = 256
    """Kept in memory; the one not used for longest is forgotten first."""
    most_queued: int = 10_000
    """Frames waiting for one slow connection before it is cut."""
    max_frame: int = 64 * 1024
    """Bytes a client may send in one frame; 1,500 code points of any script fit many times over."""
