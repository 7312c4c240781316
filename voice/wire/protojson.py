"""ProtoJSON: how protocol buffers are written as JSON. Readers here are lenient, writers are exact.

Members have two spellings (`mimeType`, `mime_type`), a default value is left out, `null` counts as absent, and an
empty message is `{}`, which is false in Python: whether a member is there is asked with `member(...) is not None`.
Source: "ProtoJSON format" of the Protocol Buffers documentation; RFC 3339 for times.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from typing import Any, Final

NANOS: Final = 1_000_000_000
"""Nanoseconds of a second."""

INT32_MAX: Final = 2**31 - 1

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:([Zz])|([+-])(\d\d):(\d\d))", re.ASCII
)
_DURATION = re.compile(r"(-?)(\d{1,12})(?:\.(\d{1,9}))?s", re.ASCII)
_HUMP = re.compile(r"[A-Z]")
_MOST_PADDING = 2


def member(found: Mapping[str, Any], name: str) -> Any:
    """The member with this lowerCamelCase name, in either spelling; None where it is absent or null."""
    value = found.get(name)
    return value if value is not None else found.get(_snake(name))


@cache
def _snake(name: str) -> str:
    """The other spelling of a member's name; names come from our code, so that there are few."""
    return _HUMP.sub(lambda hump: "_" + hump.group().lower(), name)


def text(found: Mapping[str, Any], name: str) -> str:
    """The string there, else ""."""
    value = member(found, name)
    return value if isinstance(value, str) else ""


def flag(found: Mapping[str, Any], name: str) -> bool:
    """Whether the boolean there is true; absent is false."""
    return member(found, name) is True


def count(found: Mapping[str, Any], name: str) -> int:
    """The int32 there, which may be written as a float or a string; 0 where it is absent, negative or none."""
    value = member(found, name)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len(str(INT32_MAX)):
        value = int(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= INT32_MAX:
        return int(value) if value == int(value) else 0
    return 0


def struct(found: Any) -> Mapping[str, Any]:
    """The object `found`, else an empty one."""
    return found if isinstance(found, Mapping) else {}


def messages(found: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Those entries of the list there that are objects."""
    value = member(found, name)
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def strings(found: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Those entries of the list there that are strings."""
    value = member(found, name)
    return tuple(entry for entry in value if isinstance(entry, str)) if isinstance(value, list) else ()


def octets(value: Any) -> bytes | None:
    """The bytes in base64, standard or URL-safe, padded or not; None where it is neither."""
    if not isinstance(value, str):
        return None
    body = value.rstrip("=")
    if len(value) - len(body) > _MOST_PADDING:
        return None
    standard = body.translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def base64_of(data: bytes) -> str:
    """`data` in standard base64 with padding."""
    return base64.b64encode(data).decode("ascii")


def timestamp(value: Any) -> int | None:
    """Nanoseconds since 1970 (UTC) of an RFC 3339 time with up to nine digits and any offset; None where it is none.

    A leap second counts as the second after it, as it does in POSIX time.
    """
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    fraction, _, sign, hours, minutes = found.groups()[6:]
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0)) * (-1 if sign == "-" else 1)
    leap = second == 60
    try:
        moment = datetime(year, month, day, hour, minute, second - leap, tzinfo=timezone(offset))
        since = moment - _EPOCH
    except (ValueError, OverflowError):
        return None
    return (since.days * 86_400 + since.seconds + leap) * NANOS + int((fraction or "").ljust(9, "0"))


def timestamp_text(nanos: int) -> str:
    """The time `nanos` after 1970 in the form `Z`, with 0, 3, 6 or 9 digits: the shortest that loses nothing."""
    seconds, rest = divmod(nanos, NANOS)
    moment = _EPOCH.replace(tzinfo=None) + timedelta(seconds=seconds)
    return moment.isoformat() + _fraction(rest) + "Z"


def duration(value: Any) -> int | None:
    """Nanoseconds of a `Duration` such as "1.250s"; None where it is none."""
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    sign, whole, fraction = found.groups()
    nanos = int(whole) * NANOS + int((fraction or "").ljust(9, "0"))
    return -nanos if sign else nanos


def duration_text(nanos: int) -> str:
    """`nanos` as a `Duration` with 0, 3, 6 or 9 digits."""
    whole, rest = divmod(abs(nanos), NANOS)
    return f"{'-' if nanos < 0 else ''}{whole}{_fraction(rest)}s"


def _fraction(nanos: int) -> str:
    digits = f"{nanos:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}" if digits else ""
