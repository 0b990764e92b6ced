"""Compiled loops over records: who contributes how much to each cell, totals included.

Records come ordered by contributor. Those of one contributor are added up in their finest cells,
then in every total above them; after that each of these cells counts the contributor once and
compares its sum with the largest ones so far.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.compiling import njit

SIZE, WEIGHTED_SIZE, WEIGHTED_SUM, WEIGHTS, RECORDS = range(5)
"""What a cell keeps of the contributor at hand to find its sampling weight."""

COUNT, WEIGHTED_COUNT, REQUESTED = range(3)
"""What a cell knows of its contributors."""


@njit(cache=True, nogil=True)
def order_by(
    unit: npt.NDArray[np.signedinteger], unit_count: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Order records by their unit, those of one unit as given, those without (-1) left out.

    Returns:
        The records in order, and where those of each unit begin, with the end of the last.
    """
    start = np.zeros(unit_count + 2, np.int64)
    for record in range(len(unit)):
        if unit[record] >= 0:
            start[unit[record] + 2] += 1
    for number in range(unit_count):
        start[number + 2] += start[number + 1]
    order = np.empty(start[unit_count + 1], np.int32)
    for record in range(len(unit)):
        if unit[record] >= 0:
            order[start[unit[record] + 1]] = record
            start[unit[record] + 1] += 1
    return order, start[: unit_count + 1]


@njit(cache=True, nogil=True)
def add_contributions(
    first: int,
    last: int,
    order: npt.NDArray[np.int32],
    start: npt.NDArray[np.int64],
    cell: npt.NDArray[np.int32],
    amount: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
    asked: npt.NDArray[np.bool_],
    parent: npt.NDArray[np.int32],
    counts: npt.NDArray[np.float64],
    top: npt.NDArray[np.float64],
    top_weight: npt.NDArray[np.float64],
    top_asked: npt.NDArray[np.float64],
    top_who: npt.NDArray[np.float64],
    offset: int,
) -> None:
    """Add the contributions of some units, each with all its records, to every cell above them.

    Args:
        first: The first unit.
        last: The first unit that is not looked at any more.
        order: The records, ordered by unit; empty where each record is a unit of its own.
        start: Where the records of each unit begin in `order`; empty as well.
        cell: The finest cell of each record, -1 for records that are left out.
        amount: What each record contributes, NaN for records that are left out.
        weight: The sampling weight of each record; empty where there are none.
        asked: For each unit whether it asked for protection; empty where nobody could.
        parent: For each dimension and cell the next total, -1 where there is none.
        counts: Numbers of contributors of each cell, see above; changed in place.
        top: The largest contributions of each cell, largest first; changed in place.
        top_weight: The weights of the largest contributions; empty where there are none.
        top_asked: Who of the largest asked for protection; empty where nobody could.
        top_who: The units of the largest contributions; changed in place.
        offset: Added to the number of a unit there.
    """
    # One body without helpers that take arrays: passing arrays costs more than the work.
    dimensions, cells = parent.shape
    alone = len(start) == 0
    kept = top.shape[1]
    has_weight, has_asked = len(weight) > 0, len(asked) > 0
    account = np.zeros(cells)
    weighing = np.zeros((cells if has_weight else 0, RECORDS + 1))
    seen_by = np.full(cells, -1, np.int64)
    seen = np.empty(cells, np.int32)
    at = np.empty(dimensions, np.int32)
    for who in range(first, last):
        begin = who if alone else start[who]
        end = who + 1 if alone else start[who + 1]
        seen_count = 0
        for place in range(begin, end):
            record = place if alone else order[place]
            x, finest = amount[record], cell[record]
            if finest < 0 or np.isnan(x):
                continue
            if seen_by[finest] != who:
                seen_by[finest] = who
                seen[seen_count] = finest
                seen_count += 1
                account[finest] = 0.0
                if has_weight:
                    weighing[finest] = 0.0
            account[finest] += x
            if has_weight:
                weighing[finest, SIZE] += abs(x)
                weighing[finest, WEIGHTED_SIZE] += weight[record] * abs(x)
                weighing[finest, WEIGHTED_SUM] += weight[record] * x
                weighing[finest, WEIGHTS] += weight[record]
                weighing[finest, RECORDS] += 1.0

        finest_count = seen_count
        for number in range(finest_count):
            finest = seen[number]
            for dimension in range(dimensions):
                at[dimension] = finest
            while True:
                # To the next total in the last dimension that has one; later ones start again.
                moved = dimensions - 1
                total = parent[moved, at[moved]]
                while total < 0 and moved > 0:
                    moved -= 1
                    total = parent[moved, at[moved]]
                if total < 0:
                    break
                for dimension in range(moved, dimensions):
                    at[dimension] = total
                if seen_by[total] != who:
                    seen_by[total] = who
                    seen[seen_count] = total
                    seen_count += 1
                    account[total] = account[finest]
                    if has_weight:
                        for part in range(RECORDS + 1):
                            weighing[total, part] = weighing[finest, part]
                else:
                    account[total] += account[finest]
                    if has_weight:
                        for part in range(RECORDS + 1):
                            weighing[total, part] += weighing[finest, part]

        r = 1.0 if has_asked and asked[who] else 0.0
        for number in range(seen_count):
            c = seen[number]
            x, w = account[c], 1.0
            if has_weight:
                size, weighted_size = weighing[c, SIZE], weighing[c, WEIGHTED_SIZE]
                if size > 0:
                    w = weighted_size / size
                    # Where gains and losses weigh differently, what is added to the total counts.
                    if weighted_size > 0 and abs(x) < size:
                        x = weighing[c, WEIGHTED_SUM] * size / weighted_size
                else:
                    w = weighing[c, WEIGHTS] / weighing[c, RECORDS]
            rank = min(int(counts[c, COUNT]), kept)
            counts[c, COUNT] += 1.0
            if has_weight:
                counts[c, WEIGHTED_COUNT] += w
            if has_asked:
                counts[c, REQUESTED] += r
            if rank == kept and kept > 0 and abs(x) < abs(top[c, kept - 1]):
                continue
            while rank > 0:
                y, v, q = top[c, rank - 1], 1.0, 0.0
                if has_weight:
                    v = top_weight[c, rank - 1]
                if has_asked:
                    q = top_asked[c, rank - 1]
                if not _goes_before(x, w, r, y, v, q):
                    break
                rank -= 1
                if rank + 1 < kept:
                    top[c, rank + 1] = y
                    top_who[c, rank + 1] = top_who[c, rank]
                    if has_weight:
                        top_weight[c, rank + 1] = v
                    if has_asked:
                        top_asked[c, rank + 1] = q
            if rank < kept:
                top[c, rank] = x
                top_who[c, rank] = who + offset
                if has_weight:
                    top_weight[c, rank] = w
                if has_asked:
                    top_asked[c, rank] = r


@njit(cache=True, nogil=True)
def _goes_before(x: float, w: float, r: float, y: float, v: float, q: float) -> bool:
    """Larger in size first; equals in an order that does not depend on who came first."""
    if abs(x) != abs(y):
        return abs(x) > abs(y)
    if x != y:
        return x > y
    if w != v:
        return w > v
    return r > q
