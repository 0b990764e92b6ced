"""What would have to be suppressed instead of a cell that is to be published.

Everything that is suppressed stays so, apart from the cell. Cells that were protected without it
are protected whatever is suppressed besides; only those that need it have to be looked at. What
protects them at least cost is a small integer program over protection cuts, solved exactly if time
allows, and bounded from both sides if it does not. The pattern is audited before it is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.audit import Audit, audit
from tacit.attack.exposure import Exposure
from tacit.attack.knowledge import Attacker
from tacit.attack.shrink import Structure
from tacit.attack.sweep import Attack
from tacit.clock import Clock, check_time
from tacit.errors import SolverError
from tacit.explanation.nearby import around
from tacit.methods.suppress.attackers import AttackerState
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.options import SuppressOptions
from tacit.outcome import Suppression
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.solver.scaled_mip import ScaledMip
from tacit.tolerances import ROUNDING_NOISE

_PATIENCE = 10.0
"""To find anything that does may take so many times as long as to look for something cheaper."""


@dataclass(frozen=True)
class Replacement:
    """What would have to be suppressed instead of a cell.

    Attributes:
        possible: Whether the cell can be published at all; None where that was not found out in
            time.
        cells: What would be suppressed besides what is suppressed now.
        cost: The weight of these cells; None where none were found in time.
        at_least: No other cells that do it weigh less.
        against: Why it is impossible: sensitive cells that nothing else protects.
        relations: Relations that show it.
    """

    possible: bool | None
    cells: tuple[int, ...] = ()
    cost: float | None = None
    at_least: float = 0.0
    against: tuple[Exposure, ...] = ()
    relations: tuple[int, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether nothing cheaper exists."""
        if self.cost is None:
            return False
        return self.cost - self.at_least <= ROUNDING_NOISE * abs(self.cost)


def replacement(
    problem: Problem,
    hidden: Booleans,
    cell: int,
    attackers: Sequence[Attacker],
    structure: Structure,
    *,
    seconds: float,
) -> Replacement:
    """Find what has to be suppressed if a cell is published.

    Args:
        problem: The table, with those of its sensitive cells that need the cell.
        hidden: What is suppressed, the cell included.
        cell: The cell to publish.
        attackers: Who attacks, besides the problem's insiders.
        structure: The examined relations.
        seconds: How long to look for something cheaper, and for a proof that there is nothing.
    """
    start = hidden.copy()
    start[cell] = False
    if not len(problem.sensitive):
        return Replacement(True, (), 0.0, 0.0)
    published = problem.must_publish.copy()
    published[cell] = True
    table = problem.replace(must_publish=published)

    def audited(pattern: Booleans) -> Audit:
        return audit(
            table,
            around(table, Suppression(pattern), table.sensitive),
            cells="sensitive",
            exact=False,
            attackers=attackers,
            structure=structure,
            tolerance=None,
        )

    patience = Clock(_PATIENCE * seconds)
    options = SuppressOptions(time_limit=patience.limit)
    search = _NearbySearch(table, options, attackers, None, patience, structure)
    found = _Repair(search, start, problem.weight)
    # Something that does is worth more time than a proof that nothing cheaper does.
    with patience, suppress(SolverError):
        found.construct()
    if found.added is None:
        most = audited(start | ~published)
        if most.exposures:
            return Replacement(False, against=most.exposures, relations=_showing(most))
        return Replacement(True if most.safe else None)
    with Clock(max(seconds - patience.seconds, seconds / 4)), suppress(SolverError):
        found.prove()
    if not audited(start | found.added).safe:
        return Replacement(None, at_least=found.bound)
    cost = float(problem.weight[found.added].sum())
    cells = tuple(np.flatnonzero(found.added).tolist())
    return Replacement(True, cells, cost, min(found.bound, cost))


def _showing(found: Audit) -> tuple[int, ...]:
    """Relations that show cells exposed, those first that matter most."""
    evidence = [each.evidence for each in found.findings]
    if found.insiders is not None:
        evidence.append(found.insiders.evidence)
    exposed = [each.cell for each in found.exposures]
    size = np.zeros(found.problem.relation_count)
    for each in evidence:
        about = np.flatnonzero(np.isin(each.cells, exposed) & np.isfinite(each.limit))
        size += np.asarray(abs(each.multipliers[about]).sum(axis=0)).ravel()
    rows = np.flatnonzero(size)
    return tuple(rows[np.argsort(-size[rows], kind="stable")].tolist())


