"""A table of assumptions as one end of the wire uses it: the table's own choices, or some of their alternatives.

A table (one a backend) maps the name of each guess to an `Assumption`. The client takes each table as it is. The local
server holds an `Assumptions` of its own, so that it can be the server that behaves the other way.

A name that begins with `path.` stands for a place in a frame. Paths are dotted: `conversation.id` is the key `id` in
the object `conversation`; the empty path is the frame itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Assumption:
    """A guess: what we write (`value`), what else it may be (`alternative`), and `why` we took the first."""

    value: str
    alternative: str
    why: str
    of_client: bool = False
    """Only a client does the one or the other; a server sees no difference, or has to take both."""


class AssumptionError(Exception):
    """A change that the tables do not allow; one line with the cause and the remedy."""


class Assumptions:
    """`table`, with `changed` in place of its own values. Raises AssumptionError for what the table does not have."""

    def __init__(self, table: Mapping[str, Assumption], changed: Mapping[str, str] | None = None) -> None:
        self._values = {name: row.value for name, row in table.items()}
        self._alternatives = {name: row.alternative for name, row in table.items()}
        for name, value in (changed or {}).items():
            if name not in table:
                raise AssumptionError(f'no assumption "{name}"; voice serve --assumptions lists them')
            row = table[name]
            if row.of_client:
                raise AssumptionError(f"{name}: only a client does the one or the other; leave it out")
            if value not in (row.value, row.alternative):
                raise AssumptionError(f'{name}: "{value}" is neither choice; use "{row.value}" or "{row.alternative}"')
            if value == row.alternative:
                self._values[name], self._alternatives[name] = value, row.value

    def __getitem__(self, name: str) -> str:
        """The choice for `name`. Raises KeyError."""
        return self._values[name]

    def read(self, frame: Mapping[str, Any], name: str) -> Any:
        """What stands at the path `name`, else at its alternative, else None: a reader is lenient."""
        found = _at(frame, self._values[name])
        return found if found is not None else _at(frame, self._alternatives[name])

    def write(self, frame: dict[str, Any], name: str, value: Any) -> None:
        """Put `value` at the path `name` of `frame`; at the empty path, `value`'s keys join the frame's own."""
        path = self._values[name]
        if not path:
            frame.update(value)
            return
        *parents, last = path.split(".")
        place = frame
        for key in parents:
            place = place.setdefault(key, {})
        place[last] = value


def _at(frame: Mapping[str, Any], path: str) -> Any:
    place: Any = frame
    for key in path.split(".") if path else ():
        if not isinstance(place, Mapping):
            return None
        place = place.get(key)
    return place
