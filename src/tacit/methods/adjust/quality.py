"""Bounds on quality: sums of deviations over chosen cells that stay below a limit.

A search keeps them without knowing: they become bounds of further cells. The net deviation of some
cells is that of one more cell, their sum. Absolute deviations are split into what rises and what
falls, x - p + q = a with p and q at least zero, and one more cell is the sum of all p and q: it is
no smaller than the sum of the absolute deviations, and can equal it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from tacit.errors import InputError, about
from tacit.methods.inputs import cell_mask
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.reading import read_fields
from tacit.tolerances import MET

if TYPE_CHECKING:
    from tacit.reductions.equal_cells import EqualCells

Kind = Literal["net", "absolute"]


@dataclass(frozen=True, kw_only=True, eq=False)
class QualityBound:
    """How far an adjusted table may be from the true one, summed over chosen cells.

    The net deviation is the sum of the deviations, in which rising and falling cells cancel out;
    it is bounded on both sides. The absolute deviation is the sum of their sizes.

    Attributes:
        cells: Which cells: numbers or a mask; for tables, a mapping from dimensions to codes does
            as well, as in `{"region": "North", "size": ["small", "large"]}`.
        net: The largest net deviation either way.
        absolute: The largest absolute deviation.
        net_share: The same as `net`, as a share of what the sizes of the cells' values add up to.
        absolute_share: The same as `absolute`, as such a share.
        name: What messages call it; by default its number.

    >>> bound = QualityBound(cells=[0, 1], net=1, absolute=10)
    >>> bound.reached(Problem(value=[20, 22, 42]), [23, 18, 41])
    {'net': -1.0, 'absolute': 7.0}
    """

    cells: Any
    net: float | None = None
    absolute: float | None = None
    net_share: float | None = None
    absolute_share: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        given = {}
        for key in ("net", "absolute", "net_share", "absolute_share"):
            limit = getattr(self, key)
            if limit is None:
                continue
            is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
            # `not >=` also refuses NaN.
            if not (is_number and limit >= 0 and math.isfinite(limit)):
                raise InputError(f"{key} must be a number that is not negative", key=(key,))
            given[key] = limit
        if not given:
            raise InputError(
                "a bound on quality needs a limit: net, absolute, net_share or absolute_share"
            )
        for key in ("net", "absolute"):
            if key in given and f"{key}_share" in given:
                raise InputError(f"{key} and {key}_share are both given; leave one out", key=(key,))

    def reached(self, problem: Problem, values: Any) -> dict[str, float]:
        """Net and absolute deviation of these cells in an adjusted table: confidential.

        Args:
            problem: The true table.
            values: The adjusted one.
        """
        chosen = cell_mask(problem, self.cells, "cells")
        change = (np.asarray(values, float) - problem.value)[chosen]
        return {"net": float(change.sum()), "absolute": float(np.abs(change).sum())}


@dataclass(frozen=True, eq=False)
class Limit:
    """One sum of deviations and its limit.

    Attributes:
        name: What messages call it.
        kind: Whether rising and falling cells cancel out.
        times: How often each cell counts.
        most: The limit.
    """

    name: str
    kind: Kind
    times: Floats
    most: float

    def reached(self, deviations: Floats) -> float:
        """The sum, without its sign."""
        counted = deviations if self.kind == "net" else np.abs(deviations)
        return float(abs(self.times @ counted))

    def is_broken(self, problem: Problem, values: Floats) -> bool:
        """Whether a table exceeds the limit, by more than its numbers can tell."""
        size = np.maximum(np.abs(values), np.abs(problem.value))
        noise = MET * max(self.most, float(self.times @ size))
        return self.reached(values - problem.value) > self.most + noise


def read_quality(given: Any) -> tuple[QualityBound, ...]:
    """Bounds on quality as users give them: objects, or tables of a TOML file.

    Raises:
        InputError: Something else, or a bound that is wrong.
    """
    if isinstance(given, Mapping | QualityBound | str) or not isinstance(given, Iterable):
        raise InputError("quality must be a list of bounds, each with cells and a limit")
    found = []
    for number, each in enumerate(given):
        with about(number):
            if isinstance(each, QualityBound):
                found.append(each)
            else:
                found.append(read_fields(QualityBound, each, where=f"quality bound {number + 1}"))
    return tuple(found)


def limits_of(problem: Problem, quality: Sequence[QualityBound]) -> tuple[Limit, ...]:
    """The limits on sums of deviations of a table's cells.

    Raises:
        InputError: There are no such cells.
    """
    limits: list[Limit] = []
    for number, bound in enumerate(quality):
        name = f"quality bound {bound.name or number + 1}"
        with about("quality", number, "cells"):
            if isinstance(bound.cells, Mapping):
                raise InputError(
                    f"{name} names cells by codes, but a problem has none; give cell numbers, or "
                    "protect the table"
                )
            cells: Any = np.asarray(bound.cells)
            chosen = cell_mask(problem, cells.astype(np.int64) if cells.size == 0 else cells, name)
            if not chosen.any():
                raise InputError(f"{name}: no cell is chosen; name at least one")
        size = float(np.abs(problem.value[chosen]).sum())
        kinds: tuple[Kind, ...] = ("net", "absolute")
        for kind in kinds:
            most, share = getattr(bound, kind), getattr(bound, f"{kind}_share")
            if most is not None or share is not None:
                limit = float(most) if most is not None else float(share) * size
                limits.append(Limit(name, kind, chosen.astype(float), limit))
    return tuple(limits)


def reduced(limits: Sequence[Limit], reduction: EqualCells) -> tuple[Limit, ...]:
    """The same limits for a smaller table, in which equal cells count together."""
    return tuple(
        dataclasses.replace(limit, times=np.asarray(reduction.sum(limit.times))) for limit in limits
    )


@dataclass(frozen=True, eq=False)
class Bounded:
    """A table with limits as bounds of further cells, which come after its own.

    Attributes:
        problem: The larger table.
        cells: The cell that stands for each limit.
        size: Number of cells of the table itself.
    """

    problem: Problem
    cells: Integers
    size: int

    @classmethod
    def of(cls, problem: Problem, limits: Sequence[Limit], fixed: Booleans) -> Bounded:
        """Extend a table.

        Args:
            problem: The table.
            limits: Limits on sums of deviations.
            fixed: Cells that keep their value: they add nothing.
        """
        rows = _Rows(problem.cell_count)
        standing = []
        for limit in limits:
            times = np.where(fixed, 0.0, limit.times)
            cells = np.flatnonzero(times)
            if limit.kind == "net":
                value = float(limit.times @ problem.value)
                kept = float((limit.times - times) @ problem.value)
                cell = rows.cell(value, value - limit.most, value + limit.most)
                rows.relation([*cells.tolist(), cell], [*times[cells].tolist(), -1.0], -kept)
            else:
                parts = [rows.parts(c, float(problem.value[c]), limit.most) for c in cells.tolist()]
                cell = rows.cell(0.0, 0.0, limit.most)
                both = [part for pair in parts for part in pair]
                twice = np.repeat(times[cells], 2).tolist()
                rows.relation([*both, cell], [*twice, -1.0], 0.0)
            standing.append(cell)
        return cls(rows.extended(problem), np.array(standing, np.int64), problem.cell_count)

    @property
    def added(self) -> int:
        """Number of further cells."""
        return self.problem.cell_count - self.size

    def longer(self, entries: Any, entry: float) -> Any:
        """Entries of the table's cells with the same entry for all further ones."""
        return np.append(entries, np.full(self.added, entry, dtype=np.asarray(entries).dtype))

    def without_limits(self) -> Problem:
        """The larger table without any limit."""
        lower, upper = self.problem.lower.copy(), self.problem.upper.copy()
        lower[self.cells], upper[self.cells] = -np.inf, np.inf
        is_part = np.arange(len(upper)) >= self.size
        return self.problem.replace(lower=lower, upper=np.where(is_part, np.inf, upper))


