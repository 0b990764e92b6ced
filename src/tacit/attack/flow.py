"""Maximum flows, compiled: the attacker's engine for tables that are networks.

An arc is a cell. It may carry between -down and up units of deviation from tail to head. The
attacker who wants to raise cell s sends as much as possible from the head of s back to its
tail through the other arcs; to lower it, from tail to head.

Dinic's algorithm: breadth-first levels, then a blocking flow. It ends after at most as many
phases as there are nodes, whatever the real-valued capacities are, because every augmentation
empties an arc exactly.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tacit.attack.reach import Limits
from tacit.compiling import njit

Network: TypeAlias = tuple[
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
]
"""`first`, `link`, `tail` and `head`, see `maximum_flows`."""
LimitLists: TypeAlias = tuple[
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
]
"""The attributes of `Limits` in their order, arcs for cells."""
WorkSpace: TypeAlias = tuple[
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.uint8],
    npt.NDArray[np.float64],
]
"""`level`, `queue`, `current`, `path`, `touched`, `is_touched` and `flow`, see `send`."""


@njit(cache=True, nogil=True)
def work_space(nodes: int, arcs: int) -> WorkSpace:
    """What `send` works with, ready for the first call."""
    level = np.full(nodes, -1, np.int64)
    queue = np.zeros(nodes + 1, np.int64)
    current = np.empty(nodes, np.int64)
    path = np.empty(nodes + 1, np.int64)
    touched = np.empty(arcs, np.int64)
    is_touched = np.zeros(arcs, np.uint8)
    flow = np.zeros(arcs)
    return level, queue, current, path, touched, is_touched, flow


@njit(cache=True, nogil=True)
def longer(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy with twice the space."""
    copy = np.empty(2 * len(array), array.dtype)
    copy[: len(array)] = array
    return copy


@njit(cache=True, nogil=True)
def send(
    network: Network,
    residual: npt.NDArray[np.float64],
    own: int,
    side: int,
    target: float,
    space: WorkSpace,
) -> tuple[float, int]:
    """Send up to `target` from one end of arc `own` to the other without using it.

    To raise the arc, `side` 1, is to send from its head to its tail. `residual` changes. The space
    is `work_space`: per node `level` (-1 at first), `queue` (one longer; its last entry counts the
    nodes met, 0 at first), `current` and `path` (one longer); per arc `touched`, `is_touched` and
    `flow` (the latter two all zero on entry; the caller clears them again). `flow` receives what
    each arc carries from tail to head; it is kept apart from `residual` because huge capacities
    would swallow small flows.

    Returns:
        The amount sent and the number of arcs touched. If the target is missed, the nodes with
        `level` of at least 0 are the source side of a minimum cut.
    """
    first, link, tail, head = network
    level, queue, current, path, touched, is_touched, flow = space
    source, sink = head[own], tail[own]
    if side < 0:
        source, sink = sink, source
    total = 0.0
    touched_count = 0
    if source == sink:
        # The arc is a loop: nothing restrains it.
        return target, 0
    while total < target:
        # Only what the last search has met needs to be forgotten: networks can be large.
        for position in range(queue[-1]):
            level[queue[position]] = -1
        level[source] = 0
        queue[0] = source
        front, back = 0, 1
        while front < back and level[sink] < 0:
            node = queue[front]
            front += 1
            for position in range(first[node], first[node + 1]):
                way = link[position]
                if residual[way] > 0.0 and way >> 1 != own:
                    other = tail[way >> 1] if way & 1 else head[way >> 1]
                    if level[other] < 0:
                        level[other] = level[node] + 1
                        queue[back] = other
                        back += 1
        queue[-1] = back
        if level[sink] < 0:
            break
        for position in range(back):
            node = queue[position]
            current[node] = first[node]
        depth = 0
        node = source
        while True:
            if node == sink:
                amount = target - total
                narrow = False
                for step in range(depth):
                    if residual[path[step]] < amount:
                        amount = residual[path[step]]
                        narrow = True
                # Adding up may round below the target although nothing was in the way.
                total = total + amount if narrow else target
                retreat = depth
                for step in range(depth - 1, -1, -1):
                    way = path[step]
                    residual[way] -= amount
                    residual[way ^ 1] += amount
                    arc = way >> 1
                    flow[arc] += -amount if way & 1 else amount
                    if not is_touched[arc]:
                        is_touched[arc] = 1
                        touched[touched_count] = arc
                        touched_count += 1
                    if residual[way] <= 0.0:
                        retreat = step
                if total >= target:
                    break
                depth = retreat
                way = path[depth]
                node = head[way >> 1] if way & 1 else tail[way >> 1]
                continue
            advanced = False
            while current[node] < first[node + 1]:
                way = link[current[node]]
                if residual[way] > 0.0 and way >> 1 != own:
                    other = tail[way >> 1] if way & 1 else head[way >> 1]
                    if level[other] == level[node] + 1:
                        path[depth] = way
                        depth += 1
                        node = other
                        advanced = True
                        break
                current[node] += 1
            if advanced:
                continue
            if depth == 0:
                break
            level[node] = -2
            depth -= 1
            way = path[depth]
            node = head[way >> 1] if way & 1 else tail[way >> 1]
            current[node] += 1
    return min(total, target), touched_count


