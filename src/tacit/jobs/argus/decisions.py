"""What is decided about single cells: statuses of finished tables, and a priori files."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Booleans, Floats, Integers
from tacit.errors import InputError
from tacit.hierarchy import Hierarchy
from tacit.io.argus.apriori import AprioriFile, Decision
from tacit.io.argus.metadata import Metadata
from tacit.io.argus.statuses import SUPPRESSED
from tacit.io.argus.tables import TabFile
from tacit.table import CellStatus, Table, Verdict, Weighting

MANUAL = "manual"
"""The reason of cells that are sensitive by hand."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Decided:
    """Cells that are decided about, as a rule.

    Attributes:
        sensitive: Cells that are sensitive.
        lower: Their lower levels.
        upper: Their upper levels.
        others: Cells that are decided otherwise.
        status: Their statuses; what rules say of them is overridden.
        reason: Why cells are sensitive.
    """

    sensitive: Integers
    lower: Floats
    upper: Floats
    others: Integers
    status: list[str]
    reason: str = MANUAL

    def judge(self, table: Table) -> Verdict:
        """What is decided."""
        order = np.argsort(self.sensitive)
        return Verdict(
            reason=self.reason,
            cells=self.sensitive[order],
            lower=self.lower[order],
            upper=self.upper[order],
            levels="both",
            decided=self.others,
            decided_status=np.array(self.status, table.status.dtype),
            override=True,
        )


@dataclass(frozen=True, eq=False)
class Given:
    """Rows of a finished table.

    Attributes:
        file: The file.
        metadata: What its columns are.
        rows: The rows that are cells of the table.
        codes: Their codes in each dimension.
    """

    file: TabFile
    metadata: Metadata
    rows: Sequence[int]
    codes: Mapping[str, Sequence[str]]


def given_statuses(given: Given, told_of: Integers, table: Table, manual: float) -> list[Decided]:
    """What a finished table says of its cells; nothing where it has no statuses.

    Args:
        given: The rows.
        told_of: Which of them count.
        table: The table made of them.
        manual: The levels of sensitive cells where the file has none, in percent of the value.
    """
    metadata = given.metadata
    column = metadata.the_one(lambda v: v.is_status)
    if column is None:
        return []
    words = {
        metadata.safe.upper(): CellStatus.SAFE,
        metadata.unsafe.upper(): CellStatus.SENSITIVE,
        metadata.protect.upper(): CellStatus.PUBLISH,
        "E": CellStatus.EMPTY,
        "M": CellStatus.SECONDARY,
        "": CellStatus.SAFE,
    }
    cells = find_cells(table, {n: [c[row] for row in told_of] for n, c in given.codes.items()})
    sensitive: list[tuple[int, float, float]] = []
    others: list[tuple[int, str]] = []
    suppressed: list[int] = []
    levels = [
        metadata.the_one(lambda v: v.is_lower_level),
        metadata.the_one(lambda v: v.is_upper_level),
    ]
    for place, cell in zip(told_of.tolist(), cells.tolist(), strict=True):
        row = given.rows[place]
        letter = given.file.texts[column.name][row].upper()
        if letter not in words:
            raise InputError(
                f"status {letter} is unknown; {given.metadata.path.name} has {metadata.safe}, "
                f"{metadata.unsafe} and {metadata.protect}",
                path=given.file.path,
                line=given.file.lines[row],
            )
        status = words[letter]
        if cell < 0:
            # A total of nothing: there are no finest cells below it.
            continue
        if status is CellStatus.EMPTY and table.value[cell] != 0:
            raise InputError(
                "the cell is empty by its status, but has a value; correct one of them",
                path=given.file.path,
                line=given.file.lines[row],
            )
        share = manual / 100 * abs(float(table.value[cell]))
        if status is CellStatus.SENSITIVE:
            asked = [
                share if v is None else float(np.nan_to_num(given.file.numbers[v.name][row]))
                for v in levels
            ]
            sensitive.append((cell, *asked))
        elif status is CellStatus.SECONDARY:
            suppressed.append(cell)
        elif status in (CellStatus.PUBLISH, CellStatus.EMPTY):
            others.append((cell, status.value))
    return _decided(sensitive, others, suppressed)


def _decided(
    sensitive: Sequence[tuple[int, float, float]],
    others: Sequence[tuple[int, str]],
    suppressed: Sequence[int],
) -> list[Decided]:
    """Decisions as rules; cells to be suppressed get the least levels, so that they are."""
    found = [_rule(sensitive, others, MANUAL)]
    if suppressed:
        found.append(_rule([(cell, 0.0, 0.0) for cell in suppressed], (), SUPPRESSED))
    return found


def _rule(
    sensitive: Sequence[tuple[int, float, float]], others: Sequence[tuple[int, str]], reason: str
) -> Decided:
    listed = np.array([[lower, upper] for _, lower, upper in sensitive]).reshape(-1, 2)
    return Decided(
        sensitive=np.array([cell for cell, _, _ in sensitive], np.int64),
        lower=listed[:, 0],
        upper=listed[:, 1],
        others=np.array([cell for cell, _ in others], np.int64),
        status=[status for _, status in others],
        reason=reason,
    )


def find_cells(table: Table, codes: Mapping[str, Sequence[str]]) -> Integers:
    """The numbers of cells by their codes; -1 where the table leaves the cell out as empty."""
    (grid,) = table.grids
    keys = np.zeros(len(next(iter(codes.values()))), np.int64)
    for stride, (name, hierarchy) in zip(grid.strides, grid.dimensions.items(), strict=True):
        keys += np.array([hierarchy.positions[code] for code in codes[name]], np.int64) * stride
    return grid.find(keys)


