"""The protocols that are spoken here, and where their servers listen for WebSockets, below their hosts."""

from __future__ import annotations

from typing import Final, Literal, get_args

Backend = Literal["infermedica", "ces"]
"""Whose protocol a server speaks."""

BACKENDS: Final[tuple[Backend, ...]] = get_args(Backend)

INFERMEDICA: Final = "/api/ct/v2/realtime"

CES: Final = "/ws/google.cloud.ces.v1.SessionService/BidiRunSession/locations/"
"""The location of the session stands behind it."""
