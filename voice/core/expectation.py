"""What the next answer of the user may be: for the ears, which end a turn sooner or later, and for the choices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["free", "yes_no", "choices", "number"]
"""free: anything. yes_no: an answer to a question of yes or no. choices: one of a few. number: an amount."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is expected, and the answers that the server offered for it."""

    kind: Kind = "free"
    choices: tuple[str, ...] = ()
    """Labels in the server's spelling and order; empty where it offered none."""


FREE = Expectation()
"""Nothing in particular."""
