"""The relaxed master problem: suppress as little as possible subject to the cuts so far."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.attack.cuts import Cuts
from tacit.methods.engine.cut_pool import Rows
from tacit.methods.engine.relaxation import Relaxation
from tacit.methods.suppress.model import Search
from tacit.problem import Floats, Integers


class Master(Relaxation):
    """The linear relaxation over the secondary cells; its steady rows are side conditions.

    Attributes:
        cells: The secondary cells, the columns of the relaxation.
        fixed_out: Columns proven to be 0 in every better solution.
        fixed_in: Columns proven to be 1 in every better solution.
        ceiling: Patterns that weigh at least this may be out of reach of the fixed columns.
    """

    def __init__(self, search: Search):
        self._search = search
        self.cells = np.flatnonzero(search.secondary)
        count = len(self.cells)
        super().__init__(
            search.problem.weight[self.cells],
            np.zeros(count),
            np.ones(count),
            on_cuts=self._note_cuts,
        )
        self._column = np.full(search.problem.cell_count, -1, np.int64)
        self._column[self.cells] = np.arange(count)
        self.fixed_out = np.zeros(count, bool)
        self.fixed_in = np.zeros(count, bool)
        self.ceiling = np.inf
        self.add_steady(*self._side_rows())

    def _note_cuts(self, count: int) -> None:
        self._search.cut_count += count
        self._search.observer.on_cuts(self._search.seconds, count)

    @property
    def y(self) -> Floats:
        """The last optimum."""
        return self.x

    @property
    def objective(self) -> float:
        """No pattern weighs less, sensitive cells included.

        The optimum, or the cutoff by which columns were fixed if that is less.
        """
        return min(self._search.base + max(self.bound, 0.0), self.ceiling)

    def _side_rows(self) -> tuple[Rows, Floats, Floats]:
        search = self._search
        rows, needed = search.crowd_rows()
        pattern = abs(search.problem.relations[rows]).sign()
        have = np.asarray(pattern @ search.sensitive.astype(np.float64))
        blocks = [sparse.csr_array(pattern[:, self.cells])]
        lower = [np.maximum(needed - have, 0.0)]
        upper = [np.full(len(rows), np.inf)]
        limit = search.options.max_suppressed
        if limit is not None:
            blocks.append(sparse.csr_array(np.ones((1, len(self.cells)))))
            lower.append(np.zeros(1))
            upper.append(np.array([float(limit - search.sensitive.sum())]))
        return (
            sparse.csr_array(sparse.vstack(blocks)),
            np.concatenate(lower),
            np.concatenate(upper),
        )

    def full(self, y: Floats) -> Floats:
        """A vector over the secondary cells, extended to all cells."""
        whole = self._search.sensitive.astype(np.float64)
        whole[self.cells] = y
        return whole

    def add_cuts(self, cuts: Cuts) -> int:
        """Add protection cuts; returns how many of them were not at work before."""
        rows = sparse.csr_array(cuts.coefficients[:, self.cells])
        return self.add(rows, np.ones(len(cuts)))

    def bridgeless(self, y: Floats, most: int = 1000) -> int:
        """Add violated bridgeless rows: a suppressed cell needs company in each relation.

        Sensitive cells with a level need it in any safe pattern. Of the other cells with a
        positive weight some best pattern has none that stands alone: it could be published.
        """
        search = self._search
        problem, A = search.problem, search.problem.relations
        whole = self.full(y)
        useful = search.secondary | search.sensitive
        row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        counted = np.where(useful[A.indices], whole[A.indices], 0.0)
        total = np.bincount(row, counted, minlength=A.shape[0])
        needs = np.zeros(len(whole), bool)
        levels = problem.lower_level + problem.upper_level + problem.sliding_level
        needs[problem.sensitive[levels > 0]] = True
        if len(search.crowd_rows()[0]) == 0:
            # Otherwise a cell may be suppressed just to keep singletons company.
            needs[self.cells[self.cost > 0]] = True
        lonely = 2 * counted - total[row]
        violated = np.flatnonzero(needs[A.indices] & useful[A.indices] & (lonely > 1e-6))
        violated = violated[np.argsort(-lonely[violated], kind="stable")[:most]]
        columns: list[Integers] = []
        data: list[Floats] = []
        right: list[float] = []
        for entry in violated.tolist():
            cell, relation = int(A.indices[entry]), int(row[entry])
            others = A.indices[A.indptr[relation] : A.indptr[relation + 1]]
            others = others[useful[others] & (others != cell)]
            if search.sensitive[others].any():
                continue
            here, ones = self._column[others], np.ones(len(others))
            if not search.sensitive[cell]:
                here, ones = np.append(here, self._column[cell]), np.append(ones, -1.0)
            columns.append(here)
            data.append(ones)
            right.append(1.0 if search.sensitive[cell] else 0.0)
        return self._add_company(columns, data, right)

    def _add_company(self, columns: list[Integers], data: list[Floats], right: list[float]) -> int:
        if not right:
            return 0
        pointer = np.concatenate([[0], np.cumsum([len(each) for each in columns])])
        entries = (np.concatenate(data), np.concatenate(columns), pointer)
        rows = sparse.csr_array(entries, shape=(len(right), len(self.cells)))
        rows.sort_indices()
        return self.add(rows, np.array(right))

    def fix(self) -> int:
        """Fix columns by their reduced costs, given the best pattern; returns how many."""
        slack = self._search.cutoff - self.objective
        if not np.isfinite(slack):
            return 0
        # What sums lose by rounding is a share of what is added up.
        margin = max(slack, 0.0) + 1e-9 * abs(self.objective)
        out = (self.reduced > margin) & (self.y < 1e-6) & ~self.fixed_out
        into = (self.reduced < -margin) & (self.y > 1 - 1e-6) & ~self.fixed_in
        changed = np.flatnonzero(out | into)
        self.fixed_out |= out
        self.fixed_in |= into
        if len(changed):
            self.ceiling = min(self.ceiling, self._search.cutoff)
            lower = self.fixed_in[changed].astype(np.float64)
            upper = 1.0 - self.fixed_out[changed]
            self.set_bounds(changed, lower, upper)
        return len(changed)
