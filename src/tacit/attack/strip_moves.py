"""Deviations within the strips of a table.

A cell that sits in no relation outside its strip may move with others like it while everything
else stands still, so a flow in the strip answers what is asked of it. Nearly all levels of a
table with two hierarchies are met that way, each in a network of some hundred cells.
"""

from __future__ import annotations

import numpy as np

from tacit.attack.joint_moves import JointAnswers
from tacit.attack.network_parts import NetworkPart
from tacit.attack.reach import Requests
from tacit.attack.strips import Strips
from tacit.clock import check_time
from tacit.problem import Floats, Integers


def reach_in_strips(
    strips: Strips, up: Floats, down: Floats, requests: Requests, asked: Integers
) -> JointAnswers:
    """Answer requests whose cells get as far as asked within one strip.

    Args:
        strips: The strips of the table.
        up: How far each cell of the table can rise.
        down: How far each cell can fall.
        requests: What is asked.
        asked: Which of the requests to answer.
    """
    enough = requests.capacity(up, down)[asked] >= requests.targets[asked]
    asked = asked[np.isfinite(requests.targets[asked]) & enough]
    found = [JointAnswers.none()]
    is_open = np.ones(len(requests), bool)
    number = np.full(len(up), -1, np.int64)
    for part, places in strips.moving_with(requests.cells[asked]):
        left = asked[places][is_open[asked[places]]]
        if len(left):
            check_time()
            answers = _in_strip(part, up, down, requests, left, number)
            is_open[answers.requests] = False
            found.append(answers)
    return JointAnswers.joined(found)


def _in_strip(
    part: NetworkPart,
    up: Floats,
    down: Floats,
    requests: Requests,
    asked: Integers,
    number: Integers,
) -> JointAnswers:
    """Answers within one strip; `number` is -1 everywhere, and so it is left behind."""
    from tacit.attack.flow import maximum_flows

    # Arcs that carry nothing slow the search for paths down; the asked arcs must be there.
    carrying = (up[part.cells] > 0) | (down[part.cells] > 0)
    carrying |= np.isin(part.cells, requests.cells[asked])
    arcs = np.flatnonzero(carrying)
    cells, network = part.cells[arcs], part.network.restricted(arcs)
    number[cells] = np.arange(len(cells))
    some = requests.take(asked).numbered_by(number)
    number[cells] = -1
    amount, pointer, arc, moves, _ = maximum_flows(
        network.first,
        network.link,
        network.tail,
        network.head,
        up[cells],
        down[cells],
        some.cells,
        some.sides,
        some.targets,
        np.full(len(some), np.inf),
        np.ones(len(cells)),
        np.zeros(len(cells), bool),
        some.limits,
    )
    met = np.flatnonzero(amount >= some.targets)
    deviations = []
    for request in met.tolist():
        entries = slice(pointer[request], pointer[request + 1])
        own = amount[request] * some.sides[request]
        x = np.append(moves[entries], own)
        deviations.append((cells[np.append(arc[entries], some.cells[request])], x))
    return JointAnswers(asked[met], np.arange(len(met)), amount[met], deviations)
