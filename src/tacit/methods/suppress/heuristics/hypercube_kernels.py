"""Compiled search for hypercubes.

Subtables come as in `tacit.attack.subtables`: `shape`, `start` and `cells`. A place is
a position in `cells`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.compiling import njit
from tacit.tolerances import MET

_ENOUGH = 1 - MET
"""Capacity that misses a level by no more than rounding is enough."""


@njit(cache=True, nogil=True)
def cheapest_hypercube(
    place: int,
    begin: int,
    shape: npt.NDArray[np.int64],
    cells: npt.NDArray[np.int64],
    cost: npt.NDArray[np.float64],
    hidden: npt.NDArray[np.bool_],
    usable: npt.NDArray[np.bool_],
    up: npt.NDArray[np.float64],
    down: npt.NDArray[np.float64],
    rise: float,
    fall: float,
    corner: npt.NDArray[np.int64],
    sign: npt.NDArray[np.int64],
    chosen: npt.NDArray[np.int64],
    chosen_sign: npt.NDArray[np.int64],
) -> int:
    """Find the cheapest hypercube whose corners let the cell at a place rise and fall enough.

    The cell and the one diagonally opposite span the hypercube. As the cell rises, every corner
    moves by the same amount: from part to part of a total against its neighbour, from part to
    total with it. Corners that are hidden already cost nothing.

    Dimension after dimension a coordinate of the opposite cell is fixed, cheapest neighbour
    first, as long as what the corners so far cost can still beat the best.

    Args:
        place: Where the cell is.
        begin: Where the grid of its subtable begins.
        shape: The number of coordinates in each dimension.
        cells: The cells at all places.
        cost: What it costs to hide each cell.
        hidden: Cells that are hidden already.
        usable: Cells that may be hidden and can move.
        up: How far each cell may rise.
        down: How far each cell may fall.
        rise: How far the cell must be able to rise.
        fall: How far it must be able to fall.
        corner: Space for the corners, one row for each number of dimensions fixed.
        sign: Space for their directions.
        chosen: Receives the places of the corners, the given place first.
        chosen_sign: Receives their directions: 1 with the given cell, -1 against it.

    Returns:
        The number of corners, 0 if there is no such hypercube.
    """
    k = 0
    for d in range(len(shape)):
        if shape[d] > 1:
            k += 1
    dimension = np.empty(k, np.int64)
    stride = np.empty(k, np.int64)
    own = np.empty(k, np.int64)
    step = 1
    at = k
    widest = 0
    for d in range(len(shape) - 1, -1, -1):
        if shape[d] > 1:
            at -= 1
            dimension[at] = shape[d]
            stride[at] = step
            own[at] = (place - begin) // step % shape[d]
            step *= shape[d]
            widest = max(widest, shape[d])
    neighbour = np.empty((k, widest), np.int64)
    charge = np.empty((k, widest))
    count = np.zeros(k, np.int64)
    for d in range(k):
        keys = np.full(dimension[d], np.inf)
        for j in range(dimension[d]):
            if j == own[d]:
                continue
            other = cells[place + (j - own[d]) * stride[d]]
            turned = j > 0 and own[d] > 0
            if other >= 0 and usable[other]:
                capacity_up = down[other] if turned else up[other]
                capacity_down = up[other] if turned else down[other]
                if capacity_up >= rise * _ENOUGH and capacity_down >= fall * _ENOUGH:
                    keys[j] = 0.0 if hidden[other] else cost[other]
                    count[d] += 1
        if count[d] == 0:
            return 0
        order = np.argsort(keys, kind="mergesort")
        for j in range(count[d]):
            neighbour[d, j] = order[j]
            charge[d, j] = keys[order[j]]
    # What the dimensions from d on cost at least.
    least = np.zeros(k + 1)
    for d in range(k - 1, -1, -1):
        least[d] = least[d + 1] + charge[d, 0]
    best = np.inf
    found = 0
    spent = np.zeros(k + 1)
    position = np.zeros(k, np.int64)
    corner[0, 0] = place
    sign[0, 0] = 1
    d = 0
    while d >= 0:
        if position[d] >= count[d] or (spent[d] + charge[d, position[d]] + least[d + 1] >= best):
            # Neighbours come cheapest first: none of the others can be better.
            position[d] = 0
            d -= 1
            continue
        j = neighbour[d, position[d]]
        position[d] += 1
        shift = (j - own[d]) * stride[d]
        flip = -1 if j > 0 and own[d] > 0 else 1
        size = 1 << d
        total = spent[d]
        fits = True
        for c in range(size):
            there = corner[d, c] + shift
            cell = cells[there]
            direction = sign[d, c] * flip
            if cell < 0 or not usable[cell]:
                fits = False
                break
            capacity_up = up[cell] if direction > 0 else down[cell]
            capacity_down = down[cell] if direction > 0 else up[cell]
            if capacity_up < rise * _ENOUGH or capacity_down < fall * _ENOUGH:
                fits = False
                break
            if not hidden[cell]:
                total += cost[cell]
            corner[d + 1, size + c] = there
            sign[d + 1, size + c] = direction
        if not fits or total + least[d + 1] >= best:
            continue
        for c in range(size):
            corner[d + 1, c] = corner[d, c]
            sign[d + 1, c] = sign[d, c]
        if d + 1 < k:
            d += 1
            spent[d] = total
            continue
        best = total
        found = 1 << k
        for c in range(found):
            chosen[c] = corner[k, c]
            chosen_sign[c] = sign[k, c]
        if best <= 0.0:
            break
    return found


@njit(cache=True, nogil=True)
def protect_by_hypercubes(
    shape: npt.NDArray[np.int64],
    start: npt.NDArray[np.int64],
    cells: npt.NDArray[np.int64],
    owner: npt.NDArray[np.int64],
    first_place: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
    cost: npt.NDArray[np.float64],
    hidden: npt.NDArray[np.bool_],
    usable: npt.NDArray[np.bool_],
    up: npt.NDArray[np.float64],
    down: npt.NDArray[np.float64],
    served: npt.NDArray[np.float64],
    asked: npt.NDArray[np.int64],
    rise: npt.NDArray[np.float64],
    fall: npt.NDArray[np.float64],
) -> int:
    """Protect cells one after the other in all their subtables, and so on until stable.

    A corner that a cell needs moves as far as the cell itself: it is protected to that level in
    all other subtables that it is in, and so are the corners needed for that.

    Args:
        shape: The shape of each subtable.
        start: Where the grid of each subtable begins, and the end of the last.
        cells: The cell at each place.
        owner: The subtable of each place.
        first_place: For each cell the start of its places.
        places: The places of all cells.
        cost: What it costs to hide each cell.
        hidden: Cells that are hidden; grows in place.
        usable: Cells that may be hidden and can move.
        up: How far each cell may rise.
        down: How far each cell may fall.
        served: For each place how far the cell can already rise and fall there; in place.
        asked: The cells to protect.
        rise: How far each must be able to rise.
        fall: How far each must be able to fall.

    Returns:
        How often a subtable held no hypercube that is large enough.
    """
    most = 1 << shape.shape[1]
    corner = np.empty((shape.shape[1] + 1, most), np.int64)
    sign = np.empty((shape.shape[1] + 1, most), np.int64)
    chosen = np.empty(most, np.int64)
    direction = np.empty(most, np.int64)
    stack_cell = np.empty(1024, np.int64)
    stack_level = np.empty((1024, 2))
    failures = 0
    for request in range(len(asked)):
        stack_cell[0] = asked[request]
        stack_level[0, 0], stack_level[0, 1] = rise[request], fall[request]
        size = 1
        while size > 0:
            size -= 1
            cell = stack_cell[size]
            need_up, need_down = stack_level[size, 0], stack_level[size, 1]
            for p in range(first_place[cell], first_place[cell + 1]):
                place = places[p]
                # Both sides by one hypercube if possible, otherwise one after the other.
                for attempt in range(3):
                    ask_up = need_up if attempt != 2 else 0.0
                    ask_down = need_down if attempt != 1 else 0.0
                    if attempt > 0 and (need_up <= 0.0 or need_down <= 0.0):
                        break
                    if served[place, 0] >= ask_up and served[place, 1] >= ask_down:
                        if attempt == 0:
                            break
                        continue
                    table = owner[place]
                    count = cheapest_hypercube(
                        place,
                        start[table],
                        shape[table],
                        cells,
                        cost,
                        hidden,
                        usable,
                        up,
                        down,
                        ask_up,
                        ask_down,
                        corner,
                        sign,
                        chosen,
                        direction,
                    )
                    if count == 0:
                        if attempt > 0 or need_up <= 0.0 or need_down <= 0.0:
                            failures += 1
                            # Not to be tried again: the whole table may still protect it.
                            served[place, 0] = max(served[place, 0], ask_up)
                            served[place, 1] = max(served[place, 1], ask_down)
                        continue
                    while size + count > len(stack_cell):
                        longer = np.empty(2 * len(stack_cell), np.int64)
                        longer[: len(stack_cell)] = stack_cell
                        longer_level = np.empty((2 * len(stack_cell), 2))
                        longer_level[: len(stack_cell)] = stack_level
                        stack_cell, stack_level = longer, longer_level
                    for c in range(count):
                        there = chosen[c]
                        other = cells[there]
                        with_it = ask_up if direction[c] > 0 else ask_down
                        against = ask_down if direction[c] > 0 else ask_up
                        served[there, 0] = max(served[there, 0], with_it)
                        served[there, 1] = max(served[there, 1], against)
                        hidden[other] = True
                        if c > 0 and first_place[other + 1] - first_place[other] > 1:
                            stack_cell[size] = other
                            stack_level[size, 0], stack_level[size, 1] = with_it, against
                            size += 1
                    if attempt == 0:
                        break
    return failures
