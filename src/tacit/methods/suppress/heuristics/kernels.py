"""Compiled loops of the suppression heuristics for networks.

Arguments are those of `tacit.attack.flow`: a network; capacities of the arcs by `up` and `down`;
requests by `cells`, `sides`, `targets`; and for each request the arcs that may carry less while it
is asked, by `limits`.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tacit.attack.flow import LimitLists, Network, WorkSpace, longer, send, work_space
from tacit.attack.strips import StripArrays
from tacit.compiling import njit
from tacit.tolerances import MET, TIE_BREAKER

PathSpace: TypeAlias = tuple[
    WorkSpace,
    npt.NDArray[np.float64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.float64],
    npt.NDArray[np.int64],
    npt.NDArray[np.float64],
]
"""What `_protect_one` works with: that of `send`, per node `distance` and `came`, the heap's nodes
and keys, per arc `added`, and per way `residual`."""
ArcLimits: TypeAlias = tuple[
    npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]
]
"""Arcs that may carry less than usual, and how much of it up and down."""


@njit(cache=True, nogil=True)
def protect_by_paths(
    network: Network,
    up: npt.NDArray[np.float64],
    down: npt.NDArray[np.float64],
    cost: npt.NDArray[np.float64],
    hidden: npt.NDArray[np.bool_],
    cells: npt.NDArray[np.int64],
    sides: npt.NDArray[np.int64],
    targets: npt.NDArray[np.float64],
    limits: LimitLists,
) -> npt.NDArray[np.float64]:
    """Protect one request after the other by shortest paths [Castro2012, Figure 14].

    What hidden arcs already allow is used first. For the rest, paths from one end of the cell
    to the other are sought along which every arc has capacity; an arc that is not yet hidden costs
    its weight, more if its capacity is smaller than what is missing. The arcs of a path become
    hidden, in place.

    Returns:
        For each request what is still missing; positive where protection is impossible.
    """
    limited, limit_start, limit_arc, limit_up, limit_down = limits
    missing = np.zeros(len(cells))
    space = _path_space(len(network[0]) - 1, len(network[2]))
    for request in range(len(cells)):
        begin, end = 0, 0
        if limited[request] >= 0:
            begin, end = limit_start[limited[request]], limit_start[limited[request] + 1]
        missing[request], _ = _protect_one(
            network,
            up,
            down,
            cost,
            hidden,
            cells[request],
            sides[request],
            targets[request],
            (limit_arc[begin:end], limit_up[begin:end], limit_down[begin:end]),
            space,
        )
    return missing


@njit(cache=True, nogil=True)
def protect_in_strips(
    strips: StripArrays,
    up: npt.NDArray[np.float64],
    down: npt.NDArray[np.float64],
    cost: npt.NDArray[np.float64],
    hidden: npt.NDArray[np.bool_],
    cells: npt.NDArray[np.int64],
    sides: npt.NDArray[np.int64],
    targets: npt.NDArray[np.float64],
    limits: LimitLists,
) -> npt.NDArray[np.bool_]:
    """Protect each request within one of the strips that it sits in, the one that costs least.

    `up`, `down`, `cost` and `hidden` are those of the cells of the table, and limits name cells.

    Returns:
        Which requests are protected; their cells are hidden, in place.
    """
    node_start, link_start, arc_start = strips.node_start, strips.link_start, strips.arc_start
    first, link, tail, head = strips.first, strips.link, strips.tail, strips.head
    cell, place_start = strips.cell, strips.place_start
    place_strip, place_arc = strips.place_strip, strips.place_arc
    limited, limit_start, limit_cell, limit_up, limit_down = limits
    most_arcs = np.diff(arc_start).max()
    space = _path_space(np.diff(node_start).max(), most_arcs)
    added = space[5]
    best = np.empty(most_arcs, np.int64)
    # Properties of the cells, arc by arc.
    arc_up, arc_down, arc_cost = up[cell], down[cell], cost[cell]
    arc_hidden = hidden[cell]
    here = np.empty(len(limit_cell), np.int64)
    here_up, here_down = np.empty(len(limit_cell)), np.empty(len(limit_cell))
    done = np.zeros(len(cells), np.bool_)
    for request in range(len(cells)):
        asked = cells[request]
        begin, end = 0, 0
        if limited[request] >= 0:
            begin, end = limit_start[limited[request]], limit_start[limited[request] + 1]
        least, best_count = np.inf, -1
        for option in range(place_start[asked], place_start[asked + 1]):
            strip = place_strip[option]
            arcs = slice(arc_start[strip], arc_start[strip + 1])
            known = 0
            for entry in range(begin, end):
                limit = limit_cell[entry]
                for place in range(place_start[limit], place_start[limit + 1]):
                    if place_strip[place] == strip:
                        here[known] = place_arc[place]
                        here_up[known], here_down[known] = limit_up[entry], limit_down[entry]
                        known += 1
            network = (
                first[node_start[strip] + strip : node_start[strip + 1] + strip + 1],
                link[link_start[strip] : link_start[strip + 1]],
                tail[arcs],
                head[arcs],
            )
            missing, count = _protect_one(
                network,
                arc_up[arcs],
                arc_down[arcs],
                arc_cost[arcs],
                arc_hidden[arcs],
                place_arc[option],
                sides[request],
                targets[request],
                (here[:known], here_up[:known], here_down[:known]),
                space,
            )
            price = 0.0
            for number in range(count):
                arc = arc_start[strip] + added[number]
                arc_hidden[arc] = False
                price += arc_cost[arc]
            if missing <= 0.0 and price < least:
                least, best_count = price, count
                for number in range(count):
                    best[number] = cell[arc_start[strip] + added[number]]
                if count == 0:
                    break
        if best_count < 0:
            continue
        done[request] = True
        for number in range(best_count):
            hidden[best[number]] = True
            for place in range(place_start[best[number]], place_start[best[number] + 1]):
                arc_hidden[arc_start[place_strip[place]] + place_arc[place]] = True
    return done


@njit(cache=True, nogil=True)
def _path_space(nodes: int, arcs: int) -> PathSpace:
    """What `_protect_one` works with, for networks of at most this size."""
    return (
        work_space(nodes, arcs),
        np.empty(nodes),
        np.empty(nodes, np.int64),
        np.empty(2 * arcs + nodes + 1, np.int64),
        np.empty(2 * arcs + nodes + 1),
        np.empty(arcs, np.int64),
        np.zeros(2 * arcs),
    )


@njit(cache=True, nogil=True)
def _protect_one(
    network: Network,
    up: npt.NDArray[np.float64],
    down: npt.NDArray[np.float64],
    cost: npt.NDArray[np.float64],
    hidden: npt.NDArray[np.bool_],
    own: int,
    side: int,
    target: float,
    limits: ArcLimits,
    space: PathSpace,
) -> tuple[float, int]:
    """Protect one request: `protect_by_paths` says how.

    Returns:
        What is still missing, and the number of arcs that have become hidden, which stand first in
        `added` of the space.
    """
    first, link, tail, head = network
    limit_arc, limit_up, limit_down = limits
    flow_space, distance, came, heap_node, heap_key, added, residual = space
    level, queue = flow_space[0], flow_space[1]
    touched, is_touched, flow = flow_space[4:]
    nodes, arcs, count = len(first) - 1, len(tail), 0
    source, sink = head[own], tail[own]
    if side < 0:
        source, sink = sink, source
    if source == sink:
        return 0.0, 0
    for arc in range(arcs):
        if hidden[arc]:
            residual[2 * arc] = up[arc]
            residual[2 * arc + 1] = down[arc]
        else:
            residual[2 * arc] = 0.0
            residual[2 * arc + 1] = 0.0
    for entry in range(len(limit_arc)):
        arc = limit_arc[entry]
        residual[2 * arc] = min(residual[2 * arc], limit_up[entry])
        residual[2 * arc + 1] = min(residual[2 * arc + 1], limit_down[entry])
    sent, touched_count = send(network, residual, own, side, target, flow_space)
    # The next network has other nodes: nothing may stay behind.
    for position in range(queue[-1]):
        level[queue[position]] = -1
    queue[-1] = 0
    for position in range(touched_count):
        is_touched[touched[position]] = 0
        flow[touched[position]] = 0.0
    rest = target - sent
    if rest <= MET * target:
        return 0.0, 0
    # From here on every arc may carry, those not hidden at a cost.
    for arc in range(arcs):
        if not hidden[arc]:
            residual[2 * arc] = up[arc]
            residual[2 * arc + 1] = down[arc]
    for entry in range(len(limit_arc)):
        arc = limit_arc[entry]
        if not hidden[arc]:
            residual[2 * arc] = min(residual[2 * arc], limit_up[entry])
            residual[2 * arc + 1] = min(residual[2 * arc + 1], limit_down[entry])
    while rest > MET * target:
        distance[:nodes] = np.inf
        distance[source] = 0.0
        came[:nodes] = -1
        size = 1
        heap_node[0] = source
        heap_key[0] = 0.0
        while size > 0:
            node, key = heap_node[0], heap_key[0]
            size -= 1
            last_node, last_key = heap_node[size], heap_key[size]
            place = 0
            while True:
                child = 2 * place + 1
                if child >= size:
                    break
                if child + 1 < size and heap_key[child + 1] < heap_key[child]:
                    child += 1
                if heap_key[child] >= last_key:
                    break
                heap_node[place], heap_key[place] = heap_node[child], heap_key[child]
                place = child
            heap_node[place], heap_key[place] = last_node, last_key
            if key > distance[node]:
                continue
            if node == sink:
                break
            for position in range(first[node], first[node + 1]):
                way = link[position]
                arc = way >> 1
                capacity = residual[way]
                if arc == own or capacity <= MET * target:
                    continue
                step = 0.0
                if not hidden[arc]:
                    step = cost[arc] * max(1.0, rest / capacity)
                elif capacity < rest:
                    # A tie-breaker towards hidden arcs with enough capacity.
                    step = TIE_BREAKER
                other = tail[arc] if way & 1 else head[arc]
                through = key + step
                if through < distance[other]:
                    distance[other] = through
                    came[other] = way
                    place = size
                    size += 1
                    while place > 0:
                        parent = (place - 1) // 2
                        if heap_key[parent] <= through:
                            break
                        heap_node[place] = heap_node[parent]
                        heap_key[place] = heap_key[parent]
                        place = parent
                    heap_node[place], heap_key[place] = other, through
        if came[sink] < 0:
            return rest, count
        amount = rest
        node = sink
        while node != source:
            way = came[node]
            amount = min(amount, residual[way])
            node = head[way >> 1] if way & 1 else tail[way >> 1]
        node = sink
        while node != source:
            way = came[node]
            residual[way] -= amount
            residual[way ^ 1] += amount
            if not hidden[way >> 1]:
                hidden[way >> 1] = True
                added[count] = way >> 1
                count += 1
            node = head[way >> 1] if way & 1 else tail[way >> 1]
        rest -= amount
    return 0.0, count


@njit(cache=True, nogil=True)
def publish_again(
    network: Network,
    up: npt.NDArray[np.float64],
    down: npt.NDArray[np.float64],
    cells: npt.NDArray[np.int64],
    sides: npt.NDArray[np.int64],
    targets: npt.NDArray[np.float64],
    limits: LimitLists,
    candidates: npt.NDArray[np.int64],
) -> npt.NDArray[np.bool_]:
    """Clean up: publish arcs again, one candidate after the other, where all stays safe.

    For every request a flow that protects it is remembered; publishing an arc concerns only
    the requests whose flow uses it.

    Returns:
        For each candidate whether it can be published.
    """
    first, tail = network[0], network[2]
    limited, limit_start, limit_arc, limit_up, limit_down = limits
    nodes = len(first) - 1
    arcs = len(tail)
    count = len(cells)
    capacity = np.empty(2 * arcs)
    for arc in range(arcs):
        capacity[2 * arc] = up[arc]
        capacity[2 * arc + 1] = down[arc]
    residual = capacity.copy()
    # Which requests use an arc: a chain of entries for each arc. An entry is out of date when
    # its request has got a new flow since; a table of all pairs would take too much memory.
    chain = np.full(arcs, -1, np.int64)
    entry_request = np.empty(1024, np.int64)
    entry_version = np.empty(1024, np.int64)
    entry_next = np.empty(1024, np.int64)
    entries = 0
    version = np.zeros(count, np.int64)
    space = work_space(nodes, arcs)
    touched, is_touched, flow = space[4:]
    published = np.zeros(len(candidates), np.bool_)
    concerned = np.empty(count, np.int64)
    flow_arc = np.empty(1024, np.int64)
    flow_start = np.zeros(count + 1, np.int64)
    offender = -1
    for number in range(-1, len(candidates)):
        # The first round, number -1, finds a flow for every request.
        arc = -1
        concerned_count = 0
        if number < 0:
            for request in range(count):
                concerned[request] = request
            concerned_count = count
        else:
            arc = candidates[number]
            entry = chain[arc]
            chain[arc] = -1
            while entry >= 0:
                following = entry_next[entry]
                request = entry_request[entry]
                if entry_version[entry] == version[request]:
                    entry_next[entry] = chain[arc]
                    chain[arc] = entry
                    concerned[concerned_count] = request
                    if request == offender:
                        concerned[concerned_count] = concerned[0]
                        concerned[0] = request
                    concerned_count += 1
                entry = following
            capacity[2 * arc] = 0.0
            capacity[2 * arc + 1] = 0.0
            residual[2 * arc] = 0.0
            residual[2 * arc + 1] = 0.0
        fine = True
        used = 0
        for position in range(concerned_count):
            request = concerned[position]
            own = cells[request]
            begin, end = 0, 0
            if limited[request] >= 0:
                begin, end = limit_start[limited[request]], limit_start[limited[request] + 1]
            for entry in range(begin, end):
                tight = limit_arc[entry]
                residual[2 * tight] = min(residual[2 * tight], limit_up[entry])
                residual[2 * tight + 1] = min(residual[2 * tight + 1], limit_down[entry])
            sent, touched_count = send(
                network, residual, own, sides[request], targets[request], space
            )
            flow_start[position] = used
            for place in range(touched_count):
                moved = touched[place]
                is_touched[moved] = 0
                carries = flow[moved] != 0.0
                flow[moved] = 0.0
                if carries:
                    if used == len(flow_arc):
                        flow_arc = longer(flow_arc)
                    flow_arc[used] = moved
                    used += 1
                residual[2 * moved] = capacity[2 * moved]
                residual[2 * moved + 1] = capacity[2 * moved + 1]
            for entry in range(begin, end):
                tight = limit_arc[entry]
                residual[2 * tight] = capacity[2 * tight]
                residual[2 * tight + 1] = capacity[2 * tight + 1]
            if number >= 0 and sent < targets[request]:
                fine = False
                offender = request
                break
        if not fine:
            capacity[2 * arc] = up[arc]
            capacity[2 * arc + 1] = down[arc]
            residual[2 * arc] = up[arc]
            residual[2 * arc + 1] = down[arc]
            continue
        if number >= 0:
            published[number] = True
        flow_start[concerned_count] = used
        for position in range(concerned_count):
            request = concerned[position]
            version[request] += 1
            for place in range(flow_start[position], flow_start[position + 1]):
                if entries == len(entry_request):
                    entry_request = longer(entry_request)
                    entry_version = longer(entry_version)
                    entry_next = longer(entry_next)
                entry_request[entries] = request
                entry_version[entries] = version[request]
                entry_next[entries] = chain[flow_arc[place]]
                chain[flow_arc[place]] = entries
                entries += 1
    return published
