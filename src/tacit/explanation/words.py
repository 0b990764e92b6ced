"""Relations, rules, attackers and circuits in words, and circuits as small drawings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.explanation.circuits import Circuit
from tacit.problem import Integers, Problem, totals_of
from tacit.table import Table, Verdict
from tacit.table.judging import GIVEN

_SHORT = 32
"""Letters that the name of a row may have."""
_MOST_PARTS = 8
"""Longer sums are cut off."""


@dataclass(frozen=True)
class Sketch:
    """A circuit as a small table: the codes that occur in it, and who moves where.

    Attributes:
        caption: What all of its cells have in common.
        rows: Names of the rows.
        columns: Names of the columns.
        entries: Row, column, number of the cell and how it moves.
    """

    caption: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    entries: tuple[tuple[int, int, int, float], ...]


class Names:
    """What cells and relations of a table are called."""

    def __init__(self, problem: Problem, table: Table | None = None):
        """Prepare.

        Args:
            problem: The table as algorithms see it.
            table: The table itself, if there is one: names are made of its codes.
        """
        self.problem = problem
        self.table = table

    def cell(self, number: int) -> str:
        """A cell in a sentence."""
        if self.problem.labels is None:
            return f"cell {number}"
        return f"({self.problem.labels[number]})"

    def cells(self, numbers: Sequence[int], limit: int = 5) -> str:
        """Several cells in a sentence."""
        names = [self.cell(number) for number in numbers[:limit]]
        more = len(numbers) - limit
        if more > 0:
            return f"{', '.join(names)} and {more} more"
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

    @cached_property
    def _codes(self) -> dict[str, npt.NDArray[np.str_]]:
        table = self.table
        return {} if table is None else {name: table.codes(name) for name in table.totals}

    @cached_property
    def _totals(self) -> Integers:
        return totals_of(self.problem.relations)

    def relation(self, number: int) -> str:
        """A relation, as in `size=4: Nr = 1 + 2 + 3`."""
        if self.problem.labels is not None:
            return self.problem.name_relation(number)
        A = self.problem.relations
        part = slice(A.indptr[number], A.indptr[number + 1])
        terms = list(zip(A.indices[part].tolist(), A.data[part].tolist(), strict=True))
        total = int(self._totals[number])
        is_left = {cell: cell == total if total >= 0 else sign > 0 for cell, sign in terms}
        left, right = (
            [
                self.cell(cell) if abs(sign) == 1 else f"{abs(sign):g} {self.cell(cell)}"
                for cell, sign in terms
                if is_left[cell] == side
            ]
            for side in (True, False)
        )
        if self.problem.rhs[number]:
            right.append("a known number")
        return f"{_sum(left) or '0'} = {_sum(right) or '0'}"

    def sketch(self, circuit: Circuit) -> Sketch:
        """A circuit as a small table of the codes that occur in it.

        Where cells have no codes, rows are the relations in which at least two of them meet.
        """
        cells = np.array(circuit.cells, np.int64)
        codes = {name: column[cells].tolist() for name, column in self._codes.items()}
        varying = [name for name, column in codes.items() if len(set(column)) > 1]
        if not varying:
            return self._sketch_of_relations(circuit)
        common = [f"{name}={column[0]}" for name, column in codes.items() if name not in varying]
        down, across = varying[0], varying[1:]
        rows = self._ordered(down, codes[down])
        keys = list(zip(*(codes[name] for name in across), strict=True))
        keys = keys or [() for _ in circuit.cells]
        orders = {name: self._ordered(name, codes[name]) for name in across}
        places = sorted(
            set(keys),
            key=lambda key: [orders[n].index(code) for n, code in zip(across, key, strict=True)],
        )
        return Sketch(
            ", ".join(common),
            tuple(f"{down}={code}" for code in rows),
            tuple(", ".join(f"{n}={c}" for n, c in zip(across, k, strict=True)) for k in places),
            tuple(
                (rows.index(code), places.index(key), cell, change)
                for code, key, cell, change in zip(
                    codes[down], keys, circuit.cells, circuit.changes, strict=True
                )
            ),
        )

    def _ordered(self, name: str, codes: Sequence[str]) -> list[str]:
        """The codes that occur, in the order of the table."""
        assert self.table is not None
        place = {code: at for at, code in enumerate(self.table.dimensions[name].codes)}
        return sorted(set(codes), key=lambda code: place.get(code, len(place)))

    def _sketch_of_relations(self, circuit: Circuit) -> Sketch:
        A = self.problem.relations[:, list(circuit.cells)]
        A = A.tocsr()
        rows = [row for row in range(A.shape[0]) if A.indptr[row + 1] - A.indptr[row] > 1]
        entries = tuple(
            (at, int(column), circuit.cells[column], circuit.changes[column])
            for at, row in enumerate(rows)
            for column in A.indices[A.indptr[row] : A.indptr[row + 1]].tolist()
        )
        names = tuple(self.cell(cell).strip("()") for cell in circuit.cells)
        return Sketch("", tuple(self._short(row) for row in rows), names, entries)

    def _short(self, relation: int) -> str:
        """A relation in a few words."""
        text, total = self.relation(relation), int(self._totals[relation])
        return text if len(text) <= _SHORT or total < 0 else f"parts of {self.cell(total)}"


def _sum(texts: Sequence[str]) -> str:
    if len(texts) <= _MOST_PARTS:
        return " + ".join(texts)
    shown = _MOST_PARTS - 2
    return f"{' + '.join(texts[:shown])} + {len(texts) - shown} more"


def moved(change: float, minus: str = "-") -> str:
    """How a cell moves: a sign, and by how much if that is not as far as the protected one.

    >>> moved(1.0), moved(-2.0), moved(-0.5, "−")
    ('+', '-2', '−0.5')
    """
    size = f"{abs(change):.3g}"
    return ("+" if change > 0 else minus) + ("" if size == "1" else size)


def drawn(sketch: Sketch, roles: dict[int, str]) -> list[str]:
    """A sketch as lines of text: + where a cell rises, - where it falls.

    Args:
        sketch: The circuit.
        roles: What to write beside some of the cells.
    """
    grid = [["" for _ in sketch.columns] for _ in sketch.rows]
    for row, column, cell, change in sketch.entries:
        role = f" {roles[cell]}" if cell in roles else ""
        grid[row][column] = moved(change) + role
    widths = [
        max(len(name), *(len(line[place]) for line in grid))
        for place, name in enumerate(sketch.columns)
    ]
    first = max((len(name) for name in sketch.rows), default=0)
    lines = [sketch.caption] if sketch.caption else []
    if any(sketch.columns):
        head = "  ".join(name.ljust(w) for name, w in zip(sketch.columns, widths, strict=True))
        lines.append(f"{'':<{first}}  {head}".rstrip())
    for name, line in zip(sketch.rows, grid, strict=True):
        told = "  ".join((text or ".").ljust(w) for text, w in zip(line, widths, strict=True))
        lines.append(f"{name:<{first}}  {told}".rstrip())
    return lines


def rules_in_words(table: Table | None, cell: int) -> tuple[str, ...]:
    """Which rules find a cell sensitive, with their parameters: confidential."""
    if table is None:
        return ()
    told = []
    for verdict in table.verdicts:
        place = np.searchsorted(verdict.cells, cell)
        if place < len(verdict.cells) and verdict.cells[place] == cell:
            told.append(_rule(verdict))
    if not told and table.reason is not None and table.reason[cell]:
        told.append(str(table.reason[cell]))
    return tuple(dict.fromkeys(told))


def _rule(verdict: Verdict) -> str:
    rule = verdict.rule
    if rule is None:
        return "marked as sensitive" if verdict.reason == GIVEN else verdict.reason
    return f"{verdict.reason}: {rule.in_words}"
