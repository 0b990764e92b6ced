"""`Published`: what readers may see of a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.errors import InputError, nearest
from tacit.hierarchy import Hierarchy
from tacit.outcome import Intervals, Outcome, Suppression, Values
from tacit.problem import Booleans, Floats, Problem
from tacit.release.against import Against
from tacit.release.flags import Flags, PublishedStatus, flag_columns
from tacit.release.labels import Labels, free_name, head_columns
from tacit.release.marks import DEFAULT_MARK, Marks, settled
from tacit.release.pivot import Pivot, pivot
from tacit.table import Table
from tacit.table.frames import to_frame
from tacit.table.grid import Grid, Relations
from tacit.table.status import CellStatus

NOTEBOOK_ROWS = 60
NOTEBOOK_COLUMNS = 20


@dataclass(frozen=True, eq=False, repr=False)
class Published:
    """What readers may see, and nothing else: it keeps no way back to the true table.

    Attributes:
        codes: For each dimension the code of every cell; for a problem without dimensions the
            number of every cell, under `cell`. Where there are several response variables, the
            first column, `variable`, says which one a cell belongs to.
        value: The published value of each cell, NaN where there is none.
        lower: The lower end of what is published of each cell; None where the method publishes
            no intervals.
        upper: The upper end.
        status: How each cell is published, see `PublishedStatus`.
        dimensions: The hierarchy of each dimension; none for a problem.
        backend: The data frame library that `to_frame` uses.
        grids: The linked tables that it consists of; one, if it was not linked.
        relations: What every reader knows about the cells, one relation per row.
        rhs: What each relation adds up to.
        lowest: What every reader knows to be the least value of any cell: 0 where none can be
            negative.
        altered: Whether the values may differ from the true ones.
        radius: How far each value is from the true one at most, where readers are told.
        primary: The sensitive ones of the cells that are not published with a value; None where
            readers are not told.
        method: The method that made it.
        at_random: Whether each value was changed at random, so that they need not add up.
        against: The kinds of attackers that the publisher asked for protection against.
        decided: Whether some cells are published by decision although a rule found them
            sensitive; readers are told that there are such cells, and no more.
        empty: The cells to which nobody contributes, as everybody knows: they differ from zeros
            that somebody reported. None where there are no such cells, or nobody says.
    """

    codes: Mapping[str, npt.NDArray[np.str_]]
    value: Floats
    lower: Floats | None
    upper: Floats | None
    status: npt.NDArray[np.str_]
    dimensions: Mapping[str, Hierarchy]
    backend: str | None = None
    grids: tuple[Grid, ...] = ()
    relations: Relations | None = None
    rhs: Floats | None = None
    lowest: float = -np.inf
    altered: bool = False
    radius: Floats | None = None
    primary: Booleans | None = None
    method: str = "suppress"
    at_random: bool = False
    against: tuple[Against, ...] = (Against.READER,)
    decided: bool = False
    empty: Booleans | None = None

    @classmethod
    def of(
        cls,
        source: Table | Problem,
        outcome: Outcome,
        *,
        tell_primary: bool = False,
        against: Sequence[Against] = (Against.READER,),
    ) -> Published:
        """What is published of a table according to an outcome.

        Args:
            source: The true table.
            outcome: What a method found.
            tell_primary: Tell readers which of the cells without a value are sensitive
                themselves, and which only protect others.
            against: The kinds of attackers that the publisher asked for protection against.
        """
        problem = source if isinstance(source, Problem) else source.problem("none")
        value, ends, status = seen(problem, outcome)
        codes: dict[str, npt.NDArray[np.str_]]
        if isinstance(source, Table):
            codes = source.cell_keys()
            dimensions, backend, grids = source.dimensions, source.backend, source.grids
        else:
            codes = {"cell": np.arange(problem.cell_count).astype(str)}
            dimensions, backend, grids = {}, None, ()
        hidden = status != PublishedStatus.VALUE.value
        return cls(
            codes,
            _frozen(settled(value)),
            None if ends is None else _frozen(settled(ends[0])),
            None if ends is None else _frozen(settled(ends[1])),
            _frozen(status),
            dimensions,
            backend,
            grids,
            # Not what a former publication tells besides.
            _fresh(problem.relations if isinstance(source, Problem) else source.relations),
            problem.rhs if isinstance(source, Problem) else np.zeros(source.relations.shape[0]),
            lowest_of(problem),
            isinstance(outcome.solution, Values),
            outcome.solution.radius if isinstance(outcome.solution, Values) else None,
            _frozen(problem.is_sensitive & hidden) if tell_primary else None,
            outcome.method,
            outcome.algorithm == "random",
            tuple(against),
            len(problem.overridden) > 0,
            _empty(source),
        )

    @property
    def cell_count(self) -> int:
        """Number of cells."""
        return len(self.value)

    @property
    def is_hidden(self) -> Booleans:
        """The cells that are not published with a value."""
        return np.asarray(self.status != PublishedStatus.VALUE.value)

    def of_table(self, table: int | str) -> Published:
        """One of the linked tables by itself.

        Args:
            table: Its name, or its number counted from 0.

        Raises:
            InputError: There is no such table.
        """
        names = [grid.name for grid in self.grids]
        number = table if isinstance(table, int) else -1
        if isinstance(table, str) and table in names:
            number = names.index(table)
        if not 0 <= number < max(len(self.grids), 1):
            known = nearest(str(table), list(filter(None, names)) or ["0"])
            raise InputError(f"there is no table {table!r}; {known}")
        if len(self.grids) < 2:
            return self
        grid = self.grids[number]
        cells = grid.numbers
        alone = dataclasses.replace(grid, cells=None)
        relations = alone.relations()
        columns = {
            name: None if column is None else _frozen(column[cells])
            for name in ("value", "lower", "upper", "status", "radius", "primary", "empty")
            for column in [getattr(self, name)]
        }
        empty = columns["empty"]
        if empty is not None and not empty.any():
            columns["empty"] = None
        return self.replace(
            codes={name: self.codes[name][cells] for name in grid.dimensions},
            dimensions=dict(grid.dimensions),
            grids=(alone,),
            relations=relations,
            rhs=np.zeros(relations.shape[0]),
            **columns,
        )

    def columns(
        self, value: str = "value", flags: Flags = "status", labels: Labels = "beside"
    ) -> dict[str, npt.NDArray[Any]]:
        """The columns of `to_frame`.

        Args:
            value: What to call the column of the values.
            flags: Which columns say how each cell is published, see `flag_columns`.
            labels: Where labels of codes stand, see `Labels`.
        """
        cells: dict[str, npt.NDArray[Any]] = {value: self.value}
        if self.lower is not None and self.upper is not None:
            cells |= {"lower": self.lower, "upper": self.upper}
        cells |= flag_columns(self, flags)
        columns = head_columns(self, labels)
        for name, column in cells.items():
            columns[free_name(name, columns)] = column
        return {name: column.copy() for name, column in columns.items()}

    def value_column(self, value: str = "value", labels: Labels = "beside") -> str:
        """What `columns` calls the column of the values."""
        return free_name(value, head_columns(self, labels))

    def to_frame(
        self,
        backend: str | None = None,
        *,
        value: str = "value",
        flags: Flags = "status",
        labels: Labels = "beside",
    ) -> Any:
        """All cells as a data frame: codes, value (NaN where there is none), and status.

        Where intervals are published, their ends are in `lower` and `upper`. Labels of the codes of
        `industry` are in `industry_label`. A column whose name is taken by a dimension is called
        `cell_...`.

        Args:
            backend: `pandas`, `polars`, `pyarrow`, or `dict` for a dict of arrays; by default
                the library that the table came from.
            value: What to call the column of the values.
            flags: `status`, `sdmx` for columns CONF_STATUS and OBS_STATUS, or `none`.
            labels: Labels of codes, where there are any: `beside` the code in a column of their
                own, `together` with it as in `C10 Food`, `instead` of it, or `none`.
        """
        return to_frame(self.columns(value, flags, labels), backend or self.backend)

    def pivot(
        self,
        rows: str | Sequence[str] | None = None,
        columns: str | None = None,
        fixed: Mapping[str, object] | None = None,
        *,
        table: int | None = None,
    ) -> Pivot:
        """A part of the table in two dimensions, codes indented by their hierarchy.

        Args:
            rows: The dimension of the rows, or several; by default all that are named nowhere
                else.
            columns: The dimension of the columns. Where neither rows nor columns are named it is
                the last one of several; otherwise there is one column of values.
            fixed: The code of every other dimension; its total where none is given.
            table: Which of linked tables, counted from 0; by default the first one that has
                the dimensions.

        Raises:
            InputError: There is no such dimension, code or table.
        """
        return pivot(self, rows, columns, fixed or {}, table)

    def to_csv(
        self,
        path: str | Path,
        *,
        value: str = "value",
        marks: Marks | None = None,
        flags: Flags = "status",
        formulas: Literal["neutralise", "keep"] = "neutralise",
        labels: Labels = "beside",
    ) -> None:
        """Write a CSV file, one line per cell.

        Args:
            path: Where to write; a name in `.gz` compresses.
            value: What to call the column of the values.
            marks: What to write in place of suppressed values; nothing by default, so that the
                column holds numbers only.
            flags: `status`, `sdmx` or `none`.
            formulas: `neutralise` puts an apostrophe before codes and names that spreadsheets
                would take for formulas; `keep` writes them as they are.
            labels: As for `to_frame`.
        """
        from tacit.io.exports import write_csv

        write_csv(
            self, path, value=value, marks=marks, flags=flags, formulas=formulas, labels=labels
        )

    def to_parquet(
        self,
        path: str | Path,
        *,
        value: str = "value",
        flags: Flags = "status",
        labels: Labels = "beside",
    ) -> None:
        """Write a Parquet file, one row per cell.

        Args:
            path: Where to write.
            value: What to call the column of the values.
            flags: `status`, `sdmx` or `none`.
            labels: As for `to_frame`.
        """
        from tacit.io.exports import write_parquet

        write_parquet(self, path, value=value, flags=flags, labels=labels)

    def to_excel(
        self,
        path: str | Path,
        *,
        value: str = "value",
        marks: Marks = DEFAULT_MARK,
        flags: Flags | None = None,
        layout: Literal["pivot", "list"] | None = None,
        title: str | None = None,
        labels: Labels = "beside",
    ) -> None:
        """Write an Excel workbook: a sheet for each of the linked tables, and a legend.

        Args:
            path: Where to write.
            value: What to call the column of the values.
            marks: What to write in place of suppressed values.
            flags: `status`, `sdmx` or `none`: columns of a list.
            layout: `pivot`, with the last dimension in the columns, or `list`, with a row for
                each cell; by default a list where flags are requested.
            title: A heading.
            labels: Labels of codes: in a list as for `to_frame`; in a pivot after the code
                (`beside` or `together`), `instead` of it, or `none`.
        """
        from tacit.io.exports import write_excel

        write_excel(
            self,
            path,
            value=value,
            marks=marks,
            flags=flags,
            layout=layout,
            title=title,
            labels=labels,
        )

    def to_html(
        self,
        path: str | Path,
        *,
        value: str = "value",
        marks: Marks = DEFAULT_MARK,
        flags: Flags | None = None,
        layout: Literal["pivot", "list"] | None = None,
        title: str | None = None,
        labels: Labels = "beside",
    ) -> None:
        """Write a self-contained web page: a table for each of the linked tables.

        Args:
            path: Where to write.
            value: What to call the column of the values.
            marks: What to write in place of suppressed values.
            flags: `status`, `sdmx` or `none`: columns of a list.
            layout: As for `to_excel`.
            title: A heading.
            labels: Labels of codes: in a list as for `to_frame`; in a pivot after the code
                (`beside` or `together`), `instead` of it, or `none`.
        """
        from tacit.io.exports import write_html

        write_html(
            self,
            path,
            value=value,
            marks=marks,
            flags=flags,
            layout=layout,
            title=title,
            labels=labels,
        )

    def to_jj(self, path: str | Path) -> None:
        """Write a JJ file of what readers know: relations, values, and which cells have none.

        Values that are published are there, with both bounds at them. Cells without one have
        the status `m` (or `u`, where it is told that they are sensitive), the bounds that are
        published, and the number between them that is nearest to 0 for a value: such a file
        does not add up. Costs are 1 and levels 0.

        Args:
            path: Where to write; a name in `.gz` compresses.
        """
        from tacit.io.exports import write_reader_jj

        write_reader_jj(self, path)

    def replace(self, **changes: Any) -> Published:
        """The same publication with something changed."""
        return dataclasses.replace(self, **changes)

    def __repr__(self) -> str:
        names = " x ".join(self.codes)
        shown = int(np.count_nonzero(self.status == PublishedStatus.VALUE.value))
        return f"Published({names}, {self.cell_count} cells, {shown} with a value)"

    def _repr_html_(self) -> str:
        """In a notebook: the first table, cut off where it is large."""
        return self.pivot(table=0).cut(NOTEBOOK_ROWS, NOTEBOOK_COLUMNS).to_html()


def seen(
    problem: Problem, outcome: Outcome
) -> tuple[Floats, tuple[Floats, Floats] | None, npt.NDArray[np.str_]]:
    """Values, interval ends and statuses as readers see them."""
    solution = outcome.solution
    ends: tuple[Floats, Floats] | None = None
    blank = spread = np.zeros(problem.cell_count, bool)
    value = problem.value
    lowest = lowest_of(problem)
    if isinstance(solution, Suppression):
        blank = solution.suppressed
    elif isinstance(solution, Intervals):
        spread = np.asarray(solution.lower < solution.upper)
        # Decided by what is published alone: bounds may have been made of true values.
        blank = (solution.lower <= lowest) & np.isinf(solution.upper)
        blank[list(outcome.left_out)] = True
        ends = (
            np.where(blank, np.nan, solution.lower),
            np.where(blank, np.nan, solution.upper),
        )
    elif isinstance(solution, Values):
        value = solution.value
    else:
        raise InputError("there is no solution, so there is nothing to publish")
    status = np.full(problem.cell_count, PublishedStatus.VALUE.value, _STATUS_TYPE)
    status[spread] = PublishedStatus.INTERVAL.value
    status[blank] = PublishedStatus.SUPPRESSED.value
    return np.where(blank | spread, np.nan, value), ends, status


def _empty(source: Table | Problem) -> Booleans | None:
    """The cells that everybody knows to be empty, if there are any."""
    if isinstance(source, Problem):
        return None
    empty = np.asarray(source.status == CellStatus.EMPTY.value)
    return _frozen(empty) if empty.any() else None


def _fresh(relations: Relations) -> Relations:
    """The same relations as a new matrix that does not remember what was computed with them."""
    entries = (relations.data, relations.indices, relations.indptr)
    return sparse.csr_array(entries, shape=relations.shape)


def lowest_of(problem: Problem) -> float:
    """What every reader knows to be the least value of any cell.

    Bounds of single cells may have been made from their values: they are not told.
    """
    return 0.0 if (problem.lower >= 0).all() else -np.inf


_STATUS_TYPE = np.dtype(f"<U{max(len(status) for status in PublishedStatus)}")


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array
