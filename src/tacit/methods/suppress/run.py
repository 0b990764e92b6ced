"""`suppress`: complete cell suppression."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.attack.audit import Audit
from tacit.attack.knowledge import Attacker
from tacit.clock import check_time
from tacit.methods.course import infeasible
from tacit.methods.inputs import WeightKind, chosen_weights, expect_problem, refuse
from tacit.methods.suppress.options import Algorithm, SuppressOptions
from tacit.methods.suppress.proof import Proof
from tacit.methods.suppress.search import OutgrownError, Search
from tacit.observer import Observer
from tacit.outcome import Outcome, Status, Suppression
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
    weights: WeightKind | npt.ArrayLike = "given",
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
    expect_problem(problem)
    chosen = SuppressOptions.from_mapping(
        {"algorithm": algorithm, "time_limit": time_limit, "gap": gap, "seed": seed, **options}
    )
    problem = problem.replace(weight=chosen_weights(problem, weights))
    hopeless = refuse(problem, tolerance)
    if hopeless:
        return infeasible("suppress", chosen.algorithm, seed, hopeless)
    observer = observer or Observer()
    observer.on_start("suppress")
    search = Search(problem, chosen, attackers, observer)
    proof = Proof(search, problem)
    try:
        with search.clock:
            _run(search)
        if search.reasons:
            outcome = infeasible("suppress", chosen.algorithm, seed, search.reasons, search.seconds)
            observer.on_end(outcome)
            return outcome
    except KeyboardInterrupt:
        search.stopped_by = "user"
    search.finished()
    proof.last()
    outcome = _outcome(search, proof.audit if search.best is not None else None)
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
    search.may_start_again = True
    while True:
        try:
            algorithm(search)
        except OutgrownError:
            search.start_again()
        else:
            break
    if search.best is not None and search.stopped_by in ("", "gap", "heuristic"):
        _tidy(search)


def _tidy(search: Search) -> None:
    """Publish what the best pattern suppresses for nothing: cells that cost nothing."""
    assert search.best is not None
    idle = np.flatnonzero(search.best & search.secondary & (search.problem.weight == 0))
    for cell in idle.tolist():
        check_time()
        assert search.best is not None
        fewer = search.best.copy()
        fewer[cell] = False
        search.tidy(fewer)


def _outcome(search: Search, checked: Audit | None) -> Outcome:
    options, problem = search.options, search.problem
    found = search.best
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
        report=search.report(None if found is None else search.objective),
        algorithm=options.algorithm,
        seed=options.seed,
        message=message,
        audit=checked,
        exposed=exposed,
    )