class _Rows:
    """Further cells and relations, one after the other."""

    def __init__(self, cell_count: int):
        self._size = cell_count
        self._value: list[float] = []
        self._lower: list[float] = []
        self._upper: list[float] = []
        self._entries: list[tuple[list[int], list[float], float]] = []
        self._parts: dict[int, tuple[int, int]] = {}

    def cell(self, value: float, lower: float, upper: float) -> int:
        """One more cell, with its bounds."""
        self._value.append(value)
        self._lower.append(lower)
        self._upper.append(upper)
        return self._size + len(self._value) - 1

    def relation(self, cells: list[int], coefficients: list[float], rhs: float) -> None:
        """One more relation."""
        self._entries.append((cells, coefficients, rhs))

    def parts(self, cell: int, value: float, most: float) -> tuple[int, int]:
        """What rises and what falls of a cell, for all limits that count it."""
        if cell not in self._parts:
            up, down = self.cell(0.0, 0.0, most), self.cell(0.0, 0.0, most)
            self.relation([cell, up, down], [1.0, -1.0, 1.0], value)
            self._parts[cell] = up, down
        up, down = self._parts[cell]
        for part in (up, down):
            # A looser limit than that of another sum must stay possible.
            place = part - self._size
            self._upper[place] = max(self._upper[place], most)
        return up, down

    def extended(self, problem: Problem) -> Problem:
        """The table with all of them."""
        added, m = len(self._value), problem.relation_count
        width = self._size + added
        first = np.cumsum([0, *(len(cells) for cells, _, _ in self._entries)])
        cells = np.array([cell for entry in self._entries for cell in entry[0]], np.int64)
        data = np.array([each for entry in self._entries for each in entry[1]], float)
        new = sparse.csr_array((data, cells, first), shape=(len(self._entries), width))
        old = sparse.hstack([problem.relations, sparse.csr_array((m, added))])
        fields = {item.name: getattr(problem, item.name) for item in dataclasses.fields(problem)}
        labels = problem.labels
        return Problem(
            **{
                **fields,
                "value": np.append(problem.value, self._value),
                "lower": np.append(problem.lower, self._lower),
                "upper": np.append(problem.upper, self._upper),
                "weight": np.append(problem.weight, np.zeros(added)),
                "relations": sparse.csr_array(sparse.vstack([old, new])),
                "rhs": np.append(problem.rhs, [rhs for _, _, rhs in self._entries]),
                "must_publish": np.append(problem.must_publish, np.zeros(added, bool)),
                "singleton": np.append(problem.singleton, np.full(added, -1)),
                # Nobody attacks sums of deviations: they are not published.
                "insiders": None,
                "strips": None,
                "labels": None if labels is None else [*labels, *["a sum of deviations"] * added],
            }
        )