class _NearbySearch(Search):
    """A search in which attacks leave alone what has nothing to do with sensitive cells."""

    def attack(self, state: AttackerState, hidden: Booleans) -> Attack:
        """What the attacker can do with a pattern, as far as sensitive cells are concerned."""
        near = around(self.problem, Suppression(hidden), self.problem.sensitive)
        assert isinstance(near, Suppression)
        return super().attack(state, near.suppressed)


class _Repair:
    """Looks for the cheapest cells that protect what is exposed.

    Attributes:
        added: The cheapest that are known to do; None as long as none are.
        bound: No others weigh less.
    """

    def __init__(self, search: Search, start: Booleans, weight: Floats):
        self._search = search
        self._start = start
        # The search counts weights in a unit of its own.
        self._weight = weight
        self.added: Booleans | None = None
        self.bound = 0.0

    def construct(self) -> None:
        """Protect one cell after the other, then publish again what turns out not to be needed."""
        safe = Constructor(self._search).construct(start=self._start)
        if safe is None:
            return
        self._keep(safe & ~self._start)
        assert self.added is not None
        for cell in self._heaviest_first(self.added):
            check_time()
            fewer = self.added.copy()
            fewer[cell] = False
            if not self._search.exposed(self._start | fewer):
                self._keep(fewer)

    def prove(self) -> None:
        """Solve the integer program over cuts, which are added until the solution is safe."""
        search = self._search
        candidates = search.secondary & ~self._start
        rows: sparse.csr_array[Any, Any] = sparse.csr_array((0, len(candidates)))
        right = np.zeros(0)
        chosen = np.zeros(len(candidates), bool)
        while True:
            check_time()
            pattern = self._start | chosen
            missed = search.exposed(pattern)
            if not missed:
                self._keep(chosen)
                self.bound = float(self._weight[chosen].sum())
                return
            cuts = [state.cuts(pattern.astype(np.float64), asked) for state, asked in missed]
            fresh = sparse.csr_array(sparse.vstack([each.coefficients for each in cuts]))
            if not fresh.shape[0]:
                return
            offered = np.asarray(fresh @ self._start.astype(np.float64))
            rows = sparse.csr_array(sparse.vstack([rows, fresh]))
            right = np.append(right, 1.0 - offered)
            solved = self._cheapest(rows, right, candidates)
            if solved is None:
                return
            chosen, bound = solved
            self.bound = max(self.bound, bound)
            if self.added is not None and self.bound >= self._known * (1 - ROUNDING_NOISE):
                self.bound = self._known
                return

    @property
    def _known(self) -> float:
        """What the cheapest cells that are known weigh."""
        return float("inf") if self.added is None else float(self._weight[self.added].sum())

    def _keep(self, added: Booleans) -> None:
        if self._weight[added].sum() < self._known:
            self.added = added.copy()

    def _heaviest_first(self, added: Booleans) -> list[int]:
        cells = np.flatnonzero(added)
        order: Integers = cells[np.argsort(-self._weight[cells], kind="stable")]
        return [int(cell) for cell in order]

    def _cheapest(
        self, rows: sparse.csr_array[Any, Any], right: Floats, candidates: Booleans
    ) -> tuple[Booleans, float] | None:
        """The cheapest cells that meet all cuts, and a bound on their weight."""
        part = sparse.csc_array(rows)
        used = candidates & (np.diff(part.indptr) > 0)
        columns = np.flatnonzero(used)
        if not len(columns):
            return None
        weight = self._weight[columns]
        count = len(columns)
        mip = ScaledMip(
            sparse.csr_array(part[:, columns]),
            row_lower=right,
            row_upper=np.full(len(right), np.inf),
            lower=np.zeros(count),
            upper=np.ones(count),
            cost=weight,
            integer=np.ones(count, bool),
            cost_unit=max(float(weight.mean()), ROUNDING_NOISE),
        )
        found = mip.minimise(seconds=self._search.seconds_left, gap=0.0)
        if found.status != "optimal" or found.x is None:
            return None
        chosen = np.zeros(len(candidates), bool)
        chosen[columns[found.x > 0.5]] = True
        return chosen, float(found.settled_bound)