@dataclass(frozen=True, eq=False)
class Applied:
    """A table to which an a priori file was applied.

    Attributes:
        table: The table.
        count: How many cells were changed.
        faults: Lines that could not be applied.
    """

    table: Table
    count: int
    faults: tuple[InputError, ...]


def apply_apriori(
    table: Table,
    file: AprioriFile,
    *,
    manual: float,
    expand_trivial: bool,
    weights: Weighting,
) -> Applied:
    """Apply an a priori file to a table that rules have judged.

    Args:
        table: The table.
        file: The file.
        manual: The levels of cells that are marked as sensitive, in percent of the value.
        expand_trivial: Whether cells count together that are equal because a code has a single
            one below it.
        weights: What suppressing a cell costs, before anything was decided.
    """
    state = _State(table, manual, weights)
    faults = list(file.faults)
    for decision in file.decisions:
        try:
            for cell in _cells(table, decision, expand_trivial):
                state.decide(cell, decision)
        except InputError as error:
            faults.append(InputError(str(error), path=file.path, line=decision.line))
    faults.sort(key=lambda fault: fault.line or 0)
    return Applied(state.result(), len(state.changed), tuple(faults))


class _State:
    """Statuses as they are decided one after the other."""

    def __init__(self, table: Table, manual: float, weights: Weighting):
        self._table = table
        self._manual = manual
        self._status: list[str] = table.status.tolist()
        self._weight = weights.weights(table) if table.weight is None else table.weight.copy()
        self._levels: dict[int, tuple[float, float]] = {}
        self._by_hand: dict[int, CellStatus] = {}
        self._suppressed: set[int] = set()
        self.changed: set[int] = set()

    def decide(self, cell: int, decision: Decision) -> None:
        status = self._status[cell]
        free = (CellStatus.SAFE,)
        match decision.command:
            case "S":
                self._refuse(status, cell, (*free, CellStatus.SENSITIVE, CellStatus.PUBLISH))
                self._set(cell, CellStatus.SAFE)
            case "U":
                self._refuse(status, cell, (*free, CellStatus.SENSITIVE))
                if status != CellStatus.SENSITIVE:
                    self._set(cell, CellStatus.SENSITIVE)
            case "P":
                self._refuse(status, cell, free)
                self._set(cell, CellStatus.PUBLISH)
            case "M" | "ML":
                self._refuse(status, cell, free)
                self._set(cell, CellStatus.SENSITIVE)
                self._suppressed.add(cell)
            case "C":
                self._weight[cell] = decision.numbers[0]
            case "PL":
                self._refuse(status, cell, (CellStatus.SENSITIVE,))
                lower, upper = decision.numbers
                self._levels[cell] = (lower, upper)
        self.changed.add(cell)

    def _refuse(self, status: str, cell: int, allowed: Sequence[CellStatus]) -> None:
        if status not in allowed:
            raise InputError(
                f"the cell ({self._table.labels[cell]}) is {status}; this can be decided of cells "
                f"that are {' or '.join(allowed)}"
            )

    def _set(self, cell: int, status: CellStatus) -> None:
        self._status[cell] = status.value
        self._by_hand[cell] = status
        self._suppressed.discard(cell)

    def result(self) -> Table:
        table = self._table
        hidden = [
            cell
            for cell, status in self._by_hand.items()
            if status is CellStatus.SENSITIVE and cell not in self._suppressed
        ]
        shares = {cell: self._manual / 100 * abs(float(table.value[cell])) for cell in hidden}
        rules = _decided(
            [(cell, *self._levels.get(cell, (share, share))) for cell, share in shares.items()],
            [
                (cell, status.value)
                for cell, status in self._by_hand.items()
                if status is not CellStatus.SENSITIVE
            ],
            sorted(self._suppressed),
        )
        judged = table.apply(*rules, weight=self._weight)
        level = {
            name: np.full(table.cell_count, np.nan) if column is None else column.copy()
            for name, column in (
                ("lower_level", judged.lower_level),
                ("upper_level", judged.upper_level),
            )
        }
        for cell, (lower, upper) in self._levels.items():
            if self._status[cell] == CellStatus.SENSITIVE and (lower or upper):
                level["lower_level"][cell] = lower
                level["upper_level"][cell] = upper
        return judged.replace(**level)


def _cells(table: Table, decision: Decision, expand_trivial: bool) -> list[int]:
    """The cells that a line is about; none where the table knows them to be empty."""
    alike: dict[str, list[str]] = {}
    for (name, hierarchy), text in zip(table.dimensions.items(), decision.codes, strict=True):
        code = _code(hierarchy, text)
        if code is None:
            raise InputError(f"variable {name} has no code {text!r}")
        alike[name] = _trivially_equal(hierarchy, code) if expand_trivial else [code]
    combined = list(itertools.product(*alike.values()))
    columns = {name: [row[place] for row in combined] for place, name in enumerate(alike)}
    found = find_cells(table, columns)
    there: Booleans = found >= 0
    if not there.any():
        raise InputError("the cell is empty; nothing can be decided about it")
    return [int(cell) for cell in found[there]]


def _code(hierarchy: Hierarchy, text: str) -> str | None:
    """A code as written, or whatever the blanks around it; nothing is the total."""
    if not text or (text.casefold() == "total" and text not in hierarchy):
        return hierarchy.total
    if text in hierarchy:
        return text
    return next((code for code in hierarchy.codes if code.strip() == text), None)


def _trivially_equal(hierarchy: Hierarchy, code: str) -> list[str]:
    """A code with all that are equal to it because one has a single code below it."""
    found = [code]
    while len(below := hierarchy.children(found[-1])) == 1:
        found.append(below[0])
    while (above := hierarchy.parent_of(found[0])) is not None and len(
        hierarchy.children(above)
    ) == 1:
        found.insert(0, above)
    return found
