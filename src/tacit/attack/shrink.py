"""Make the attacker's problem small before solving it, and undo every step exactly.

Written in deviations from the true table, the attacker's problem is: move cell s as far as
possible by some x with A x = 0 and -down <= x <= up. Cells that cannot move leave. A relation
with one movable cell pins it down. Relations that others imply are dropped. What remains falls
into connected components that have nothing to do with each other.

Deviations need no way back: cells that left do not move. Multipliers do: those of dropped
relations are zero, and a relation that pinned a cell takes the multiplier that makes the
cell's reduced cost vanish, in the reverse of the order in which cells were pinned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.network import PRIME, Network, recognise, vanishes
from tacit.attack.network_parts import NetworkParts
from tacit.attack.strips import Strips
from tacit.problem import Booleans, Floats, Integers, Problem, component_labels, totals_of

_NEARLY_ALL = 0.95
"""The share of relations in strips from which on no other networks are looked for."""


@dataclass(frozen=True, eq=False)
class Structure:
    """What can be said of the relations alone, whatever is published. Worked out once.

    Attributes:
        A: The relations.
        columns: The same by column.
        essential: Relations that imply all others.
        network: The network formed by some of the cells, if any.
        in_network: Which cells.
        known_strips: The cells of each strip, where the table knows its dimensions.
    """

    A: sparse.csr_array[Any, Any]
    columns: sparse.csc_array[Any]
    essential: Booleans
    network: Network | None
    in_network: Booleans
    known_strips: Sequence[Integers] | None = None

    @cached_property
    def parts(self) -> NetworkParts:
        """Subsets of the relations that are networks, for cells outside the network above."""
        return NetworkParts(self.A, ~self.in_network)

    @cached_property
    def strips(self) -> Strips:
        """Networks that lie in the table side by side, if it has hierarchies like that."""
        return Strips.of(self.A, self.known_strips)

    @cached_property
    def strips_cover(self) -> bool:
        """Whether nearly all relations outside the network are in strips.

        Merging equal cells leaves some strips that are not networks.
        """
        touched = np.asarray(abs(self.A).sign() @ (~self.in_network).astype(np.float64)) > 0
        return bool(self.strips.cover[touched].sum() >= _NEARLY_ALL * touched.sum())

    @classmethod
    def of(cls, problem: Problem, *, networks: bool = True) -> Structure:
        """Examine a problem's relations; without `networks`, none is looked for."""
        A = problem.relations
        nothing = np.zeros(problem.cell_count, bool)
        network, in_network = recognise(A) if networks else (None, nothing)
        columns = sparse.csc_array(A)
        return cls(A, columns, essential_rows(A), network, in_network, problem.strips)


@dataclass(frozen=True, eq=False)
class Component:
    """Cells that can move together, apart from all others.

    Attributes:
        cells: Their numbers in the whole table, increasing.
        rows: The relations among them, as numbers in the whole table.
        A: The relations restricted to the cells.
        up: How far each cell can rise.
        down: How far each cell can fall.
        network: Present if these cells form a network (possibly of several components).
    """

    cells: Integers
    rows: Integers
    A: sparse.csr_array[Any, Any]
    up: Floats
    down: Floats
    network: Network | None = None


@dataclass(frozen=True, eq=False)
class Pinned:
    """Cells that single relations pin to their true value, all at once."""

    rows: Integers
    cells: Integers
    coefficients: Floats


@dataclass(frozen=True, eq=False)
class Shrunk:
    """The attacker's problem, reduced.

    Attributes:
        structure: The relations of the whole table.
        up: How far each cell can rise, by what the attacker knows of it alone.
        down: How far each cell can fall.
        components: What is left to solve.
        place: For each cell its component, -1 for cells that cannot move.
        pinned: Rounds of cells found to be determined, in order.
    """

    structure: Structure
    up: Floats
    down: Floats
    components: list[Component]
    place: Integers
    pinned: list[Pinned]

    def lift(self, g: Floats, cells: Integers, sides: Integers) -> Floats:
        """Complete row multipliers so that cells pinned by a relation cost nothing.

        Args:
            g: Multipliers over all relations, one column per proof; zero where not yet known.
            cells: The cell that each column bounds.
            sides: 1 for its upper, -1 for its lower side.
        """
        for pinned in reversed(self.pinned):
            part = self.structure.columns[:, pinned.cells]
            own = (pinned.cells[:, None] == cells) * sides
            g[pinned.rows] += (own - part.T @ g) / pinned.coefficients[:, None]
        return g


