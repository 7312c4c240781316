"""The one form of every figure: one JSON object a line, or a table for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TextIO

import numpy as np
from rich.console import Console
from rich.table import Column, Table


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value, from `n` cases, with what other rules or programs give in the same run."""

    name: str
    value: float
    unit: str
    n: int
    baseline: Mapping[str, float] = field(default_factory=dict)

    def json(self) -> str:
        """The line of `--json`."""
        line = {"name": self.name, "value": round(self.value, 4), "unit": self.unit, "n": self.n}
        baseline = {rule: round(value, 4) for rule, value in self.baseline.items()}
        return json.dumps(line | ({"baseline": baseline} if baseline else {}))


def percentiles(name: str, values: Sequence[float], unit: str) -> list[Figure]:
    """Median and 95th percentile."""
    return [Figure(f"{name}.p{q}", float(np.percentile(values, q)), unit, len(values)) for q in (50, 95)]


def show(figures: Iterable[Figure], as_json: bool, out: TextIO) -> None:
    """Print each figure as soon as it is there (`as_json`), or all of them as a table."""
    if as_json:
        for figure in figures:
            print(figure.json(), file=out, flush=True)
        return
    table = Table(Column("figure", no_wrap=True), "value", "unit", "n", "other rules")
    for figure in figures:
        others = ", ".join(f"{rule} {value:.2f}" for rule, value in figure.baseline.items())
        table.add_row(figure.name, f"{figure.value:.3f}", figure.unit, str(figure.n), others)
    Console(file=out).print(table)
