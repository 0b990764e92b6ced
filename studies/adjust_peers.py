"""[Castro2012, (18)] as printed, given to HiGHS and to SCIP without any help.

What they hand back is checked in rational numbers: a binary column that is 0 but for a tolerance,
times a large bound, leaves a sensitive cell where it must not be.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from pyscipopt import Eventhdlr, Model, quicksum
from pyscipopt.scip import PY_SCIP_EVENTTYPE as SCIP_EVENTTYPE
from scipy import sparse

from tacit.outcome import TracePoint
from tacit.problem import Booleans, Floats, Problem
from tacit.solver.highs_mip import HighsMip
from tacit.solver.mip import MipSolution


@dataclass(frozen=True, eq=False)
class Plain:
    """(18): z+, z- for every cell, y for every sensitive cell."""

    rows: sparse.csr_array[Any, Any]
    row_lower: Floats
    row_upper: Floats
    upper: Floats
    cost: Floats
    integer: Booleans

    @classmethod
    def of(cls, problem: Problem, weight: Floats) -> Plain:
        """The model of a problem; sliding levels are not in it."""
        p, a, s = problem, problem.value, problem.sensitive
        n, k, m = p.cell_count, len(s), p.relation_count
        up = np.where(p.must_publish, 0.0, p.upper - a)
        down = np.where(p.must_publish, 0.0, a - p.lower)
        own = sparse.csr_array((np.ones(k), (np.arange(k), s)), shape=(k, n))
        none = sparse.csr_array((k, n))

        def diagonal(values: Floats) -> Any:
            return sparse.csr_array(sparse.diags_array(values))

        blocks: list[Any] = [
            sparse.hstack([p.relations, -p.relations, sparse.csr_array((m, k))]),
            sparse.hstack([own, none, diagonal(-p.upper_level)]),
            sparse.hstack([own, none, diagonal(-up[s])]),
            sparse.hstack([none, own, diagonal(p.lower_level)]),
            sparse.hstack([none, own, diagonal(down[s])]),
        ]
        zero, endless = np.zeros(k), np.full(k, np.inf)
        return cls(
            sparse.csr_array(sparse.vstack(blocks)),
            np.concatenate([np.zeros(m), zero, -endless, p.lower_level, -endless]),
            np.concatenate([np.zeros(m), endless, zero, endless, down[s]]),
            np.concatenate([up, down, np.ones(k)]),
            np.concatenate([weight, weight, zero]),
            np.arange(2 * n + k) >= 2 * n,
        )

    def deviations(self, x: Floats | None) -> Floats | None:
        """The deviations that a vector represents."""
        n = (len(self.cost) - int(self.integer.sum())) // 2
        return None if x is None else x[:n] - x[n : 2 * n]


class PeerRun(NamedTuple):
    """What a solver knew when, how it ended, and its deviations (None without any)."""

    trace: list[TracePoint]
    ended: str
    deviations: Floats | None


def level_met(problem: Problem, deviations: Floats) -> float:
    """The smallest share of its level, either way, by which a sensitive cell deviates; 1 is safe.

    Nothing is rounded: deviations are taken as the rational numbers that they are.
    """
    worst = Fraction(1)
    for place, cell in enumerate(problem.sensitive.tolist()):
        z = Fraction(float(deviations[cell]))
        sides = [(z, problem.upper_level[place]), (-z, problem.lower_level[place])]
        shares = [moved / Fraction(float(level)) for moved, level in sides if level > 0]
        if shares:
            worst = min(worst, max(shares))
    return float(max(worst, Fraction(0)))


def relations_missed(problem: Problem, deviations: Floats) -> float:
    """By how much the deviations miss a relation at most, as a share of the smallest level."""
    A = problem.relations
    missed = Fraction(0)
    for row in range(A.shape[0]):
        entries = range(A.indptr[row], A.indptr[row + 1])
        total = sum(
            Fraction(float(A.data[entry])) * Fraction(float(deviations[A.indices[entry]]))
            for entry in entries
        )
        missed = max(missed, abs(Fraction(total)))
    levels = np.append(problem.lower_level, problem.upper_level)
    least = float(np.min(levels[levels > 0], initial=np.inf))
    return 0.0 if np.isinf(least) else float(missed / Fraction(least))


def verdict(problem: Problem, deviations: Floats | None, tolerance: float = 1e-6) -> str:
    """Whether a solver's table may be published: `safe`, or what is wrong with it."""
    if deviations is None:
        return ""
    met, missed = level_met(problem, deviations), relations_missed(problem, deviations)
    if met < 1 - tolerance:
        return f"EXPOSED: {met:.3g} of a level"
    if missed > tolerance:
        return f"NOT ADDITIVE: by {missed:.3g} levels"
    return "safe"


