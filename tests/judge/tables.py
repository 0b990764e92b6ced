"""Random tables of every kind and size, made without tacit's own generators."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from tacit.problem import Problem
from tests.judge.solvers import Floats

MAGNITUDES = (1.0, 1e12, 1e-9, 1e3, 1e-6, 1e9, 1e6, 1e-3)
"""How large a typical value is."""
KINDS = ("1-D", "2-D", "3-D", "hierarchy", "two hierarchies", "linked", "sparse")
NUMBERS = ("whole", "decimals", "float")


@dataclass(frozen=True)
class Drawn:
    """A random table and what it was drawn as.

    Attributes:
        problem: The table.
        kind: How its relations are made: one of `KINDS`.
        numbers: What its values look like: one of `NUMBERS`.
        magnitude: How large a typical value is.
    """

    problem: Problem
    kind: str
    numbers: str
    magnitude: float


@dataclass(frozen=True)
class Tree:
    """A dimension: the parent of each node, -1 for the root, parents first."""

    parent: tuple[int, ...]

    @property
    def leaves(self) -> list[int]:
        """The nodes without children."""
        return [node for node in range(len(self.parent)) if node not in self.parent]

    def children(self, node: int) -> list[int]:
        """The nodes right below one."""
        return [child for child, parent in enumerate(self.parent) if parent == node]

    def below(self, node: int) -> list[int]:
        """The leaves below a node."""
        children = self.children(node)
        return [leaf for child in children for leaf in self.below(child)] or [node]


def draw(seed: int, *, magnitude: float, largest: int | None = None) -> Drawn:
    """The table of a seed.

    Args:
        seed: The same seed gives the same table.
        magnitude: How large a typical value is.
        largest: No more cells than this, roughly; by default mostly small tables, some with
            up to 400 cells.
    """
    rng = np.random.default_rng([seed, 7])
    if largest is None:
        largest = int(rng.choice([12, 20, 60, 400], p=[0.35, 0.3, 0.3, 0.05]))
    kind, numbers = str(rng.choice(KINDS)), str(rng.choice(NUMBERS))
    if kind == "sparse":
        value, relations = _sparse(rng, largest, numbers, magnitude)
        rhs = relations @ value
    else:
        totals, relations = _structure(rng, kind, largest)
        value = totals @ _numbers(rng, totals.shape[1], numbers, magnitude)
        rhs = np.zeros(relations.shape[0])
    return Drawn(_dressed(rng, value, relations, rhs, magnitude), kind, numbers, magnitude)


def _numbers(rng: np.random.Generator, count: int, numbers: str, magnitude: float) -> Floats:
    size = rng.lognormal(0.0, float(rng.choice([0.5, 1.2, 1.2, 4.0])), count)
    if rng.random() < 0.15:
        size *= np.where(rng.random(count) < 0.3, -1.0, 1.0)
    if numbers == "whole" and magnitude >= 1:
        size = np.rint(size * magnitude)
    elif numbers == "decimals" and magnitude >= 1:
        size = np.round(size * magnitude, 2)
    elif numbers == "decimals":
        size = np.round(size, 2) * magnitude
    else:
        size = size * magnitude
    if rng.random() < 0.5:
        size[rng.random(count) < 0.2] = 0.0
    return np.asarray(size, float)


def _flat(count: int) -> Tree:
    return Tree((-1, *[0] * count))


def _deep(rng: np.random.Generator, count: int) -> Tree:
    """A tree of two levels below the root; some groups have a single member."""
    groups = int(rng.integers(1, max(2, count // 2) + 1))
    members = [0] * groups + [1 + int(rng.integers(groups)) for _ in range(max(count, 1))]
    return Tree((-1, *members))


def _structure(
    rng: np.random.Generator, kind: str, largest: int
) -> tuple[Floats, sparse.csr_array[Any, Any]]:
    """For each cell the leaves that it adds up, and the relations."""
    side = max(2, int(largest**0.5) - 1)
    edge = max(2, int(largest ** (1 / 3)) - 1)

    def upto(most: int) -> int:
        return int(rng.integers(2, max(most, 2) + 1))

    trees = {
        "1-D": lambda: [_flat(upto(min(largest, 60) - 1) + 1)],
        "2-D": lambda: [_flat(upto(side)), _flat(upto(side))],
        "3-D": lambda: [_flat(upto(edge)) for _ in range(3)],
        "hierarchy": lambda: [_deep(rng, upto(side)), _flat(upto(side // 2 + 1))],
        "two hierarchies": lambda: [_deep(rng, upto(side // 2 + 1)) for _ in range(2)],
        "linked": lambda: [_flat(upto(edge + 1)) for _ in range(3)],
    }[kind]()
    cells = list(product(*[range(len(tree.parent)) for tree in trees]))
    if kind == "linked":
        # Two tables, first by second and first by third dimension, with the first in common.
        cells = [cell for cell in cells if cell[1] == 0 or cell[2] == 0]
    number = {cell: at for at, cell in enumerate(cells)}
    corners = {corner: at for at, corner in enumerate(product(*[tree.leaves for tree in trees]))}
    totals = np.zeros((len(cells), len(corners)))
    for at, cell in enumerate(cells):
        below = [tree.below(node) for tree, node in zip(trees, cell, strict=True)]
        totals[at, [corners[corner] for corner in product(*below)]] = 1.0
    rows, columns, data, count = [], [], [], 0
    for cell in cells:
        for axis, tree in enumerate(trees):
            parts = [
                (*cell[:axis], child, *cell[axis + 1 :]) for child in tree.children(cell[axis])
            ]
            if not parts or any(part not in number for part in parts):
                continue
            for member, sign in [(cell, -1.0), *[(part, 1.0) for part in parts]]:
                rows.append(count)
                columns.append(number[member])
                data.append(sign)
            count += 1
    return totals, sparse.csr_array((data, (rows, columns)), shape=(count, len(cells)))


def _sparse(
    rng: np.random.Generator, largest: int, numbers: str, magnitude: float
) -> tuple[Floats, sparse.csr_array[Any, Any]]:
    count = int(rng.integers(4, min(largest, 60) + 1))
    value = _numbers(rng, count, numbers, magnitude)
    relations = np.zeros((int(rng.integers(1, max(2, count // 2))), count))
    coefficients = [1.0, -1.0] if rng.random() < 0.7 else [1.0, -1.0, 2.0, -3.0]
    for row in relations:
        members = rng.choice(count, min(count, int(rng.integers(2, 6))), replace=False)
        row[members] = rng.choice(coefficients, len(members))
    return value, sparse.csr_array(relations)


def _dressed(
    rng: np.random.Generator,
    value: Floats,
    relations: sparse.csr_array[Any, Any],
    rhs: Floats,
    magnitude: float,
) -> Problem:
    """A problem with bounds, weights, sensitive cells and levels."""
    count = len(value)
    size = np.where(value == 0, 0.3 * magnitude, np.abs(value))
    # Half of them as offices have them: small cells are sensitive, nothing else is special.
    is_plain = bool(rng.random() < 0.5)
    lower, upper = _bounds(rng, value, size, is_plain)
    kept = np.zeros(count, bool)
    if not is_plain and rng.random() < 0.5:
        kept = rng.random(count) < rng.choice([0.05, 0.15, 0.3])
    open_ = np.flatnonzero(~kept & (size <= np.median(size)) if is_plain else ~kept)
    if len(open_) == 0:
        kept[0], open_ = False, np.array([0])
    most = max(1, min(len(open_) // 3, 8))
    sensitive = np.sort(rng.choice(open_, int(rng.integers(1, most + 1)), replace=False))
    levels = _levels(rng, size[sensitive])
    if rng.random() < 0.9:
        above, below = upper - value, value - lower
        levels[0] = np.minimum(levels[0], below[sensitive])
        levels[1] = np.minimum(levels[1], above[sensitive])
        levels[2] = np.minimum(levels[2], (above + below)[sensitive])
    singleton = np.full(count, -1)
    if rng.random() < 0.2:
        chosen = rng.random(count) < 0.2
        singleton[chosen] = rng.integers(0, 4, int(chosen.sum()))
    return Problem(
        value=value,
        lower=lower,
        upper=upper,
        weight=_weights(rng, value, size),
        relations=relations,
        rhs=rhs,
        sensitive=sensitive,
        lower_level=levels[0],
        upper_level=levels[1],
        sliding_level=levels[2],
        must_publish=kept,
        singleton=singleton,
    )


def _bounds(
    rng: np.random.Generator, value: Floats, size: Floats, is_plain: bool
) -> tuple[Floats, Floats]:
    count = len(value)
    least = np.where(value < 0, -np.inf, 0.0)
    modes = ["known", "wide", "share", "none", "tight", "zeros fixed"]
    mode = str(rng.choice(modes[:2] if is_plain else modes))
    if mode == "known":
        return least, np.full(count, np.inf)
    if mode == "wide":
        return np.where(value < 0, -3 * size, 0.0), np.maximum(3 * size, 2 * size.max())
    if mode == "share":
        return value - 0.5 * size, value + size
    if mode == "tight":
        return value - 0.12 * size, value + 0.12 * size
    if mode == "none":
        return np.full(count, -np.inf), np.full(count, np.inf)
    return np.where(value == 0, 0.0, least), np.where(value == 0, 0.0, 2 * size + value)


def _levels(rng: np.random.Generator, size: Floats) -> list[Floats]:
    """Lower, upper and sliding levels."""
    count = len(size)
    share = rng.choice([1e-4, 0.02, 0.1, 0.3]) * rng.uniform(0.5, 1.5, (3, count))
    mode = str(rng.choice(["both", "lower", "upper", "sliding", "all", "mixed"]))
    if mode == "both":
        share[2] = 0.0
    elif mode == "lower":
        share[1:] = 0.0
    elif mode == "upper":
        share[[0, 2]] = 0.0
    elif mode == "sliding":
        share[:2] = 0.0
    elif mode == "all":
        share[2] = 1.3 * (share[0] + share[1])
    else:
        share[rng.random((3, count)) < 0.5] = 0.0
    return [each * size for each in share]


def _weights(rng: np.random.Generator, value: Floats, size: Floats) -> Floats:
    count = len(value)
    mode = str(rng.choice(["unit", "value", "random", "zeros", "tiny", "wide"]))
    if mode == "unit":
        return np.ones(count)
    if mode == "value":
        return np.asarray(size, float)
    weight = rng.uniform(0.1, 10.0, count)
    if mode == "zeros":
        weight[rng.random(count) < 0.3] = 0.0
    elif mode == "tiny":
        weight *= 1e-9
    elif mode == "wide":
        weight = 10.0 ** rng.uniform(-4, 4, count)
    return np.asarray(weight, float)
