"""Solutions as files: read in four forms for the audit, written as the JSON of the contract.

Read are a JSON object with `suppressed`, `intervals` or `values`; a plain list of the numbers
of suppressed cells; a JJ file, whose cells with status `u` or `m` are suppressed; and the
published table itself, as CSV or Parquet.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import InputError
from tacit.io.files import parsed_json, read_bytes, read_content, write_members
from tacit.io.jj import CELL_FIELDS, read_jj_status
from tacit.io.jj_faults import MOST_DIGITS
from tacit.io.linked_solutions import read_linked_solution
from tacit.io.published_cells import SUFFIXES as PUBLISHED_SUFFIXES
from tacit.io.published_cells import read_published_cells
from tacit.microdata.workbooks import SUFFIXES as WORKBOOKS
from tacit.microdata.workbooks import is_workbook, read_sheet, sheets_of
from tacit.outcome import Intervals, Outcome, Solution, Suppression, Values
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.table import Table
from tacit.table.former import Changes
from tacit.tolerances import TINY
from tacit.version import __version__

_COMMENT = re.compile(rb"#[^\n]*")
_SEPARATORS = bytes.maketrans(b",;\t|", b"    ")
_START = 1 << 16
"""So many bytes at the beginning of a file tell what it is."""


def read_solution(
    path: str | Path,
    source: Problem | Table,
    *,
    value: str = "value",
    note: Callable[[str], object] | None = None,
) -> Solution:
    """Read a solution; its form is recognised by content.

    - A JSON object with `suppressed`, `intervals` or `values`, as `tacit protect --json` writes
      it. Cells without an interval are published exactly. Where `suppressed` and `intervals`
      both appear, suppressed cells without an interval may lie anywhere between
      the bounds that an attacker knows. An end that is null is infinite. With `values`,
      `radius` says how far at most the true values lie from them, as readers are told: a number
      or one per cell; without it readers are told nothing.
    - A list of the numbers of suppressed cells: separated by spaces, commas or line ends, with
      comments after `#`, or a JSON array.
    - A JJ file of the same cells: status `u` and `m` are suppressed.
    - The table as it is published, in a CSV, text, Excel or Parquet file, whoever made it: codes,
      and a status or values that are empty or marked where the cell is not published (see
      [Audits of what others made](../audits.md)). Of a problem, which has no codes, the column
      `cell` holds the numbers of the cells. Linked tables have a sheet each, or one file or sheet
      together with a column for every dimension.

    Sensitive cells that a list leaves out are taken as published.

    Args:
        path: The file, plain or gzip.
        source: The problem or the table that the solution belongs to.
        value: The name of the column of values in a published table.
        note: Is told what was guessed about a published table.

    Raises:
        InputError: The file cannot be read or does not fit the problem.
    """
    problem = source if isinstance(source, Problem) else source.problem("none")
    if _is_published_table(Path(path), source):
        if isinstance(source, Table) and _has_sheets(Path(path), source):
            return read_linked_solution([Path(path)], source, value=value, note=note)
        if isinstance(source, Problem):
            codes = {"cell": np.arange(problem.cell_count).astype(str)}
            return read_published_cells(Path(path), problem, codes, value, note=note)
        return read_published_cells(
            Path(path),
            problem,
            source.cell_keys(),
            value,
            hierarchies=source.dimensions,
            note=note,
        )
    content = read_content(path)
    start = content.lstrip()[:1]
    if not start:
        raise InputError("the file is empty; write [] where no cell is suppressed", path=path)
    if start in (b"{", b"["):
        reader = _JsonSolution(content, path, problem)
        return reader.solution()
    if _looks_like_jj(content):
        return _jj_solution(path, problem)
    return _listed_solution(content, path, problem)


def _has_sheets(path: Path, table: Table) -> bool:
    """Whether a workbook may have a sheet for each of linked tables, not one for all cells."""
    if len(table.grids) < 2 or not is_workbook(path) or len(sheets_of(path)) < len(table.grids):
        return False
    try:
        columns = read_sheet(path, needed=[*table.totals]).columns
    except InputError:
        return True
    has_all = all(name in columns for name in table.totals)
    return not has_all or any(grid.dimensions.keys() == {*table.totals} for grid in table.grids)


def _is_published_table(path: Path, source: Problem | Table) -> bool:
    """Whether a file is a table; a list of cell numbers may be in a file of any name."""
    name = path.name.lower()
    if name.endswith((".parquet", *WORKBOOKS)):
        return True
    is_usual = name.endswith(PUBLISHED_SUFFIXES)
    if isinstance(source, Problem) and not is_usual:
        return False
    content = read_bytes(path)
    if b"\0" in content:
        # UTF-16, which only tables are written in.
        return isinstance(source, Table)
    if content.lstrip()[:1] in (b"{", b"[") or _looks_like_jj(content):
        return False
    lines = [line for line in _COMMENT.sub(b"", content[:_START]).splitlines() if line.strip()]
    rows = [line.translate(_SEPARATORS).split() for line in lines]
    if not rows:
        return False
    if not all(map(bytes.isdigit, rows[0])):
        # A sentence is no table.
        return is_usual or any(mark in lines[0] for mark in (b",", b";", b"\t", b"|"))
    if isinstance(source, Problem):
        return False
    # All codes may be numbers.
    full = rows[:-1] if len(content) > _START else rows
    return len(full) > 1 and len(full[0]) > len(source.totals) and len({*map(len, full)}) == 1


def _looks_like_jj(content: bytes) -> bool:
    """Whether the third line that is not blank is that of a cell or a count of relations."""
    start = [fields for line in content[:4096].split(b"\n") if (fields := line.split())][:4]
    if len(start) < 3 or start[0] != [b"0"] or len(start[1]) != 1:
        return False
    if start[1] == [b"0"]:
        return len(start) == 3 or b":" in start[3]
    return len(start[2]) == CELL_FIELDS and start[2][3].isalpha()


def _jj_solution(path: str | Path, problem: Problem) -> Suppression:
    status = read_jj_status(path)
    if len(status) != problem.cell_count:
        raise InputError(
            f"this JJ file has {len(status)} cells, the problem {problem.cell_count}; they do not "
            "belong together",
            path=path,
        )
    return Suppression((status == "u") | (status == "m"))


def _listed_solution(content: bytes, path: str | Path, problem: Problem) -> Suppression:
    text = _COMMENT.sub(b"", content).translate(_SEPARATORS)
    entries = text.split()
    if not entries:
        raise InputError("the list holds no cell; write [] where none is suppressed", path=path)
    if all(map(bytes.isdigit, entries)) and max(map(len, entries)) <= MOST_DIGITS:
        cells = np.array(entries).astype(np.int64)
        if cells.max() < problem.cell_count:
            return _suppression(cells, problem)
    raise _first_wrong_entry(text, path, problem.cell_count)


def _first_wrong_entry(text: bytes, path: str | Path, n: int) -> InputError:
    for number, line in enumerate(text.split(b"\n"), 1):
        for position, entry in enumerate(line.split(), 1):
            if not entry.isdigit():
                return InputError(
                    f"entry {position} is not a cell number; a solution is a JSON object, a list "
                    "of cell numbers or a JJ file",
                    path=path,
                    line=number,
                )
            if len(entry) > MOST_DIGITS or int(entry) >= n:
                return InputError(
                    f"entry {position} is not a cell of the problem; cells are 0 to {n - 1}",
                    path=path,
                    line=number,
                )
    return InputError("this is not a list of cell numbers", path=path)


def _suppression(cells: Integers, problem: Problem) -> Suppression:
    suppressed = np.zeros(problem.cell_count, bool)
    suppressed[cells] = True
    return Suppression(suppressed)


class _JsonSolution:
    """A solution in JSON, checked against its problem."""

    def __init__(self, content: bytes, path: str | Path, problem: Problem):
        self.path = path
        self.problem = problem
        self.given = parsed_json(content, path, "an infinite end of an interval")

    def _fault(self, message: str) -> InputError:
        return InputError(message, path=self.path)

    def solution(self) -> Solution:
        given = self.given
        n = self.problem.cell_count
        if isinstance(given, list):
            return _suppression(self._cells(given, "the list"), self.problem)
        if given.get("cells", n) != n:
            raise self._fault(
                f"the solution is for another table: its number of cells is not the {n} of the "
                "problem"
            )
        present = [key for key in ("suppressed", "intervals", "values") if key in given]
        if not present:
            status = given.get("status")
            because = f" (its status is {status})" if status in _WITHOUT_SOLUTION else ""
            raise self._fault(
                f"there is no solution in this file{because}; expected is one of 'suppressed', "
                "'intervals' and 'values'"
            )
        if "values" in present and len(present) > 1:
            raise self._fault(f"'values' and {present[0]!r} cannot both be the solution")
        for key in present:
            if not isinstance(given[key], list):
                raise self._fault(f"{key!r} must be a list")
        if "values" in present:
            return self._values(given["values"], given.get("radius"))
        suppression = _suppression(
            self._cells(given.get("suppressed", []), "'suppressed'"), self.problem
        )
        if "intervals" in present:
            return self._intervals(given["intervals"], suppression.suppressed)
        return suppression

    def _cells(self, given: Sequence[Any], name: str) -> Integers:
        n = self.problem.cell_count
        # Python counts true as a whole number, so types are compared, not asked for.
        if not set(map(type, given)) <= {int}:
            wrong = next(i for i, entry in enumerate(given, 1) if type(entry) is not int)
            raise self._fault(f"entry {wrong} of {name} is not a cell number")
        if given and (min(given) < 0 or max(given) >= n):
            wrong = next(i for i, entry in enumerate(given, 1) if not 0 <= entry < n)
            raise self._fault(
                f"entry {wrong} of {name} is not a cell of the problem; cells are 0 to {n - 1}"
            )
        return np.array(given, np.int64)

    def _values(self, given: list[Any], radius: Any) -> Values:
        n = self.problem.cell_count
        if len(given) != n:
            raise self._fault(f"'values' has {len(given)} entries; there are {n} cells")
        values = self._floats(given, "'values'", missing=math.nan)
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            raise self._fault(f"entry {wrong[0] + 1} of 'values' must be a finite number")
        if radius is None:
            return Values(values)
        entries = radius if isinstance(radius, list) else [radius] * n
        if len(entries) != n:
            raise self._fault(f"'radius' has {len(entries)} entries; there are {n} cells")
        told = self._floats(entries, "'radius'", missing=math.inf)
        if not (told >= 0).all():
            raise self._fault("'radius' must not be negative")
        return Values(values, told)

    def _intervals(self, given: list[Any], suppressed: Booleans) -> Intervals:
        if not set(map(type, given)) <= {list} or not set(map(len, given)) <= {3}:
            wrong = next(
                i for i, entry in enumerate(given, 1) if type(entry) is not list or len(entry) != 3
            )
            raise self._fault(f"entry {wrong} of 'intervals' must be [cell number, lower, upper]")
        cells, lows, highs = zip(*given, strict=True) if given else ((), (), ())
        cell = self._cells(cells, "the cell numbers of 'intervals'")
        again = np.ones(len(cell), bool)
        again[np.unique(cell, return_index=True)[1]] = False
        self._refuse_interval(again, "this cell has one already")
        low = self._floats(lows, "the lower ends of 'intervals'", missing=-math.inf)
        high = self._floats(highs, "the upper ends of 'intervals'", missing=math.inf)
        self._refuse_interval(low > high, "the lower end lies above the upper end")
        never = (low == math.inf) | (high == -math.inf)
        self._refuse_interval(never, "no number lies between its ends")
        lower = np.where(suppressed, self.problem.lower, self.problem.value)
        upper = np.where(suppressed, self.problem.upper, self.problem.value)
        lower[cell] = low
        upper[cell] = high
        return Intervals(lower, upper)

    def _refuse_interval(self, bad: Booleans, reason: str) -> None:
        entries = np.flatnonzero(bad)
        if len(entries):
            raise self._fault(f"entry {entries[0] + 1} of 'intervals': {reason}")

    def _floats(self, given: Sequence[Any], name: str, missing: float) -> Floats:
        known = (int, float, type(None))
        if not set(map(type, given)) <= set(known):
            wrong = next(i for i, entry in enumerate(given, 1) if type(entry) not in known)
            raise self._fault(f"entry {wrong} of {name} is not a number")
        try:
            numbers = np.array(given, np.float64)
        except OverflowError:
            raise self._fault(f"a number of {name} is too large") from None
        return np.where(np.isnan(numbers), missing, numbers)


_WITHOUT_SOLUTION = ("infeasible", "interrupted")


def write_outcome_json(
    outcome: Outcome,
    problem: Problem,
    input_name: str,
    path: str | Path,
    *,
    verified: bool = False,
    changes: Changes | None = None,
) -> None:
    """Write an outcome as one JSON object, one key per line.

    Numbers that JSON does not know, such as an infinite bound, are written as null. The file
    appears complete or not at all.

    Args:
        outcome: What a method found; its audit, if there is one, has `safe`, `checked`,
            `exposed_cells` and `findings`, one for each attacker.
        problem: The problem it was found for.
        input_name: The name of the input as the user gave it.
        path: Where to write; a name in `.gz` compresses.
        verified: Whether `Audit.check` has verified the evidence in this run.
        changes: How it differs from the former publication, where there is one.
    """
    report = outcome.report
    changed = _not_published_exactly(outcome.solution, problem)
    members: dict[str, Any] = {
        "tacit": __version__,
        "input": input_name,
        "method": outcome.method,
        "algorithm": outcome.algorithm,
        "seed": outcome.seed,
        "status": str(outcome.status),
        "stopped_by": outcome.stopped_by,
        "objective": _number(report.objective),
        **_published_objective(outcome),
        "bound": _number(report.bound),
        "bound_source": report.bound_source,
        "gap": _number(report.gap),
        "seconds": _number(report.seconds),
        "iterations": int(report.iterations),
        "cuts": int(report.cuts),
        "cells": problem.cell_count,
        "sensitive": len(problem.sensitive),
        "secondary": int(np.count_nonzero(changed & ~problem.is_sensitive)),
        **_secondary_members(outcome, problem, changed),
        **_solution_members(outcome, problem, changed),
        "audit": _audit_member(outcome, verified),
        **({} if changes is None else {"previous": dataclasses.asdict(changes)}),
        **({"message": outcome.message} if outcome.message else {}),
        "trace": [
            [
                _number(point.seconds),
                _number(point.objective),
                _number(point.bound),
                int(point.iteration),
            ]
            for point in report.trace
        ],
    }
    write_members(path, members)


def _published_objective(outcome: Outcome) -> dict[str, Any]:
    """What published intervals cost; `objective` and `bound` speak of the ends as found."""
    published = outcome.report.published_objective
    return {} if published is None else {"published_objective": _number(published)}


def _not_published_exactly(solution: Solution | None, problem: Problem) -> Booleans:
    """Cells that a reader does not see at their true value."""
    if isinstance(solution, Suppression):
        return solution.suppressed
    if isinstance(solution, Intervals):
        exact = (solution.lower == problem.value) & (solution.upper == problem.value)
        return np.asarray(~exact)
    if isinstance(solution, Values):
        return np.asarray(solution.value != problem.value)
    return np.zeros(problem.cell_count, bool)


def _solution_members(outcome: Outcome, problem: Problem, changed: Booleans) -> dict[str, Any]:
    solution = outcome.solution
    if isinstance(solution, Suppression):
        return {"suppressed": np.flatnonzero(solution.suppressed).tolist()}
    if isinstance(solution, Values):
        return {"values": _numbers(solution.value), **_radius_member(solution)}
    if not isinstance(solution, Intervals):
        return {}
    members: dict[str, Any] = {}
    if outcome.method == "combined":
        # A sensitive cell is suppressed even if others tell its value, as they may without levels.
        changed = changed | problem.is_sensitive
        members["suppressed"] = np.flatnonzero(changed).tolist()
    cell = np.flatnonzero(changed)
    ends = zip(
        cell.tolist(), _numbers(solution.lower[cell]), _numbers(solution.upper[cell]), strict=True
    )
    members["intervals"] = [list(entry) for entry in ends]
    return members


def _radius_member(values: Values) -> dict[str, Any]:
    """What readers are told of the differences: one number where it is the same everywhere."""
    radius = values.radius
    if radius is None:
        return {}
    same = len(radius) > 0 and bool((radius == radius[0]).all()) and math.isfinite(radius[0])
    return {"radius": float(radius[0]) if same else _numbers(radius)}


def _secondary_members(outcome: Outcome, problem: Problem, changed: Booleans) -> dict[str, Any]:
    """What is suppressed besides the sensitive cells, whose weight is a constant of the table.

    Other methods than `suppress` have no such constant in their objective.
    """
    report = outcome.report
    weight = gap = None
    if isinstance(outcome.solution, Suppression) and report.objective is not None:
        # The method may have been given other weights.
        weights = problem.weight if outcome.audit is None else outcome.audit.problem.weight
        weight = float(weights[changed & ~problem.is_sensitive].sum())
        gap = (report.objective - report.bound) / max(weight, TINY)
    return {"secondary_weight": _number(weight), "secondary_gap": _number(gap)}


def _audit_member(outcome: Outcome, verified: bool) -> dict[str, Any] | None:
    audit = outcome.audit
    if audit is None and outcome.exposed:
        return {
            "safe": False,
            "checked": 0,
            "exposed": list(outcome.exposed),
            "attackers": 0,
            "verified": False,
        }
    if audit is None:
        return None
    return {
        "safe": bool(audit.safe),
        "checked": int(audit.checked),
        "exposed": [int(cell) for cell in audit.exposed_cells],
        "attackers": len(audit.findings),
        "verified": verified,
    }


def _number(number: float | None) -> float | None:
    return float(number) if number is not None and math.isfinite(number) else None


def _numbers(numbers: Floats) -> Sequence[float | None]:
    """Numbers as JSON knows them: null where they are not finite."""
    entries: list[float | None] = numbers.tolist()
    for position in np.flatnonzero(~np.isfinite(numbers)).tolist():
        entries[position] = None
    return entries
