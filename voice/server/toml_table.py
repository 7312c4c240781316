"""Reading a TOML table with every mistake named by its place: file, key, cause and remedy in one line."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, overload

T = TypeVar("T")
D = TypeVar("D")

_NAMES: Mapping[type, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


class FlowError(Exception):
    """A flow file that cannot be used: `FILE: KEY: cause; remedy`, one line."""


def parse_toml(text: str, file: str) -> Table:
    """The top table of a TOML text. Raises FlowError with the line for a text that is not TOML."""
    try:
        return Table(file, "", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        cause, _, place = str(error).partition(" (at ")
        where = place.split(",")[0] if place.startswith("line") else f"line {len(text.splitlines())}"
        raise FlowError(f"{file}: {where}: not TOML: {cause.lower()}; mend the line") from None


class Table:
    """One table of the file; every key has to be read, or `done` calls it unknown."""

    def __init__(self, file: str, path: str, data: Mapping[str, Any]) -> None:
        self.file, self.path, self._data = file, path, data
        self._read: set[str] = set()

    def fail(self, key: str, cause: str, remedy: str) -> FlowError:
        """The error for `key` of this table."""
        return FlowError(f"{self.file}: {self._at(key)}: {cause}; {remedy}")

    def _at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path and key else self.path or key

    @overload
    def get(self, key: str, kind: type[T]) -> T: ...
    @overload
    def get(self, key: str, kind: type[T], default: D) -> T | D: ...
    def get(self, key: str, kind: type[Any], default: Any = ...) -> Any:
        """The value of `key`, of type `kind` (a whole number also passes as a float). Raises FlowError."""
        self._read.add(key)
        if key not in self._data:
            if default is ...:
                raise self.fail(key, "missing", f"give {_NAMES[kind]}")
            return default
        found = self._data[key]
        if kind is float and isinstance(found, int) and not isinstance(found, bool):
            return float(found)
        if not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool):
            raise self.fail(key, f"{_of(found)} where {_NAMES[kind]} belongs", f"give {_NAMES[kind]}")
        return found

    def positive(self, key: str, kind: type[T], default: T, least: float = 0) -> T:
        """A number of at least `least`. Raises FlowError."""
        found = self.get(key, kind, default)
        if not least <= float(found) < float("inf"):  # type: ignore[arg-type]
            raise self.fail(key, f"{found} is out of range", f"give {least:g} or more")
        return found

    def one_of(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        """A text out of `allowed`. Raises FlowError."""
        found = self.get(key, str) if default is None else self.get(key, str, default)
        if found not in allowed:
            raise self.fail(key, f'"{found}" is not known', "use one of " + ", ".join(allowed))
        return found

    def texts(self, key: str) -> list[str]:
        """A list of texts, empty if absent. Raises FlowError."""
        found = self.get(key, list, [])
        for index, entry in enumerate(found):
            if not isinstance(entry, str) or not entry.strip():
                raise self.fail(f"{key}[{index}]", "not a text", "give a list of texts in quotes")
        return found

    def table(self, key: str) -> Table:
        """A table, empty if absent. Raises FlowError."""
        return Table(self.file, self._at(key), self.get(key, dict, {}))

    def tables(self, key: str) -> list[Table]:
        """A list of tables, empty if absent. Raises FlowError."""
        entries = self.get(key, list, [])
        for index, entry in enumerate(entries):
            if not isinstance(entry, dict):
                raise self.fail(f"{key}[{index}]", f"{_of(entry)} where a table belongs", "write {...} or [[...]]")
        return [Table(self.file, self._at(f"{key}[{index}]"), entry) for index, entry in enumerate(entries)]

    def named_tables(self) -> Iterator[tuple[str, Table]]:
        """Every key of this table with its own table, in the order of the file. Raises FlowError."""
        for key in self._data:
            yield key, self.table(key)

    def strings(self) -> dict[str, str]:
        """The whole table as texts. Raises FlowError."""
        return {key: self.get(key, str) for key in self._data}

    def plain(self) -> dict[str, Any]:
        """The whole table as it is."""
        self._read.update(self._data)
        return dict(self._data)

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def done(self) -> None:
        """Raises FlowError for a key that nobody read."""
        for key in self._data:
            if key not in self._read:
                known = ", ".join(sorted(self._read))
                raise self.fail(key, "unknown key", f"remove it or use one of {known}")


def _of(found: Any) -> str:
    return next((name for kind, name in _NAMES.items() if type(found) is kind), type(found).__name__)
