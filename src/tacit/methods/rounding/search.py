"""`Search`: what all algorithms for rounding share while they run.

It keeps the best rounding, watches the clock and tells the observer. An algorithm offers
roundings and raises the bound; whether what is found is safe, the audit decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.attack.knowledge import Attacker
from tacit.attack.shrink import Structure
from tacit.clock import Clock
from tacit.methods.engine import driver
from tacit.methods.engine.turns import ROUND_FIRST_AUDIT
from tacit.methods.rounding.cuts import protection_cuts
from tacit.methods.rounding.lattice import Lattice
from tacit.methods.rounding.mip import Programme
from tacit.methods.rounding.options import RoundOptions
from tacit.observer import Observer
from tacit.outcome import StopReason
from tacit.problem import Integers, Problem

if TYPE_CHECKING:
    from tacit.attack.audit import Audit

_AUDIT_SLACK = 1.3
"""An audit may take this many times as long as the last one."""


class Search(driver.Search):
    """The state of one run.

    Attributes:
        problem: The table.
        options: What the user chose.
        attackers: Who attacks.
        lattice: The multiples that cells may become.
        programme: The integer programme with all cuts so far.
        candidate: The best rounding that meets all cuts so far, in bases.
        best: The best rounding that an audit found safe.
        audit: That audit.
        exposed: Cells that the last audit found exposed.
        impossible: No rounding exists within the steps of the lattice.
    """

    method = "round"

    def __init__(
        self,
        problem: Problem,
        options: RoundOptions,
        attackers: Sequence[Attacker],
        observer: Observer,
        clock: Clock | None = None,
    ):
        super().__init__(options, observer, clock=clock)
        self.problem = problem
        self.options = options
        self.attackers = tuple(attackers)
        self.lattice: Lattice
        self.programme: Programme
        self.candidate: Integers | None = None
        self.best: Integers | None = None
        self.audit: Audit | None = None
        self.exposed: list[int] = []
        self.impossible = False
        if len(problem.sensitive):
            self.clock.reserve = ROUND_FIRST_AUDIT * options.time_limit
        self._structure: Structure | None = None

    @property
    def structure(self) -> Structure:
        """The examined relations, examined when first asked for."""
        if self._structure is None:
            self._structure = Structure.of(self.problem)
        return self._structure

    def note(self) -> None:
        """Write objective and bound of this moment into the trace, once the former is safe."""
        if len(self.problem.sensitive) and self.best is not self.candidate:
            return
        super().note()

    def begin(self, lattice: Lattice) -> None:
        """Start anew with other multiples."""
        self.lattice = lattice
        self.programme = Programme(lattice)
        self.candidate = None
        self.impossible = False
        self.objective = np.inf
        self.bound, self.bound_source, self._recomputed = 0.0, "recomputed", 0.0
        self.raise_bound(lattice.nearest_cost)

    def offer(self, counts: Integers) -> bool:
        """Propose a rounding; returns whether it is better than the best so far."""
        cost = self.lattice.cost_of(counts)
        if cost >= self.objective * (1 - 1e-12) or not self.lattice.allows(counts):
            return False
        if not self.programme.meets_cuts(counts):
            return False
        self.candidate = counts
        self.objective = self.above_bound(cost)
        if not len(self.problem.sensitive):
            # Nothing can be exposed.
            self.better(cost)
        return True

    def confirm(self) -> bool:
        """Have the candidate audited; where cells are exposed, cuts forbid it from now on."""
        counts = self.candidate
        assert counts is not None
        if counts is self.best:
            return True
        began = self.seconds
        values = self.lattice.values_of(counts)
        # This is what time was kept for.
        self.clock.reserve = 0.0
        structure = self.structure if len(self.problem.sensitive) else None
        found = driver.audited(self.problem, values, self.attackers, structure=structure)
        self.clock.reserve = _AUDIT_SLACK * (self.seconds - began)
        if found.safe:
            self.best, self.audit = counts, found
            if len(self.problem.sensitive):
                self.better(self.objective)
            return True
        self.exposed = found.exposed_cells
        rows, least = protection_cuts(self.lattice, values, found)
        self.programme.add_cuts(rows, least)
        self.cut_count += len(least)
        self.observer.on_cuts(self.seconds, self.cut_count)
        if self.programme.meets_cuts(counts):
            # Cut and rounding differ by less than numbers can tell: it would be found again.
            self.stop(StopReason.EXHAUSTED)
        self.candidate = self.best
        self.objective = np.inf if self.best is None else self.lattice.cost_of(self.best)
        return False
