"""Tables of a batch file, made from microdata or read as they are, before any rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit.arrays import Floats
from tacit.errors import InputError, TableError, nearest
from tacit.hierarchy import Hierarchy
from tacit.io.argus.commands import (
    COST_BY_DISTANCE,
    COST_BY_FREQUENCY,
    COST_UNIT,
    SpecifyTable,
)
from tacit.io.argus.metadata import Metadata, Variable
from tacit.io.argus.microdata import MicrodataFile, request_column
from tacit.io.argus.paths import Folders
from tacit.io.argus.recodings import MERGED, Recoding
from tacit.jobs.argus.dimensions import dimension, missing_codes
from tacit.jobs.argus.rules import JudgedElsewhere, SafetyRules
from tacit.methods.recoding.plan import grouped
from tacit.methods.recoding.run import Overlap, recode
from tacit.microdata import TabulationReport, tabulate
from tacit.microdata.sources import FileQuery
from tacit.microdata.specification import RECORDS
from tacit.observer import Observer
from tacit.problem import ADDITIVITY_TOLERANCE
from tacit.rules import MissingSafe
from tacit.table import Grid, Rule, Table, Weighting

MOST_WITH_EMPTY = 100_000
"""Up to so many combinations of codes, cells that nobody contributes to are cells of the table."""

Report = Callable[[TabulationReport], object]


@dataclass(frozen=True, eq=False, kw_only=True)
class Source:
    """A table before any rule, and what judges it.

    Attributes:
        table: The table.
        rules: What judges it, in addition to rules that need no more than a table.
        weights: What suppressing a cell costs.
        missing: For each dimension the codes that stand for missing values.
        widths: How wide the finest codes of each dimension are.
        tolerance: How exactly it must add up; None for the default.
        by: The hierarchies before recoding.
        merged: What is recoded, see `tacit.recode`.
        arguments: How records are tabulated; none where the table was read as it is.
    """

    table: Table
    rules: tuple[Rule, ...]
    weights: Weighting
    missing: Mapping[str, list[str]] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)
    tolerance: float | None = None
    by: Mapping[str, Hierarchy] = field(default_factory=dict)
    merged: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)


class FromMicrodata:
    """Tables from records; the file is open until `close`."""

    def __init__(self, path: Path, metadata: Metadata, folders: Folders):
        self._stack = ExitStack()
        self._records = self._stack.enter_context(MicrodataFile(path, metadata))
        self._metadata = metadata
        self._folders = folders
        self._hierarchies: dict[str, Hierarchy] = {}

    def close(self) -> None:
        """Give up the file."""
        self._stack.close()

    def make(
        self,
        spec: SpecifyTable,
        rules: SafetyRules,
        recodes: Mapping[str, int | Recoding],
        observer: Observer | None,
        report: Report | None,
    ) -> Source:
        """Tabulate the records."""
        explanatory = [find(self._metadata, name, "explanatory") for name in spec.explanatory]
        by = self._dimensions(explanatory, observer)
        merged = {
            v.name: merging(recodes[v.name], by[v.name], v.width or 0)
            for v in explanatory
            if v.name in recodes
        }
        # New codes as totals of their own, so that everybody counts once.
        wide = by | {name: grouped(by[name], given) for name, given in merged.items()}
        response = None if spec.response is None else find(self._metadata, spec.response, "numeric")
        shadow = self._shadow(spec, response)
        arguments: dict[str, Any] = {
            "top": rules.largest_needed,
            "keep_empty": _size(wide) <= MOST_WITH_EMPTY,
        }
        if shadow is not None:
            arguments["shadow"] = shadow.name
        if rules.weighted:
            arguments["weight"] = self._the_one("weight", lambda v: v.is_weight, "WGT(1)")
        if rules.holding:
            arguments["holding"] = self._the_one("holding", lambda v: v.is_holding, "holdings")

        def made(**more: Any) -> Table:
            value = None if response is None else response.name
            with self._records.named_in_errors():
                how = {**arguments, **more, "observer": observer}
                table = tabulate(self._records.source(), wide, value, **how)
            return recoded(table, merged) if merged else table

        extra: list[Rule] = []
        table, asks = self._with_requests(rules, made, report, extra)
        if asks is not None:
            arguments["request"] = asks
        missing = {v.name: missing_codes(v, table.dimensions[v.name]) for v in explanatory}
        if rules.missing_safe:
            extra.append(MissingSafe(missing))
        return Source(
            table=table,
            rules=(*rules.rules, *extra),
            weights=self._weights(spec, response, shadow, rules, made),
            missing=missing,
            widths={v.name: v.width or 0 for v in explanatory},
            by=by,
            merged=merged,
            arguments={"value": None if response is None else response.name, **arguments},
        )

    def records(self) -> FileQuery:
        """The records as a source for `tacit.tabulate`."""
        return self._records.source()

    def _with_requests(
        self,
        rules: SafetyRules,
        made: Callable[..., Table],
        report: Report | None,
        extra: list[Rule],
    ) -> tuple[Table, str | None]:
        """The table and the column with requests that it is tabulated with; adds the rules."""
        if rules.requests is None:
            return made(report=report), None
        name = self._the_one("request", lambda v: bool(v.requests), "REQ")
        codes = self._metadata.variables[name].requests
        first, second = rules.requests
        if len(codes) == 1 or first == second:
            table = made(report=report, request=name)
            extra.append(rules.request_rule(first))
            return table, name
        variable = self._metadata.variables[name]
        shares = dict(zip(codes, rules.requests, strict=True))
        tables = [made(report=report, request=request_column(variable, codes[0]))]
        tables.append(made(request=request_column(variable, codes[1])))
        extra += [
            JudgedElsewhere(rules.request_rule(share), table)
            for share, table in zip(shares.values(), tables, strict=True)
        ]
        return tables[0], None

    def _weights(
        self,
        spec: SpecifyTable,
        response: Variable | None,
        shadow: Variable | None,
        rules: SafetyRules,
        made: Callable[..., Table],
    ) -> Weighting:
        if isinstance(spec.cost, str):
            cost = find(self._metadata, spec.cost, "numeric")
            if shadow is not None and cost.name == shadow.name:
                return Weighting("shadow", spec.power)
            if response is None or cost.name != response.name:
                of_cost = made(shadow=cost.name)
                assert of_cost.shadow is not None
                return Weighting(np.abs(of_cost.shadow), spec.power)
        return plain_weights(spec, "weighted_count" if rules.weighted else "count")

    def _dimensions(
        self, explanatory: list[Variable], observer: Observer | None
    ) -> dict[str, Hierarchy]:
        """The hierarchies of variables; codes that occur are looked up for all at once."""
        new = [v for v in explanatory if v.name not in self._hierarchies]
        occurring = self._records.codes([v for v in new if v.hierarchy is None], observer)
        for v in new:
            self._hierarchies[v.name] = dimension(
                v, self._metadata, self._folders, occurring.get(v.name, ())
            )
        return {v.name: self._hierarchies[v.name] for v in explanatory}

    def _shadow(self, spec: SpecifyTable, response: Variable | None) -> Variable | None:
        if spec.shadow is None:
            return None
        shadow = find(self._metadata, spec.shadow, "numeric")
        return None if response is not None and shadow.name == response.name else shadow

    def _the_one(self, what: str, is_it: Callable[[Variable], bool], needed_by: str) -> str:
        found = self._metadata.the_one(is_it)
        if found is None:
            raise InputError(
                f"{needed_by} needs a variable with <{what.upper()}> in {self._metadata.path.name}"
            )
        return found.name


def plain_weights(spec: SpecifyTable, counted: str) -> Weighting:
    """Weights that need no other variable."""
    if spec.cost == COST_BY_DISTANCE:
        raise InputError(
            "cost -3 (distance to the sensitive cells) has no counterpart; name a cost variable, "
            "or write -1 (frequency) or -2 (all alike)"
        )
    if spec.cost == COST_UNIT:
        return Weighting("unit", spec.power)
    if spec.cost == COST_BY_FREQUENCY:
        return Weighting(counted, spec.power)
    return Weighting("value", spec.power)


def find(metadata: Metadata, name: str, kind: str) -> Variable:
    """A variable that a table names.

    Args:
        metadata: The metadata.
        name: Its name.
        kind: `explanatory` or `numeric`: what it has to be.

    Raises:
        InputError: There is none, or it is of another kind.
    """
    found = metadata.variable(name)
    if found is None:
        known = list(metadata.variables)
        raise InputError(
            f"there is no variable {name} in {metadata.path.name}; {nearest(name, known)}"
        )
    if kind == "explanatory" and not found.is_explanatory:
        raise InputError(
            f"variable {found.name} is not explanatory: it has no <RECODEABLE> in "
            f"{metadata.path.name}, line {found.line}"
        )
    numeric = found.is_numeric or found.is_weight or found.is_frequency or found.is_cost
    if kind == "numeric" and not numeric:
        raise InputError(
            f"variable {found.name} does not hold numbers: it has no <NUMERIC> in "
            f"{metadata.path.name}, line {found.line}"
        )
    return found


def merging(given: int | Recoding, hierarchy: Hierarchy, width: int) -> Any:
    """What to merge in a dimension, see `tacit.recode`."""
    if isinstance(given, int):
        if not hierarchy.depth >= given:
            raise InputError(
                f"there are {hierarchy.depth} levels below the total; level {given} is none"
            )
        return given
    return given.merged(hierarchy, width)


def recoded(table: Table, merged: Mapping[str, Any], overlap: Overlap = "refuse") -> Table:
    """A table recoded; new codes that are also those of members get their own names back."""
    found = recode(table, merged, overlap=overlap)
    (grid,) = found.grids
    named = {
        name: Hierarchy(
            tuple(code.removesuffix(MERGED) for code in hierarchy.codes), hierarchy.parents
        ).with_labels(hierarchy.labels, unknown="ignore")
        if isinstance(merged.get(name), Mapping)
        else hierarchy
        for name, hierarchy in grid.dimensions.items()
    }
    return found.replace(grids=(Grid(named, grid.keys, grid.cells),))


def _size(by: Mapping[str, Hierarchy]) -> int:
    size = 1
    for hierarchy in by.values():
        size *= len(hierarchy)
    return size


class FromTable:
    """The table of a file, as it is or with totals computed."""

    def __init__(
        self,
        path: Path,
        metadata: Metadata,
        folders: Folders,
        totals: int,
        keep_status: bool,
    ):
        from tacit.io.argus.tables import read_tab

        self._file = read_tab(path, metadata)
        self._metadata = metadata
        self._folders = folders
        self._totals = totals
        self._keep_status = keep_status

    def close(self) -> None:
        """Nothing is open."""

    def make(
        self,
        spec: SpecifyTable,
        rules: SafetyRules,
        recodes: Mapping[str, int | Recoding],
        observer: Observer | None,  # noqa: ARG002 - reading is quick
        report: Report | None,  # noqa: ARG002 - there are no records
    ) -> Source:
        """Make the table of some of the columns."""
        from tacit.jobs.argus.decisions import Given, given_statuses

        file, metadata = self._file, self._metadata
        explanatory = [find(metadata, name, "explanatory") for name in spec.explanatory]
        others = [
            v.name
            for v in metadata.variables.values()
            if v.is_explanatory and v.name not in {each.name for each in explanatory}
        ]
        rows = self._rows_of_total(others)
        widths, by, codes = {}, {}, {}
        for v in explanatory:
            texts = [file.texts[v.name][row] for row in rows]
            finest = [text for text in texts if text and text != v.total]
            widths[v.name] = max((len(text) for text in finest), default=0)
            if v.hierarchy is not None:
                widths[v.name] = self._finest_width(v, set(finest))
            by[v.name], codes[v.name] = self._codes(v, texts, widths[v.name], rows)
        values = self._values(spec, rows)
        frame: dict[str, Any] = {**codes, **values.columns}
        is_finest = np.ones(len(rows), bool)
        for name, hierarchy in by.items():
            leaves = set(hierarchy.leaves)
            is_finest &= np.array([code in leaves for code in codes[name]], bool)
        kept = np.flatnonzero(is_finest) if self._totals == 1 else np.arange(len(rows))
        if not len(kept):
            raise InputError("the file has totals only; totals are computed from finest cells")
        given = {name: [column[row] for row in kept] for name, column in frame.items()}
        try:
            table = Table.from_frame(
                given, by, cells="finest" if self._totals == 1 else "all", **values.names
            )
        except TableError as error:
            told = str(error).partition("; ")[0]
            advice = "; <READTABLE> 1 computes totals" if "totals are missing" in told else ""
            raise InputError(f"{told if advice else error}{advice}", path=file.path) from None
        source = Source(
            table=table,
            rules=rules.rules,
            weights=values.weights,
            missing={v.name: missing_codes(v, by[v.name], widths[v.name]) for v in explanatory},
            widths=widths,
            tolerance=1.0 if self._totals == 2 else None,
            by=by,
        )
        told_of = np.arange(len(rows)) if self._keep_status or self._totals != 1 else kept
        status = given_statuses(
            Given(file, metadata, rows, codes), told_of, source.table, rules.manual
        )
        if recodes:
            return self._recoded(source, recodes, explanatory, bool(status))
        extra: list[Rule] = [*status]
        if rules.requests is not None:
            raise InputError("REQ needs records; a finished table does not say who asked")
        if rules.missing_safe:
            extra.append(MissingSafe(source.missing))
        return replace(source, rules=(*source.rules, *extra))

    def _recoded(
        self,
        source: Source,
        recodes: Mapping[str, int | Recoding],
        explanatory: list[Variable],
        has_status: bool,
    ) -> Source:
        if has_status:
            raise InputError(
                "a table with statuses cannot be recoded: merged cells have none; leave out the "
                "<STATUS> of the metadata, or recode the microdata"
            )
        table = source.table
        merged = {
            v.name: merging(recodes[v.name], table.dimensions[v.name], source.widths[v.name])
            for v in explanatory
            if v.name in recodes
        }
        # Who contributes to several cells is not known, so the worst case counts.
        merged_table = recoded(table, merged, overlap="worst")
        return replace(source, table=merged_table, by=merged_table.dimensions)

    def _rows_of_total(self, others: list[str]) -> list[int]:
        """The rows of a table over some of the dimensions: those with the total in all others."""
        rows = range(len(self._file.lines))
        totals = {name: self._metadata.variables[name].total for name in others}
        found = [
            row
            for row in rows
            if all(self._file.texts[name][row] in ("", total) for name, total in totals.items())
        ]
        if not found:
            raise InputError(
                f"no cell of the file is a total over {', '.join(others)}, which the table leaves "
                "out; name all variables",
                path=self._file.path,
            )
        return found

    def _finest_width(self, variable: Variable, occurring: set[str]) -> int:
        hierarchy = dimension(variable, self._metadata, self._folders, (), 0)
        finest = {code.strip() for code in hierarchy.leaves} & occurring
        return max((len(code) for code in finest), default=0)

    def _codes(
        self, variable: Variable, texts: list[str], width: int, rows: list[int]
    ) -> tuple[Hierarchy, list[str]]:
        # What stands in front counts where the codes tell their levels.
        wide = 0 if variable.levels else width
        occurring = [
            text.rjust(wide) for text in dict.fromkeys(texts) if text and text != variable.total
        ]
        hierarchy = dimension(variable, self._metadata, self._folders, occurring, width)
        known = {code.strip(): code for code in reversed(hierarchy.codes)}
        known[""] = hierarchy.total
        for row, text in zip(rows, texts, strict=True):
            if text not in known:
                raise InputError(
                    f"variable {variable.name}: code {text} is not in its hierarchy",
                    path=self._file.path,
                    line=self._file.lines[row],
                )
        return hierarchy, [known[text] for text in texts]

    def _values(self, spec: SpecifyTable, rows: list[int]) -> _Values:
        file, metadata = self._file, self._metadata
        frequency = metadata.the_one(lambda v: v.is_frequency)
        if spec.response is None:
            if frequency is None:
                raise InputError(
                    f"a table that counts needs a variable with <FREQUENCY> in {metadata.path.name}"
                )
            response = frequency
        else:
            response = find(metadata, spec.response, "numeric")
        numbers = {name: column[rows] for name, column in file.numbers.items()}
        columns: dict[str, Floats] = {"=value": np.nan_to_num(numbers[response.name])}
        names: dict[str, Any] = {"value": "=value"}
        if frequency is not None:
            columns["=count"] = np.nan_to_num(numbers[frequency.name])
            names["count"] = "=count"
        tops = [v.name for v in metadata.variables.values() if v.is_top]
        if tops:
            for name in tops:
                # A contribution of nothing is written where there are no more contributors.
                column = numbers[name]
                columns[f"={name}"] = np.where(column == 0, np.nan, column)
            names["top"] = [f"={name}" for name in tops]
        shadow = self._shadow(spec, response)
        if shadow is not None:
            columns["=shadow"], names["shadow"] = numbers[shadow.name], "=shadow"
        weights = plain_weights(spec, "count") if spec.cost is None else None
        cost = metadata.the_one(lambda v: v.is_cost) if spec.cost is None else None
        if isinstance(spec.cost, str):
            cost = find(metadata, spec.cost, "numeric")
        if cost is not None and cost.name != response.name:
            columns["=weight"], names["weight"] = np.abs(numbers[cost.name]), "=weight"
            weights = Weighting("weight", spec.power)
        return _Values(columns, names, weights or plain_weights(spec, "count"))

    def _shadow(self, spec: SpecifyTable, response: Variable) -> Variable | None:
        shadow = self._metadata.the_one(lambda v: v.is_shadow)
        if spec.shadow is not None:
            shadow = find(self._metadata, spec.shadow, "numeric")
        return None if shadow is None or shadow.name == response.name else shadow


@dataclass(frozen=True, eq=False)
class _Values:
    """Columns of numbers, what they are to a table, and what a suppressed cell costs."""

    columns: dict[str, Floats]
    names: dict[str, Any]
    weights: Weighting


def value_name(spec: SpecifyTable) -> str:
    """What the values of a table are called."""
    return RECORDS if spec.response is None else spec.response


def refuse_wrong_totals(table: Table) -> None:
    """Refuse a table that does not add up, and name its totals.

    Raises:
        InputError: There are such totals.
    """
    problem = table.problem("none")
    bad = np.abs(problem.residual()) > ADDITIVITY_TOLERANCE * problem.scale()
    if bad.any():
        raise InputError(
            "totals are not the sums of their parts: "
            f"{problem.name_relations(np.flatnonzero(bad))}; correct them, write <READTABLE> 1 to "
            "have them computed, or <READTABLE> 2 to take them as they are"
        )
