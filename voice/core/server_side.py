"""What the session knows of its server: which turn runs, whether it can be reached, what may have been missed."""

from __future__ import annotations

from dataclasses import dataclass

from voice.core.server_events import ConversationClosed, Snapshot, UserAccepted

DOUBT = 5.0
"""Seconds after a frame that could not be read in which its turn should end; then the history is asked for anyway, for
it may have been the end of the turn."""

CLOSED_BY_SERVER = ("completed", "terminated")


@dataclass(slots=True)
class ServerSide:
    """Pure bookkeeping; the session decides what follows."""

    turn: str | None = None
    """The turn that the server told of last."""
    runs: bool = False
    resumed: bool = False
    """The beginning of a turn that runs may have been missed."""
    missed: bool = False
    """The link broke in a running turn, and no snapshot came since."""
    doubt: float | None = None
    """Since when something of the turn that runs may have been missed on a link that stands."""
    linked: bool = True
    """The server can be reached, as far as we know."""
    lost: bool = False
    """The link will not come back."""
    closing: str | None = None
    """Why the conversation is to end, once it is."""

    def accepted(self, event: UserAccepted) -> None:
        """A turn begins."""
        self.turn, self.runs = event.turn_id, True

    def closed(self, event: ConversationClosed) -> None:
        """The server takes no more messages."""
        self.closing = "terminated" if event.terminated else "completed"

    def up(self, restored: bool) -> None:
        """The link stands; `restored`: and nothing more is told of the time without it."""
        if restored:
            self.linked, self.missed, self.resumed = True, False, False

    def down(self, reason: str, fatal: bool) -> None:
        """The link is gone. After the conversation's own end that is no other reason for it to be over."""
        if fatal and not self.closed_by_server:
            self.closing = reason
        self.linked, self.lost = False, self.lost or fatal
        self.missed = not fatal and (self.missed or self.runs)
        self.runs, self.resumed = False, True

    def doubtful(self, now: float) -> None:
        """A frame could not be read."""
        self.doubt = now if self.doubt is None else self.doubt

    def restored(self, snapshot: Snapshot) -> None:
        """The whole conversation was told anew."""
        self.linked = True
        if snapshot.terminated or snapshot.completed:
            self.closing = "terminated" if snapshot.terminated else "completed"
        self.resumed, self.missed, self.doubt = snapshot.resumed, False, None

    def ended(self, turn: str) -> None:
        """A turn is over."""
        self.runs = self.runs and turn != self.turn

    def stale(self, turn_id: str) -> bool:
        """Whether the beginning of this turn may have been missed while the link was down."""
        return self.resumed and not (self.runs and turn_id == self.turn)

    def overdue(self, now: float) -> bool:
        """Whether the turn in which something was lost should have ended by now."""
        return self.doubt is not None and now - self.doubt > DOUBT

    @property
    def closed_by_server(self) -> bool:
        """The conversation is over because the server said so."""
        return self.closing in CLOSED_BY_SERVER

    @property
    def more_to_come(self) -> bool:
        """The server said that the conversation is over, and its last turn has not reached us to its end yet."""
        return (self.runs or self.missed) and self.closed_by_server

    @property
    def reachable(self) -> bool:
        """Whether a message may go out: to a server, or into the last report of a conversation that ends."""
        return self.linked or bool(self.closing)