def run_highs(plain: Plain, seconds: float, seed: int) -> PeerRun:
    """HiGHS on the model."""
    began = time.monotonic()
    trace: list[TracePoint] = []

    def note(so_far: MipSolution) -> bool:
        objective = so_far.objective if np.isfinite(so_far.objective) else None
        trace.append(TracePoint(time.monotonic() - began, objective, so_far.bound))
        return False

    mip = HighsMip(
        plain.rows,
        row_lower=plain.row_lower,
        row_upper=plain.row_upper,
        lower=np.zeros(len(plain.cost)),
        upper=plain.upper,
        cost=plain.cost,
        integer=plain.integer,
        seed=seed,
    )
    found = mip.minimise(seconds=seconds, gap=1e-4, watch=note)
    note(found)
    return PeerRun(trace, found.status, plain.deviations(found.x))


class _Listener(Eventhdlr):
    """Keeps the trace of SCIP."""

    def __init__(self, trace: list[TracePoint], began: float):
        self._trace, self._began = trace, began

    def eventinit(self) -> None:
        """Begin to listen."""
        for kind in (SCIP_EVENTTYPE.BESTSOLFOUND, SCIP_EVENTTYPE.NODESOLVED):
            self.model.catchEvent(kind, self)

    def eventexit(self) -> None:
        """Stop listening."""
        for kind in (SCIP_EVENTTYPE.BESTSOLFOUND, SCIP_EVENTTYPE.NODESOLVED):
            self.model.dropEvent(kind, self)

    def eventexec(self, event: Any) -> dict[str, Any]:  # noqa: ARG002  SCIP's signature
        """Something happened."""
        self._trace.append(_known(self.model, self._began))
        return {}


def _known(model: Any, began: float) -> TracePoint:
    objective, bound = float(model.getPrimalbound()), float(model.getDualbound())
    return TracePoint(
        time.monotonic() - began,
        objective if abs(objective) < 1e19 else None,
        bound if abs(bound) < 1e19 else 0.0,
    )


def run_scip(plain: Plain, seconds: float, seed: int) -> PeerRun:
    """SCIP on the model."""
    model = Model("plain")
    model.hideOutput()
    model.setParams(
        {
            "limits/time": seconds,
            "limits/gap": 1e-4,
            "randomization/randomseedshift": seed,
            "parallel/maxnthreads": 1,
        }
    )
    variables = [
        model.addVar(vtype="I" if is_integer else "C", lb=0.0, ub=float(upper), obj=float(cost))
        for is_integer, upper, cost in zip(plain.integer, plain.upper, plain.cost, strict=True)
    ]
    rows = plain.rows
    for row in range(rows.shape[0]):
        total = quicksum(
            float(rows.data[entry]) * variables[rows.indices[entry]]
            for entry in range(rows.indptr[row], rows.indptr[row + 1])
        )
        low, high = float(plain.row_lower[row]), float(plain.row_upper[row])
        if low == high:
            model.addCons(total == low)
        elif np.isfinite(low):
            model.addCons(total >= low)
        else:
            model.addCons(total <= high)
    trace: list[TracePoint] = []
    began = time.monotonic()
    model.includeEventhdlr(_Listener(trace, began), "trace", "keeps the trace")
    model.optimize()
    trace.append(_known(model, began))
    x = None
    if model.getNSols() > 0:
        best = model.getBestSol()
        x = np.array([model.getSolVal(best, variable) for variable in variables])
    return PeerRun(trace, str(model.getStatus()), plain.deviations(x))
