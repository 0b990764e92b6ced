"""Tables in which some cells are equal to others."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.problem import Problem


def with_chains(problem: Problem, rng: np.random.Generator, count: int) -> Problem:
    """The problem with further cells, each equal to one that was there before."""
    n = problem.cell_count
    copied = [int(rng.integers(n + new)) for new in range(count)]
    value, lower, upper = (list(column) for column in (problem.value, problem.lower, problem.upper))
    weight, publish = list(problem.weight), list(problem.must_publish)
    A = sparse.lil_array((problem.relation_count + count, n + count))
    A[: problem.relation_count, :n] = problem.relations.toarray()
    sensitive, levels = list(problem.sensitive), list(problem.upper_level)
    for new, old in enumerate(copied):
        value.append(value[old])
        lower.append(lower[old] - rng.integers(3))
        upper.append(upper[old] + rng.integers(3))
        weight.append(float(rng.integers(1, 9)))
        publish.append(False)
        factor = float(rng.integers(1, 4))
        A[problem.relation_count + new, old] = factor
        A[problem.relation_count + new, n + new] = -factor
        if rng.random() < 0.2 and upper[n + new] > value[n + new] + 1 and not publish[old]:
            sensitive.append(n + new)
            levels.append(1.0)
    none = np.zeros(len(sensitive) - len(problem.sensitive))
    return Problem(
        value=value,
        lower=lower,
        upper=upper,
        weight=weight,
        relations=A.tocsr(),
        rhs=np.append(problem.rhs, np.zeros(count)),
        sensitive=sensitive,
        upper_level=levels,
        lower_level=np.append(problem.lower_level, none),
        sliding_level=np.append(problem.sliding_level, none),
        must_publish=publish,
    )
