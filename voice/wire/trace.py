"""W3C Trace Context: the `traceparent` that ties a user message to the server's own trace."""

from __future__ import annotations

import secrets
from collections.abc import Callable

_TRACE_BYTES = 16
_SPAN_BYTES = 8
"""Sizes of W3C Trace Context level 1, section 3.2.2: an id of zeros only is invalid."""


def traceparent(random_bytes: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """A new value, sampled: `00-<32 hex digits>-<16 hex digits>-01`. `random_bytes(n)` gives n bytes."""
    return f"00-{_identifier(_TRACE_BYTES, random_bytes)}-{_identifier(_SPAN_BYTES, random_bytes)}-01"


def _identifier(size: int, random_bytes: Callable[[int], bytes]) -> str:
    raw = random_bytes(size)
    while not any(raw):
        raw = random_bytes(size)
    return raw.hex()
