"""JJ files as tau-ARGUS writes them (format 6), with frequencies beside them.

The cells are those of all combinations of codes, in the order of the other formats; empty ones
must be published (`z`). Costs are whole numbers. Attackers who know no upper bound are taken to
know one and a half times the largest value. Beside the file is one of the same name in `.frq`
with the number of contributors and of holdings of each cell. Both are confidential.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from tacit.errors import InputError
from tacit.io.argus.sheet import Sheet, write_lines
from tacit.io.jj import write_jj
from tacit.outcome import Suppression
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.release.marks import plain_number, settled
from tacit.release.release import WorkingPapers
from tacit.table.grid import Grid, Relations

if TYPE_CHECKING:
    from tacit.io.argus.written import WriteOptions

LARGEST_COST = 20_000
"""Costs that are not whole numbers are scaled to whole numbers up to this one."""
UPPER_FACTOR = 1.5
_MOST_COST = 2**31 - 1


def write_jj_files(
    sheet: Sheet, path: Path, options: WriteOptions, papers: WorkingPapers, *, frequency: bool
) -> list[Path]:
    """Write a JJ file and, where the number of contributors is known, one of frequencies.

    Args:
        sheet: The lines.
        path: The JJ file.
        options: SE+ leaves out empty cells, TR+ levels on which a code has a single code below it.
        papers: The confidential working papers.
        frequency: Whether values are frequencies.

    Raises:
        InputError: The JJ file has a name in .frq.
    """
    frequencies = path.with_suffix(".frq")
    if frequencies.name.lower() == path.name.lower():
        raise InputError("a name in .frq is for the frequencies beside a JJ file", path=path)
    problem, hidden, cells = _problem(sheet, papers)
    kept = np.arange(problem.cell_count)
    if options.without_trivial and sheet.grid is not None:
        problem, hidden, kept = _without_trivial(problem, hidden, sheet)
    changes = not isinstance(papers.outcome.solution, Suppression)
    write_jj(problem, path, suppressed=None if changes else hidden)
    counts = _counts(papers, frequency=frequency)
    if counts is None:
        return [path]
    chosen = cells[kept]
    columns = [np.where(chosen < 0, 0.0, column[chosen]) for column in counts]
    texts = [list(map(plain_number, column.tolist())) for column in columns]
    write_lines(frequencies, map(" ".join, zip(*texts, strict=True)), confidential=True)
    return [path, frequencies]


def _counts(papers: WorkingPapers, *, frequency: bool) -> tuple[Floats, Floats] | None:
    """The number of contributors and of holdings; the former for both without holdings."""
    table = papers.table
    count = None if table is None else table.count
    if count is None and frequency:
        count = papers.problem.value
    if count is None:
        return None
    holdings = None if table is None else table.holding_count
    return np.nan_to_num(count), np.nan_to_num(count if holdings is None else holdings)


def _problem(sheet: Sheet, papers: WorkingPapers) -> tuple[Problem, Booleans, Integers]:
    """The problem of the lines, which of them are hidden, and their cells in the table."""
    whole, cell = papers.problem, sheet.cell
    is_there = cell >= 0
    relations, rhs = _relations(sheet, whole)
    highest = UPPER_FACTOR * float(np.abs(whole.value).max(initial=0.0))
    # Without what adding up leaves in the last digits.
    value = settled(sheet.of_cells(whole.value))
    upper = np.where(is_there, whole.upper[cell], np.inf)
    lower = np.where(is_there, whole.lower[cell], 0.0)
    level = np.zeros((3, whole.cell_count))
    level[:, whole.sensitive] = [whole.lower_level, whole.upper_level, whole.sliding_level]
    sensitive = np.flatnonzero(is_there & whole.is_sensitive[cell])
    lower_level, upper_level, sliding_level = level[:, cell[sensitive]]
    reach = np.zeros(len(cell))
    reach[sensitive] = upper_level + sliding_level
    depth = np.zeros(len(cell))
    depth[sensitive] = lower_level + sliding_level
    # Bounds that nobody gave must leave room for the levels.
    unbounded = np.maximum(highest, value + reach)
    below = np.minimum(-highest, value - depth)
    weight = whole_costs(np.where(is_there, whole.weight[cell], 1.0))
    problem = Problem(
        value=value,
        lower=np.where(np.isinf(lower), settled(below), lower),
        upper=np.where(np.isinf(upper), settled(unbounded), upper),
        weight=weight,
        relations=relations,
        rhs=rhs,
        sensitive=sensitive,
        lower_level=lower_level,
        upper_level=upper_level,
        sliding_level=sliding_level,
        must_publish=~is_there | whole.must_publish[cell],
    )
    return problem, sheet.hidden, cell


def whole_costs(cost: Floats) -> Floats:
    """Costs as whole numbers from 1 on: as they are if they are such, scaled otherwise.

    >>> whole_costs(np.array([3.0, 1.0])).tolist(), whole_costs(np.array([0.5, 2.0])).tolist()
    ([3.0, 1.0], [5000.0, 20000.0])
    """
    largest = float(cost.max(initial=0.0))
    scaled = cost
    if not np.array_equal(cost, np.round(cost)) or largest > _MOST_COST:
        scaled = np.floor(cost * (LARGEST_COST / largest) + 0.5)
    return np.maximum(scaled, 1.0)


def _relations(sheet: Sheet, whole: Problem) -> tuple[Relations, Floats]:
    """The relations among the lines of the sheet."""
    grid = sheet.grid
    if grid is None:
        return whole.relations, whole.rhs
    if len(sheet) == grid.size:
        relations = Grid(grid.dimensions).relations()
    else:
        # Without empty cells: the combinations that are left.
        relations = Grid(grid.dimensions, sheet.key).relations()
    return relations, np.zeros(relations.shape[0])


def _without_trivial(
    problem: Problem, hidden: Booleans, sheet: Sheet
) -> tuple[Problem, Booleans, Integers]:
    """The problem without cells that only repeat their total, and the lines that are kept.

    A code that is alone below another one is trivial: its cells are those of the code above. If
    one of two such cells is sensitive, hidden or must be published, the one that is kept is.
    """
    assert sheet.grid is not None
    grid = sheet.grid
    keys = sheet.key
    kept_keys = np.zeros(len(sheet), np.int64)
    for (name, hierarchy), stride in zip(grid.dimensions.items(), grid.strides, strict=True):
        siblings = np.bincount(hierarchy.parent[1:], minlength=len(hierarchy))
        represented = np.arange(len(hierarchy))
        for position, parent in enumerate(hierarchy.parents[1:], 1):
            if siblings[parent] == 1:
                represented[position] = represented[parent]
        kept_keys += represented[sheet.position(name)] * stride
    kept = np.flatnonzero(keys == kept_keys)
    target = np.searchsorted(keys[kept], kept_keys)
    n = len(kept)
    level = np.zeros((3, n))
    for place, column in enumerate(
        (problem.lower_level, problem.upper_level, problem.sliding_level)
    ):
        np.maximum.at(level[place], target[problem.sensitive], column)
    sensitive = np.unique(target[problem.sensitive])
    # Attackers know the bounds of all, but never more than levels leave open.
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    np.maximum.at(lower, target, problem.lower)
    np.minimum.at(upper, target, problem.upper)
    value = problem.value[kept]
    lower = np.minimum(lower, value - level[0] - level[2])
    upper = np.maximum(upper, value + level[1] + level[2])
    must_publish = np.zeros(n, bool)
    must_publish[target[problem.must_publish]] = True
    must_publish[sensitive] = False
    is_hidden = np.zeros(n, bool)
    is_hidden[target[hidden]] = True
    A = problem.relations.tocoo()
    merged: Relations = sparse.coo_array(
        (A.data, (A.row, target[A.col])), shape=(A.shape[0], n)
    ).tocsr()
    merged.eliminate_zeros()
    filled = np.flatnonzero(np.diff(merged.indptr))
    merged = _distinct(merged[filled])
    smaller = Problem(
        value=value,
        lower=lower,
        upper=upper,
        weight=problem.weight[kept],
        relations=merged,
        sensitive=sensitive,
        lower_level=level[0, sensitive],
        upper_level=level[1, sensitive],
        sliding_level=level[2, sensitive],
        must_publish=must_publish,
    )
    return smaller, is_hidden, kept


def _distinct(relations: Relations) -> Relations:
    """Each relation once, in the order of their first appearance."""
    relations.sort_indices()
    seen: dict[bytes, int] = {}
    for row in range(relations.shape[0]):
        part = slice(relations.indptr[row], relations.indptr[row + 1])
        key = relations.indices[part].tobytes() + b"|" + relations.data[part].tobytes()
        seen.setdefault(key, row)
    chosen: Relations = relations[np.array([*seen.values()], np.int64)]
    return chosen
