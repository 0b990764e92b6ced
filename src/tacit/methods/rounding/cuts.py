"""Protection cuts for rounding.

A reader takes a published value `x_i` for the interval from `max(l_i, x_i - R)` to
`min(u_i, x_i + R)`. Any multipliers `g` of the relations bound how far a sensitive cell can lie
above its true value [KarlssonOlsson2015, (3.10)]: with `d = e_s - A'g` by the sum over all cells of
`max(d_i, 0) (min(u_i, x_i + R) - a_i) + max(-d_i, 0) (a_i - max(l_i, x_i - R))`. That is concave in
`x`, and either end of a minimum is above it: with the end that counts at present, the sum is
linear, and that it be at least the level is a cut that every safe rounding meets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit.attack.findings import AttackerFindings
from tacit.attack.knowledge import Knowledge
from tacit.errors import SolverError
from tacit.outcome import Values
from tacit.problem import Floats
from tacit.tolerances import ROUNDING_NOISE

if TYPE_CHECKING:
    from tacit.attack.audit import Audit
    from tacit.methods.rounding.model import Lattice


def protection_cuts(
    lattice: Lattice, values: Values, found: Audit
) -> tuple[sparse.csr_array[Any, Any], Floats]:
    """Cuts that rule out a rounding which leaves cells exposed.

    Args:
        lattice: The multiples that cells may become.
        values: The rounding.
        found: The audit that found cells exposed.

    Returns:
        Coefficients of the cells' numbers of bases, one row per cut, and what each row must reach
        at least.

    Raises:
        SolverError: The audit shows neither that cells are exposed nor that they are not.
    """
    rows, least = [], []
    for findings in found.findings:
        cutter = _Cutter(lattice, values, findings)
        for exposure in findings.exposures:
            row, right = cutter.cut(exposure.cell, exposure.level)
            rows.append(sparse.csr_array(row[None, :]))
            least.append(right)
    if not rows:
        raise SolverError(
            "the audit of a rounding came to no verdict on "
            f"{lattice.problem.name_cells(found.unchecked)}; look for extreme magnitudes among the "
            "bounds"
        )
    return sparse.csr_array(sparse.vstack(rows)), np.array(least)


class _Cutter:
    """Cuts against one attacker."""

    def __init__(self, lattice: Lattice, values: Values, findings: AttackerFindings):
        self._lattice = lattice
        self._values = values
        self._findings = findings
        problem, attacker = lattice.problem, findings.attacker
        # What the attacker knows without any publication.
        everyone = Knowledge(problem.upper - problem.value, problem.value - problem.lower)
        self._everyone = everyone
        self._told = attacker.learn(problem, everyone)
        self._reopened = attacker.reopened(problem)
        evidence = findings.evidence
        keys = zip(evidence.cells.tolist(), evidence.sides.tolist(), strict=True)
        self._claim = {key: number for number, key in enumerate(keys)}

    def cut(self, cell: int, level: str) -> tuple[Floats, float]:
        """The cut of one exposed cell: its coefficients, and what they must reach."""
        problem = self._lattice.problem
        at = int(np.searchsorted(problem.sensitive, cell))
        levels = {
            "upper": (problem.upper_level, (1,)),
            "lower": (problem.lower_level, (-1,)),
            "sliding": (problem.sliding_level, (1, -1)),
        }
        asked, sides = levels[level]
        row, right = np.zeros(problem.cell_count), float(asked[at])
        for side in sides:
            terms, constant = self._side(cell, side)
            row += terms
            right -= constant
        return row, right

    def _side(self, cell: int, side: int) -> tuple[Floats, float]:
        """How far a cell can lie on one side: at most this many times the bases, and a constant."""
        lattice, problem = self._lattice, self._lattice.problem
        evidence = self._findings.evidence
        g = evidence.multipliers[[self._claim[cell, side]]].toarray().ravel()
        d = -np.asarray(problem.relations.T @ g)
        d[cell] += side
        d[np.abs(d) < ROUNDING_NOISE] = 0.0
        up, down = self._told.up.copy(), self._told.down.copy()
        if self._reopened[cell]:
            up[cell], down[cell] = self._everyone.up[cell], self._everyone.down[cell]
        rise, fall = np.maximum(d, 0.0), np.maximum(-d, 0.0)
        x, a, radius = self._values.value, problem.value, lattice.radius
        by_base = np.where(d > 0, x + radius - a <= up, a - x + radius <= down)
        slack = np.where(d > 0, np.where(by_base, radius - a, up), 0.0)
        slack = np.where(d < 0, np.where(by_base, radius + a, down), slack)
        used = d != 0
        constant = float(((rise + fall) * np.where(used, slack, 0.0)).sum())
        return np.where(by_base, d * lattice.base, 0.0), constant
