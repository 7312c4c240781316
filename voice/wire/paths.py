"""Where the servers listen for WebSockets, below their hosts."""

from __future__ import annotations

from typing import Final

INFERMEDICA: Final = "/api/ct/v2/realtime"

CES: Final = "/ws/google.cloud.ces.v1.SessionService/BidiRunSession/locations/"
"""The location of the session stands behind it."""
