"""Circuits: how cells that are not published move together without anybody noticing.

A deviation that shows a sensitive cell protected is a sum of circuits, deviations in which no
fewer cells could move, each with the signs of the whole (a conformal decomposition). If it is no
longer possible once a cell is published, one of its circuits goes through both cells: otherwise
the circuits through the published cell could be left out, and the sensitive cell would move as
far as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.exposure import Exposure
from tacit.attack.insider_knowledge import LEVELS, InsiderKnowledge
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.attack.reach import Requests, within
from tacit.attack.shrink import Structure
from tacit.attack.sweep import Attack
from tacit.problem import Floats, Integers, Problem
from tacit.solver.highs import HighsModel, optimum
from tacit.tolerances import MET, NEGLIGIBLE_MOVE

_MOST = 6
"""Circuits are looked for of so many protected cells, those first that would be left with least."""


@dataclass(frozen=True)
class Circuit:
    """Cells that move together while all published figures stay as they are.

    Attributes:
        cells: The cells; the protected one first, then the others along shared relations.
        changes: How far each of them moves when the protected one moves by 1; its sign tells
            whether the cell rises or falls.
        most: How far the protected cell can move along this circuit alone.
    """

    cells: tuple[int, ...]
    changes: tuple[float, ...]
    most: float


def circuit_through(
    A: sparse.csr_array[Any, Any],
    deviation: Floats,
    capacity: tuple[Floats, Floats],
    cell: int,
    through: int,
) -> Circuit | None:
    """A circuit of a deviation in which two cells move; None if there is none.

    Args:
        A: The relations.
        deviation: How far each cell moves.
        capacity: How far each cell may rise, and fall.
        cell: The protected cell.
        through: The cell that the circuit has to go through.
    """
    for cells, changes in circuits_of(A, deviation, cell, through):
        if through in cells:
            return arranged(A, cells, changes, capacity, cell)
    return None


def circuits_of(
    A: sparse.csr_array[Any, Any], deviation: Floats, cell: int, through: int
) -> Iterator[tuple[Integers, Floats]]:
    """Circuits that together move a cell as far as a deviation does: their cells and moves.

    Args:
        A: The relations.
        deviation: How far each cell moves.
        cell: The cell.
        through: A cell that circuits should go through where they can.
    """
    negligible = NEGLIGIBLE_MOVE * np.abs(deviation).max(initial=0.0)
    left = np.where(np.abs(deviation) > negligible, deviation, 0.0)
    while left[cell]:
        moved = np.flatnonzero(left)
        y = _shortest(A, left, moved, cell, through)
        if y is None:
            return
        used = y > MET
        cells, size = moved[used], y[used]
        share = float(np.min(np.abs(left[cells]) / size))
        yield cells, share * size * np.sign(left[cells])
        rest = np.abs(left[cells]) - share * size
        gone = rest <= NEGLIGIBLE_MOVE * np.abs(left[cells])
        left[cells] = np.where(gone, 0.0, np.sign(left[cells]) * rest)


def _shortest(
    A: sparse.csr_array[Any, Any], x: Floats, moved: Integers, cell: int, through: int
) -> Floats | None:
    """Sizes of moves of a circuit with the signs of x in which little moves.

    A basic solution is a circuit: were there a smaller one within it, it would be the mean of two
    solutions.
    """
    part = sparse.csr_array(A[:, moved])
    part = sparse.csr_array(part[np.diff(part.indptr) > 0].multiply(np.sign(x[moved])[None, :]))
    count = len(moved)
    lower, upper = np.zeros(count), np.full(count, np.inf)
    own = int(np.searchsorted(moved, cell))
    lower[own] = upper[own] = 1.0
    cost = np.ones(count)
    cost[moved == through] = 0.0
    still = np.zeros(part.shape[0])
    model = HighsModel(part, row_lower=still, row_upper=still, lower=lower, upper=upper, cost=cost)
    found = optimum(model, cold=True, strategy="dual")
    return None if found is None else np.maximum(found.x, 0.0)


def arranged(
    A: sparse.csr_array[Any, Any],
    cells: Integers,
    changes: Floats,
    capacity: tuple[Floats, Floats],
    cell: int,
) -> Circuit:
    """A circuit in an order in which neighbours share a relation, as far as they do.

    Args:
        A: The relations.
        cells: The cells that move.
        changes: How they move.
        capacity: How far each cell of the table may rise, and fall.
        cell: The cell to begin with.
    """
    own = float(np.abs(changes[cells == cell][0]))
    changes = changes / own
    up, down = capacity
    most = np.where(changes > 0, up[cells], down[cells]) / np.abs(changes)
    part = sparse.csr_array(abs(A[:, cells])).astype(bool).astype(np.int64)
    shared = (part.T @ part).toarray() > 0
    order = [int(np.flatnonzero(cells == cell)[0])]
    while len(order) < len(cells):
        rest = [place for place in range(len(cells)) if place not in order]
        near = [place for place in rest if shared[order[-1], place]]
        # A neighbour that moves the other way is the one that makes up for the last.
        near.sort(key=lambda place: (changes[place] * changes[order[-1]] > 0, cells[place]))
        order.append((near or rest)[0])
    return Circuit(tuple(cells[order].tolist()), tuple(changes[order].tolist()), float(most.min()))


class Circuits:
    """Looks for circuits in a publication, through cells that protect others."""

    def __init__(self, attackers: Sequence[Attacker], knowledge: Knowledge, structure: Structure):
        """Prepare.

        Args:
            attackers: Who attacks.
            knowledge: What everybody knows of the publication.
            structure: The structure of the table.
        """
        self._attackers = attackers
        self._knowledge = knowledge
        self._structure = structure

    def through(
        self, part: Problem, lost: Sequence[Exposure], cell: int
    ) -> dict[tuple[Any, ...], Circuit]:
        """For the first few cells that need a cell a circuit through both, by `exposure_key`.

        Args:
            part: The table with the sensitive cells that matter.
            lost: What would be exposed without the cell.
            cell: The cell.
        """
        chosen: dict[int, Exposure] = {}
        for each in lost:
            chosen.setdefault(each.cell, each)
        found = {}
        attacks: dict[str, tuple[Attacker, Knowledge, Attack]] = {}
        for each in list(chosen.values())[:_MOST]:
            attacker = next(
                (a for a in self._attackers if not each.members and a.name == each.attacker),
                Attacker.external(),
            )
            if attacker.name not in attacks:
                told = attacker.learn(part, self._knowledge)
                keep = attacker.reopened(part)
                attack = Attack(part, told, structure=self._structure, keep=keep)
                attacks[attacker.name] = attacker, told, attack
            circuit = self._of(part, each, cell, *attacks[attacker.name])
            if circuit is not None:
                found[exposure_key(each)] = circuit
        return found

    def _of(
        self,
        part: Problem,
        exposure: Exposure,
        cell: int,
        attacker: Attacker,
        told: Knowledge,
        attack: Attack,
    ) -> Circuit | None:
        """A circuit through a cell and another one that needs it."""
        cells = np.array([exposure.cell])
        level, limits = missed_level(part, exposure)
        sides = {"upper": (1,), "lower": (-1,), "sliding": (1, -1)}[exposure.level]
        for side in sides:
            asked = Requests(cells, np.array([side]), np.array([level]), limits=limits)
            asked = attacker.ask(part, self._knowledge, asked)
            answer = attack.reach(asked, moves="few", proofs=False)
            x = answer.deviations.toarray()[0]
            if not x[cell]:
                continue
            capacity = within(told.up, told.down, asked.limited(0))
            own = float(asked.capacity(told.up, told.down)[0])
            capacity[0 if side > 0 else 1][exposure.cell] = own
            circuit = circuit_through(part.relations, x, capacity, exposure.cell, cell)
            if circuit is not None:
                return circuit
        return None


def exposure_key(exposure: Exposure) -> tuple[Any, ...]:
    """What tells exposures apart: the cell, its level, and who comes too close."""
    return exposure.cell, exposure.level, exposure.attacker, exposure.members


def missed_level(part: Problem, exposure: Exposure) -> tuple[float, Any]:
    """The level that is missed, and what the insiders know who miss it."""
    number = LEVELS.index(exposure.level)
    place = int(np.searchsorted(part.sensitive, exposure.cell))
    if not exposure.members or part.insiders is None:
        levels = (part.lower_level, part.upper_level, part.sliding_level)
        return float(levels[number][place]), None
    members = np.full((1, part.insiders.coalition), -1, np.int64)
    members[0, : len(exposure.members)] = exposure.members
    members.sort(axis=1)
    known = InsiderKnowledge(part)
    level = known.levels(np.array([exposure.cell]), members)[number, 0]
    return float(level), known.limits(members)
