"""Compiled loops of adjustment."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.compiling import njit
from tacit.tolerances import COMMON_STEP, INTEGRAL, LAST_DIGITS, QUOTIENT, REMAINDER, ROUNDING_NOISE


@njit(cache=True, nogil=True)
def _common_step(p: npt.NDArray[np.float64], q: npt.NDArray[np.float64]) -> float:
    """The largest number that all amounts are multiples of; 0 if it is too small to tell."""
    step, largest = 0.0, 0.0
    for amounts in (p, q):
        for amount in amounts:
            if not np.isfinite(amount):
                continue
            largest = max(largest, amount)
            a, b = amount, step
            while b > REMAINDER * largest:
                a, b = b, a - np.floor(a / b + QUOTIENT) * b
            step = a
            if step < COMMON_STEP * largest:
                return 0.0
    for amounts in (p, q):
        for amount in amounts:
            if np.isfinite(amount) and abs(amount / step - np.rint(amount / step)) > INTEGRAL:
                return 0.0
    return step


@njit(cache=True, nogil=True)
def least_sides(
    first: npt.NDArray[np.int64],
    plus: npt.NDArray[np.float64],
    minus: npt.NDArray[np.float64],
    most: int,
) -> npt.NDArray[np.float64]:
    """For each group of amounts the smallest possible size of the larger of two sides.

    Every amount goes to one side, as `plus`, or to the other, as `minus`; inf where it may not.
    Groups are searched depth first; one that takes more than `most` steps gets what is certain
    at once: half of the sum, the largest amount, and that sides are multiples of what all amounts
    are multiples of.

    Args:
        first: Where each group begins.
        plus: The amount on one side.
        minus: The amount on the other side.
        most: Steps for each group.
    """
    groups = len(first) - 1
    sides = np.zeros(groups)
    for group in range(groups):
        start, end = first[group], first[group + 1]
        count = end - start
        if count == 0:
            continue
        least = np.minimum(plus[start:end], minus[start:end])
        order = np.argsort(-least)
        p, q = plus[start:end][order], minus[start:end][order]
        rest = np.zeros(count + 1)
        for place in range(count - 1, -1, -1):
            rest[place] = rest[place + 1] + min(p[place], q[place])
        simple = max(rest[0] / 2, least.max())
        step = _common_step(p, q)
        if step > 0:
            # Both sides are multiples of the step; a little less, for the sake of rounding.
            simple = max(simple, np.ceil(simple / step - INTEGRAL) * step * (1 - ROUNDING_NOISE))
        best = np.inf
        choice = np.zeros(count + 1, np.int64)
        left, right = np.zeros(count + 1), np.zeros(count + 1)
        depth, steps = 0, 0
        while depth >= 0 and steps < most and best > simple * (1 + LAST_DIGITS):
            if depth == count:
                best = min(best, max(left[depth], right[depth]))
                depth -= 1
                continue
            if choice[depth] == 2:
                choice[depth] = 0
                depth -= 1
                continue
            steps += 1
            # The smaller side first.
            to_left = (choice[depth] == 0) == (left[depth] <= right[depth])
            choice[depth] += 1
            new_left = left[depth] + (p[depth] if to_left else 0.0)
            new_right = right[depth] + (0.0 if to_left else q[depth])
            certain = max(max(new_left, new_right), (new_left + new_right + rest[depth + 1]) / 2)
            if certain < best * (1 - LAST_DIGITS):
                depth += 1
                left[depth], right[depth] = new_left, new_right
                if depth < count:
                    choice[depth] = 0
        is_done = depth < 0 or best <= simple * (1 + LAST_DIGITS)
        sides[group] = best if is_done else simple
    return sides


@njit(cache=True, nogil=True)
def balance_senses(
    first: npt.NDArray[np.int64],
    relation: npt.NDArray[np.int64],
    coefficient: npt.NDArray[np.float64],
    rise: npt.NDArray[np.float64],
    fall: npt.NDArray[np.float64],
    rate: npt.NDArray[np.float64],
    senses: npt.NDArray[np.bool_],
    order: npt.NDArray[np.int64],
    rounds: int,
) -> npt.NDArray[np.float64]:
    """Turn senses around, in place, while relations come closer to balance.

    Args:
        first: Where the entries of each sensitive cell begin.
        relation: The relation of each entry.
        coefficient: Its coefficient.
        rise: By how much each cell must rise, inf where it cannot.
        fall: By how much each cell must fall.
        rate: What a unit of imbalance costs in each relation.
        senses: Which cells rise.
        order: In which order to look at the cells.
        rounds: How often at most.

    Returns:
        What is left of imbalance.
    """
    balance = np.zeros(len(rate))
    for cell in range(len(rise)):
        amount = rise[cell] if senses[cell] else -fall[cell]
        for entry in range(first[cell], first[cell + 1]):
            balance[relation[entry]] += coefficient[entry] * amount
    for _ in range(rounds):
        turned = 0
        for cell in order:
            if not (np.isfinite(rise[cell]) and np.isfinite(fall[cell])):
                continue
            change = rise[cell] + fall[cell]
            if senses[cell]:
                change = -change
            gain = 0.0
            for entry in range(first[cell], first[cell + 1]):
                row = relation[entry]
                after = balance[row] + coefficient[entry] * change
                gain += rate[row] * (abs(balance[row]) - abs(after))
            if gain > LAST_DIGITS * abs(change):
                for entry in range(first[cell], first[cell + 1]):
                    balance[relation[entry]] += coefficient[entry] * change
                senses[cell] = not senses[cell]
                turned += 1
        if turned == 0:
            break
    return balance


@njit(cache=True, nogil=True)
def propagate(
    first: npt.NDArray[np.int64],
    cells: npt.NDArray[np.int64],
    coefficient: npt.NDArray[np.float64],
    first_of_cell: npt.NDArray[np.int64],
    relations: npt.NDArray[np.int64],
    place: npt.NDArray[np.int64],
    rise: npt.NDArray[np.float64],
    fall: npt.NDArray[np.float64],
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
    changed: npt.NDArray[np.int64],
    noise: float,
    most: int,
) -> bool:
    """Narrow the deviations that are possible, in place, as single relations demand.

    Args:
        first: Where the entries of each relation begin.
        cells: The cell of each entry.
        coefficient: Its coefficient.
        first_of_cell: Where the relations of each cell begin.
        relations: The relations of all cells.
        place: The number of each sensitive cell, -1 for others.
        rise: By how much each sensitive cell must rise, if it rises.
        fall: By how much it must fall, if it falls.
        low: The least deviation of each cell.
        high: The largest deviation of each cell.
        changed: Cells whose relations are to be looked at.
        noise: Differences below this are rounding.
        most: How many relations to look at.

    Returns:
        False if a cell has no deviation left.
    """
    rows = len(first) - 1
    queue = np.empty(rows, np.int64)
    waiting = np.zeros(rows, np.bool_)
    head, count, looked = 0, 0, 0
    for cell in changed:
        for entry in range(first_of_cell[cell], first_of_cell[cell + 1]):
            row = relations[entry]
            if not waiting[row]:
                waiting[row] = True
                queue[(head + count) % rows] = row
                count += 1
    while count > 0 and looked < most:
        row = queue[head]
        head = (head + 1) % rows
        count -= 1
        looked += 1
        waiting[row] = False
        least, largest, size = 0.0, 0.0, 0.0
        endless_down, endless_up = 0, 0
        for entry in range(first[row], first[row + 1]):
            c, cell = coefficient[entry], cells[entry]
            a = c * low[cell] if c > 0 else c * high[cell]
            b = c * high[cell] if c > 0 else c * low[cell]
            if np.isinf(a):
                endless_down += 1
            else:
                least += a
                size += abs(a)
            if np.isinf(b):
                endless_up += 1
            else:
                largest += b
                size += abs(b)
        rounding = LAST_DIGITS * size + noise
        if (endless_down == 0 and least > rounding) or (endless_up == 0 and largest < -rounding):
            return False
        for entry in range(first[row], first[row + 1]):
            c, cell = coefficient[entry], cells[entry]
            a = c * low[cell] if c > 0 else c * high[cell]
            b = c * high[cell] if c > 0 else c * low[cell]
            new_low, new_high = low[cell], high[cell]
            others_down = endless_down - (1 if np.isinf(a) else 0)
            others_up = endless_up - (1 if np.isinf(b) else 0)
            if others_down == 0:
                limit = -(least - (0.0 if np.isinf(a) else a)) + rounding
                if c > 0:
                    new_high = min(new_high, limit / c)
                else:
                    new_low = max(new_low, limit / c)
            if others_up == 0:
                limit = -(largest - (0.0 if np.isinf(b) else b)) - rounding
                if c > 0:
                    new_low = max(new_low, limit / c)
                else:
                    new_high = min(new_high, limit / c)
            own = place[cell]
            if own >= 0:
                if new_low > -fall[own] + noise:
                    new_low = max(new_low, rise[own])
                if new_high < rise[own] - noise:
                    new_high = min(new_high, -fall[own])
            if new_low > new_high + 2 * noise:
                return False
            step = noise + 1e-3 * (high[cell] - low[cell])
            if new_low > low[cell] + step or new_high < high[cell] - step:
                low[cell] = max(low[cell], min(new_low, new_high))
                high[cell] = min(high[cell], max(new_low, new_high))
                for other in range(first_of_cell[cell], first_of_cell[cell + 1]):
                    next_row = relations[other]
                    if not waiting[next_row]:
                        waiting[next_row] = True
                        queue[(head + count) % rows] = next_row
                        count += 1
    return True
