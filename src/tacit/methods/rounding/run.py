"""`round`: controlled rounding."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.attack.audit import audit
from tacit.attack.knowledge import Attacker
from tacit.clock import Clock, TimeUpError
from tacit.errors import ProblemError
from tacit.methods.course import infeasible
from tacit.methods.inputs import chosen_weights, expect_problem, refuse
from tacit.methods.rounding.lattice import Lattice
from tacit.methods.rounding.options import Algorithm, RoundOptions
from tacit.methods.rounding.search import Search
from tacit.observer import Observer
from tacit.outcome import Outcome, Report, Status
from tacit.problem import ADDITIVITY_TOLERANCE, Floats, Problem

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
    hopeless = refuse(problem, tolerance)
    if hopeless:
        return infeasible("round", chosen.algorithm, chosen.seed, hopeless)
    observer = observer or Observer()
    observer.on_start("round")
    search = Search(problem, chosen, attackers, observer)
    outcome = None
    if chosen.algorithm == "random":
        with search.clock:
            # Nothing comes after the audit that time would have to be kept for.
            search.clock.reserve = 0.0
            outcome = _random(search, weight)
    else:
        reasons: list[str] = []
        try:
            with search.clock:
                reasons = _by_steps(search, weight)
        except KeyboardInterrupt:
            search.stopped_by = "user"
        if search.candidate is not None and (search.stopped_by == "user" or search.clock.ran_out):
            _confirm_at_last(search)
        outcome = _outcome(search, reasons)
    if outcome is None:
        search.stopped_by = "time"
        outcome = _outcome(search, [])
    observer.on_end(outcome)
    return outcome


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


def _by_steps(search: Search, weight: Floats) -> list[str]:
    """Round within as few steps as it takes; returns why that cannot be, if it cannot."""
    reasons: list[str] = []
    for steps in range(search.options.steps, search.options.last_steps + 1):
        lattice = Lattice(search.problem, weight, search.options, steps, search.attackers)
        reasons = lattice.obstacles()
        if reasons:
            continue
        search.begin(lattice)
        _until_safe(search)
        if search.best is not None or not search.impossible:
            return []
        reasons = [_why_none(search)]
    return reasons


def _until_safe(search: Search) -> None:
    """Find roundings until the audit finds one safe, or there is none, or no more time."""
    from tacit.methods.rounding.exact import auto, flow, milp
    from tacit.methods.rounding.partition import partition

    algorithms = {"auto": auto, "flow": flow, "milp": milp, "partition": partition}
    run = algorithms[search.options.algorithm]
    while True:
        run(search)
        if search.candidate is None or search.confirm() or search.pressed():
            return


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


def _random(search: Search, weight: Floats) -> Outcome:
    """Round at random; what comes out is audited like any other rounding."""
    from tacit.methods.rounding.unbiased import unbiased

    lattice = Lattice(search.problem, weight, search.options, 1, search.attackers)
    counts = unbiased(lattice, search.options.seed)
    values = lattice.values_of(counts)
    search.raise_bound(lattice.least_cost)
    objective = lattice.cost_of(counts)
    checked = audit(
        search.problem,
        values,
        cells="sensitive",
        exact=False,
        attackers=search.attackers,
        observer=search.observer,
        tolerance=None,
    )
    common: dict[str, Any] = {
        "method": "round",
        "algorithm": search.options.algorithm,
        "seed": search.options.seed,
    }
    if not checked.safe:
        cells = sorted({*checked.exposed_cells, *checked.unchecked})
        return Outcome(
            status=Status.INTERRUPTED,
            stopped_by="heuristic",
            report=Report(bound=search.bound, seconds=search.seconds),
            exposed=tuple(cells),
            message="rounding at random heeds no levels, and leaves cells exposed: "
            f"{search.problem.name_cells(cells)}; choose algorithm auto, or {lattice.advice()}",
            **common,
        )
    search.better(objective)
    return Outcome(
        status=Status.FEASIBLE,
        stopped_by="heuristic",
        solution=values,
        report=search.report(objective),
        message=_NOT_ADDITIVE if checked.faults else "",
        audit=checked,
        **common,
    )


def _outcome(search: Search, reasons: list[str]) -> Outcome:
    options = search.options
    if search.best is None and reasons:
        return infeasible("round", options.algorithm, options.seed, reasons, search.seconds)
    if search.best is None:
        return Outcome(
            status=Status.INTERRUPTED,
            stopped_by=search.stopped_by or "exhausted",
            report=search.report(None),
            method="round",
            algorithm=options.algorithm,
            seed=options.seed,
            exposed=tuple(search.exposed),
        )
    lattice = search.lattice
    objective = search.above_bound(lattice.cost_of(search.best))
    reached = search.gap_of(objective) <= options.gap
    more = lattice.steps > options.steps
    return Outcome(
        status=Status.OPTIMAL if reached else Status.FEASIBLE,
        stopped_by="gap" if reached else search.stopped_by or "exhausted",
        solution=lattice.values_of(search.best),
        report=search.report(objective),
        method="round",
        algorithm=options.algorithm,
        seed=options.seed,
        message=f"within {lattice.steps} steps, because there is no safe rounding within fewer"
        if more
        else "",
        audit=search.audit,
    )