def maximum_flows(
    first: npt.NDArray[np.int64],
    link: npt.NDArray[np.int64],
    tail: npt.NDArray[np.int64],
    head: npt.NDArray[np.int64],
    up: npt.NDArray[np.float64],
    down: npt.NDArray[np.float64],
    cells: npt.NDArray[np.int64],
    sides: npt.NDArray[np.int64],
    targets: npt.NDArray[np.float64],
    caps: npt.NDArray[np.float64],
    share: npt.NDArray[np.float64],
    exempt: npt.NDArray[np.bool_],
    limits: Limits | None = None,
) -> tuple[
    npt.NDArray[np.float64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.float64],
    npt.NDArray[np.uint8],
]:
    """Solve one maximum flow for each request, stopping early at its target.

    Args:
        first: For each node the start of its links.
        link: Links out of the nodes: 2 * arc forwards, 2 * arc + 1 backwards.
        tail: Tail of each arc.
        head: Head of each arc.
        up: Capacity of each arc forwards.
        down: Capacity of each arc backwards.
        cells: The arc to move in each request; the arc itself takes no part in the flow.
        sides: 1 to raise the arc, -1 to lower it.
        targets: Flow at which to stop.
        caps: For each request a ceiling on all capacities; inf for none.
        share: The share of each arc's capacity, after the ceiling, that may be used.
        exempt: Arcs that the ceiling does not concern.
        limits: Arcs with smaller capacities in some of the requests.

    Returns:
        The flows reached, at most the targets; pointers, arcs and deviations of the flows in
        sparse form (without the requested arc itself); for each request and node whether the
        node is on the source side of a minimum cut, meaningful where the target was missed.
    """
    limits = limits or Limits.none(len(cells))
    found: tuple[Any, Any, Any, Any, Any] = _maximum_flows(
        (first, link, tail, head),
        up,
        down,
        cells,
        sides,
        targets,
        caps,
        share,
        exempt,
        limits.arrays,
    )
    return found


