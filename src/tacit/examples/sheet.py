"""A printed sheet of numbers with row and column codes, as a `Problem` and as a `Table`.

The problem is built here and not by the table, on purpose: it keeps the printed order of
the cells, and tests hold against it what the table derives from its hierarchies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.hierarchy import Hierarchy
from tacit.problem import Booleans, Floats, Problem
from tacit.table import CellStatus, Table

Levels = Mapping[str, tuple[float, float]]
"""For each sensitive cell, by label, its lower and upper protection level."""
Contributions = Mapping[str, tuple[float, ...]]
"""For each inner cell, by label, what its contributors contribute."""


def axis(codes: str, total: str = "Total", **children: str) -> dict[str, str]:
    """The codes of rows or columns as printed, each with the code that it adds up to.

    Args:
        codes: The codes in printed order.
        total: The code of the grand total, which adds up to nothing.
        children: For each code that is itself a sum the codes that it sums.

    >>> axis("A Aa Ab B Total", A="Aa Ab")
    {'A': 'Total', 'Aa': 'A', 'Ab': 'A', 'B': 'Total', 'Total': ''}
    """
    parent_of = {child: code for code, some in children.items() for child in some.split()}
    return {code: "" if code == total else parent_of.get(code, total) for code in codes.split()}


@dataclass(frozen=True)
class Sheet:
    """A two-dimensional table as printed.

    Attributes:
        dimensions: For rows and for columns what they stand for and their codes (see `axis`).
        values: The values, one row per sequence.
    """

    dimensions: Mapping[str, Mapping[str, str]]
    values: Sequence[Sequence[float]]

    @property
    def codes(self) -> list[tuple[str, str]]:
        """Row and column code of each cell, row by row."""
        rows, columns = self.dimensions.values()
        return [(row, column) for row in rows for column in columns]

    @property
    def labels(self) -> list[str]:
        """Each cell's row and column code in one word."""
        return [row + column for row, column in self.codes]

    def mask(self, *labels: str) -> Booleans:
        """True for the named cells."""
        found = np.zeros(len(self.labels), bool)
        found[[self.cell(label) for label in labels]] = True
        return found

    def cell(self, label: str) -> int:
        """The number of the named cell."""
        return self.labels.index(label)

    def relations(self) -> Floats:
        """Row by row, then column by column: the parts of every sum, minus the sum."""
        row_sums, column_sums = (_sums(parents) for parents in self.dimensions.values())
        rows, columns = (np.eye(len(parents)) for parents in self.dimensions.values())
        return np.vstack([np.kron(rows, column_sums), np.kron(row_sums, columns)])

    def problem(self, sensitive: Levels | None = None, **arrays: Any) -> Problem:
        """The problem over the cells as printed."""
        wanted = sensitive or {}
        levels = np.array(list(wanted.values()), float).reshape(-1, 2)
        return Problem(
            value=np.ravel(self.values),
            relations=sparse.csr_array(self.relations()),
            sensitive=np.array([self.cell(label) for label in wanted], np.int64),
            lower_level=levels[:, 0],
            upper_level=levels[:, 1],
            labels=self.labels,
            **arrays,
        )

    def table(
        self,
        sensitive: Levels | None = None,
        contributions: Contributions | None = None,
        counts: Sequence[Sequence[float]] | None = None,
        upper: float | None = None,
    ) -> Table:
        """The table over all printed cells, totals included.

        Args:
            sensitive: The sensitive cells and their levels.
            contributions: The contributions to the inner cells, from which counts and largest
                contributions of all cells follow.
            counts: The number of contributors to each cell, laid out as the values.
            upper: What an attacker knows every cell to be at most.
        """
        row_name, column_name = self.dimensions
        frame: dict[str, list[Any]] = {
            row_name: [row for row, _ in self.codes],
            column_name: [column for _, column in self.codes],
            "value": [value for row in self.values for value in row],
            # As in the problem: what papers print has no weights.
            "weight": [1.0] * len(self.labels),
        }
        top: tuple[str, ...] = ()
        if contributions is not None:
            parts = [with_margins(self, contributions)[label] for label in self.labels]
            frame["count"] = [len(some) for some in parts]
            top = ("largest", "second", "third")
            for rank, name in enumerate(top):
                frame[name] = [(*some, 0, 0)[rank] for some in parts]
        if counts is not None:
            frame["count"] = [count for row in counts for count in row]
        if upper is not None:
            frame["upper"] = [upper] * len(self.labels)
        if sensitive is not None:
            levels = [sensitive.get(label, (0.0, 0.0)) for label in self.labels]
            frame["lower_level"] = [below for below, _ in levels]
            frame["upper_level"] = [above for _, above in levels]
            frame["status"] = [
                CellStatus.SENSITIVE.value if label in sensitive else CellStatus.SAFE.value
                for label in self.labels
            ]
        optional = ("count", "weight", "upper", "status", "lower_level", "upper_level")
        columns = {name: name for name in optional if name in frame}
        hierarchies = {
            name: Hierarchy.from_parents({code: up for code, up in parents.items() if up})
            for name, parents in self.dimensions.items()
        }
        return Table.from_frame(frame, hierarchies, cells="all", top=top, **columns)


def with_margins(sheet: Sheet, contributions: Contributions) -> dict[str, tuple[float, ...]]:
    """The contributions to every cell, largest first; a total has those of all its parts."""
    rows, columns = sheet.dimensions.values()
    return {
        row + column: tuple(
            sorted(
                (
                    part
                    for leaf_row in _leaves(rows, row)
                    for leaf_column in _leaves(columns, column)
                    for part in contributions[leaf_row + leaf_column]
                ),
                reverse=True,
            )
        )
        for row, column in sheet.codes
    }


def _leaves(parents: Mapping[str, str], code: str) -> list[str]:
    children = [child for child, parent in parents.items() if parent == code]
    return [leaf for child in children for leaf in _leaves(parents, child)] or [code]


def linked(first: Sheet, second: Sheet) -> Problem:
    """Two sheets as one problem: a cell that both print, and a relation, appear once.

    Cells are common when their labels are the same.
    """
    labels = list(dict.fromkeys([*first.labels, *second.labels]))
    value = np.zeros(len(labels))
    relations = []
    for sheet in (first, second):
        position = [labels.index(label) for label in sheet.labels]
        value[position] = np.ravel(sheet.values)
        A = sheet.relations()
        spread = np.zeros((len(A), len(labels)))
        spread[:, position] = A
        relations.append(spread)
    stacked = np.vstack(relations)
    _, first_seen = np.unique(stacked, axis=0, return_index=True)
    return Problem(
        value=value, relations=sparse.csr_array(stacked[np.sort(first_seen)]), labels=labels
    )


def _sums(parents: Mapping[str, str]) -> Floats:
    """For each code that is a sum, in printed order, 1 at its parts and -1 at itself."""
    codes = list(parents)
    totals = [code for code in codes if code in parents.values()]
    return np.array(
        [
            [(parents[code] == total) * 1.0 - (code == total) * 1.0 for code in codes]
            for total in totals
        ]
    )