def shrink(
    structure: Structure,
    up: Floats,
    down: Floats,
    *,
    keep: Booleans | None = None,
    networks: bool = True,
) -> Shrunk:
    """Reduce the attacker's problem.

    Args:
        structure: The relations.
        up: How far each cell can rise.
        down: How far each cell can fall.
        keep: Cells to keep although they cannot move, because they will be asked for.
        networks: Look for networks; without, all components go to the linear program.
    """
    A = structure.A
    movable = (up > 0) | (down > 0)
    if keep is not None:
        movable |= keep
    pinned = _pin(A, movable)
    place = np.full(A.shape[1], -1, np.int64)
    components: list[Component] = []

    def add(cells: Integers, rows: Integers, network: Network | None) -> None:
        place[cells] = len(components)
        part = sparse.csr_array(A[rows][:, cells])
        components.append(Component(cells, rows, part, up[cells], down[cells], network))

    # Part of a network is a network: no need to look again.
    known = np.flatnonzero(movable & structure.in_network)
    if structure.network is not None and len(known):
        arcs = np.cumsum(structure.in_network)[known] - 1
        network = structure.network.restricted(arcs)
        add(known, network.rows, network.renumbered())
    cells = np.flatnonzero(movable & ~structure.in_network)
    if networks and len(cells):
        found, inside = recognise(sparse.csr_array(A[:, cells]))
        if found is not None:
            add(cells[inside], found.rows, found.renumbered())
            cells = cells[~inside]
    if len(cells):
        rest = sparse.csr_array(A[:, cells])
        rows = np.flatnonzero((np.diff(rest.indptr) > 0) & structure.essential)
        rest = sparse.csr_array(rest[rows])
        label = component_labels(rest)
        row_label = label[rest.indices[rest.indptr[:-1]]]
        for number in range(int(label.max()) + 1):
            add(cells[label == number], rows[row_label == number], None)
    return Shrunk(structure, up, down, components, place, pinned)


def _pin(A: sparse.csr_array[Any, Any], movable: Booleans) -> list[Pinned]:
    """Find cells that single relations determine; `movable` loses them, in place."""
    row_of_entry = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    rounds: list[Pinned] = []
    rows, cells, data = row_of_entry, A.indices, A.data
    while True:
        alive = movable[cells]
        rows, cells, data = rows[alive], cells[alive], data[alive]
        alone = np.bincount(rows, minlength=A.shape[0])[rows] == 1
        if not alone.any():
            return rounds
        found, position = np.unique(cells[alone], return_index=True)
        rounds.append(Pinned(rows[alone][position], found.astype(np.int64), data[alone][position]))
        movable[found] = False


def essential_rows(A: sparse.csr_array[Any, Any]) -> Booleans:
    """Relations that imply all the others; those left out are redundant.

    In tables every total is defined by its parts, often in several ways. One definition for
    each total is chosen; random values for all other cells then settle the totals, and a
    relation that these meet, in arithmetic modulo a large prime, follows from the definitions.
    Relations that do not follow stay.
    """
    m, n = A.shape
    essential = np.ones(m, bool)
    if A.nnz == 0 or (A.data != np.rint(A.data)).any():
        return essential
    total = _totals(A)
    defining = _shortest_definition(A, total, n)
    order = _settle(A, total, defining)
    is_definition = np.zeros(m, bool)
    for rows in order:
        is_definition[rows] = True
    rng = np.random.default_rng(20_040_607)
    follows = ~is_definition
    for _ in range(2):
        x = rng.integers(1, PRIME, n)
        for rows in order:
            part = A[rows]
            cells = total[rows]
            x[cells] = 0
            terms = part.data.astype(np.int64) % PRIME * x[part.indices] % PRIME
            partial = np.concatenate([[0], np.cumsum(terms)])
            amount = (partial[part.indptr[1:]] - partial[part.indptr[:-1]]) % PRIME
            # The total's coefficient is 1 or -1, so that it is its own inverse.
            sign = np.zeros(len(rows), np.int64)
            own = part.indices == np.repeat(cells, np.diff(part.indptr))
            sign[np.repeat(np.arange(len(rows)), np.diff(part.indptr))[own]] = part.data[own]
            x[cells] = -sign * amount % PRIME
        follows &= vanishes(A, x)
    return ~follows


def _totals(A: sparse.csr_array[Any, Any]) -> Integers:
    """For each relation its total if that has the coefficient 1 or -1, otherwise -1."""
    total = totals_of(A)
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    total[row[(A.indices == total[row]) & (np.abs(A.data) != 1)]] = -1
    return total


def _shortest_definition(A: sparse.csr_array[Any, Any], total: Integers, n: int) -> Integers:
    """For each cell the shortest relation whose total it is, or -1."""
    rows = np.flatnonzero(total >= 0)
    longest_first = rows[np.argsort(-np.diff(A.indptr)[rows], kind="stable")]
    defining = np.full(n, -1, np.int64)
    defining[total[longest_first]] = longest_first
    return defining


def _settle(A: sparse.csr_array[Any, Any], total: Integers, defining: Integers) -> list[Integers]:
    """Order the definitions so that each uses only cells settled before; cycles stay out."""
    rows = defining[defining >= 0]
    settled = defining < 0
    order: list[Integers] = []
    while len(rows):
        part = A[rows]
        open_cells = np.concatenate([[0], np.cumsum(~settled[part.indices])])
        waiting = open_cells[part.indptr[1:]] - open_cells[part.indptr[:-1]]
        # The total itself is the one cell that is still open.
        ready = waiting == 1
        if not ready.any():
            break
        order.append(rows[ready])
        settled[total[rows[ready]]] = True
        rows = rows[~ready]
    return order
