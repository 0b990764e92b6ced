"""`Mip`: the mixed-integer model [Castro2012, (18)] of all cells or some, with rows of polygons.

See `cuts` for the polygons. Cells outside the part that is modelled keep their deviations; all of
them together are one more side of the polygon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit.methods.adjust.cuts import smallest_sides
from tacit.methods.adjust.model import Adjustment
from tacit.methods.adjust.options import Solver
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.highs_mip import HighsMip, MipSolution, Watcher
from tacit.tolerances import FAR_IN_SUMS, INTEGRAL

if TYPE_CHECKING:
    from tacit.solver.scip import ScipMip

_WIDEST = 1e6
"""Columns with a wider range are not asked to be integers; see `Search.offer`."""


class Mip:
    """Columns z+, z-, P (one per relation), y (one per sensitive cell; 1 rises), and for `linf`
    the largest weighted deviation.

    Amounts are in units of the usual level, or of 1 where they are integers; costs are in
    units of the usual weight.

    Attributes:
        inside: Places of the cells that may move.
        senses: Numbers of the sensitive cells among them.
        rows: The rows.
        row_lower: Their least values.
        row_upper: Their largest values.
        lower: Least values of the columns.
        upper: Largest values of the columns.
        cost: Cost of the columns.
        integer: Which columns are integers.
        cost_unit: What a cost of 1 is worth.
        offset: What the cells outside cost, in the true measure.
    """

    def __init__(
        self,
        model: Adjustment,
        *,
        inside: Integers | None = None,
        held: Floats | None = None,
        undecided: Booleans | None = None,
        polygons: Booleans | bool = True,
        cutoff: float = np.inf,
        integer: bool = False,
    ):
        """Write the model down.

        Args:
            model: The adjustment problem.
            inside: Places of the cells that may move; by default all.
            held: The deviations that all other cells keep, and the senses of decided cells.
            undecided: For each sensitive cell whether its sense is free; by default all.
            polygons: Whether to write the rows of polygons, or for which entries of the
                relations.
            cutoff: Deviations of a better table cost less than this.
            integer: Whether deviations are integers, in a problem that asks for them.
        """
        self._model = model
        n_all, k_all = model.size, len(model.sensitive)
        self.inside = np.arange(n_all) if inside is None else np.sort(inside)
        self._held = np.zeros(n_all) if held is None else held
        free = np.ones(k_all, bool) if undecided is None else undecided
        self._is_integer = integer
        self._unit = 1.0 if integer else model.unit
        part = sparse.csr_array(model.columns[:, self.inside])
        rows = np.flatnonzero(np.diff(part.indptr) > 0)
        self._A = sparse.csr_array(part[rows])
        place = model.place[self.inside]
        self._own = np.flatnonzero(place >= 0)
        self.senses = place[self._own]
        n, m, k = len(self.inside), len(rows), len(self.senses)
        self._n, self._m, self._k = n, m, k
        weight = model.weight[self.inside]
        # Largest weights matter most for what is seen as zero.
        self.cost_unit = float(np.median(weight[weight > 0])) if (weight > 0).any() else 1.0
        outside = self._held.copy()
        outside[self.inside] = 0.0
        self.offset = model.cost(outside)
        push = (model.A[rows] @ outside) / self._unit
        self._fill_columns(free, push, cutoff, weight)
        self._fill_rows(polygons, push)

    def _fill_columns(self, free: Booleans, push: Floats, cutoff: float, weight: Floats) -> None:
        model, unit = self._model, self._unit
        n, m, k = self._n, self._m, self._k
        up, down = model.up[self.inside] / unit, model.down[self.inside] / unit
        most = self._largest(cutoff, weight) / unit
        up, down = np.minimum(up, most), np.minimum(down, most)
        if self._is_integer:
            # Solvers get into trouble where integer columns have fractional bounds.
            up, down = np.floor(up + INTEGRAL), np.floor(down + INTEGRAL)
        self._rise, self._fall = model.rise[self.senses] / unit, model.fall[self.senses] / unit
        may_rise, may_fall = np.isfinite(self._rise), np.isfinite(self._fall)
        rises = self._held[self.inside[self._own]] > 0
        decided = ~free[self.senses]
        y_low = np.where(decided, rises, ~may_fall).astype(float)
        y_high = np.where(decided, rises, may_rise).astype(float)
        self._up_own = np.maximum(up[self._own], np.where(may_rise, self._rise, 0.0))
        self._down_own = np.maximum(down[self._own], np.where(may_fall, self._fall, 0.0))
        up[self._own], down[self._own] = self._up_own * y_high, self._down_own * (1 - y_low)
        self.lower = np.concatenate([np.zeros(2 * n), np.abs(push), y_low])
        self.upper = np.concatenate([up, down, np.full(m, np.inf), y_high])
        self.cost = np.concatenate([weight, weight, np.zeros(m + k)]) / self.cost_unit
        self.integer = np.zeros(2 * n + m + k, bool)
        self.integer[2 * n + m :] = True
        if self._is_integer:
            # Where the range is wide, solvers tighten it by one unit at a time, for ever.
            self.integer[: 2 * n] = np.concatenate([up, down]) <= _WIDEST
        if model.norm == "linf":
            self.cost[: 2 * n] = 0.0
            self.cost = np.append(self.cost, 1.0)
            self.lower = np.append(self.lower, self.offset / (self.cost_unit * self._unit))
            self.upper = np.append(self.upper, np.inf)
            self.integer = np.append(self.integer, False)

    def _largest(self, cutoff: float, weight: Floats) -> Floats:
        """How far each cell moves at most in a table that is closer than the best."""
        model = self._model
        most = model.farthest(cutoff)[self.inside]
        # Without any other limit: no closest table goes so far.
        far = np.full(len(weight), FAR_IN_SUMS * max(float(model.level.sum()), model.unit))
        far = np.maximum(far, 2 * np.abs(self._held[self.inside]))
        finite = np.isfinite(model.up[self.inside]) & np.isfinite(model.down[self.inside])
        return np.where(np.isfinite(most) | finite, most, far)

    def _fill_rows(self, polygons: Booleans | bool, push: Floats) -> None:
        model, A = self._model, self._A
        n, m, k = self._n, self._m, self._k
        width = len(self.cost)
        endless = np.full(k, np.inf)
        above, below = A.maximum(0), (-A).maximum(0)
        one = sparse.identity(m, format="csr")
        tail = sparse.csr_array((m, width - 2 * n - m))
        blocks: list[Any] = [
            sparse.hstack([above, below, -one, tail]),
            sparse.hstack([below, above, -one, tail]),
        ]
        low = [-np.maximum(push, 0.0), -np.maximum(-push, 0.0)]
        high = [*low]
        own, sense = np.arange(k), 2 * n + m + np.arange(k)
        may_rise, may_fall = np.isfinite(self._rise), np.isfinite(self._fall)
        rise = np.where(may_rise, self._rise, 0.0)
        fall = np.where(may_fall, self._fall, 0.0)
        for column, factor, least, most in (
            (self._own, -rise, np.zeros(k), endless),
            (self._own, -self._up_own, -endless, np.zeros(k)),
            (n + self._own, fall, fall, endless),
            (n + self._own, self._down_own, -endless, self._down_own),
        ):
            data = np.concatenate([np.ones(k), factor])
            place = (np.concatenate([own, own]), np.concatenate([column, sense]))
            blocks.append(sparse.csr_array((data, place), shape=(k, width)))
            low.append(least)
            high.append(most)
        if polygons is not False:
            wanted = np.ones(A.nnz, bool) if polygons is True else polygons
            self._add_polygons(blocks, low, high, wanted)
            sides = smallest_sides(model, A, self.inside) / self._unit
            self.lower[2 * n : 2 * n + m] = np.maximum(self.lower[2 * n : 2 * n + m], sides)
        if model.norm == "linf":
            counted = np.flatnonzero(model.weight[self.inside] > 0)
            number = np.arange(len(counted))
            rate = model.weight[self.inside][counted] / self.cost_unit
            data = np.concatenate([rate, rate, -np.ones(len(counted))])
            column = np.concatenate([counted, n + counted, np.full(len(counted), width - 1)])
            shape = (len(counted), width)
            blocks.append(sparse.csr_array((data, (np.tile(number, 3), column)), shape=shape))
            low.append(np.full(len(counted), -np.inf))
            high.append(np.zeros(len(counted)))
        self.rows = sparse.csr_array(sparse.vstack(blocks))
        self.row_lower, self.row_upper = np.concatenate(low), np.concatenate(high)

    def _add_polygons(
        self, blocks: list[Any], low: list[Floats], high: list[Floats], wanted: Booleans
    ) -> None:
        """No cell moves further than what rises in its relation."""
        n = self._n
        coo = self._A.tocoo()
        row, column, size = coo.row[wanted], coo.col[wanted], np.abs(coo.data[wanted])
        number = np.arange(len(row))
        data = np.concatenate([size, size, -np.ones(len(row))])
        place = (np.tile(number, 3), np.concatenate([column, n + column, 2 * n + row]))
        blocks.append(sparse.csr_array((data, place), shape=(len(row), len(self.cost))))
        low.append(np.full(len(row), -np.inf))
        high.append(np.zeros(len(row)))

    def worth(self, objective: float) -> float:
        """A value of the model's objective in the true measure."""
        worth = objective * self.cost_unit * self._unit
        return worth if self._model.norm == "linf" else worth + self.offset

    def solve(
        self,
        *,
        seconds: float,
        gap: float,
        seed: int,
        start: Floats | None = None,
        watch: Watcher | None = None,
        solver: Solver = "highs",
    ) -> MipSolution:
        """Hand the model to a solver, which comes as far as time allows.

        Args:
            seconds: Time limit.
            gap: Stop when (objective - bound) / objective is at most this.
            seed: Passed on to the solver.
            start: A vector to begin with.
            watch: Listens while the solver runs.
            solver: Which one.

        Raises:
            SolverError: The solver gave up.
        """
        kind: type[HighsMip] | type[ScipMip] = HighsMip
        if solver == "scip":
            from tacit.solver.scip import ScipMip

            kind = ScipMip
        model = kind(
            self.rows,
            row_lower=self.row_lower,
            row_upper=self.row_upper,
            lower=self.lower,
            upper=self.upper,
            cost=self.cost,
            integer=self.integer,
            seed=seed,
        )
        return model.minimise(seconds=seconds, gap=gap, start=start, watch=watch)

    @property
    def asks_for_integers(self) -> bool:
        """Whether any deviation is asked to be an integer."""
        return bool(self.integer[: 2 * self._n].any())

    def deviations(self, x: Floats) -> Floats:
        """The deviations of all cells that a vector stands for."""
        z = self._held.copy()
        n = self._n
        z[self.inside] = (x[:n] - x[n : 2 * n]) * self._unit
        return z

    def vector(self, z: Floats) -> Floats:
        """The vector that stands for deviations."""
        own = z[self.inside] / self._unit
        up, down = np.maximum(own, 0.0), np.maximum(-own, 0.0)
        push = -self.row_lower[: self._m]
        sides = self._A.maximum(0) @ up + (-self._A).maximum(0) @ down + push
        senses = (own[self._own] > 0).astype(float)
        x = np.concatenate([up, down, sides, senses])
        if self._model.norm == "linf":
            most = (
                np.max(self._model.weight[self.inside] * np.abs(own), initial=0.0) / self.cost_unit
            )
            x = np.append(x, max(most, self.lower[-1]))
        return x
