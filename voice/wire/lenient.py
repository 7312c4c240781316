"""Reading JSON values that may be anything: what is missing or of another type is empty, and never an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CLIP = 200
"""Longest name or message, in characters, that is kept of what may be shown to an operator."""


def text(found: Mapping[str, Any], key: str) -> str:
    """The string there, else ""."""
    value = found.get(key)
    return value if isinstance(value, str) else ""


def flag(found: Mapping[str, Any], key: str) -> bool | None:
    """The boolean there, else None."""
    value = found.get(key)
    return value if isinstance(value, bool) else None


def mapping(found: Any) -> Mapping[str, Any]:
    """`found` if it is an object, else an empty one."""
    return found if isinstance(found, Mapping) else {}


def entries(found: Mapping[str, Any], key: str) -> list[Any] | tuple[Any, ...]:
    """The list there, else an empty one."""
    value = found.get(key)
    return value if isinstance(value, (list, tuple)) else []


def objects(found: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Those entries of the list there that are objects."""
    return [entry for entry in entries(found, key) if isinstance(entry, Mapping)]


def labels(found: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Those entries of the list there that are strings with more than blanks in them."""
    return tuple(entry for entry in entries(found, key) if isinstance(entry, str) and entry.strip())


def clipped(said: str) -> str:
    """One printable line of at most `CLIP` characters."""
    return "".join(char if char.isprintable() else " " for char in said[:CLIP])