@njit(cache=True, nogil=True)
def _maximum_flows(
    network: Network,
    up: npt.NDArray[np.float64],
    down: npt.NDArray[np.float64],
    cells: npt.NDArray[np.int64],
    sides: npt.NDArray[np.int64],
    targets: npt.NDArray[np.float64],
    caps: npt.NDArray[np.float64],
    share: npt.NDArray[np.float64],
    exempt: npt.NDArray[np.bool_],
    limits: LimitLists,
) -> tuple[
    npt.NDArray[np.float64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.float64],
    npt.NDArray[np.uint8],
]:
    """The compiled part of `maximum_flows`; the lists of limits come as arrays."""
    first, tail = network[0], network[2]
    limited, limit_start, limit_arcs, limit_up, limit_down = limits
    nodes = len(first) - 1
    arcs = len(tail)
    capacity = np.empty(2 * arcs)
    residual = np.empty(2 * arcs)
    last_cap = -1.0
    count = len(cells)
    value = np.zeros(count)
    pointer = np.zeros(count + 1, np.int64)
    flow_arc = np.empty(max(16, 8 * count), np.int64)
    flow_amount = np.empty(len(flow_arc))
    used = 0
    cut = np.zeros((count, nodes), np.uint8)
    space = work_space(nodes, arcs)
    level, _, _, _, touched, is_touched, flow = space
    for request in range(count):
        own = cells[request]
        if caps[request] != last_cap:
            last_cap = caps[request]
            for arc in range(arcs):
                cap = np.inf if exempt[arc] else last_cap
                capacity[2 * arc] = min(up[arc], cap) * share[arc]
                capacity[2 * arc + 1] = min(down[arc], cap) * share[arc]
            residual[:] = capacity
        begin, end = 0, 0
        if limited[request] >= 0:
            begin, end = limit_start[limited[request]], limit_start[limited[request] + 1]
        for position in range(begin, end):
            arc = limit_arcs[position]
            cap = np.inf if exempt[arc] else last_cap
            capacity[2 * arc] = min(up[arc], limit_up[position], cap) * share[arc]
            capacity[2 * arc + 1] = min(down[arc], limit_down[position], cap) * share[arc]
            residual[2 * arc] = capacity[2 * arc]
            residual[2 * arc + 1] = capacity[2 * arc + 1]
        value[request], touched_count = send(
            network, residual, own, sides[request], targets[request], space
        )
        if value[request] < targets[request]:
            for node in range(nodes):
                cut[request, node] = level[node] >= 0
        for position in range(touched_count):
            arc = touched[position]
            is_touched[arc] = 0
            amount = flow[arc]
            flow[arc] = 0.0
            residual[2 * arc] = capacity[2 * arc]
            residual[2 * arc + 1] = capacity[2 * arc + 1]
            if amount != 0.0:
                if used == len(flow_arc):
                    flow_arc = longer(flow_arc)
                    flow_amount = longer(flow_amount)
                flow_arc[used] = arc
                flow_amount[used] = amount
                used += 1
        for position in range(begin, end):
            arc = limit_arcs[position]
            cap = np.inf if exempt[arc] else last_cap
            capacity[2 * arc] = min(up[arc], cap) * share[arc]
            capacity[2 * arc + 1] = min(down[arc], cap) * share[arc]
            residual[2 * arc] = capacity[2 * arc]
            residual[2 * arc + 1] = capacity[2 * arc + 1]
        pointer[request + 1] = used
    return value, pointer, flow_arc[:used], flow_amount[:used], cut


@njit(cache=True, nogil=True)
def balance(
    nodes: int,
    tail: npt.NDArray[np.int64],
    head: npt.NDArray[np.int64],
    tree: npt.NDArray[np.int64],
    x: npt.NDArray[np.int64],
    prime: int,
) -> None:
    """Change x on the arcs of a spanning forest, in place, so that every node balances."""
    x[tree] = 0
    surplus = np.zeros(nodes, np.int64)
    for arc in range(len(tail)):
        surplus[head[arc]] = (surplus[head[arc]] + x[arc]) % prime
        surplus[tail[arc]] = (surplus[tail[arc]] - x[arc]) % prime
    open_arcs = np.zeros(nodes, np.int64)
    # The exclusive-or of a node's open arcs is the arc itself once only one is left.
    mixed = np.zeros(nodes, np.int64)
    for arc in tree:
        for node in (tail[arc], head[arc]):
            open_arcs[node] += 1
            mixed[node] ^= arc
    for start in range(nodes):
        node = start
        while open_arcs[node] == 1:
            arc = mixed[node]
            other = head[arc] if tail[arc] == node else tail[arc]
            # The surplus at the node leaves through its last open arc.
            x[arc] = surplus[node] if tail[arc] == node else (prime - surplus[node]) % prime
            surplus[other] = (surplus[other] + surplus[node]) % prime
            surplus[node] = 0
            open_arcs[node] = 0
            open_arcs[other] -= 1
            mixed[other] ^= arc
            node = other
