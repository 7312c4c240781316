"""One text frame to one JSON object, with every input defined and every error free of what the frame said."""

from __future__ import annotations

import json
import math
import re
from typing import Any

MAX_FRAME = 1024 * 1024
"""Longest frame, in bytes or characters. A reply of an hour's speech is 50 kB; more than this is a fault."""

MAX_DEPTH = 64
"""Deepest nesting. The deepest documented shape (a summary in history) has 11 levels; whoever walks a widget
recursively further on is safe below Python's limit of 1,000."""

_HALF_PAIR = re.compile("[\ud800-\udfff]")


class BadFrameError(Exception):
    """A frame that cannot be used: the cause, in one line, without anything from the frame."""


def parse(frame: str | bytes, limit: int = MAX_FRAME) -> dict[str, Any]:
    """The object in a frame. Raises BadFrameError, and nothing else.

    Refused: not UTF-8, not JSON, not an object, NaN, an infinite or overlong number, deeper than `MAX_DEPTH`, longer
    than `limit`. Of a key that occurs twice the last one counts. Half a surrogate pair becomes U+FFFD, so that
    every text can be shown, stored and sent.
    """
    if len(frame) > limit:
        raise BadFrameError(f"a frame of {len(frame)} bytes is longer than {limit}")
    if isinstance(frame, (bytes, bytearray, memoryview)):
        try:
            frame = bytes(frame).decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadFrameError(f"not UTF-8 (byte {error.start})") from None
    try:
        value: Any = _DECODER.decode(frame)
    except json.JSONDecodeError as error:
        raise BadFrameError(f"not JSON (character {error.pos})") from None
    except RecursionError:
        raise BadFrameError(f"nested deeper than {MAX_DEPTH} levels") from None
    except ValueError:  # an integer with thousands of digits
        raise BadFrameError("a number is too long") from None
    if not isinstance(value, dict):
        raise BadFrameError("not a JSON object")
    if frame.count("{") + frame.count("[") > MAX_DEPTH and _deeper(value, MAX_DEPTH):
        raise BadFrameError(f"nested deeper than {MAX_DEPTH} levels")
    if "\\ud" in frame or "\\uD" in frame or (not frame.isascii() and _HALF_PAIR.search(frame)):
        value = _encodable(value)
    frame_object: dict[str, Any] = value
    return frame_object


def _not_a_number(_: str) -> float:
    raise BadFrameError("NaN and Infinity are not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise BadFrameError("a number is too large")
    return number


_DECODER = json.JSONDecoder(parse_constant=_not_a_number, parse_float=_finite)
"""Made once: `json.loads` with these options makes a new one at every call, which takes four times as long."""


def _deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    if levels == 0:
        return True
    return any(_deeper(inner, levels - 1) for inner in (value.values() if isinstance(value, dict) else value))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return _HALF_PAIR.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_encodable(inner) for inner in value]
    if isinstance(value, dict):
        return {_encodable(key): _encodable(inner) for key, inner in value.items()}
    return value
