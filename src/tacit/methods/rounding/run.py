"""`round`: controlled rounding."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from tacit.attack.knowledge import Attacker
from tacit.clock import Clock, TimeUpError
from tacit.errors import ProblemError
from tacit.methods.engine.driver import Result, audited, drive, infeasible
from tacit.methods.inputs import (
    chosen_weights,
    expect_problem,
    refuse_contradictions,
    unattainable_levels,
)
from tacit.methods.rounding.lattice import Lattice
from tacit.methods.rounding.options import Algorithm, RoundOptions
from tacit.methods.rounding.search import Search
from tacit.observer import Observer
from tacit.outcome import Outcome, StopReason
from tacit.problem import ADDITIVITY_TOLERANCE, Floats, Problem

_ALGORITHMS = {
    "auto": ("tacit.methods.rounding.exact", "auto"),
    "flow": ("tacit.methods.rounding.exact", "flow"),
    "milp": ("tacit.methods.rounding.exact", "milp"),
    "partition": ("tacit.methods.rounding.partition", "partition"),
}
_SECRET_BITS = 128
"""So many that trying all seeds is out of the question."""

_LEAST = 0.5
"""Seconds for an audit that must take place after the time is up."""
_NOT_ADDITIVE = (
    "rounded at random cell by cell: every expected value is the true one, but the published "
    "values do not add up"
)


def round(  # noqa: A001 - the name of the method; builtins are not used under it here
    problem: Problem,
    base: float = 5.0,
    *,
    algorithm: Algorithm = "auto",
    steps: int = 1,
    zero_restricted: bool = False,
    most_steps: int | None = None,
    time_limit: float = 60.0,
    gap: float = 1e-4,
    seed: int | None = None,
    weights: Any = "given",
    attackers: Sequence[Attacker] = (),
    observer: Observer | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
    **options: Any,
) -> Outcome:
    """Publish multiples of a base that add up, as near to the true table as possible.

    Readers are taken to know base and steps. A rounding is safe when what they can deduce about
    a sensitive cell from all published values together respects its levels.

    Args:
        problem: The table.
        base: Every published value is a multiple of this.
        algorithm: How to search; see `RoundOptions`. `random` is unbiased but not additive.
        steps: Every published value lies at most so many bases from the true one.
        zero_restricted: Multiples of the base keep their value. Cells that must be published
            always do, where they are multiples.
        most_steps: Where no rounding within `steps` exists, allow one step more at a time, up
            to so many; by default none.
        time_limit: Seconds after which the best safe rounding so far is returned.
        gap: Stop when (objective - bound) / objective is at most this.
        seed: The same seed gives the same rounding, unless the time limit cuts in. By default 1;
            for `random`, which can be undone with it, one that the operating system draws anew
            and that only the outcome tells. A seed of your own must be unpredictable and stay
            secret.
        weights: What a unit of distance costs: as `given` by the problem, `unit`, the cell's
            `value` (its size, at least 1), or an array.
        attackers: Who attacks; by default a reader who knows nothing more than the
            publication, base and steps, the relations and the bounds.
        observer: Listens to bounds and solutions; may stop the search.
        tolerance: How exactly the relations must hold (see `Problem.validate`).
        **options: Further options, see `RoundOptions`.

    Returns:
        The outcome; its solution is of type `Values`, whose `radius` is what readers know. The
        objective is the sum of weight times distance.

    Raises:
        ProblemError: The table contradicts itself.

    >>> from tacit import examples
    >>> outcome = round(examples.get("003-figure-10").problem, 5)
    >>> outcome.status.value, outcome.report.objective
    ('optimal', 20.0)
    """
    expect_problem(problem)
    chosen = RoundOptions.from_mapping(
        {
            "base": base,
            "algorithm": algorithm,
            "steps": steps,
            "zero_restricted": zero_restricted,
            "most_steps": most_steps,
            "time_limit": time_limit,
            "gap": gap,
            "seed": _seed(algorithm) if seed is None else seed,
            **options,
        }
    )
    weight = _weights(problem, weights)
    clock = Clock(chosen.time_limit)
    refuse_contradictions(problem, tolerance)
    hopeless = unattainable_levels(problem, tolerance)
    if hopeless:
        return infeasible("round", chosen, hopeless)
    observer = observer or Observer()
    kind = _AtRandom if chosen.algorithm == "random" else _Run

    def prepare() -> Search:
        return kind(weight, problem, chosen, attackers, observer, clock)

    return drive(prepare, "round", chosen, observer, clock)


class _Run(Search):
    """One call of `round`."""

    def __init__(self, weight: Floats, *given: Any):
        super().__init__(*given)
        self._weight = weight

    def run(self) -> None:
        """Round within as few steps as it takes."""
        reasons: list[str] = []
        for steps in range(self.options.steps, self.options.last_steps + 1):
            lattice = Lattice(self.problem, self._weight, self.options, steps, self.attackers)
            reasons = lattice.obstacles()
            if reasons:
                continue
            self.begin(lattice)
            self._until_safe()
            if self.best is not None or not self.impossible:
                return
            reasons = [_why_none(self)]
        self.reasons = reasons

    def _until_safe(self) -> None:
        """Find roundings until the audit finds one safe, or there is none, or no more time."""
        module, name = _ALGORITHMS[self.options.algorithm]
        algorithm = getattr(import_module(module), name)
        while True:
            algorithm(self)
            if self.candidate is None or self.confirm() or self.should_stop():
                return

    def conclude(self) -> Result | None:
        """The best rounding that an audit found safe."""
        cut_short = self.stop_reason is StopReason.USER or self.clock.ran_out
        if self.candidate is not None and cut_short:
            _confirm_at_last(self)
        if self.best is None:
            return None
        lattice = self.lattice
        message = ""
        if lattice.steps > self.options.steps:
            message = (
                f"within {lattice.steps} steps, because there is no safe rounding within fewer"
            )
        objective = self.above_bound(lattice.cost_of(self.best))
        return Result(lattice.values_of(self.best), objective, self.audit, message)

    def excuse(self) -> tuple[str, Sequence[int]]:
        """Which cells the last rounding left exposed."""
        return "", self.exposed


class _AtRandom(_Run):
    """Rounding at random; what comes out is audited like any other rounding."""

    def run(self) -> None:
        """Round."""
        from tacit.methods.rounding.unbiased import unbiased

        # Nothing comes after the audit that time would have to be kept for.
        self.clock.reserve = 0.0
        self.lattice = Lattice(self.problem, self._weight, self.options, 1, self.attackers)
        counts = unbiased(self.lattice, self.options.seed)
        self.raise_bound(self.lattice.least_cost)
        values = self.lattice.values_of(counts)
        self.audit = audited(self.problem, values, self.attackers, observer=self.observer)
        self.stop(StopReason.HEURISTIC)
        if self.audit.safe:
            self.best = counts
            self.better(self.lattice.cost_of(counts))
        else:
            self.exposed = sorted({*self.audit.exposed_cells, *self.audit.unchecked})

    def conclude(self) -> Result | None:
        """The rounding, if it is safe."""
        if self.best is None or self.audit is None:
            return None
        message = _NOT_ADDITIVE if self.audit.faults else ""
        values = self.lattice.values_of(self.best)
        return Result(values, self.objective, self.audit, message, may_be_proven=False)

    def excuse(self) -> tuple[str, Sequence[int]]:
        """Why chance did not do."""
        if self.audit is None:
            return "", ()
        return (
            "rounding at random heeds no levels, and leaves cells exposed: "
            f"{self.problem.name_cells(self.exposed)}; choose algorithm auto, or "
            f"{self.lattice.advice()}"
        ), self.exposed


def _seed(algorithm: Algorithm) -> int:
    """A seed that everybody may know, or one that nobody can guess where that matters."""
    return secrets.randbits(_SECRET_BITS) if algorithm == "random" else RoundOptions.seed


def _confirm_at_last(search: Search) -> None:
    """Have the last candidate audited in the time that was kept for it."""
    try:
        with Clock(max(search.options.time_limit - search.seconds, _LEAST)):
            search.confirm()
    except TimeUpError:
        # Whatever was safe before still is.
        pass


def _weights(problem: Problem, weights: Any) -> Floats:
    weight = chosen_weights(problem, weights)
    negative = np.flatnonzero(weight < 0)
    if len(negative):
        raise ProblemError(
            f"the weight is negative: {problem.name_cells(negative)}", cells=negative
        )
    return weight


def _why_none(search: Search) -> str:
    options, lattice = search.options, search.lattice
    kept = " that keeps multiples as they are" if options.zero_restricted else ""
    within = f"within {lattice.steps} step{'s' * (lattice.steps > 1)} of {options.base:g}"
    if not search.cut_count:
        away = ""
        if len(search.problem.sensitive):
            away = " without a multiple that gives a sensitive cell away"
        return (
            f"no rounding {within}{kept} adds up{away}; "
            + ("let multiples move (zero_restricted), or " if kept else "")
            + f"allow more steps, such as most_steps={lattice.steps + 1}"
        )
    named = search.problem.name_cells(search.exposed)
    return f"no rounding {within}{kept} protects {named}; {lattice.advice()}"
