"""`suppress`: complete cell suppression."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tacit.attack.audit import audit
from tacit.attack.knowledge import Attacker
from tacit.errors import InputError, ProblemError, TacitError
from tacit.methods.suppress.options import Algorithm, SuppressOptions
from tacit.methods.suppress.search import Search
from tacit.observer import Observer
from tacit.outcome import Outcome, Report, Status, Suppression
from tacit.problem import ADDITIVITY_TOLERANCE, Problem

_ALGORITHMS = {
    "auto": ("exact", "auto"),
    "branch-and-cut": ("exact", "branch_and_cut"),
    "paths": ("exact", "paths"),
    "hypercube": ("hypercube.run", "hypercube"),
    "modular": ("modular", "modular"),
    "benders": ("benders", "classic"),
    "stabilized": ("benders", "stabilized"),
    "monolithic": ("monolithic", "monolithic"),
}


def suppress(
    problem: Problem,
    *,
    algorithm: Algorithm = "auto",
    time_limit: float = 60.0,
    gap: float = 1e-4,
    seed: int = 1,
    weights: Literal["given", "unit", "value"] | npt.ArrayLike = "given",
    attackers: Sequence[Attacker] = (),
    observer: Observer | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
    **options: Any,
) -> Outcome:
    """Suppress as little as possible so that nobody can come too close to a sensitive cell.

    Args:
        problem: The table.
        algorithm: How to search; see `SuppressOptions`.
        time_limit: Seconds after which the best safe pattern so far is returned.
        gap: Stop when (objective - bound) / objective is at most this.
        seed: The same seed gives the same pattern, unless the time limit cuts in.
        weights: What the suppression of a cell costs: as `given` by the problem, `unit`, the
            cell's `value` (its size, at least 1), or an array, for instance of the numbers of
            contributors.
        attackers: Who attacks; by default a reader who knows nothing more than the
            publication, the relations and the bounds.
        observer: Listens to bounds and solutions; may stop the search.
        tolerance: How exactly the relations must hold (see `Problem.validate`).
        **options: Further options, see `SuppressOptions`.

    Returns:
        The outcome. A pattern in it is safe, as an audit that shares nothing with the search
        has found; the evidence is in `outcome.audit`.

    Raises:
        ProblemError: The table contradicts itself.

    >>> from tacit import examples
    >>> example = examples.get("003-figure-11")
    >>> outcome = suppress(example.problem, weights="unit")
    >>> outcome.status.value, outcome.report.objective
    ('optimal', 4.0)
    """
    chosen = SuppressOptions.from_mapping(
        {"algorithm": algorithm, "time_limit": time_limit, "gap": gap, "seed": seed, **options}
    )
    problem = problem.replace(weight=_weights(problem, weights))
    hopeless = _refuse(problem, tolerance)
    if hopeless:
        return _infeasible(chosen, hopeless, None)
    observer = observer or Observer()
    observer.on_start("suppress")
    search = Search(problem, chosen, attackers, observer)
    try:
        _run(search)
        if search.reasons:
            return _infeasible(chosen, search.reasons, search)
    except KeyboardInterrupt:
        search.stopped_by = "user"
    search.finished()
    outcome = _outcome(search)
    observer.on_end(outcome)
    return outcome


def _run(search: Search) -> None:
    if len(search.problem.sensitive) == 0:
        search.offer(np.zeros(search.problem.cell_count, bool))
        search.raise_bound(0.0)
        search.stopped_by = "gap"
        return
    module, function = _ALGORITHMS[search.options.algorithm]
    algorithm = getattr(importlib.import_module(f"tacit.methods.suppress.{module}"), function)
    algorithm(search)
    if search.best is not None and search.stopped_by in ("", "gap", "heuristic"):
        _tidy(search)


def _tidy(search: Search) -> None:
    """Publish what the best pattern suppresses for nothing: cells that cost nothing."""
    assert search.best is not None
    idle = np.flatnonzero(search.best & search.secondary & (search.problem.weight == 0))
    for cell in idle.tolist():
        assert search.best is not None
        fewer = search.best.copy()
        fewer[cell] = False
        search.tidy(fewer)


def _weights(problem: Problem, weights: Any) -> Any:
    if not isinstance(weights, str):
        return weights
    if weights == "unit":
        return np.ones(problem.cell_count)
    if weights == "value":
        return np.where(problem.value == 0, 1.0, np.abs(problem.value))
    if weights == "given":
        return problem.weight
    raise InputError(f"weights must be 'given', 'unit', 'value' or an array; not {weights!r}")


def _refuse(problem: Problem, tolerance: float) -> list[str]:
    """Refuse a table that contradicts itself; levels that cannot be met are told apart."""
    found = problem.violations(tolerance)
    wrong = [violation for violation in found if violation.condition != "levels"]
    if wrong:
        raise ProblemError(
            "\n".join(violation.message for violation in wrong),
            cells=[cell for violation in wrong for cell in violation.cells],
            relations=[relation for violation in wrong for relation in violation.relations],
        )
    return [violation.message for violation in found]


def _infeasible(options: SuppressOptions, reasons: list[str], search: Search | None) -> Outcome:
    outcome = Outcome(
        status=Status.INFEASIBLE,
        stopped_by="infeasible",
        report=Report(bound=np.inf, seconds=0.0 if search is None else search.seconds),
        algorithm=options.algorithm,
        seed=options.seed,
        message="\n".join(reasons),
    )
    if search is not None:
        search.observer.on_end(outcome)
    return outcome


def _outcome(search: Search) -> Outcome:
    options, problem = search.options, search.problem
    found = search.best
    checked = None
    if found is not None:
        checked = audit(
            problem,
            found,
            cells="sensitive",
            exact=False,
            attackers=[rival.attacker for rival in search.rivals],
            # The table was judged when the search began.
            tolerance=None,
        )
        if not checked.safe:
            raise TacitError(
                "the search called a pattern safe that the audit does not: this is a fault of "
                f"tacit, please report it ({problem.name_cells(checked.exposed_cells)})"
            )
    if found is None:
        status = Status.INFEASIBLE if search.stopped_by == "infeasible" else Status.INTERRUPTED
    else:
        status = Status.OPTIMAL if search.gap <= options.gap else Status.FEASIBLE
    if status is Status.OPTIMAL:
        search.stopped_by = "gap"
    message = ""
    if status is Status.INFEASIBLE:
        message = "no pattern meets all conditions at once, the number of cells included"
    exposed: tuple[int, ...] = ()
    if status is Status.INTERRUPTED:
        exposed = tuple(search.unprotected.tolist())
        message = (
            f"{len(exposed)} of {len(problem.sensitive)} sensitive cells were still exposed or not "
            f"looked at: {problem.name_cells(exposed)}"
        )
    return Outcome(
        status=status,
        stopped_by=search.stopped_by or "exhausted",
        solution=None if found is None else Suppression(found),
        report=Report(
            objective=None if found is None else search.objective,
            bound=search.bound,
            seconds=search.seconds,
            iterations=search.iterations,
            cuts=search.cut_count,
            trace=search.trace,
        ),
        algorithm=options.algorithm,
        seed=options.seed,
        message=message,
        audit=checked,
        exposed=exposed,
    )
