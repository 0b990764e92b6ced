"""Compiles every kernel once, so that no first call has to: `python -m tacit.precompile`.

Kernels are compiled by numba when they are first called and kept in a cache beside their module.
That takes some seconds, which a short time limit does not have. Small tables are put through every
algorithm here; installation by `make` does it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args, get_type_hints

from tacit.errors import TacitError
from tacit.generators import generate_1h2d, generate_2d, generate_3d, random_hierarchy
from tacit.methods.registry import METHODS
from tacit.methods.suppress.run import suppress
from tacit.problem import Problem

_SECONDS = 60.0
"""The time limit of one call: enough to compile, and small tables need no more."""


def precompile() -> int:
    """Put small tables through every algorithm; returns how many calls that took."""
    calls = 0
    for problem in _tables():
        for name, method in METHODS.items():
            algorithms = get_args(get_type_hints(method.options())["algorithm"])
            for algorithm in algorithms:
                options = {"base": 5.0} if name == "round" else {}
                try:
                    method.run()(problem, algorithm=algorithm, time_limit=_SECONDS, **options)
                except TacitError:
                    # Some algorithms are for some tables only.
                    continue
                calls += 1
    suppress(_with_strips(), algorithm="paths", time_limit=_SECONDS)
    return calls + 1


def _tables() -> Iterator[Problem]:
    """Small tables that reach all kernels: a network, and one that is not."""
    yield generate_1h2d("3-4-20", seed=1)
    yield generate_3d(3, 3, 3, seed=1).problem()


def _with_strips() -> Problem:
    """A table with two hierarchies, just large enough to be protected in strips."""
    rows, columns = (random_hierarchy(30, depth=2, seed=seed) for seed in (1, 2))
    return generate_2d(rows, columns, seed=1).problem()


if __name__ == "__main__":
    precompile()
