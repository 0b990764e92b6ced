"""Compiled: for every request the way from a point to a point inside, until it is met."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.attack.flow import LimitLists, Network, longer, send, work_space
from tacit.compiling import njit
from tacit.tolerances import LAST_DIGITS, ROUNDING_NOISE


@njit(cache=True, nogil=True)
def approach(
    network: Network,
    outer: npt.NDArray[np.float64],
    inner: npt.NDArray[np.float64],
    cells: npt.NDArray[np.int64],
    sides: npt.NDArray[np.int64],
    outer_target: npt.NDArray[np.float64],
    inner_target: npt.NDArray[np.float64],
    begin: npt.NDArray[np.float64],
    limits: LimitLists,
    tolerance: float,
    most_steps: int,
) -> tuple[
    npt.NDArray[np.float64],
    npt.NDArray[np.bool_],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.float64],
]:
    """Walk from outer to inner capacities, request by request, by Newton's method.

    Where a maximum flow misses its target, the minimum cut is a line along the way: the next
    point is where that line reaches the target.

    Args:
        network: As in `tacit.attack.flow`.
        outer: Capacity of each way at the start.
        inner: Capacity of each way at the end.
        cells: The arc to move in each request.
        sides: 1 to raise it, -1 to lower it.
        outer_target: How far each request is to get at the start.
        inner_target: How far at the end.
        begin: Where to begin, from 0 (outer) to 1 (inner).
        limits: Arcs with smaller capacities in some of the requests.
        tolerance: The share of a target that may be missed.
        most_steps: Flows for each request at most.

    Returns:
        How far each request had to walk; whether it was met there; pointers, ways and requests
        of the cuts found on the way; for each way the most that a request that had to walk sends
        through it.
    """
    first, _, tail, head = network
    limited, limit_start, limit_arcs, limit_up, limit_down = limits
    nodes = len(first) - 1
    arcs = len(tail)
    residual = np.empty(2 * arcs)
    space = work_space(nodes, arcs)
    level, _, _, _, touched, is_touched, flow = space
    walked = begin.copy()
    is_met = np.zeros(len(cells), np.bool_)
    pointer = np.zeros(1024, np.int64)
    owner = np.zeros(1024, np.int64)
    ways = np.empty(4096, np.int64)
    count = 0
    used = 0
    sent = np.zeros(2 * arcs)
    given_outer, given_inner = outer, inner
    outer, inner = outer.copy(), inner.copy()
    for request in range(len(cells)):
        from_entry, to_entry = 0, 0
        if limited[request] >= 0:
            from_entry, to_entry = limit_start[limited[request]], limit_start[limited[request] + 1]
        for entry in range(from_entry, to_entry):
            way = 2 * limit_arcs[entry]
            outer[way] = min(given_outer[way], limit_up[entry])
            inner[way] = min(given_inner[way], limit_up[entry])
            outer[way + 1] = min(given_outer[way + 1], limit_down[entry])
            inner[way + 1] = min(given_inner[way + 1], limit_down[entry])
        own = cells[request]
        share = begin[request]
        for step in range(most_steps):
            for way in range(2 * arcs):
                residual[way] = outer[way] + share * (inner[way] - outer[way])
            target = outer_target[request]
            target += share * (inner_target[request] - target)
            value, touched_count = send(network, residual, own, sides[request], target, space)
            met = value >= target * (1.0 - tolerance)
            for position in range(touched_count):
                arc = touched[position]
                is_touched[arc] = 0
                if met or share >= 1.0:
                    way = 2 * arc if flow[arc] > 0.0 else 2 * arc + 1
                    if share > 0.0 and abs(flow[arc]) > sent[way]:
                        sent[way] = abs(flow[arc])
                flow[arc] = 0.0
            if met:
                is_met[request] = True
                break
            at_outer, at_inner = 0.0, 0.0
            for arc in range(arcs):
                from_source = level[tail[arc]] >= 0
                if arc != own and from_source != (level[head[arc]] >= 0):
                    if used == len(ways):
                        ways = longer(ways)
                    way = 2 * arc if from_source else 2 * arc + 1
                    ways[used] = way
                    used += 1
                    at_outer += outer[way]
                    at_inner += inner[way]
            if count + 2 > len(owner):
                owner = longer(owner)
                pointer = longer(pointer)
            owner[count] = request
            count += 1
            pointer[count] = used
            if share >= 1.0:
                break
            gained = (at_inner - at_outer) - (inner_target[request] - outer_target[request])
            missing = outer_target[request] - at_outer
            # The next point lies further on, if only by rounding.
            share = share * (1.0 + ROUNDING_NOISE) + LAST_DIGITS
            share = 1.0 if gained <= missing else min(1.0, max(share, missing / gained))
            if step + 2 >= most_steps:
                share = 1.0
        walked[request] = share
        for entry in range(from_entry, to_entry):
            way = 2 * limit_arcs[entry]
            outer[way], outer[way + 1] = given_outer[way], given_outer[way + 1]
            inner[way], inner[way + 1] = given_inner[way], given_inner[way + 1]
    return walked, is_met, pointer[: count + 1], ways[:used], owner[:count], sent
