"""`Table`: cells over dimensions with hierarchies, as statisticians hold them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.errors import InputError, TableError, about, first_few, unwritable
from tacit.hierarchy import Hierarchy
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.table import columns, linking, problems, variables
from tacit.table.bounds import Bounds
from tacit.table.contributors import Largest
from tacit.table.equations import Equation, equation_relations
from tacit.table.former import Former
from tacit.table.frames import to_frame
from tacit.table.grid import Grid, Relations, linked_relations
from tacit.table.inputs import FrameColumns, read_cube, read_frame
from tacit.table.insiders import Choice, insiders_of
from tacit.table.judging import Levels, Reasons, Rule, Verdict, is_overridden, judged
from tacit.table.labels import CellLabels, labelled
from tacit.table.status import CellStatus, Statuses
from tacit.table.weighting import Weighting, default_weights
from tacit.table.wishes import wished_weights

VARIABLE = "variable"
"""The column that tells variables apart where a table has several."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Table:
    """Cells at combinations of codes, with all that is known about each.

    A table is frozen: `replace` and `link` return new ones. Cells are in row-major order of the
    codes; combinations of codes that do not occur are known to be empty. In columns other than
    `value` and `status`, NaN stands for "not given". Build tables with `tacit.tabulate`,
    `from_frame` or `from_cube`.

    Attributes:
        grids: The tables that this one was linked from; one, if it was not linked.
        value: The value of each cell; may be negative.
        count: The number of contributors of each cell, if known.
        top: The largest contributions of each cell, largest first, one row per cell, if known.
        shadow: The total that sensitivity rules judge in place of the value, if it is another
            one; the largest contributions are then those to this total.
        weighted_count: The number of contributors that those of a sample stand for.
        top_weight: How many contributors each of the `top` stands for.
        holding_count: The number of holdings that contribute: groups of contributors that
            count as one.
        holding_top: The largest contributions of holdings, largest first.
        requested: The number of contributors who asked for protection.
        top_requested: Which of the `top` contributors asked for protection, 1 or 0.
        status: What is to happen to each cell, see `CellStatus`. A cell without contributors
            is never `safe` but `empty`.
        reason: Why each cell is sensitive, as `apply` found; empty where it is not. Cells that
            are published although a rule finds them sensitive have its reason, and `overridden`.
        weight: The information lost when the cell is suppressed, if given.
        lower: The lower bound that an attacker knows, if given.
        upper: The upper bound that an attacker knows, if given.
        lower_level: The lower protection level of each cell, if given.
        upper_level: The upper protection level of each cell, if given.
        sliding_level: The sliding protection level of each cell, if given.
        totals: For each dimension the code that stands for everything.
        backend: The data frame library that `to_frame` uses.
        contributors: Who the largest contributors are, by internal numbers, if known; no frame
            or file is made of them.
        holdings: The same for holdings.
        verdicts: What rules said of the cells, see `apply`: they tell how much is to stay
            uncertain to each contributor.
        former: What was published of the table before, if `tacit.Previous` was applied.
        of_counts: Whether the values are known to be counts, as `tacit.tabulate` makes them
            without a value; see `has_counts`.
        equations: Between variables, where there are several, see `of_variables`.
    """

    grids: tuple[Grid, ...]
    value: Floats
    count: Floats | None = None
    top: Floats | None = None
    shadow: Floats | None = None
    weighted_count: Floats | None = None
    top_weight: Floats | None = None
    holding_count: Floats | None = None
    holding_top: Floats | None = None
    requested: Floats | None = None
    top_requested: Floats | None = None
    status: Statuses = None  # type: ignore[assignment]
    reason: Reasons | None = None
    weight: Floats | None = None
    lower: Floats | None = None
    upper: Floats | None = None
    lower_level: Floats | None = None
    upper_level: Floats | None = None
    sliding_level: Floats | None = None
    totals: Mapping[str, str] = None  # type: ignore[assignment]
    backend: str | None = None
    contributors: Largest | None = None
    holdings: Largest | None = None
    verdicts: tuple[Verdict, ...] = ()
    former: Former | None = None
    of_counts: bool = False
    equations: tuple[Equation, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "grids", tuple(self.grids))
        if self.totals is None:
            roots = {name: hierarchy.total for name, hierarchy in self.dimensions.items()}
            object.__setattr__(self, "totals", roots)
        if len(self.variables) > 1 and VARIABLE in self.totals:
            raise TableError(
                f"a table of several variables cannot have a dimension called {VARIABLE}; rename it"
            )
        for name, column in columns.checked(self).items():
            column.setflags(write=False)
            object.__setattr__(self, name, column)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        dimensions: Mapping[str, Hierarchy | None],
        *,
        value: str = "value",
        count: str | None = None,
        top: Sequence[str] = (),
        shadow: str | None = None,
        weighted_count: str | None = None,
        top_weight: Sequence[str] = (),
        holding_count: str | None = None,
        holding_top: Sequence[str] = (),
        requested: str | None = None,
        top_requested: Sequence[str] = (),
        top_contributor: Sequence[str] = (),
        top_holding: Sequence[str] = (),
        status: str | None = None,
        weight: str | None = None,
        lower: str | None = None,
        upper: str | None = None,
        lower_level: str | None = None,
        upper_level: str | None = None,
        sliding_level: str | None = None,
        cells: Literal["auto", "all", "finest"] = "auto",
    ) -> Self:
        """From a data frame with one row per cell; all arguments but `cells` name its columns.

        Where only the finest cells are given, totals are computed: values, shadows and counts are
        added, and of the top contributions the largest are kept, which is right as long as nobody
        contributes to two of the cells. Totals get none of the other columns.

        Args:
            frame: A data frame of pandas, polars or pyarrow, or a dict of columns.
            dimensions: The dimensions (columns with codes) and their hierarchies. None puts the
                codes that occur below one total, the code `Total`.
            value: The column with the values.
            count: The column with the number of contributors. Cells with none are empty.
            top: The columns with the largest contributions, largest first.
            shadow: The column with the totals that sensitivity rules judge.
            weighted_count: The column with the number of contributors that a sample stands for.
            top_weight: For each column in `top`, the one with the sampling weights.
            holding_count: The column with the number of holdings.
            holding_top: The columns with the largest contributions of holdings.
            requested: The column with the number of contributors who asked for protection.
            top_requested: For each column in `top`, the one that says who asked for protection.
            top_contributor: For each column in `top`, the one with the contributor's code. It
                tells what a contributor to several cells knows, and is not kept as it is.
            top_holding: The same for `holding_top`.
            status: The column with the status, see `CellStatus`.
            weight: The column with the weights.
            lower: The column with the lower bounds that an attacker knows.
            upper: The column with the upper bounds that an attacker knows.
            lower_level: The column with the lower protection levels.
            upper_level: The column with the upper protection levels.
            sliding_level: The column with the sliding protection levels.
            cells: Whether the frame has `all` cells, totals included, or only the `finest`
                ones; `auto` finds out from the codes that occur.

        >>> table = Table.from_frame(
        ...     {"region": ["N", "S", "N"], "sex": ["f", "f", "m"], "value": [1, 2, 3]},
        ...     {"region": None, "sex": None},
        ... )
        >>> table
        Table(region x sex, 8 cells, 0 sensitive)
        >>> table.labels[7], table.relations.shape
        ('region=S, sex=f', (6, 8))
        """
        named = FrameColumns(
            added={
                "value": value,
                "count": count,
                "shadow": shadow,
                "weighted_count": weighted_count,
                "holding_count": holding_count,
                "requested": requested,
            },
            tops={
                "top": top,
                "top_weight": top_weight,
                "top_requested": top_requested,
                "holding_top": holding_top,
            },
            contributors=top_contributor,
            holdings=top_holding,
            given={
                "weight": weight,
                "lower": lower,
                "upper": upper,
                "lower_level": lower_level,
                "upper_level": upper_level,
                "sliding_level": sliding_level,
            },
            status=status,
        )
        table = cls(**read_frame(frame, dimensions, named, cells))
        table._refuse_more_names_than_contributors()
        return table

    def _refuse_more_names_than_contributors(self) -> None:
        """Refuse cells that contradict themselves.

        Not for every table: after recoding a cell may count as few contributors as there can be.
        """
        for largest, count in (
            (self.contributors, self.count),
            (self.holdings, self.holding_count),
        ):
            if largest is not None and count is not None:
                columns.refuse_cells(
                    self, largest.listed > count, "more contributors are named than counted"
                )

    @classmethod
    def from_cube(
        cls,
        values: npt.ArrayLike,
        dimensions: Mapping[str, Hierarchy],
        *,
        counts: npt.ArrayLike | None = None,
        top: npt.ArrayLike | None = None,
    ) -> Self:
        """From an array with one axis per dimension.

        Args:
            values: The values, either over the leaves of each dimension, and totals are
                computed as in `from_frame`, or over all its codes.
            dimensions: The dimensions with their hierarchies, in the order of the axes.
            counts: The number of contributors, with the same axes.
            top: The largest contributions, with the same axes and one more.
        """
        return cls(**read_cube(values, dimensions, counts, top))

    def __repr__(self) -> str:
        names = " x ".join(self.dimensions)
        if len(self.grids) > 1:
            names = f"{len(self.grids)} linked tables over {', '.join(self.dimensions)}"
        sensitive = np.count_nonzero(self.is_sensitive)
        return f"Table({names}, {self.cell_count} cells, {sensitive} sensitive)"

    @property
    def cell_count(self) -> int:
        """Number of cells."""
        return len(self.value)

    @property
    def dimensions(self) -> dict[str, Hierarchy]:
        """The hierarchy of each dimension; in linked tables the first one of each name."""
        found: dict[str, Hierarchy] = {}
        for grid in self.grids:
            for name, hierarchy in grid.dimensions.items():
                found.setdefault(name, hierarchy)
        return found

    @property
    def variables(self) -> tuple[str, ...]:
        """The response variables, see `of_variables`; a nameless one where there is only one."""
        return tuple(dict.fromkeys(grid.variable for grid in self.grids))

    @cached_property
    def variable(self) -> Integers:
        """For each cell which of the `variables` it is a cell of."""
        found = np.zeros(self.cell_count, np.int64)
        for grid in self.grids:
            found[grid.numbers] = self.variables.index(grid.variable)
        return found

    @property
    def can_be_negative(self) -> Booleans:
        """Cells of variables of which some cell is negative."""
        signed = np.zeros(len(self.variables), bool)
        signed[self.variable[self.value < 0]] = True
        return np.asarray(signed[self.variable])

    @property
    def is_sensitive(self) -> Booleans:
        """The sensitive cells as a mask."""
        return np.asarray(self.status == CellStatus.SENSITIVE.value)

    @property
    def overridden(self) -> Booleans:
        """Cells that are not sensitive because a mark overrides the rules that find them so."""
        if self.reason is None:
            return np.zeros(self.cell_count, bool)
        return is_overridden(self.reason) & ~self.is_sensitive

    @property
    def has_counts(self) -> bool:
        """Whether the values are counts: of records, of contributors, or as a rule takes them."""
        counts = (self.count, self.weighted_count)
        return (
            self.of_counts
            or any(column is not None and np.array_equal(column, self.value) for column in counts)
            or any(getattr(verdict.rule, "is_for_counts", False) for verdict in self.verdicts)
        )

    @cached_property
    def labels(self) -> CellLabels:
        """Names of the cells such as `industry=A, region=North`, made when asked for."""
        return CellLabels(self.grids, self.cell_count)

    @cached_property
    def relations(self) -> Relations:
        """All relations, one row each: -1 at a total and 1 at its children, summing to 0."""
        A = linked_relations(self.grids, self.cell_count)
        if self.equations:
            between = equation_relations(self.equations, self.grids, self.totals, self.cell_count)
            A = sparse.csr_array(sparse.vstack([A, between], format="csr"))
        for array in (A.data, A.indices, A.indptr):
            array.setflags(write=False)
        return A

    def codes(self, dimension: str) -> npt.NDArray[np.str_]:
        """The code of each cell in one dimension; the total where its table lacks the dimension."""
        if dimension not in self.totals:
            raise TableError(
                f"there is no dimension {dimension}; there are {first_few([*self.totals])}"
            )
        column = np.full(self.cell_count, self.totals[dimension], dtype=object)
        for grid in reversed(self.grids):
            if dimension in grid.dimensions:
                place = [*grid.dimensions].index(dimension)
                codes = np.array(grid.dimensions[dimension].codes, dtype=object)
                column[grid.numbers] = codes[grid.positions[:, place]]
        return column.astype(str)

    def cell_keys(self) -> dict[str, npt.NDArray[np.str_]]:
        """What tells cells apart: the code in each dimension, and before them the variable.

        The variable, under the name `variable`, is there where the table has several.
        """
        codes = {name: self.codes(name) for name in self.totals}
        if len(self.variables) == 1:
            return codes
        return {VARIABLE: np.array(self.variables)[self.variable], **codes}

    def to_frame(self, backend: str | None = None) -> Any:
        """All cells as a data frame, confidential values included.

        Columns are the dimensions, then `value`, counts, `top_1` and so on, `status` and
        whatever else is given. A column whose name is taken by a dimension is called `cell_...`.

        Args:
            backend: `pandas`, `polars`, `pyarrow`, or `dict` for a dict of arrays; by default
                the library that the table came from.
        """
        return to_frame(columns.as_frame(self), backend or self.backend)

    def with_labels(
        self, labels: Mapping[str, Any], *, unknown: Literal["refuse", "ignore"] = "refuse"
    ) -> Self:
        """The same table with labels of codes, see `Hierarchy.with_labels`.

        Labels are shown to people and change nothing else.

        Args:
            labels: For each dimension a mapping of codes to labels, or a data frame with columns
                `code` and `label`. In linked tables every hierarchy of the dimension gets those
                of its codes.
            unknown: What to do with labels of codes that the table does not have.

        Raises:
            TableError: There is no such dimension.
            HierarchyError: There are no such codes, or codes with two labels.

        >>> table = Table.from_frame({"sex": ["f", "m"], "value": [1, 2]}, {"sex": None})
        >>> table.with_labels({"sex": {"f": "women", "m": "men"}}).dimensions["sex"].text("f")
        'f women'
        """
        grids = labelled(self.grids, self.totals, labels, unknown)
        return self.replace(grids=grids)

    def replace(self, **changes: Any) -> Self:
        """The same table with some columns changed."""
        return dataclasses.replace(self, **changes)

    def apply(
        self,
        *rules: Rule,
        levels: Levels = "both",
        least_level: float | None = None,
        bounds: Bounds | None = None,
        weight: Weighting | str | Sequence[float] | Floats | None = None,
    ) -> Self:
        """The table with the cells that sensitivity rules find sensitive, and why.

        A cell is sensitive if any rule says so, or if it was sensitive before; its protection
        levels are the largest that are asked for, and `reason` names all rules that found it. Of
        several variables each is judged by itself.

        Args:
            rules: Any rules, such as `tacit.MinFrequency(3), tacit.PPercent(10)`.
            levels: `both`, `lower`, `upper`, or `sliding` for an interval as wide as both levels
                together, wherever it lies. A rule may say otherwise for itself.
            least_level: The levels of a sensitive cell for which rules imply none, such as one of
                value zero. By default 1 in a table of whole numbers, otherwise a thousandth of
                the median magnitude of all cells that are not zero.
            bounds: What attackers know about the cells, besides the bounds given already.
            weight: How much information a cell stands for: a `Weighting`, or what it is taken
                from, such as `value`, `count`, `unit` or a number for each cell. Unless said, now
                or before, it is the value, or 1 for each cell of a table that `has_counts`.

        Raises:
            TableError: Cells are sensitive but must be published or are marked as safe, or their
                levels reach beyond what attackers know.
        """
        if len(self.variables) > 1:
            how = {"levels": levels, "least_level": least_level}
            return variables.applied_to_each(self, rules, bounds, weight, how)
        changes: dict[str, Any] = {}
        if bounds is not None:
            if not isinstance(bounds, Bounds):
                raise InputError("bounds must be Bounds(...), such as Bounds(upper_factor=2)")
            with about("bounds"):
                changes["lower"], changes["upper"] = bounds.columns(self)
        if weight is not None:
            with about("weight"):
                weighting = weight if isinstance(weight, Weighting) else Weighting(weight)
                changes["weight"] = weighting.weights(self)
        known = {name: changes.get(name, getattr(self, name)) for name in ("lower", "upper")}
        found, wishes = judged(self, rules, levels=levels, least_level=least_level, **known)
        table = self.replace(**{**changes, **found})
        if not any(wish.weight is not None or wish.factor is not None for wish in wishes):
            return table
        otherwise = columns.filled(table, "weight", default_weights(table))
        return table.replace(weight=wished_weights(otherwise, wishes, table.is_sensitive))

    def of_variable(self, variable: str) -> Self:
        """The tables of one of several variables, linked as they are here.

        Raises:
            InputError: There is no such variable.
        """
        return variables.of_variable(self, variable)

    def named(self, name: str, variable: str = "") -> Self:
        """The same table with a name among linked ones, and one for what its values are.

        Args:
            name: What to call it in messages, files and reports.
            variable: What its values are. Tables of different variables share no cells when they
                are linked, though they have the same codes.
        """
        for odd in filter(None, (unwritable(name), unwritable(variable))):
            raise TableError(f"the name of a table: {odd}; rename it")
        changed = (dataclasses.replace(grid, name=name, variable=variable) for grid in self.grids)
        return self.replace(grids=tuple(changed))

    @classmethod
    def of_variables(
        cls, tables: Mapping[str, Table], equations: Sequence[str | Equation] = ()
    ) -> Table:
        """One table of several response variables, with equations between them.

        Cells of different variables are different cells. All are protected together, as an
        equation lets attackers compute one variable from others, and a contributor who is known
        in several of them is one attacker. Rules judge each variable by itself, before or after.

        Args:
            tables: A table, linked or not, for each variable.
            equations: Such as `turnover = domestic + exports`, with blanks around the signs. It is
                a relation at every combination of codes that all its variables have.

        Raises:
            InputError: An equation cannot be read, or names something that is not a variable.
            TableError: The tables cannot be linked.

        >>> values = {"turnover": [9, 5], "domestic": [6, 4], "exports": [3, 1]}
        >>> made = {
        ...     name: Table.from_frame({"region": ["N", "S"], "value": value}, {"region": None})
        ...     for name, value in values.items()
        ... }
        >>> Table.of_variables(made, ["turnover = domestic + exports"]).relations.shape
        (6, 9)
        """
        return variables.joined(tables, equations)

    def link(
        self,
        *others: Table,
        totals: Mapping[str, str] | None = None,
        tolerance: float = linking.AGREEMENT_TOLERANCE,
    ) -> Table:
        """One table of the cells of several, with the relations of all and each cell once.

        Two cells are the same when they have the same code in each dimension, where a table
        without a dimension has the code that stands for everything there, and are of the same
        variable (see `of_variables`). Hierarchies over the
        same dimension may differ. The first table gives the value of a common cell; its bounds
        are the tightest, its levels the highest, its other columns the first given.

        Args:
            others: The tables to link to this one.
            totals: For a dimension the code that stands for everything, by default the total
                of the first table with this dimension. The total of a table over a part of a
                dimension is not this code, but a code of its own.
            tolerance: Values and counts of a common cell may differ by this share.

        Raises:
            TableError: Common cells that differ, or a cell that another table leaves out.
        """
        return Table(**linking.link([self, *others], dict(totals or {}), tolerance))

    def problem(self, insiders: Choice = "none", coalition: int = 1) -> Problem:
        """The table as algorithms see it.

        Attackers know bounds as given; where none is given, that cells are not negative, or
        nothing at all if any cell of the table (of several variables, of the same one) is. Where no
        weight is given, it is the magnitude of the value, or 1 in a table that `has_counts`. Empty
        cells must be published. Cells with one contributor carry the number of a respondent: a
        total and the only cell that contributes to it share one, others have their own. It is built
        once for each choice and kept, as neither of the two ever changes. `tacit.protect` asks for
        insiders; methods that are called with a problem follow the papers unless it has some.

        Args:
            insiders: Which contributors attack besides readers, each knowing its own figures:
                `singletons`, who are alone in a cell that may be suppressed; `contributors`, all
                whom the table knows; or `none`. A table that does not know the number of
                contributors has no insiders.
            coalition: How many insiders may pool what they know.

        Raises:
            InputError: There is no such choice.
            TableError: `contributors` of a table that does not know who contributes.
        """
        if (insiders, coalition) not in self._problems:
            found = insiders_of(self, self._problem, insiders, coalition)
            self._problems[insiders, coalition] = self._problem.with_insiders(found)
        return self._problems[insiders, coalition]

    @cached_property
    def _problems(self) -> dict[tuple[str, int], Problem]:
        return {}

    @cached_property
    def _problem(self) -> Problem:
        return problems.without_insiders(self)
