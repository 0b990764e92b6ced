"""Compiled loops of the attacker that have nothing to do with flows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.compiling import njit


@njit(cache=True, nogil=True)
def tie_together(
    indptr: npt.NDArray[np.int32],
    indices: npt.NDArray[np.int32],
    data: npt.NDArray[np.float64],
    columns: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Find cells whose deviations are multiples of each other.

    A relation in which only two cells can move ties them together; one in which only one can
    move holds it fast. Tied cells count as one, which may leave two or one in other relations.

    Returns:
        For each cell the representative of its class, -1 if it cannot move at all, and the
        factor by which the representative's deviation is to be multiplied.
    """
    root = np.arange(columns)
    ratio = np.ones(columns)
    # Members of a class form a ring, so that two classes are joined by swapping two links.
    follower = np.arange(columns)
    size = np.ones(columns, np.int64)
    rows = len(indptr) - 1
    slot = np.full(columns, -1, np.int64)
    found = np.empty(columns, np.int64)
    sums = np.empty(columns)
    settled = np.zeros(rows, np.bool_)
    changed = True
    while changed:
        changed = False
        for row in range(rows):
            if settled[row]:
                continue
            count = 0
            for position in range(indptr[row], indptr[row + 1]):
                cell = indices[position]
                lead = root[cell]
                if lead < 0:
                    continue
                if slot[lead] < 0:
                    slot[lead] = count
                    found[count] = lead
                    sums[count] = 0.0
                    count += 1
                sums[slot[lead]] += data[position] * ratio[cell]
            alive = 0
            for place in range(count):
                slot[found[place]] = -1
                if abs(sums[place]) > 1e-9:
                    found[alive] = found[place]
                    sums[alive] = sums[place]
                    alive += 1
            if alive > 2:
                continue
            settled[row] = True
            if alive == 0:
                continue
            changed = True
            if alive == 1:
                member = found[0]
                while root[member] >= 0:
                    root[member] = -1
                    member = follower[member]
                continue
            stay, move = found[0], found[1]
            factor = -sums[0] / sums[1]
            if size[move] > size[stay]:
                stay, move = move, stay
                factor = 1.0 / factor
            member = move
            while True:
                root[member] = stay
                ratio[member] *= factor
                member = follower[member]
                if member == move:
                    break
            follower[stay], follower[move] = follower[move], follower[stay]
            size[stay] += size[move]
    return root, ratio


@njit(cache=True, nogil=True)
def knapsack_cover(
    charge: npt.NDArray[np.float64], y: npt.NDArray[np.float64], rest: float
) -> tuple[int, float]:
    """Choose how many leading cells to count in full so that the cut is violated most.

    Args:
        charge: Coefficients of a cut with right-hand side `rest`, cells ordered by falling y.
        y: The point to cut off, in the same order.
        rest: The right-hand side.

    Returns:
        The number of cells counted in full, and what the others must then make up for.
    """
    best, best_met, best_rest = 0, np.inf, rest
    for count in range(len(charge)):
        met = 0.0
        for place in range(count, len(charge)):
            met += min(charge[place], rest) * y[place]
        met /= rest
        if met < best_met - 1e-9:
            best, best_met, best_rest = count, met, rest
        if y[count] < 0.5:
            break
        rest -= charge[count]
        if rest <= 1e-9 * best_rest:
            break
    return best, best_rest


@njit(cache=True, nogil=True)
def cells_near(
    row_start: npt.NDArray[np.int64],
    row_cells: npt.NDArray[np.int64],
    cell_start: npt.NDArray[np.int64],
    cell_rows: npt.NDArray[np.int64],
    usable: npt.NDArray[np.bool_],
    cell: int,
    size: int,
    stamp: int,
    seen_cell: npt.NDArray[np.int64],
    seen_row: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], bool]:
    """Usable cells around a cell, the nearest first: `size` of them, up to three times that.

    Two cells are neighbours when they share a relation. `seen_cell` and `seen_row` are work
    space: entries equal to the stamp count as seen, so that nothing needs to be cleared.

    Returns:
        The cells, and whether these are all that can be reached.
    """
    found = np.empty(3 * size + 64, np.int64)
    found[0] = cell
    seen_cell[cell] = stamp
    count = 1
    front = 0
    while front < count and count < size:
        # A layer is taken as a whole if it is not too large: half a layer closes few deviations.
        layer = count
        while front < layer and count < 3 * size:
            here = found[front]
            front += 1
            for position in range(cell_start[here], cell_start[here + 1]):
                row = cell_rows[position]
                if seen_row[row] == stamp:
                    continue
                seen_row[row] = stamp
                for place in range(row_start[row], row_start[row + 1]):
                    other = row_cells[place]
                    if usable[other] and seen_cell[other] != stamp:
                        seen_cell[other] = stamp
                        if count == len(found):
                            longer = np.empty(2 * count, np.int64)
                            longer[:count] = found
                            found = longer
                        found[count] = other
                        count += 1
    return found[:count].copy(), front == count
