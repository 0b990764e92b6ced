"""The compiled loop of simulated annealing: the finest cells move, all totals follow."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.compiling import njit

_LONGEST = 4
"""Finest cells that move together in one trial at most."""
_SENSES = 0.35
"""Share of the trials that begin with a sense turned around."""
_LOOKS = 8
"""How often to look for a cell that has moved."""


@njit(cache=True, nogil=True)
def _cost(
    z: float, w: float, low: float, high: float, rise: float, fall: float, dear: float
) -> float:
    """What a cell costs; being outside its limits or too near to its true value is dear."""
    cost = w * abs(z)
    if z < low:
        cost += dear * (low - z)
    elif z > high:
        cost += dear * (z - high)
    if -fall < z < rise:
        cost += dear * min(rise - z, z + fall)
    return cost


@njit(cache=True, nogil=True)
def total_cost(
    z: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
    rise: npt.NDArray[np.float64],
    fall: npt.NDArray[np.float64],
    dear: npt.NDArray[np.float64],
    cost: npt.NDArray[np.float64],
) -> float:
    """What all cells cost; the cost of each is written into the last array."""
    total = 0.0
    for i in range(len(z)):
        cost[i] = _cost(z[i], weight[i], low[i], high[i], rise[i], fall[i], dear[i])
        total += cost[i]
    return total


@njit(cache=True, nogil=True)
def anneal(
    first_cell: npt.NDArray[np.int64],
    cells: npt.NDArray[np.int64],
    coefficient: npt.NDArray[np.float64],
    first_leaf: npt.NDArray[np.int64],
    leaves: npt.NDArray[np.int64],
    share: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
    rise: npt.NDArray[np.float64],
    fall: npt.NDArray[np.float64],
    dear: npt.NDArray[np.float64],
    sensitive: npt.NDArray[np.int64],
    z: npt.NDArray[np.float64],
    cost: npt.NDArray[np.float64],
    total: float,
    best: npt.NDArray[np.float64],
    least: float,
    heat: float,
    cooling: float,
    trials: int,
    random: np.random.Generator,
) -> tuple[float, float, float]:
    """Try moves, in place: better ones are kept, worse ones with a chance that cools down.

    A trial turns a sense around, or brings a cell back to where it costs least, by one of the
    finest cells; as long as that costs more than before, another finest cell makes up for it in
    one of the totals that have changed.

    Args:
        first_cell: Where the cells begin that change with each finest cell, itself among them.
        cells: These cells.
        coefficient: By how much they change for each unit.
        first_leaf: Where the finest cells of each cell begin.
        leaves: The numbers of these finest cells.
        share: By how much each changes the cell.
        weight: What a unit of deviation costs.
        low: The least deviation of each cell.
        high: The largest.
        rise: By how much each cell must rise, if it rises: 0 where it need not move.
        fall: By how much each must fall, if it falls.
        dear: What it costs to miss limits and levels, for each unit.
        sensitive: The cells that must move.
        z: The deviations, which change.
        cost: What each cell costs, which changes with them.
        total: The sum of these costs.
        best: The best deviations so far, which change.
        least: What they cost.
        heat: A loss that is taken with a chance of 1 / e.
        cooling: By which factor that falls with each trial.
        trials: How many.
        random: Random numbers.

    Returns:
        What deviations cost now, what the best cost, and the heat now.
    """
    chain, step = np.empty(_LONGEST, np.int64), np.empty(_LONGEST)
    for _ in range(trials):
        heat *= cooling
        if random.random() < _SENSES and len(sensitive) > 0:
            i = sensitive[int(random.random() * len(sensitive))]
            target = -fall[i] if z[i] > 0 else rise[i]
        else:
            i = int(random.random() * len(z))
            looks = 0
            while z[i] == 0 and looks < _LOOKS:
                i = int(random.random() * len(z))
                looks += 1
            # Zero for cells that need not move.
            target = rise[i] if z[i] > 0 else -fall[i]
        count = first_leaf[i + 1] - first_leaf[i]
        if count == 0 or not np.isfinite(target) or target == z[i]:
            continue
        entry = first_leaf[i] + int(random.random() * count)
        leaf, change = leaves[entry], (target - z[i]) / share[entry]
        length, done, difference = 1 + int(random.random() * _LONGEST), 0, 0.0
        while True:
            chain[done], step[done] = leaf, change
            done += 1
            for entry in range(first_cell[leaf], first_cell[leaf + 1]):
                j = cells[entry]
                z[j] += coefficient[entry] * change
                new = _cost(z[j], weight[j], low[j], high[j], rise[j], fall[j], dear[j])
                difference += new - cost[j]
                cost[j] = new
            if difference <= 0 or done == length:
                break
            width = first_cell[leaf + 1] - first_cell[leaf]
            entry = first_cell[leaf] + int(random.random() * width)
            j = cells[entry]
            count = first_leaf[j + 1] - first_leaf[j]
            if count == 0:
                break
            other = first_leaf[j] + int(random.random() * count)
            if leaves[other] == leaf:
                break
            change = -coefficient[entry] * change / share[other]
            leaf = leaves[other]
        if difference <= 0 or random.random() < np.exp(-difference / heat):
            total += difference
            if total < least:
                least = total
                best[:] = z
        else:
            while done > 0:
                done -= 1
                leaf = chain[done]
                for entry in range(first_cell[leaf], first_cell[leaf + 1]):
                    j = cells[entry]
                    z[j] -= coefficient[entry] * step[done]
                    cost[j] = _cost(z[j], weight[j], low[j], high[j], rise[j], fall[j], dear[j])
    return total, least, heat
