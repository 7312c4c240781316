"""What must not reach an engine, and what must not come back from one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

from voice.tts.base import VoiceError


@contextmanager
def text_kept_out() -> Iterator[None]:
    """Reduces an unforeseen exception to its type: its message might quote the text, and errors are logged."""
    try:
        yield
    except VoiceError:
        raise
    except Exception as error:
        raise VoiceError(f"{type(error).__name__} in the worker process") from None


def clean(text: str) -> str:
    """`text`, character for character, with a space for what must not reach an engine.

    Control characters (NUL would end the text, U+0001 starts an espeak command), halves of surrogate pairs, private
    and unassigned characters (espeak uses some as commands), and pictographs (it would say their names).
    """
    return "".join(" " if _mute(c) else c for c in text)


def _mute(character: str) -> bool:
    if unicodedata.category(character) in ("Cc", "Cs", "Co", "Cn"):
        return True
    return (
        "\U0001f000" <= character <= "\U0001faff"  # emoji
        or "\u2600" <= character <= "\u27bf"  # symbols and dingbats that are shown as emoji
        or character in "\u20e3\ufe0e\ufe0f"  # keycap and presentation selectors
    )
