"""The subproblems of Benders' decomposition: cuts that a pattern violates.

The forms are those of [BaenaCastroFrangioni2020, sections 4 and 5]. The attacker says which
sensitive cells a pattern leaves exposed. For each of them one of five linear programs yields row
multipliers g. What a cut asks for is then worked out here from d = e_s - A'g: whatever the solver
answered, the cut is valid. A point of the relaxed master problem is cut off in the same way, each
capacity multiplied by how far the cell is suppressed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.cuts import VIOLATION, Cuts, SparseRow, strengthened
from tacit.attack.engines import SolverFactory
from tacit.attack.knowledge import Knowledge
from tacit.attack.reach import TOLERANCE, Reaches, Requests, SparseRows, charges, snapped
from tacit.attack.shrink import Structure
from tacit.attack.sweep import Attack
from tacit.clock import check_time
from tacit.errors import SolverError
from tacit.methods.suppress.attackers import AttackerState
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.options import Subproblem, SubproblemWeights
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.highs import HighsModel, LinearSolution, Strategy
from tacit.tolerances import (
    CANCELLED,
    FAR,
    ROUNDING_NOISE,
    SMALLEST_COEFFICIENT,
    SOLVER,
    SOLVER_EXACT,
)

_LARGEST = 1.0
"""Coefficients beyond the right-hand side say no more than that the cell alone suffices."""
_LEAST_WEIGHT = 1e-3
"""Weights of (21) lie between this and its reciprocal, in units of a usual one."""
_SIDES = {"both": None, "lower": -1, "upper": 1}
_STRATEGIES: tuple[Strategy, ...] = ("primal", "dual")
"""Primal simplex knows rays; where it gives up, the dual one may still find an optimum."""


@dataclass(frozen=True, eq=False)
class Exposed:
    """A level that a pattern misses, with row multipliers that prove it.

    Attributes:
        cell: The sensitive cell.
        side: 1 for its upper level, -1 for its lower, 0 for its sliding level.
        level: The level.
        proofs: Direction and multipliers; for a sliding level there are two.
    """

    cell: int
    side: int
    level: float
    proofs: Sequence[tuple[int, Floats]]


class Subproblems:
    """Finds the cuts that a pattern violates, in the form that the options ask for."""

    def __init__(self, search: Search):
        self._search = search
        self._forms: dict[int, DualForm] = {}
        self._own = [search.own_capacity(state) for state in search.outsiders]
        self._without_networks: Structure | None = None

    def cuts(self, hidden: Booleans) -> Iterator[Cuts]:
        """Cuts that a pattern violates, attacker by attacker; of the sides that are asked for.

        With capacities cut off at the level, which serve points of the relaxation so well, flows
        find weaker cuts at patterns: here strengthening begins with the multipliers of the form.
        """
        side = _SIDES[self._search.options.sides]
        for cuts in self._of_all_sides(hidden):
            yield cuts if side is None else cuts.take(np.flatnonzero(cuts.sides == side))

    def _of_all_sides(self, hidden: Booleans) -> Iterator[Cuts]:
        y = hidden.astype(np.float64)
        for number, state in enumerate(self._search.outsiders):
            yield self._by_form(number, y, self._search.attack(state, hidden))
        insiders = self._search.insiders
        if insiders is not None:
            yield insiders.cuts(y, insiders.missed(self._search, hidden))

    def cuts_at(self, y: Floats) -> Iterator[Cuts]:
        """Cuts that a point of the relaxation violates, by the form `meth1`.

        Points of the relaxation are many, and the attacker's answers serve them all.
        """
        search = self._search
        for number, state in enumerate(search.outsiders):
            # Published cells do not move, however far they might: infinity times 0 is not a number.
            up, down = (
                np.multiply(most, y, out=np.zeros_like(y), where=y > 0)
                for most in (state.separator.up, state.separator.down)
            )
            told = Knowledge(up, down)
            keep = state.attacker.reopened(search.problem)
            attack = Attack(search.problem, told, structure=search.structure, keep=keep)
            yield self._by_form(number, y, attack, is_pattern=False)
        if search.insiders is not None:
            yield search.insiders.cuts(y)

    def _by_form(self, number: int, y: Floats, attack: Attack, *, is_pattern: bool = True) -> Cuts:
        problem = self._search.problem
        found: list[tuple[SparseRow, Exposed]] = []
        for exposed in self._exposed(number, y, attack, is_pattern):
            charge = np.zeros(problem.cell_count)
            for side, g in exposed.proofs:
                charge += self._charge(number, exposed.cell, side, g) / exposed.level
            found += [(row, exposed) for row in self._rows(charge, y)]
        matrix = SparseRows(len(found), problem.cell_count)
        for place, ((cells, coefficients), _) in enumerate(found):
            matrix.put(place, cells, coefficients)
        cuts = Cuts(
            matrix.matrix(),
            np.array([exposed.cell for _, exposed in found], np.int64),
            np.array([exposed.side for _, exposed in found], np.int64),
        )
        return cuts.take(cuts.violation(y) > VIOLATION)

    def _charge(self, number: int, cell: int, side: int, g: Floats) -> Floats:
        """What each cell can contribute to the asked cell's movement, given multipliers."""
        separator = self._search.states[number].separator
        # Any multipliers are valid; those without rounding make cleaner cuts.
        d = -np.asarray(separator.structure.columns.T @ snapped(g, SOLVER))
        d[cell] += side
        d[np.abs(d) < CANCELLED] = 0.0
        capacity = np.where(d > 0, separator.up, separator.down)
        capacity[cell] = self._own[number][0 if d[cell] > 0 else 1][cell]
        return charges(d, capacity)

    def _rows(self, charge: Floats, y: Floats) -> list[SparseRow]:
        """The cut `charge y >= 1` over the secondary cells, or what strengthens it."""
        always = self._search.sensitive
        if self._search.options.own_cuts:
            cells = np.flatnonzero(charge)
            limited = np.minimum(charge[cells], 1e6)
            return strengthened(cells, limited, y[cells], always[cells])
        rest = 1.0 - float(charge[always].sum())
        if rest <= VIOLATION:
            return []
        cells = np.flatnonzero((charge > 0) & ~always)
        return [(cells, np.clip(charge[cells] / rest, SMALLEST_COEFFICIENT, _LARGEST))]

    def _exposed(
        self, number: int, y: Floats, attack: Attack, is_pattern: bool
    ) -> Iterator[Exposed]:
        """Levels that an attacker comes too close to, and why."""
        search = self._search
        state = search.states[number]
        asked = state.separator.requests()
        # Sensitive cells are suppressed altogether, also where others are in part.
        hidden = y > 0
        form = hidden if is_pattern else None
        reaches = attack.reach(search.ask(state, asked, hidden))
        missed = np.flatnonzero(~reaches.reached(asked))
        proofs = self._proofs(number, form, asked.take(missed), reaches.multipliers[missed])
        for at, g in zip(missed.tolist(), proofs, strict=True):
            cell, side, level = int(asked.cells[at]), int(asked.sides[at]), float(asked.targets[at])
            if g is not None:
                yield Exposed(cell, side, level, [(side, g)])
        cells, levels = state.separator.sliding()
        if len(cells) == 0:
            return
        both = Requests.both_sides(cells)
        reaches = attack.reach(search.ask(state, both, hidden))
        rise, fall = reaches.amount[: len(cells)], reaches.amount[len(cells) :]
        for at in np.flatnonzero(rise + fall < levels * (1 - TOLERANCE)).tolist():
            cell, level = int(cells[at]), float(levels[at])
            # Both sides miss what is half-way between where they are and where they should be.
            lacking = 0.5 * (level - rise[at] - fall[at])
            places = np.array([at, at + len(cells)])
            sides = both.take(places)
            sides = replace(sides, targets=np.array([rise[at] + lacking, fall[at] + lacking]))
            pair = list(self._proofs(number, form, sides, reaches.multipliers[places]))
            found = [(side, g) for side, g in zip((1, -1), pair, strict=True) if g is not None]
            if len(found) == 2:
                yield Exposed(cell, 0, level, found)

    def _proofs(
        self,
        number: int,
        hidden: Booleans | None,
        missed: Requests,
        proven: sparse.csr_array[Any, Any],
    ) -> Iterator[Floats | None]:
        """Row multipliers for each request by the chosen form, one after the other.

        The primal form is what the attacker has solved, unless a method was chosen for it.
        Without a pattern, at points of the relaxation, that is always taken.
        """
        search, options = self._search, self._search.options
        is_solved = options.subproblem == "meth1" and options.subproblem_solver is None
        if hidden is None or is_solved:
            yield from (np.asarray(proven[[place]].toarray()[0]) for place in range(len(missed)))
            return
        if options.subproblem == "meth1":
            proven = self._attacked(number, hidden, missed).multipliers
            yield from (np.asarray(proven[[place]].toarray()[0]) for place in range(len(missed)))
            return
        if number not in self._forms:
            state = search.states[number]
            self._forms[number] = DualForm(search, state, self._own[number])
        for place in range(len(missed)):
            check_time()
            cell, side = int(missed.cells[place]), int(missed.sides[place])
            level = float(missed.targets[place])
            yield self._forms[number].multipliers(hidden, cell, side, level)

    def _attacked(self, number: int, hidden: Booleans, requests: Requests) -> Reaches:
        """The attacker's answers by linear programs, solved by the chosen method."""
        search = self._search
        state, method = search.states[number], search.options.subproblem_solver
        assert method is not None
        if self._without_networks is None:
            self._without_networks = Structure.of(search.problem, networks=False)
        told = state.attacker.learn(search.problem, Knowledge.of(search.problem, hidden))
        attack = Attack(
            search.problem,
            told,
            structure=self._without_networks,
            keep=state.attacker.reopened(search.problem),
            networks=False,
            solver=_by_method(method),
        )
        return attack.reach(
            search.ask(state, requests, hidden), progress=lambda _: search.should_stop()
        )


