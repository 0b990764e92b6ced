"""Tables too large for brute force, and searches that have begun on them."""

from __future__ import annotations

import numpy as np

from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.heuristics.first_pattern import first_pattern
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.options import SuppressOptions
from tacit.problem import Problem
from tests.attack.tables import Codes, Matrix, crossed, flat, linked

TABLES = ["2-D", "1H2D", "3-D", "linked"]
"""Kinds of `table`."""


def cube(seed: int, size: int = 3) -> Problem:
    """A three-dimensional table that is no network, with weights of 1."""
    rng = np.random.default_rng(seed)
    A, sums = crossed([flat(size), flat(size), flat(size)])
    value = sums @ np.floor(rng.lognormal(3.0, 1.2, sums.shape[1]))
    sensitive = np.sort(rng.choice(len(value), 2 * size, replace=False))
    level = np.maximum(np.ceil(value[sensitive] * 0.15), 1.0)
    return Problem(
        value=value,
        upper=np.full(len(value), 2 * value.max()),
        relations=A,
        rhs=A @ value,
        sensitive=sensitive,
        upper_level=level,
        lower_level=np.minimum(level, value[sensitive]),
    )


def two_hierarchies(seed: int) -> Problem:
    """A table with two hierarchies, which is no network; every fifth cell or so is sensitive."""
    rng = np.random.default_rng(seed)
    rows = Codes((-1, 0, 0, 1, 1, 2, 2)) if seed % 2 else Codes((-1, 0, 0, 0, 1, 1))
    A, sums = crossed([rows, Codes((-1, 0, 0, 1, 1, 1))])
    value = sums @ np.floor(rng.lognormal(3.0, 1.2, sums.shape[1]))
    sensitive = np.sort(rng.choice(len(value), len(value) // 6, replace=False))
    level = np.maximum(np.ceil(value[sensitive] * 0.1), 1.0)
    return Problem(
        value=value,
        upper=np.full(len(value), 2 * value.max()),
        weight=np.maximum(value, 1.0) if seed % 3 else np.ones(len(value)),
        relations=A,
        rhs=A @ value,
        sensitive=sensitive,
        upper_level=level,
        lower_level=np.minimum(level, value[sensitive]),
    )


def medium_table(seed: int) -> Problem:
    """A table too large for brute force, with finite bounds and levels that can be met."""
    rng = np.random.default_rng(seed)
    structures: list[tuple[Matrix, Matrix]] = [
        crossed([flat(4), flat(4)]),
        crossed([flat(3), flat(2), flat(2)]),
        crossed([flat(2), flat(6)]),
        linked([flat(3), flat(3)], [flat(3), flat(4)]),
    ]
    A, sums = structures[seed % len(structures)]
    value = sums @ np.floor(rng.lognormal(2.5, 1.0, sums.shape[1]))
    n = len(value)
    sensitive = np.sort(rng.choice(n, 4, replace=False))
    level = np.maximum(np.ceil(value[sensitive] * 0.15), 1.0)
    weight = [np.ones(n), np.maximum(value, 1.0), rng.uniform(0.1, 2.0, n)][seed % 3]
    return Problem(
        value=value,
        upper=np.full(n, value.max() * 2 + 50),
        weight=weight,
        relations=A,
        rhs=A @ value,
        sensitive=sensitive,
        upper_level=level,
        lower_level=np.minimum(level, value[sensitive]),
    )


def table(kind: str, seed: int) -> Problem:
    """A table that takes the exact algorithms some work: dozens of cells, many sensitive."""
    rng = np.random.default_rng(seed)
    rows = Codes((-1, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3))
    structures: dict[str, tuple[Matrix, Matrix]] = {
        "2-D": crossed([flat(7), flat(7)]),
        "1H2D": crossed([rows, flat(5)]),
        "3-D": crossed([flat(3), flat(4), flat(3)]),
        "linked": linked([flat(5), flat(4)], [flat(5), flat(5)]),
    }
    A, sums = structures[kind]
    value = sums @ np.floor(rng.lognormal(3.0, 1.2, sums.shape[1]))
    n = len(value)
    sensitive = np.sort(rng.choice(n, n // 9, replace=False))
    level = np.maximum(np.ceil(value[sensitive] * 0.2), 1.0)
    return Problem(
        value=value,
        upper=np.full(n, value.max() * 2 + 50),
        weight=rng.uniform(1.0, 2.0, n),
        relations=A,
        rhs=A @ value,
        sensitive=sensitive,
        upper_level=level,
        lower_level=np.minimum(level, value[sensitive]),
        sliding_level=np.where(np.arange(len(level)) % 3 == 0, 2.5 * level, 0.0),
    )


def started(problem: Problem) -> tuple[Search, Constructor]:
    """A search with a first pattern."""
    search = Search(problem, SuppressOptions(time_limit=60))
    constructor = Constructor(search)
    first_pattern(search, constructor)
    return search, constructor
