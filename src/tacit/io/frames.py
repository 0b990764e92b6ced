"""Data frames: a problem as frames of pandas, polars or pyarrow, or as plain lists.

None of these libraries is needed: narwhals speaks to whichever frame comes in.

The cells are one frame, a row each: `value`, and where they apply `lower`, `upper`, `weight`,
`status`, `lower_level`, `upper_level`, `sliding_level`, `singleton` and `label`, named like the
attributes of `Problem`. Relations are a second frame in triplet form: `relation`, `cell`,
`coefficient`. Right-hand sides other than 0 are a column `rhs` of the second frame, or a third
frame with `relation` and `rhs`.
"""

from __future__ import annotations

import difflib
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tacit.errors import InputError
from tacit.io.columns import Backend, Columns
from tacit.problem import Floats, Integers, Problem

_SENSITIVE, _MUST_PUBLISH, _FREE = "sensitive", "must_publish", "free"
_STATUS_WORDS = {
    "s": _FREE,
    "safe": _FREE,
    "free": _FREE,
    "m": _FREE,
    "secondary": _FREE,
    "u": _SENSITIVE,
    "unsafe": _SENSITIVE,
    "sensitive": _SENSITIVE,
    "z": _MUST_PUBLISH,
    "protected": _MUST_PUBLISH,
    "must_publish": _MUST_PUBLISH,
}
_LEVELS = ("lower_level", "upper_level", "sliding_level")
_CELL_COLUMNS = (
    *("cell", "value", "lower", "upper", "weight", "status"),
    *(*_LEVELS, "singleton", "label"),
)


class ProblemFrames(NamedTuple):
    """A problem as three frames of one library."""

    cells: Any
    relations: Any
    rhs: Any


def problem_to_frame(problem: Problem, backend: Backend) -> Any:
    """The cells of a problem as a frame, without the relations.

    Args:
        problem: The problem.
        backend: `pandas`, `polars` or `pyarrow`; `dict` gives lists by column name.
    """
    is_sensitive = problem.is_sensitive
    status = np.where(problem.must_publish, _MUST_PUBLISH, _FREE)
    data: dict[str, Any] = {
        "cell": np.arange(problem.cell_count),
        "value": problem.value,
        "lower": problem.lower,
        "upper": problem.upper,
        "weight": problem.weight,
        "status": np.where(is_sensitive, _SENSITIVE, status).tolist(),
    }
    for name in _LEVELS:
        level = np.zeros(problem.cell_count)
        level[problem.sensitive] = getattr(problem, name)
        data[name] = level
    data["singleton"] = problem.singleton
    if problem.labels is not None:
        data["label"] = list(problem.labels)
    return Columns.build(data, backend)


def problem_to_frames(problem: Problem, backend: Backend) -> ProblemFrames:
    """A problem as frames of cells, relations and right-hand sides.

    Args:
        problem: The problem.
        backend: `pandas`, `polars` or `pyarrow`; `dict` gives lists by column name.
    """
    A = problem.relations
    relation = np.arange(problem.relation_count)
    triplets = {
        "relation": np.repeat(relation, np.diff(A.indptr)),
        "cell": A.indices.astype(np.int64),
        "coefficient": A.data,
    }
    return ProblemFrames(
        cells=problem_to_frame(problem, backend),
        relations=Columns.build(triplets, backend),
        rhs=Columns.build({"relation": relation, "rhs": problem.rhs}, backend),
    )


def problem_from_frames(cells: Any, relations: Any = None, rhs: Any = None) -> Problem:
    """A problem from frames of pandas, polars or pyarrow, or from lists by column name.

    Columns that are not known are left alone, so frames may carry classifications along.

    Args:
        cells: One row per cell; only `value` is needed. Rows are the cells in order, unless a
            column `cell` numbers them. `status` is a letter (`s`, `u`, `z`, `m`) or a word
            (`free`, `sensitive`, `must_publish`, `secondary`); a missing one is free. Missing
            bounds are 0 and infinity, missing levels 0.
        relations: One row per term: `relation` (numbers or names), `cell` (a number, or the
            cell's label) and `coefficient`; optionally `rhs`, the same on each row of a
            relation.
        rhs: One row per relation: `relation` and `rhs`. Gives the relations their order;
            otherwise numbers are sorted, and names stand in the order of their first row.

    Raises:
        InputError: A column is missing or unusable; the message names column and row, rows
            counted from 0.

    >>> problem_from_frames({"value": [20, 22, 42], "status": ["u", "s", "s"]},
    ...                     {"relation": [0, 0, 0], "cell": [0, 1, 2], "coefficient": [1, 1, -1]})
    Problem(3 cells, 1 relation, 1 sensitive)
    """
    frame = Columns(cells, "cells")
    _refuse_misspelt(frame)
    order = _cell_order(frame)
    n = len(frame)
    status = _statuses(frame)
    sensitive = status == _SENSITIVE
    levels: dict[str, Any] = {name: frame.numbers(name, default=0.0) for name in _LEVELS}
    if "status" not in frame and any(name in frame for name in _LEVELS):
        raise InputError(
            "the cells have protection levels but no column 'status' that says which cells are "
            "sensitive; add it"
        )
    for name, level in levels.items():
        frame.refuse(name, sensitive & ~np.isfinite(level), "the level must be a finite number")
    for name in ("value", "weight"):
        if name in frame:
            bad = ~np.isfinite(frame.numbers(name))
            frame.refuse(name, bad, "there must be a finite number")
    weight = frame.numbers("weight") if "weight" in frame else np.ones(n)
    labels = frame.texts("label")[order].tolist() if "label" in frame else None
    A, b = _relations(relations, rhs, n, labels)
    chosen = np.flatnonzero(sensitive[order])
    return Problem(
        value=frame.numbers("value")[order],
        lower=frame.numbers("lower", default=0.0)[order],
        upper=frame.numbers("upper", default=np.inf)[order],
        weight=weight[order],
        relations=A,
        rhs=b,
        sensitive=chosen,
        must_publish=(status == _MUST_PUBLISH)[order],
        singleton=frame.integers("singleton", default=-1)[order],
        labels=labels,
        **{name: level[order][chosen] for name, level in levels.items()},
    )


