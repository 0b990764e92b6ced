"""The hypercube method: the cheapest cube, levels carried along, and always safe in the end."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from tacit import examples
from tacit.attack.audit import audit
from tacit.attack.subtables import Subtables
from tacit.generators import generate_3d, random_hierarchy
from tacit.io.jj import read_jj
from tacit.methods.suppress.heuristics.hypercubes import hypercube_pattern
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.options import SuppressOptions
from tacit.methods.suppress.run import suppress
from tacit.problem import Booleans, Floats, Integers, Problem
from tests.attack.tables import Codes, crossed, flat
from tests.methods.suppress.tables import (
    ATTACKER_KIND,
    KINDS,
    SINGLETON_KINDS,
    assert_consistent,
    assert_lean,
    seeded_instance,
)


def pattern(problem: Problem) -> Booleans:
    """What the method suppresses before anything is repaired or cleaned up."""
    search = Search(problem, SuppressOptions(algorithm="hypercube"))
    return hypercube_pattern(search, Subtables.of(problem.relations))


def simple_table(rng: np.random.Generator, sizes: list[int]) -> tuple[Problem, Integers]:
    """A table without hierarchies, one sensitive cell in it, some cells fixed; and its grid."""
    A, sums = crossed([flat(size - 1) for size in sizes])
    value = sums @ rng.integers(1, 40, sums.shape[1]).astype(float)
    grid = np.arange(len(value)).reshape(sizes)
    inner = grid[tuple(slice(1, None) for _ in sizes)].ravel()
    sensitive = int(rng.choice(inner))
    must_publish = rng.random(len(value)) < 0.15
    must_publish[sensitive] = False
    problem = Problem(
        value=value,
        upper=np.full(len(value), value.max()),
        weight=rng.integers(1, 100, len(value)).astype(float),
        relations=A,
        sensitive=[sensitive],
        upper_level=[float(rng.integers(1, 15))],
        lower_level=[float(min(rng.integers(1, 15), value[sensitive]))],
        must_publish=must_publish,
    )
    return problem, grid


def cheapest_by_hand(problem: Problem, grid: Integers) -> float:
    """Try every opposite cell; inf if no hypercube is large enough for both levels at once."""
    (cell,) = problem.sensitive.tolist()
    here = tuple(int(axis[0]) for axis in np.nonzero(grid == cell))
    up, down = problem.upper - problem.value, problem.value - problem.lower
    rise, fall = float(problem.upper_level[0]), float(problem.lower_level[0])
    best = np.inf
    for opposite in itertools.product(*map(range, grid.shape)):
        if any(a == b for a, b in zip(here, opposite, strict=True)):
            continue
        cost, fits = 0.0, True
        for chosen in itertools.product([False, True], repeat=grid.ndim):
            at = tuple(b if c else a for a, b, c in zip(here, opposite, chosen, strict=True))
            turns = sum(
                a > 0 and b > 0 for a, b, c in zip(here, opposite, chosen, strict=True) if c
            )
            corner = int(grid[at])
            with_it, against = (up, down) if turns % 2 == 0 else (down, up)
            fits &= with_it[corner] >= rise and against[corner] >= fall
            fits &= not problem.must_publish[corner]
            cost += float(problem.weight[corner])
        if fits:
            best = min(best, cost)
    return best


@pytest.mark.parametrize("seed", range(25))
def test_the_cheapest_rectangle_or_cube(seed: int) -> None:
    """One sensitive cell in a simple table: exactly the cheapest hypercube is suppressed."""
    rng = np.random.default_rng(seed)
    sizes = [[5, 6], [7, 4], [4, 3, 4], [3, 3, 3], [3, 2, 3, 3]][seed % 5]
    problem, grid = simple_table(rng, sizes)
    best = cheapest_by_hand(problem, grid)
    hidden = pattern(problem)
    if np.isfinite(best):
        assert problem.weight[hidden].sum() == best
        assert hidden.sum() == 2 ** len(sizes)
        assert audit(problem, hidden).safe


def test_an_obvious_rectangle() -> None:
    """Three cheap cells that fit are taken, cheaper ones that are too small are not."""
    A, sums = crossed([flat(3), flat(3)])
    value = sums @ np.array([20.0, 20, 1, 20, 20, 1, 30, 30, 30])
    weight = np.full(16, 100.0)
    # Row 1 column 1 is sensitive. Columns 1 and 2 of rows 1 and 2 are cheap; column 3 is
    # cheaper still, but its cells cannot fall by 5.
    weight[[6, 9, 10]] = 10.0
    weight[[7, 11]] = 1.0
    problem = Problem(
        value=value,
        relations=A,
        weight=weight,
        sensitive=[5],
        upper_level=[5.0],
        lower_level=[5.0],
    )
    assert np.flatnonzero(pattern(problem)).tolist() == [5, 6, 9, 10]


def test_suppressed_cells_come_for_free() -> None:
    """A second sensitive cell makes use of the rectangle around the first."""
    A, sums = crossed([flat(4), flat(4)])
    problem = Problem(
        value=sums @ np.full(16, 10.0),
        relations=A,
        sensitive=[6, 12],
        upper_level=[3.0, 3.0],
        lower_level=[3.0, 3.0],
        weight=np.where(np.arange(25) < 5, 50.0, 1.0),
    )
    hidden = pattern(problem)
    assert hidden.sum() == 4
    assert audit(problem, hidden).safe


def test_levels_are_carried_into_other_subtables() -> None:
    """A margin that has to move is protected in the subtable where it is broken down."""
    # Rows: total = A + b, A = c + d; columns flat. Row b alone can balance row A.
    rows, columns = Codes((-1, 0, 0, 1, 1)), flat(2)
    A, sums = crossed([rows, columns])
    value = sums @ np.array([50.0, 50, 40, 40, 30, 30])
    must_publish = np.zeros(15, bool)
    must_publish[:3] = True
    problem = Problem(
        value=value,
        relations=A,
        weight=value,
        sensitive=[7],
        upper_level=[8.0],
        lower_level=[8.0],
        must_publish=must_publish,
    )
    hidden = pattern(problem)
    # Cells of row A, suppressed to balance row b, need others in rows c or d.
    assert hidden[[4, 5, 7, 8]].all()
    assert hidden[9:].any()
    assert audit(problem, hidden).safe


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [*KINDS, *SINGLETON_KINDS, ATTACKER_KIND])
def test_random_small_tables(kind: str, seed: int) -> None:
    """Safe by brute force, no lighter than the optimum, and nothing suppressed for nothing."""
    instance = seeded_instance(kind, 300 + seed)
    assert_lean(instance, instance.suppress("hypercube"))


def test_paper_003_figure_11() -> None:
    """The worked example: the four corners, and the interval that the paper finds."""
    example = examples.get("003-figure-11")
    outcome = suppress(example.problem, algorithm="hypercube", weights="unit")
    assert outcome.report.objective == 4.0
    assert outcome.stopped_by == "heuristic"
    assert audit(example.problem, outcome).safe


@pytest.mark.parametrize("name", ["small", "targus", "table7", "enterprise5k"])
def test_public_instances(shared: Path, name: str) -> None:
    """Safe by an audit of its own, lighter than everything, and the same every time."""
    problem = read_jj(shared / "instances" / f"{name}.jj")
    outcome = suppress(problem, algorithm="hypercube")
    assert_consistent(outcome, problem, None)
    assert outcome.report.objective is not None
    assert outcome.report.objective < problem.weight.sum()
    again = suppress(problem, algorithm="hypercube")
    assert np.array_equal(again.suppressed, outcome.suppressed)


def test_a_hierarchical_table_of_three_dimensions() -> None:
    """Levels go through several subtables, and the result is safe in the whole table."""
    rows, columns, layers = [random_hierarchy(5, depth=2, seed=seed) for seed in range(3)]
    problem = generate_3d(rows, columns, layers, seed=4).problem()
    outcome = suppress(problem, algorithm="hypercube")
    assert_consistent(outcome, problem, None)
    assert outcome.stopped_by == "heuristic"


def test_tiny_weights_and_levels_are_real_numbers() -> None:
    """Scaling values and weights changes nothing about which cells are chosen."""

    def scaled(problem: Problem, by: float) -> Problem:
        changes: dict[str, Floats] = {
            name: getattr(problem, name) * by
            for name in ("value", "lower", "upper", "lower_level", "upper_level")
        }
        return problem.replace(weight=problem.weight * 1e-7, **changes)

    for seed in range(5):
        problem, _ = simple_table(np.random.default_rng(seed), [5, 6])
        assert np.array_equal(pattern(problem), pattern(scaled(problem, 1e-4)))
