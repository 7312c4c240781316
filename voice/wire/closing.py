"""Why a link was lost and whether to try again: the one table of retry or fatal.

| what happened | outcome |
| --- | --- |
| address or token that cannot work; HTTP 4xx at the upgrade, 401, 403, 429 and 408 excepted | fatal |
| the token was refused: HTTP 401 or 403 at the upgrade, close code 1008 | once more with a fresh token, then fatal |
| first frame refused: invalid_payload, invalid_message_type, conversation_not_found | fatal |
| closed normally (1000) after the conversation was completed or terminated | fatal: nothing is left to do |
| everything else: refused, reset, timed out, HTTP 429 and 5xx, other close codes, a frame too long | try again |

No text here holds the token, the query of the address, or anything a person said.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

REFUSES_FIRST = frozenset(
    {"invalid_payload", "invalid_message_type", "conversation_not_found", "missing_token", "invalid_request"}
)
"""Error codes after which the same first frame would be refused again."""

REFUSES_MESSAGE = frozenset(
    {"invalid_payload", "invalid_message_type", "conversation_completed", "conversation_terminated"}
)
"""Error codes after which the same user message would be refused again."""

_LONGEST_RETRY_AFTER = 300.0
"""Seconds; a server that asks for more is asked again anyway."""

_NORMAL, _INVALID, _POLICY, _TOO_BIG = 1000, 1007, 1008, 1009

SESSION_OVER = "the session was over when the link came back"

_GOOGLE_STATUS = re.compile(r"generic::(\w+)")
"""Google's word for why, in the reason of a close; the rest of the reason may hold anything, and is not told."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The end of a socket: why, in one line, and whether it is of no use to try again."""

    reason: str
    fatal: bool = False
    retry_after: float = 0.0
    """Seconds the server asks to wait."""
    refused_token: bool = False
    """The token was refused: of use to try again where another one can be had."""


def unusable(url: str, token: str | None) -> str:
    """What is wrong with an address or a token, in one line; "" if nothing."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("ws", "wss") or not host:
        return "the server's address is not a WebSocket address; it must look like wss://host/path"
    if token is None:
        return ""
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        return "the token is empty or has characters that no token has; copy it again"
    if parts.scheme == "ws" and not is_loopback(host):
        return f"ws://{host} would carry the token unencrypted; use wss://"
    return ""


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine, so that nothing that is sent to it leaves it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def not_opened(error: Exception, url: str) -> Lost:
    """The outcome of an attempt to open a socket to `url`."""
    host = urlsplit(url).hostname
    if isinstance(error, InvalidStatus):
        status = error.response.status_code
        if status in (401, 403):
            return Lost(f"{host} refused the token (HTTP {status}); get a new one", fatal=True, refused_token=True)
        if 400 <= status < 500 and status not in (408, 429):
            return Lost(f"{host} has no conversation server at this address (HTTP {status}); check it", fatal=True)
        return Lost(f"{host} is not ready (HTTP {status})", retry_after=_seconds(error))
    if isinstance(error, InvalidURI):
        return Lost("the server's address is not a WebSocket address; it must look like wss://host/path", fatal=True)
    if isinstance(error, TimeoutError):
        return Lost(f"{host} did not answer in time")
    if isinstance(error, OSError):
        return Lost(f"{host} cannot be reached ({error.strerror or type(error).__name__})")
    if isinstance(error, InvalidHandshake):
        return Lost(f"{host} did not answer as a WebSocket server ({type(error).__name__})")
    return Lost(f"no connection to {host} ({type(error).__name__})")


def _seconds(error: InvalidStatus) -> float:
    """`Retry-After` in seconds; its date form is not used by rate limiters and counts as absent."""
    found = error.response.headers.get("Retry-After", "")
    return min(float(found), _LONGEST_RETRY_AFTER) if found.isascii() and found.isdigit() else 0.0


def closed(error: ConnectionClosed, over: bool) -> Lost:
    """The outcome of a socket that was open; `over`: the conversation had been completed or terminated."""
    theirs = error.rcvd.code if error.rcvd is not None else None
    ours = error.sent.code if error.sent is not None else None
    if theirs == _POLICY:
        return Lost("the server refused the token (close code 1008); get a new one", fatal=True, refused_token=True)
    if over and theirs == _NORMAL:
        return Lost("the conversation is over and the server closed the link", fatal=True)
    if ours == _TOO_BIG and not error.rcvd_then_sent:
        return Lost("the server sent a frame that is longer than the limit")
    if theirs is not None:
        return Lost(f"the server closed the link (close code {theirs})")
    return Lost("the link broke off")


def closed_by_google(error: ConnectionClosed, *, answered: bool, again: bool) -> Lost:
    """The outcome of a CES connection; `answered`: the server had sent output on it; `again`: it was not the first.

    There are no error frames: the code and one word of the reason tell all. 1007 before any output is about what every
    connection sends, so it would come again; a failed precondition, when the same configuration was taken before,
    says that the session has ended since (`SESSION_OVER`).
    """
    theirs = error.rcvd
    found = _GOOGLE_STATUS.search(theirs.reason) if theirs is not None else None
    status = found[1][:40] if found is not None else ""
    if theirs is None or not status:
        return closed(error, over=False)
    reason = f"the server closed the link (close code {theirs.code}, {status})"
    if status in ("permission_denied", "unauthenticated"):
        return Lost(reason + "; check the token and its role", fatal=True, refused_token=True)
    if status == "failed_precondition" and again and not answered:
        return Lost(SESSION_OVER, fatal=True)
    if status == "not_found":
        return Lost(reason + "; check app, deployment and agent", fatal=True)
    if theirs.code == _INVALID and not answered:
        return Lost(reason + "; check the session's configuration", fatal=True)
    return Lost(reason)
