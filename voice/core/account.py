"""The account of what was heard, as the server is told: `played_content` of the next user message.

Several messages may make one turn. When the user cuts it, the server learns what was heard of all of it, in the order
in which it was spoken, joined as it is displayed; or, by rule, of the cut message alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from voice.core.events import MessageClosed, Output
from voice.core.speaking import Stopped
from voice.core.text import joined

PlayedScope = Literal["turn", "message"]
"""What `played_content` covers: all that was heard of the cut turn, or of the cut message only."""


class Account:
    """What was heard of the turn that is being spoken."""

    def __init__(self, scope: PlayedScope) -> None:
        self._scope = scope
        self._turn = ""
        self._heard: list[str] = []
        self.owed: str | None = None
        """`played_content` of a cut made by hand, for the next user message; None: nothing was cut."""

    def note(self, outputs: Iterable[Output]) -> None:
        """Take in the reports of messages that are over."""
        for closed in _closed(outputs):
            if closed.turn_id != self._turn:
                self._turn, self._heard = closed.turn_id, []
            self._heard.append(closed.heard_text)

    def owe(self, closing: Sequence[Output], stopped: Stopped | None) -> None:
        """Keep what these reports cut off until the user says something."""
        self.owed = self._interruption(closing, stopped)

    def settle(self, closing: Sequence[Output], stopped: Stopped | None) -> str | None:
        """`played_content` of a user message with which these reports go out; None: it interrupts nothing."""
        played, self.owed = self._interruption(closing, stopped), None
        return played

    def _interruption(self, closing: Sequence[Output], stopped: Stopped | None) -> str | None:
        closed = _closed(closing)
        if not any(report.cut for report in closed):
            return self.owed
        before = self._heard if self._scope == "turn" and closed[0].turn_id == self._turn else []
        played = joined([*before, *(report.heard_text for report in closed)])
        sounded = stopped is not None and stopped.message is not None and stopped.message.t_start is not None
        return played if played or sounded else self.owed  # what made no sound was not cut off


def _closed(outputs: Iterable[Output]) -> list[MessageClosed]:
    return [output for output in outputs if isinstance(output, MessageClosed)]
