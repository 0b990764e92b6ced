"""Compiled loops of the attacker that have nothing to do with flows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.compiling import njit
from tacit.tolerances import ROUNDING_NOISE


@njit(cache=True, nogil=True)
def tie_together(
    indptr: npt.NDArray[np.int32],
    indices: npt.NDArray[np.int32],
    data: npt.NDArray[np.float64],
    columns: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Find cells whose deviations are multiples of each other.

    A relation in which only two cells can move ties them together; one in which only one can
    move fixes it. Tied cells count as one, which may leave two or one in other relations.

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
                if abs(sums[place]) > ROUNDING_NOISE:
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
        if met < best_met - ROUNDING_NOISE:
            best, best_met, best_rest = count, met, rest
        if y[count] < 0.5:
            break
        rest -= charge[count]
        if rest <= ROUNDING_NOISE * best_rest:
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


@njit(cache=True, nogil=True)
def grow_network(
    row_start: npt.NDArray[np.int32],
    row_cells: npt.NDArray[np.int32],
    data: npt.NDArray[np.float64],
    cell_start: npt.NDArray[np.int32],
    cell_rows: npt.NDArray[np.int32],
    covered: npt.NDArray[np.bool_],
    usable: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int8]:
    """Choose relations that form a network: each cell sits in at most two of them.

    Relations are tried in breadth-first order, first those that are not covered yet, then all
    others, so that no relation can be added in the end.

    Returns:
        For each relation 1 or -1 (turned round) if it is chosen, otherwise 0.
    """
    rows, cells = len(row_start) - 1, len(cell_start) - 1
    uses = np.zeros(cells, np.int8)
    user = np.full(cells, -1, np.int64)
    user_sign = np.zeros(cells, np.int8)
    # Union-find with parity: whether a relation is turned round relative to its root.
    root = np.arange(rows)
    turned = np.zeros(rows, np.int8)
    chosen = np.zeros(rows, np.bool_)
    seen = np.zeros(rows, np.bool_)
    wanted = np.full(rows, -1, np.int8)
    touched = np.empty(rows, np.int64)
    queue = np.empty(rows, np.int64)
    for again in range(2):
        seen[:] = False
        for start in range(rows):
            if seen[start] or not usable[start] or (again == 0 and covered[start]):
                continue
            front, back = 0, 1
            queue[0] = start
            seen[start] = True
            while front < back:
                row = queue[front]
                front += 1
                if not chosen[row]:
                    count = 0
                    fits = True
                    for position in range(row_start[row], row_start[row + 1]):
                        cell = row_cells[position]
                        if uses[cell] == 0:
                            continue
                        if uses[cell] == 2:
                            fits = False
                            break
                        other = user[cell]
                        # The relation must enter the cell with the opposite sign.
                        same = 1 if (data[position] > 0) == (user_sign[cell] > 0) else 0
                        parity = same
                        while root[other] != other:
                            above = root[other]
                            if root[above] != above:
                                # Path compression, for later look-ups.
                                turned[other] ^= turned[above]
                                root[other] = root[above]
                            parity ^= turned[other]
                            other = root[other]
                        if wanted[other] < 0:
                            wanted[other] = parity
                            touched[count] = other
                            count += 1
                        elif wanted[other] != parity:
                            fits = False
                            break
                    if fits:
                        chosen[row] = True
                        for place in range(count):
                            other = touched[place]
                            root[other] = row
                            turned[other] = wanted[other]
                        for position in range(row_start[row], row_start[row + 1]):
                            cell = row_cells[position]
                            uses[cell] += 1
                            user[cell] = row
                            user_sign[cell] = 1 if data[position] > 0 else -1
                    for place in range(count):
                        wanted[touched[place]] = -1
                for position in range(row_start[row], row_start[row + 1]):
                    cell = row_cells[position]
                    for link in range(cell_start[cell], cell_start[cell + 1]):
                        near = cell_rows[link]
                        if seen[near] or not usable[near] or (again == 0 and covered[near]):
                            continue
                        seen[near] = True
                        queue[back] = near
                        back += 1
    sign = np.zeros(rows, np.int8)
    for row in range(rows):
        if chosen[row]:
            parity = 0
            at = row
            while root[at] != at:
                parity ^= turned[at]
                at = root[at]
            sign[row] = -1 if parity else 1
    return sign


@njit(cache=True, nogil=True)
def is_balanced(
    pointer: npt.NDArray[np.int32],
    row: npt.NDArray[np.int32],
    data: npt.NDArray[np.float64],
    cells: npt.NDArray[np.int64],
    x: npt.NDArray[np.float64],
    sums: npt.NDArray[np.float64],
    sizes: npt.NDArray[np.float64],
    tolerance: float,
) -> bool:
    """Whether a deviation meets all relations that its cells are in.

    Args:
        pointer: The relations by columns (CSC): where each cell begins.
        row: The relations of each cell.
        data: Its coefficients there.
        cells: The cells that move.
        x: How far each of them moves.
        sums: A zero for each relation; so it is left behind.
        sizes: The same.
        tolerance: How far a sum may be off, as a share of the amounts in it.
    """
    for number in range(len(cells)):
        for entry in range(pointer[cells[number]], pointer[cells[number] + 1]):
            term = data[entry] * x[number]
            sums[row[entry]] += term
            sizes[row[entry]] += abs(term)
    balanced = True
    for cell in cells:
        for entry in range(pointer[cell], pointer[cell + 1]):
            if not abs(sums[row[entry]]) <= tolerance * sizes[row[entry]]:
                balanced = False
    for cell in cells:
        for entry in range(pointer[cell], pointer[cell + 1]):
            sums[row[entry]] = 0.0
            sizes[row[entry]] = 0.0
    return balanced
