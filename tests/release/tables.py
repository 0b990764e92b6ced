"""Small publications to look at from all sides."""

from __future__ import annotations

from typing import Any

import numpy as np

import tacit
from tacit.hierarchy import Hierarchy
from tacit.outcome import Solution
from tacit.release import Published
from tacit.table import Table

INDUSTRY = Hierarchy.from_nested({"A": ["A1", "A2"], "B": None})
TABLE = Table.from_cube(
    np.array([[1111.5, 2222], [3333, 4040], [5555, 6666]]),
    {"industry": INDUSTRY, "region": Hierarchy.flat(["N", "S"])},
)
HIDDEN = (("A1", "N"), ("A1", "S"), ("A2", "N"), ("A2", "S"))


def mask(*codes: tuple[str, ...], table: Table = TABLE) -> Any:
    """The cells of these codes."""
    cells = zip(*(table.codes(name).tolist() for name in table.totals), strict=True)
    return np.array([cell in codes for cell in cells])


def published(
    solution: Solution | None = None, *, table: Table = TABLE, primary: bool = False
) -> Published:
    """What is published of a table; by default without four cells, of which one is sensitive."""
    if table is TABLE:
        table = table.replace(status=np.where(mask(HIDDEN[0]), "sensitive", "safe"))
    chosen = tacit.Suppression(mask(*HIDDEN)) if solution is None else solution
    outcome = tacit.Outcome(status=tacit.Status.FEASIBLE, solution=chosen)
    return Published.of(table, outcome, tell_primary=primary)


def intervals() -> Published:
    """One cell as an interval, one with a lower end only, one with none."""
    lower, upper = TABLE.value.copy(), TABLE.value.copy()
    lower[mask(HIDDEN[0])], upper[mask(HIDDEN[0])] = 1000.0, 1250.25
    lower[mask(HIDDEN[1])], upper[mask(HIDDEN[1])] = 2000.0, np.inf
    lower[mask(HIDDEN[2])], upper[mask(HIDDEN[2])] = 0.0, np.inf
    return published(tacit.Intervals(lower, upper))


def linked() -> Published:
    """Two tables that share a margin."""
    other = Table.from_cube(
        np.array([[1000.5, 2333], [8888, 10706]]),
        {"industry": Hierarchy.flat(["A", "B"]), "size": Hierarchy.flat(["small", "large"])},
    )
    by_region = Table.from_cube(
        np.array([[1111.5, 2222], [12928, 6666]]),
        {"industry": Hierarchy.flat(["A", "B"]), "region": Hierarchy.flat(["N", "S"])},
    )
    table = by_region.link(other)
    hidden = np.zeros(table.cell_count, bool)
    hidden[[4, 5, 7, 8]] = True
    return published(tacit.Suppression(hidden), table=table)
