"""The division of amounts into two sides, against all divisions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tacit.methods.adjust.kernels import least_sides


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("most", [3, 100_000])
def test_least_sides(seed: int, most: int) -> None:
    """Exact where there are steps enough, never too large where there are not."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 7, 6)
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    scale = [1.0, 0.1, 7.5][seed % 3]
    plus = rng.integers(1, 12, first[-1]) * scale
    minus = plus.copy() if seed % 2 else rng.integers(1, 12, first[-1]) * scale
    minus[rng.random(len(minus)) < 0.1] = np.inf
    found = least_sides(first, plus, minus, most)
    for group, side in enumerate(found.tolist()):
        p, q = (each[first[group] : first[group + 1]] for each in (plus, minus))
        sides = [
            max(p[np.array(to, bool)].sum(), q[~np.array(to, bool)].sum())
            for to in product((0, 1), repeat=len(p))
        ]
        expected = min(sides, default=0.0)
        assert side <= expected * (1 + 1e-9)
        if most > 3:
            assert side == pytest.approx(expected, rel=1e-6)


def test_many_equal_amounts() -> None:
    """An odd number of equal amounts cannot be divided evenly, however many there are."""
    amounts = np.full(101, 2.0)
    first = np.array([0, 101])
    assert least_sides(first, amounts, amounts, 1000)[0] == pytest.approx(102.0)
