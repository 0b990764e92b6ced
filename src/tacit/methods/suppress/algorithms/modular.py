"""`modular`: one subtable after the other, from the top down (HiTaS [DeWolf2002]).

Each module is protected as if it were alone: exactly where it is small, by paths or cheapest
deviations where it is large. A cell that moves there to protect another must be able to move as
far in every other module that it is in: it is protected there, too, to the level that is needed.
So when a module suppresses a margin that another one had published, that one is done again, and
so on until all agree. Linked tables need nothing special: they have cells in common.

Modules that agree do not make the whole table safe, since the same capacity may be counted on more
than once. The whole table is therefore looked at in the end, repaired and cleaned up.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.knowledge import Attacker
from tacit.attack.subtables import Subtables
from tacit.clock import check_time
from tacit.methods.engine import turns
from tacit.methods.suppress.heuristics.cleanup import clean_up
from tacit.methods.suppress.heuristics.construct import CheapestDeviation, Constructor
from tacit.methods.suppress.heuristics.first_pattern import in_half_the_time
from tacit.methods.suppress.heuristics.hypercubes import levels
from tacit.methods.suppress.heuristics.repair import repair_and_clean_up
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.options import SuppressOptions
from tacit.methods.suppress.weights import HIDDEN_COST, steering
from tacit.observer import Quiet
from tacit.problem import Booleans, Floats, Integers, Problem, component_labels
from tacit.tolerances import AGREEMENT, NEGLIGIBLE_MOVE, SUBPROBLEM_GAP

_SMALL = 1_000
"""Networks with more cells than this are not solved exactly."""
_SMALL_LINEAR = 40
"""The same for modules that are not networks: those are much harder."""
_LOOSE_ENDS = 500
"""Relations that cross with no others form modules of at most this many cells."""
_MOST_OVERLAP = 4.5
"""Where cells are in more modules than this on average, there are no parts to speak of."""
_ROUNDS = 30
"""Modules that do not agree after this many rounds are left to the repair."""
_MODULE_SECONDS = 10.0
_GROWN = 1 + AGREEMENT
"""Levels that differ by less than this are the same."""


def run(search: Search) -> None:
    """Protect module by module until all agree, repair, clean up."""
    protect_by_modules(search)
    search.leave_gap()


def protect_by_modules(search: Search, *, clean_up_seconds: float = np.inf) -> None:
    """The same, but something else may follow."""
    modules = _Modular(search)
    with in_half_the_time(search):
        modules.protect()
    repair_and_clean_up(search, modules.hidden, clean_up_seconds=clean_up_seconds)


@dataclasses.dataclass(eq=False)
class _Module:
    """Some of the relations with all their cells.

    Attributes:
        cells: The cells, increasing.
        rows: The relations.
        served: How far each cell can rise and fall here, as far as that was asked for.
        deviations: For modules that are not networks a model for each attacker, kept between
            visits.
    """

    cells: Integers
    rows: Integers
    served: Floats
    deviations: list[_Deviations] = dataclasses.field(default_factory=list)


class _Modular:
    """The table, what is suppressed so far, and how far every cell must be able to move.

    Attributes:
        need: For each cell how far it must be able to rise and to fall.
        hidden: The suppressed cells.
    """

    def __init__(self, search: Search):
        problem = search.problem
        self._search = search
        self._modules = list(_modules(problem, Subtables.of(problem.relations)))
        self._count = np.zeros(problem.cell_count, np.int64)
        for module in self._modules:
            self._count[module.cells] += 1
        # A suppressed cell has to be protected in each of its modules.
        self._cost = steering(problem.weight) * np.maximum(self._count, 1)
        self.need = np.zeros((2, problem.cell_count))
        self.need[:, problem.sensitive] = levels(search)
        self.hidden = search.sensitive.copy()

    def protect(self) -> None:
        """Suppress until all modules agree; not yet safe in the whole table."""
        search, total = self._search, len(self._modules)
        if self._count.mean() > _MOST_OVERLAP:
            return
        for turn in range(_ROUNDS):
            search.observer.on_phase("modules" if turn == 0 else f"modules, round {turn + 1}")
            agreed = True
            for number, module in enumerate(self._modules):
                search.observer.on_progress(number, total)
                if self._lacking(module).any():
                    agreed = False
                    if search.should_stop():
                        return
                    check_time()
                    search.iterations += 1
                    self._protect(module)
            # The table is safe, whether or not the modules agree.
            if agreed or (turn > 0 and not search.exposed(self.hidden)):
                break

    def _lacking(self, module: _Module) -> Booleans:
        return np.asarray(self.need[:, module.cells] > module.served * _GROWN)

    def _protect(self, module: _Module) -> None:
        if not module.deviations:
            part = self._part(module)
            if part.structure.in_network.all() or len(module.cells) <= _SMALL_LINEAR:
                self._solve(module, part)
                return
            usable = np.flatnonzero(part.secondary | part.sensitive)
            module.deviations = [_Deviations(part, state, usable) for state in part.states]
        self._deviate(module)

    def _part(self, module: _Module) -> Search:
        """The module as a problem of its own.

        What is suppressed already is sensitive there, with the levels that are needed.
        """
        search, cells = self._search, module.cells
        problem = search.problem
        given = np.flatnonzero(self.hidden[cells])
        sure = cells[given]
        capacity = [
            problem.upper[sure] - problem.value[sure],
            problem.value[sure] - problem.lower[sure],
        ]
        level = np.minimum(self.need[:, sure], capacity)
        lonely = search.sensitive[cells] & (problem.singleton[cells] >= 0)
        part = Problem(
            value=problem.value[cells],
            lower=problem.lower[cells],
            upper=problem.upper[cells],
            weight=self._cost[cells],
            relations=_relations(problem.relations, module),
            rhs=problem.rhs[module.rows],
            sensitive=given,
            upper_level=level[0],
            lower_level=level[1],
            must_publish=problem.must_publish[cells],
            singleton=np.where(lonely, problem.singleton[cells], -1),
        )
        options = SuppressOptions(
            time_limit=max(1e-3, min(_MODULE_SECONDS, turns.SUPPRESS_MODULE * search.seconds_left)),
            gap=SUBPROBLEM_GAP,
            seed=search.options.seed,
            singletons="local" if search.options.singletons == "local" else "ignore",
            jobs=1,
        )
        return Search(part, options, self._attackers(cells), Quiet(search))

    def _attackers(self, cells: Integers) -> list[Attacker]:
        """The attackers as far as they know something about the cells."""
        place = {int(cell): number for number, cell in enumerate(cells)}
        found: list[Attacker] = []
        for state in self._search.outsiders:
            local = _restricted(state.attacker, place)
            if local not in found:
                found.append(local)
        return found

    def _solve(self, module: _Module, part: Search) -> None:
        """Protect a small module or a network at its own cost."""
        from tacit.methods.suppress.algorithms import branch_and_cut

        cells = module.cells
        needed = self.need[:, cells].copy()
        late = self._search.seconds > turns.SUPPRESS_EXACT_MODULES * self._search.options.time_limit
        if len(cells) <= _SMALL and not late:
            branch_and_cut.run(part)
            hidden = part.best
        else:
            hidden = Constructor(part).construct()
            if hidden is not None:
                hidden = clean_up(part, hidden)
        module.served = np.maximum(module.served, needed)
        if hidden is None:
            # Some of it is impossible here: the whole table may still protect it.
            return
        self.hidden[cells] |= hidden
        for state in part.states:
            requests = state.separator.requests()
            if part.structure.in_network.all():
                asked = part.ask(state, requests, hidden)
                self._carry(module, part.attack(state, hidden).reach(asked).deviations)
                continue
            model = _Deviations(part, state, np.flatnonzero(hidden))
            # Which way cells move matters: the fewer of other modules, the less work there.
            cost_here: Floats = self._count[cells].astype(np.float64) - 0.99
            for cell, side, level in zip(
                requests.cells.tolist(),
                requests.sides.tolist(),
                requests.targets.tolist(),
                strict=True,
            ):
                moved = model.moved_by_cell(cell, side, level, cost_here)
                if moved is not None:
                    self._carry(module, sparse.csr_array(moved[None, :]))

    def _deviate(self, module: _Module) -> None:
        """Protect a large module by one cheapest deviation after the other."""
        cells = module.cells
        side, place = np.nonzero(self._lacking(module))
        level = self.need[side, cells[place]]
        cost, count = self._cost[cells], self._count[cells]
        for at in np.lexsort((place, -level)).tolist():
            if level[at] <= module.served[side[at], place[at]] * _GROWN:
                continue
            module.served[side[at], place[at]] = level[at]
            sign = 1 if side[at] == 0 else -1
            for model in module.deviations:
                # What is suppressed comes for free, but cells of other modules cause work there.
                cost_here = np.where(self.hidden[cells], HIDDEN_COST * cost * count, cost)
                moved = model.moved_by_cell(int(place[at]), sign, float(level[at]), cost_here)
                if moved is not None:
                    self.hidden[cells[moved != 0]] = True
                    self._carry(module, sparse.csr_array(moved[None, :]))
            if self._search.should_stop():
                return

    def _carry(self, module: _Module, moves: sparse.csr_array[Any, Any]) -> None:
        """Cells that move here must be able to move as far elsewhere."""
        found = sparse.coo_array(moves)
        cells = module.cells[found.col]
        for side, amount in enumerate((found.data, -found.data)):
            np.maximum.at(self.need[side], cells, np.maximum(amount, 0.0))
            np.maximum.at(module.served[side], found.col, np.maximum(amount, 0.0))


class _Deviations(CheapestDeviation):
    """Cheapest deviations of a module, in terms of its cells."""

    def moved_by_cell(self, cell: int, side: int, level: float, cost: Floats) -> Floats | None:
        """How every cell moves when one moves to its level; None if it cannot."""
        x = self.deviation(cell, side, level, cost)
        if x is None:
            return None
        moved = np.where(self._column >= 0, x[self._column] * self._ratio, 0.0)
        moved *= side * level / moved[cell]
        return np.where(np.abs(moved) > NEGLIGIBLE_MOVE * level, moved, 0.0)


def _modules(problem: Problem, subtables: Subtables) -> Iterator[_Module]:
    """Subtables, and relations that stand alone grouped by the cells they share."""
    several = subtables.dimension_count > 1
    alone: list[Integers] = []
    for number in range(len(subtables)):
        here = slice(subtables.start[number], subtables.start[number + 1])
        rows = np.unique(subtables.line[here])
        rows = rows[rows >= 0]
        if not several[number]:
            alone.append(rows)
            continue
        cells = np.unique(subtables.cells[here])
        cells = cells[cells >= 0]
        yield _Module(cells, rows, np.zeros((2, len(cells))))
    if alone:
        yield from _loose_ends(problem.relations, np.concatenate(alone))


def _loose_ends(A: sparse.csr_array[Any, Any], rows: Integers) -> Iterator[_Module]:
    part = sparse.csr_array(A[rows])
    label = component_labels(part)
    group = label[part.indices[part.indptr[:-1]]]
    size = np.bincount(label)
    for number in np.unique(group).tolist():
        together = rows[group == number]
        pieces = [together] if size[number] <= _LOOSE_ENDS else np.split(together, len(together))
        for piece in pieces:
            cells = np.unique(A[piece].indices).astype(np.int64)
            yield _Module(cells, np.sort(piece), np.zeros((2, len(cells))))


def _relations(A: sparse.csr_array[Any, Any], module: _Module) -> sparse.csr_array[Any, Any]:
    """The module's relations over its own cells, all of which it has."""
    length = (A.indptr[1:] - A.indptr[:-1])[module.rows]
    indptr = np.concatenate([[0], np.cumsum(length)])
    entry = np.arange(indptr[-1]) + np.repeat(A.indptr[module.rows] - indptr[:-1], length)
    indices = np.searchsorted(module.cells, A.indices[entry])
    return sparse.csr_array((A.data[entry], indices, indptr), (len(length), len(module.cells)))


def _restricted(attacker: Attacker, place: dict[int, int]) -> Attacker:
    """What an attacker knows about some of the cells, by their new numbers."""
    return Attacker(
        name=attacker.name,
        known=tuple(place[cell] for cell in attacker.known if cell in place),
        at_least={place[cell]: x for cell, x in attacker.at_least.items() if cell in place},
        at_most={place[cell]: x for cell, x in attacker.at_most.items() if cell in place},
        own=frozenset(place[cell] for cell in attacker.own if cell in place),
        colluding=tuple(place[cell] for cell in attacker.colluding if cell in place),
    )
