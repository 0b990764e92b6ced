"""`suppress`: complete cell suppression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from tacit.attack.knowledge import Attacker, attackers_of
from tacit.clock import Clock
from tacit.methods.engine.driver import protected
from tacit.methods.inputs import WeightKind, chosen_weights, expect_problem
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.options import Algorithm, SuppressOptions
from tacit.methods.suppress.preferences import TieBreak
from tacit.observer import Observer
from tacit.outcome import Outcome
from tacit.problem import ADDITIVITY_TOLERANCE, Problem


def suppress(
    problem: Problem,
    *,
    algorithm: Algorithm = SuppressOptions.algorithm,
    time_limit: float = SuppressOptions.time_limit,
    gap: float = SuppressOptions.gap,
    seed: int = SuppressOptions.seed,
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
        seed: The same seed gives the same pattern, unless the time limit cuts in, or several
            cores (`jobs`) work on a larger table.
        weights: What the suppression of a cell costs: as `given` by the problem, `unit`, the
            cell's `value` (its size, at least 1), or an array, for instance of the numbers of
            contributors.
        attackers: Who attacks; by default a reader who knows nothing more than the
            publication, the relations and the bounds, who joins others if the table has insiders.
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
    clock = Clock(chosen.time_limit)
    weight = chosen_weights(problem, weights)
    ties = TieBreak.of(problem, weight) if chosen.prefer == "leaves" else None
    if ties is not None:
        weight = weight + ties.added
        observer = ties.listener(observer or Observer())
    outcome = protected(
        problem.replace(weight=weight),
        "suppress",
        chosen,
        lambda case: Search(case.problem, chosen, case.attackers, observer, clock),
        clock=clock,
        attackers=attackers_of(problem, chosen.singletons, attackers),
        # These count cells, and merged ones would count once.
        merges=chosen.singletons != "local" and chosen.max_suppressed is None,
        observer=observer,
        tolerance=tolerance,
    )
    return outcome if ties is None else ties.told(outcome, chosen.gap)