def _by_method(method: Strategy) -> SolverFactory:
    """Linear programs that are always solved by one method, whatever the caller would choose."""

    class Chosen(HighsModel):
        def solve(
            self,
            *,
            cold: bool = False,
            strategy: Strategy = method,  # noqa: ARG002 the chosen one
        ) -> LinearSolution:
            return super().solve(cold=cold, strategy=method)

    return Chosen


class DualForm:
    """The dual subproblems [BaenaCastroFrangioni2020, (19) and (21)] for one attacker; persistent.

    With U and D the capacities of the cells in units of the level, and side the wanted direction:

        max  m - sum over suppressed cells of (U p + D q)
        subject to  A'g + p - q = side * m * e_s,   p, q, m >= 0.

    `meth2` follows its ray, `meth3` bounds the objective by the norm of its gradient, `meth4`
    asks that p, q and m, weighted, add up to 1, `meth5` that they add up to at most 1.
    """

    def __init__(self, search: Search, state: AttackerState, own: tuple[Floats, Floats]) -> None:
        """Prepare the model.

        Args:
            search: The run; its options choose form, weights and method.
            state: Whose capacities count.
            own: How far cells may rise and fall while they themselves are asked.
        """
        form: Subproblem = search.options.subproblem
        self._form = form
        self._weights: SubproblemWeights = search.options.subproblem_weights
        method = search.options.subproblem_solver
        self._strategies = _STRATEGIES if method is None else (method,)
        self._own = own
        separator, structure = state.separator, search.structure
        self._up, self._down = separator.up, separator.down
        self._cost = search.problem.weight
        moves = ((self._up > 0) | (self._down > 0)) & search.secondary
        self._cells = np.flatnonzero(moves | search.sensitive)
        n = len(self._cells)
        A = sparse.csr_array(structure.A[:, self._cells])
        self._rows = np.flatnonzero((np.diff(A.indptr) > 0) & structure.essential)
        self._relations = structure.A.shape[0]
        here = np.flatnonzero(search.sensitive[self._cells])
        self._sensitive = np.full(search.problem.cell_count, -1, np.int64)
        self._sensitive[self._cells[here]] = np.arange(len(here))
        entries = (np.ones(len(here)), (here, np.arange(len(here))))
        levels = sparse.csr_array(entries, shape=(n, len(here)))
        one = sparse.eye_array(n)
        blocks = [A[self._rows].T, one, -one, -levels, levels]
        m, s = len(self._rows), len(here)
        self._first = {1: m + 2 * n, -1: m + 2 * n + s}
        self._charged = slice(m, m + 2 * n)
        columns = m + 2 * n + 2 * s
        matrix = sparse.csr_array(sparse.hstack(blocks))
        row_lower, row_upper = np.zeros(n), np.zeros(n)
        if form in ("meth4", "meth5"):
            weights = np.concatenate([np.zeros(m), self._pq_weights(), np.ones(2 * s)])
            matrix = sparse.csr_array(sparse.vstack([matrix, sparse.csr_array(weights[None, :])]))
            row_lower = np.append(row_lower, 1.0 if form == "meth4" else -np.inf)
            row_upper = np.append(row_upper, 1.0)
        lower = np.concatenate([np.full(m, -np.inf), np.zeros(columns - m)])
        upper = np.full(columns, np.inf)
        # Of the multipliers of levels, only the one that is asked for is free.
        upper[m + 2 * n :] = 0.0
        if form == "meth3":
            # One more column for the objective itself.
            matrix = sparse.csr_array(sparse.hstack([matrix, sparse.csr_array((n, 1))]))
            lower, upper = np.append(lower, -np.inf), np.append(upper, 0.0)
        self._count = len(lower)
        self._model = HighsModel(
            matrix, row_lower=row_lower, row_upper=row_upper, lower=lower, upper=upper
        )
        self._model.set_option("primal_feasibility_tolerance", SOLVER_EXACT)

    def _pq_weights(self) -> Floats:
        """The weights of p and q in (21); that of m is 1."""
        if self._weights == "unit":
            return np.ones(2 * len(self._cells))
        given = np.tile(self._cost[self._cells], 2)
        if self._weights == "capacity":
            given = np.concatenate([self._up[self._cells], self._down[self._cells]])
        usual = np.median(given[given > 0]) if (given > 0).any() else 1.0
        # A weight of 0 would leave the program without bound.
        return np.asarray(np.clip(given / usual, _LEAST_WEIGHT, 1 / _LEAST_WEIGHT))

    def multipliers(self, hidden: Booleans, cell: int, side: int, level: float) -> Floats | None:
        """Row multipliers that show a cell exposed; None where the solver finds none."""
        asked = self._first[side] + int(self._sensitive[cell])
        gradient = self._gradient(hidden, cell, side, level)
        gradient[asked] = 1.0
        one = np.array([asked])
        self._model.set_bounds(one, np.zeros(1), np.full(1, np.inf))
        try:
            point = self._solve(gradient)
        finally:
            self._model.set_bounds(one, np.zeros(1), np.zeros(1))
        if point is None or point[asked] <= ROUNDING_NOISE * np.abs(point).max():
            return None
        g = np.zeros(self._relations)
        g[self._rows] = point[: len(self._rows)] / point[asked]
        return g

    def _gradient(self, hidden: Booleans, cell: int, side: int, level: float) -> Floats:
        """The objective's coefficients without the level's multiplier, which is measured by it."""
        up, down = np.where(hidden, self._up, 0.0), np.where(hidden, self._down, 0.0)
        (up if side > 0 else down)[cell] = self._own[0 if side > 0 else 1][cell]
        capacity = np.concatenate([up[self._cells], down[self._cells]]) / level
        gradient = np.zeros(self._count)
        gradient[self._charged] = -np.minimum(capacity, FAR)
        return gradient

    def _solve(self, gradient: Floats) -> Floats | None:
        everything = np.arange(self._count)
        if self._form == "meth3":
            return self._solve_to_target(gradient)
        self._model.set_cost(everything, -gradient)
        for number, strategy in enumerate(self._strategies):
            try:
                solution = self._model.solve(cold=number > 0, strategy=strategy)
            except SolverError:
                continue
            if solution.status == "unbounded":
                point = self._model.ray()
            else:
                point = solution.x if solution.status == "optimal" else None
            if point is not None and float(gradient @ point) > 0:
                return point
        return None

    def _solve_to_target(self, gradient: Floats) -> Floats | None:
        """Solve with the objective as a column of its own, bounded by the gradient's norm."""
        model, last = self._model, self._count - 1
        row = np.append(gradient[:last], -1.0)
        used: Integers = np.flatnonzero(row)
        pointer = np.array([0, len(used)])
        target = np.array([float(np.linalg.norm(gradient))])
        model.add_rows(
            sparse.csr_array((row[used], used, pointer), shape=(1, self._count)),
            np.zeros(1),
            np.zeros(1),
        )
        model.set_bounds(np.array([last]), np.array([-np.inf]), target)
        model.set_cost(np.array([last]), -np.ones(1))
        try:
            for strategy in self._strategies:
                try:
                    solution = model.solve(cold=True, strategy=strategy)
                except SolverError:
                    continue
                if solution.status == "optimal" and solution.x[last] > 0:
                    return solution.x[:last]
        finally:
            model.delete_rows(np.array([model.row_count - 1]))
        return None
