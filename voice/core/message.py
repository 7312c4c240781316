"""One assistant message: what there is to say and how far it got."""

from __future__ import annotations

from dataclasses import dataclass

from voice.core.events import Cause, MessageClosed
from voice.core.playhead import Heard
from voice.core.script import Script
from voice.core.widgets import Widget


@dataclass(slots=True)
class Message:
    """An assistant message from its first delta to its one report."""

    id: str
    turn_id: str
    kind: str
    can_interrupt: bool
    script: Script
    widgets: tuple[Widget, ...] = ()
    card: int = 0
    """Characters at the end of the script that were read from a card and do not stand in the server's text."""
    aside: int = 0
    """How many of these are the program's own words: what may be answered. The server's words end before."""
    started: bool = False
    """A clause of it was given to the voice."""
    synthesising: int | None = None
    """Index of the clause the voice is at work on."""
    heard: int = 0
    """Characters of the source heard, as last shown."""
    known: Heard | None = None
    """What was heard before the voice went back to say a clause once more."""
    dry_since: float | None = None
    """Since when everything that the server has written of it is spoken, and more is to come."""
    stalled: bool = False
    """It has been dry for so long that the floor is free, whatever its kind."""
    t_start: float | None = None
    """When its first sample left the loudspeaker."""

    def report(self, heard: str, estimated: bool, cut: Cause | None, t_end: float) -> MessageClosed:
        """The one report of this message."""
        return MessageClosed(
            id=self.id,
            turn_id=self.turn_id,
            kind=self.kind,
            can_interrupt=self.can_interrupt,
            source=self.script.source,
            heard=heard,
            cut=cut,
            heard_is_estimate=estimated,
            t_start=self.t_start,
            t_end=t_end,
            card=self.card,
        )
