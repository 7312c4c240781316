"""Every rule of Google's CES protocol that its public definition leaves open, in one table.

The names of all frames are defined (`google/cloud/ces/v1`), so that only behaviour is assumed here. The client reads
every choice where it can; the local server does what the table says, or the other thing if it is told to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from voice.wire.assumptions import Assumption, Assumptions

ASSUMED: Final[Mapping[str, Assumption]] = {
    # ---- the server
    "frames": Assumption("text", "binary", "Google's own widget reads both, its libraries send text"),
    "turn_index.reconnect": Assumption("goes_on", "restarts", "the session is kept by the service, not by the socket"),
    "interrupted.completed": Assumption("yes", "no", "a turn ends only with turnCompleted; one report saw it follow"),
    "new_text.signal": Assumption("yes", "no", "the signal's other cause is a newer answer that replaces this one"),
    "end_session.place": Assumption("top_level", "output", "Google's adapters read only the top-level one"),
    "end_session.code": Assumption("1007", "1008", "an ended session is a failed precondition, and those are 1007"),
    "second_config": Assumption("close_1007", "ignored", "the first frame is the initial one; others are input"),
    "unknown_field": Assumption(
        "close_1007", "ignored", "a report quotes the refusal; another client gets away with it"
    ),
    "location": Assumption("must_agree", "free", "the path routes to where the session's data lies"),
    "opening.event": Assumption("session_start", "sys.welcome", "two of three integrations name it so"),
    "refused_upgrade": Assumption("401", "403", "what a missing bearer token is answered with elsewhere"),
    # ---- the client
    "late_audio": Assumption("drop", "play", "audio of a barged-in turn is not wanted, if any comes", of_client=True),
    "unanswered": Assumption(
        "resend", "forget", "no acknowledgement exists; a question asked twice is better than lost", of_client=True
    ),
    "half_close": Assumption("read_on", "close", "a WebSocket has none; the farewell may still come", of_client=True),
}

_TABLE: Final = Assumptions(ASSUMED)
assumed: Final = _TABLE.__getitem__
"""The value of the assumption of this name. Raises KeyError for a name that is not in the table."""
