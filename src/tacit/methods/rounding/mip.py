"""`Mip`: controlled rounding as a mixed-integer model over the columns of a lattice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit.attack.network import recognise
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.highs import HighsModel
from tacit.solver.highs_mip import HighsMip, MipSolution, Watcher
from tacit.tolerances import INTEGRAL, LAST_DIGITS, SOLVER

if TYPE_CHECKING:
    from tacit.methods.rounding.model import Lattice


class Mip:
    """min cost of the columns, so that the table adds up and all cuts are met.

    Attributes:
        lattice: What the columns mean.
        is_network: Whether the linear relaxation's vertices are integral: the table is a network
            and there is no cut.
    """

    def __init__(self, lattice: Lattice):
        self.lattice = lattice
        A = lattice.problem.relations
        network, chosen = recognise(A)
        self.is_network = bool(chosen.all()) and A.shape[0] > 0
        rows = np.arange(A.shape[0])
        if self.is_network and network is not None:
            # The others are implied.
            rows = np.sort(network.rows)
        self._relations = sparse.csr_array(A[rows] @ lattice.spread)
        exact = lattice.right_hand_side[rows] - A[rows] @ lattice.floor.astype(float)
        integral = np.round(exact)
        self._right = np.where(np.abs(exact - integral) <= INTEGRAL, integral, exact)
        # Solvers' tolerances are absolute: costs of any magnitude are counted in the largest.
        self._cost_unit = float(np.abs(lattice.cost).max(initial=0.0)) or 1.0
        self._cuts: sparse.csr_array[Any, Any] = sparse.csr_array((0, lattice.problem.cell_count))
        self._least = np.zeros(0)

    def add_cuts(self, rows: sparse.csr_array[Any, Any], least: Floats) -> None:
        """Ask for rows of the cells' numbers of bases to reach at least so much."""
        size = np.asarray(abs(rows).max(axis=1).todense(), float).ravel()
        scale = 1.0 / np.where(size > 0, size, 1.0)
        scaled = sparse.diags_array(scale) @ rows
        self._cuts = sparse.csr_array(sparse.vstack([self._cuts, scaled]))
        self._least = np.concatenate([self._least, least * scale])
        self.is_network = False

    def meets_cuts(self, counts: Integers) -> bool:
        """Does a rounding meet all cuts?"""
        floor = self.lattice.floor
        reached = self._cuts @ (counts - floor).astype(float)
        return bool((reached >= self._asked()).all())

    def _asked(self) -> Floats:
        """What the rows of cuts must reach beyond the multiples below the true values."""
        floor = self.lattice.floor.astype(float)
        # Coefficients are 1 at most; sums of large numbers are known no better than this.
        slack = SOLVER + LAST_DIGITS * (abs(self._cuts) @ np.abs(floor))
        return np.asarray(self._least - self._cuts @ floor - slack)

    def _rows(self) -> tuple[sparse.csr_array[Any, Any], Floats, Floats]:
        """Relations and cuts in terms of the columns, with their lower and upper sides."""
        lattice = self.lattice
        if not len(self._least):
            return self._relations, self._right, self._right
        least = self._asked()
        rows = sparse.csr_array(sparse.vstack([self._relations, self._cuts @ lattice.spread]))
        return (
            rows,
            np.concatenate([self._right, least]),
            np.concatenate([self._right, np.full(len(least), np.inf)]),
        )

    def linear(self, seconds: float) -> HighsModel:
        """The linear relaxation."""
        lattice = self.lattice
        rows, lower, upper = self._rows()
        model = HighsModel(
            rows,
            row_lower=lower,
            row_upper=upper,
            lower=lattice.lower,
            upper=lattice.upper,
            cost=lattice.cost / self._cost_unit,
        )
        model.set_option("presolve", "choose")
        model.set_option("time_limit", float(max(seconds, 0.1)))
        return model

    def bound_of(self, row_dual: Floats) -> float:
        """A bound on the cost of every rounding, from multipliers of the relaxation's rows."""
        rows, lower, upper = self._rows()
        row_dual = row_dual * self._cost_unit
        # A multiplier of the wrong sign for a cut counts as none.
        y = np.where(np.isinf(upper), np.maximum(row_dual, 0.0), row_dual)
        d = self.lattice.cost - rows.T @ y
        least = np.minimum(d * self.lattice.lower, d * self.lattice.upper).sum()
        return float(y @ lower + least) + self.lattice.offset

    def minimise(
        self,
        *,
        seconds: float,
        gap: float,
        seed: int,
        start: Integers | None = None,
        watch: Watcher | None = None,
        first: bool = False,
    ) -> MipSolution:
        """Solve the model, or come as far as time allows.

        Args:
            seconds: Time limit.
            gap: Stop when (objective - bound) / objective is at most this.
            seed: Passed on to the solver.
            start: A rounding to begin with.
            watch: Listens while the solver runs.
            first: Stop at the first rounding.
        """
        everything = np.ones(len(self.lattice.cost), bool)
        given = None if start is None else self.lattice.columns_of(start.astype(float))
        model = self._mip(everything, np.zeros(len(everything)), seed)
        if first:
            model.set_option("mip_max_improving_sols", 1)

        def told(so_far: MipSolution) -> bool:
            return watch is not None and watch(self._in_true_measure(so_far))

        found = model.minimise(seconds=seconds, gap=gap, start=given, watch=told)
        return self._in_true_measure(found)

    def _in_true_measure(self, answer: MipSolution) -> MipSolution:
        return replace(
            answer,
            objective=answer.objective * self._cost_unit,
            bound=answer.bound * self._cost_unit,
        )

    def improve(
        self, counts: Integers, cells: Booleans, *, seconds: float, seed: int, watch: Watcher
    ) -> tuple[Integers, bool]:
        """The best rounding that differs from a given one in some cells only.

        Returns:
            The rounding, and whether the solver came to the end.
        """
        columns = self.lattice.columns_of(counts.astype(float))
        free = cells[self.lattice.column_cell]
        answer = self._mip(free, columns, seed).minimise(
            seconds=seconds, start=columns[free], watch=watch
        )
        if answer.x is None:
            return counts, answer.status != "stopped"
        columns[free] = np.round(answer.x)
        return np.round(self.lattice.counts_of(columns)).astype(
            np.int64
        ), answer.status != "stopped"

    def _mip(self, free: Booleans, columns: Floats, seed: int) -> HighsMip:
        """The model over some columns, the others as they are."""
        lattice = self.lattice
        rows, lower, upper = self._rows()
        known = rows @ np.where(free, 0.0, columns)
        chosen = np.flatnonzero(free)
        part = sparse.csr_array(rows[:, chosen])
        used = np.flatnonzero(np.diff(part.indptr) > 0)
        if len(chosen) == len(free):
            used = np.arange(rows.shape[0])
        return HighsMip(
            sparse.csr_array(part[used]),
            row_lower=(lower - known)[used],
            row_upper=(upper - known)[used],
            lower=lattice.lower[chosen],
            upper=lattice.upper[chosen],
            cost=lattice.cost[chosen] / self._cost_unit,
            integer=np.ones(len(chosen), bool),
            offset=(lattice.offset + float(lattice.cost[~free] @ columns[~free])) / self._cost_unit,
            seed=seed,
        )
