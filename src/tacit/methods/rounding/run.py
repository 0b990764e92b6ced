"""`round`: controlled rounding."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from tacit.attack.knowledge import Attacker
from tacit.clock import Clock
from tacit.methods.engine.driver import protected
from tacit.methods.inputs import chosen_weights, expect_problem, refuse_negative_weights
from tacit.methods.rounding.model import RandomSearch, Search
from tacit.methods.rounding.options import Algorithm, RoundOptions
from tacit.observer import Observer
from tacit.outcome import Outcome
from tacit.problem import ADDITIVITY_TOLERANCE, Problem

_SECRET_BITS = 128
"""The number of seeds, large enough that nobody can try them all."""


def round(  # noqa: A001 - the name of the method; builtins are not used under it here
    problem: Problem,
    base: float = RoundOptions.base,
    *,
    algorithm: Algorithm = RoundOptions.algorithm,
    steps: int = RoundOptions.steps,
    zero_restricted: bool = RoundOptions.zero_restricted,
    most_steps: int | None = RoundOptions.most_steps,
    time_limit: float = RoundOptions.time_limit,
    gap: float = RoundOptions.gap,
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
        steps: Every published value lies at most this many bases from the true one.
        zero_restricted: Multiples of the base keep their value. Cells that must be published
            always do, where they are multiples.
        most_steps: Where no rounding within `steps` exists, allow one step more at a time, up
            to this many; by default none.
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
    weight = chosen_weights(problem, weights)
    refuse_negative_weights(problem, weight)
    clock = Clock(chosen.time_limit)
    kind = RandomSearch if chosen.algorithm == "random" else Search
    return protected(
        problem,
        "round",
        chosen,
        lambda case: kind(case, weight, chosen, observer, clock),
        clock=clock,
        attackers=attackers,
        agreeing=[problem.value],
        observer=observer,
        tolerance=tolerance,
    )


def _seed(algorithm: Algorithm) -> int:
    """A seed that everybody may know, or one that nobody can guess where that matters."""
    return secrets.randbits(_SECRET_BITS) if algorithm == "random" else RoundOptions.seed