def _refuse_misspelt(frame: Columns) -> None:
    """A level or bound under a misspelt name would be ignored silently."""
    absent = [name for name in _CELL_COLUMNS if name not in frame]
    for name in frame.names:
        near = difflib.get_close_matches(name, absent, 1, cutoff=0.85)
        if name not in _CELL_COLUMNS and near:
            raise InputError(
                f"the cells have a column {name!r} but none {near[0]!r}; rename or drop it"
            )


def _cell_order(frame: Columns) -> Integers:
    """Row numbers in the order of the cells."""
    n = len(frame)
    if "cell" not in frame:
        return np.arange(n)
    cell = frame.integers("cell")
    frame.refuse("cell", (cell < 0) | (cell >= n), f"cells of {n} rows are numbered 0 to {n - 1}")
    order = np.argsort(cell, kind="stable")
    again = np.zeros(n, bool)
    again[order[1:][np.diff(cell[order]) == 0]] = True
    frame.refuse("cell", again, "this cell has a row already")
    return order


def _statuses(frame: Columns) -> Any:
    n = len(frame)
    if "status" not in frame:
        return np.full(n, _FREE)
    given = frame.texts("status", default="free")
    seen, place = np.unique(given, return_inverse=True)
    words = [_STATUS_WORDS.get(text.strip().lower(), "") for text in seen.tolist()]
    status = np.array(words, dtype="U12")[place] if n else np.full(0, _FREE)
    frame.refuse("status", status == "", f"unknown status; known are {', '.join(_STATUS_WORDS)}")
    return status


def _relations(
    relations: Any, rhs: Any, n: int, labels: list[str] | None
) -> tuple[sparse.csr_array[np.float64, tuple[int, int]], Floats]:
    empty: dict[str, list[Any]] = {"relation": [], "cell": [], "coefficient": []}
    frame = Columns(empty if relations is None else relations, "relations")
    frame.need("relation", "cell", "coefficient")
    cell = _cells_of_terms(frame, n, labels)
    coefficient = frame.numbers("coefficient")
    frame.refuse("coefficient", ~np.isfinite(coefficient), "there must be a finite number")
    key = frame.keys("relation")
    if rhs is not None:
        if "rhs" in frame:
            raise InputError("right-hand sides are given twice: in the relations and on their own")
        row, b = _rows_of(frame, key, Columns(rhs, "rhs"))
    else:
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        # Numbers keep their order, names that of their first row.
        rank = np.arange(len(first))
        if key.dtype.kind == "U":
            rank[np.argsort(first)] = np.arange(len(first))
            first = np.sort(first)
        row = rank[place] if len(place) else np.zeros(0, np.int64)
        b = frame.numbers("rhs", default=0.0)
        frame.refuse("rhs", b != b[first][row], "another row of this relation says otherwise")
        frame.refuse("rhs", ~np.isfinite(b), "there must be a finite number")
        b = b[first]
    _refuse_repeated(frame, row, cell, n)
    A = sparse.coo_array((coefficient, (row, cell)), shape=(len(b), n)).tocsr()
    return A, b


def _cells_of_terms(frame: Columns, n: int, labels: list[str] | None) -> Integers:
    if not frame.is_text("cell") or not len(frame):
        cell = frame.integers("cell")
        outside = (cell < 0) | (cell >= n)
        frame.refuse("cell", outside, f"there is no such cell; cells are 0 to {n - 1}")
        return cell
    if labels is None:
        raise InputError(
            "the relations name their cells by label, but the cells have no column 'label'"
        )
    names, place, count = np.unique(np.array(labels), return_index=True, return_counts=True)
    given = frame.texts("cell")
    at = np.minimum(np.searchsorted(names, given), len(names) - 1)
    frame.refuse("cell", names[at] != given, "there is no cell with this label")
    frame.refuse("cell", count[at] > 1, "several cells have this label; use cell numbers")
    return np.asarray(place[at])


def _rows_of(frame: Columns, key: Any, rhs: Columns) -> tuple[Integers, Floats]:
    """For each term the row of its relation in the frame of right-hand sides, and these."""
    rhs.need("relation", "rhs")
    b = rhs.numbers("rhs")
    rhs.refuse("rhs", ~np.isfinite(b), "there must be a finite number")
    known = rhs.keys("relation")
    if len(key) and len(known) and (key.dtype.kind == "U") != (known.dtype.kind == "U"):
        raise InputError("column 'relation' holds names in one frame and numbers in the other")
    order = np.argsort(known, kind="stable")
    ordered = known[order]
    again = np.zeros(len(known), bool)
    again[order[1:][ordered[1:] == ordered[:-1]]] = True
    rhs.refuse("relation", again, "this relation has a row already")
    if not len(known):
        frame.refuse("relation", np.ones(len(key), bool), "this relation has no right-hand side")
        return np.zeros(0, np.int64), b
    at = np.minimum(np.searchsorted(ordered, key), len(known) - 1)
    frame.refuse("relation", ordered[at] != key, "this relation has no right-hand side")
    return order[at], b


def _refuse_repeated(frame: Columns, row: Integers, cell: Integers, n: int) -> None:
    _, first = np.unique(row * n + cell, return_index=True)
    again = np.ones(len(frame), bool)
    again[first] = False
    frame.refuse("cell", again, "the relation names this cell already; add the coefficients up")
