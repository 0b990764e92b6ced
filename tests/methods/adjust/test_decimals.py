"""Data without common decimals: what is published, what it costs, and what its digits show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tacit.methods.adjust.decimals import Written, ranges
from tacit.methods.adjust.run import adjust
from tacit.methods.adjust.units import decimals_of, in_fine_units
from tacit.outcome import Outcome, Status
from tacit.problem import Booleans, Floats, Problem
from tests.attack.tables import Codes, crossed, flat
from tests.methods.adjust.tables import published


def table(seed: int, scale: float) -> Problem:
    """A table with all the digits of floating-point numbers, some of whose cells must not move."""
    rng = np.random.default_rng(seed)
    relations, definitions = crossed([Codes((-1, 0, 0, 1, 1)), flat(3)] if seed % 2 else [flat(6)])
    value = np.asarray(definitions @ (rng.uniform(0.01, 1.0, definitions.shape[1]) * scale))
    order = rng.permutation(len(value))
    own, fixed = np.sort(order[:2]), order[2:4]
    must_publish = np.zeros(len(value), bool)
    must_publish[fixed] = True
    level = value[own] * rng.uniform(0.01, 0.1, 2)
    room = rng.uniform(0.1, 0.5, len(value)) * value
    room[own] = value[own]
    return Problem(
        value=value,
        lower=value - room,
        upper=value + room,
        weight=10.0 ** rng.uniform(-4, 4, len(value)),
        relations=relations,
        sensitive=own,
        lower_level=level,
        upper_level=level,
        must_publish=must_publish,
    )


def cost(problem: Problem, norm: str, value: Floats) -> float:
    """What a table costs against the true one."""
    size = np.abs(value - problem.value)
    if norm == "linf":
        return float((problem.weight * size).max())
    return float(problem.weight @ (size if norm == "l1" else size**2))


def has_decimals(value: Floats, decimals: int) -> Booleans:
    """Which numbers are exactly those that one gets by writing them with so many decimals."""
    return np.asarray(np.rint(value * 10.0**decimals) / 10.0**decimals == value)


@pytest.mark.parametrize("scale", [1e-9, 1000.0, 1e12])
@pytest.mark.parametrize("norm", ["l1", "linf", "l2"])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_said_holds_for_what_is_published(seed: int, norm: Any, scale: float) -> None:
    """Costs count from the true table, kept cells and bounds are exact, an optimum is one."""
    problem = table(seed, scale)
    assert decimals_of(problem) is None
    outcome = adjust(problem, norm=norm, time_limit=5)
    x, report = published(outcome), outcome.report
    assert report.objective == pytest.approx(cost(problem, norm, x), rel=1e-8)
    kept = problem.must_publish
    assert (x[kept] == problem.value[kept]).all()
    assert ((x >= problem.lower) & (x <= problem.upper)).all()
    assert (np.abs(problem.residual(x)) <= 1e-9 * problem.scale()).all()
    assert outcome.status is Status.OPTIMAL
    assert report.bound >= (1 - 1e-4) * cost(problem, norm, x)
    decimals = in_fine_units(problem, None).decimals
    assert decimals is not None
    assert not outcome.message
    assert has_decimals(x, decimals)[problem.sensitive].all()
    moved = np.abs(x - problem.value)[problem.sensitive]
    assert (moved >= problem.lower_level * (1 - 1e-9)).all()


def heavy() -> Problem:
    """A table near 1e12 in which a dear cell lies between two numbers with common decimals."""
    parts = np.array([1e12 + 0.1234, 2e12 + 0.3219, 1234567.891, 7654321.123])
    return Problem(
        value=np.append(parts, parts.sum()),
        lower=0,
        relations=[[1, 1, 1, 1, -1]],
        weight=[1e-6, 2141.0, 1e-6, 1e-6, 1e-6],
        sensitive=[2],
        lower_level=[1087.48948652],
        upper_level=[1087.48948652],
    )


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_rounding_that_costs_is_counted(norm: Any) -> None:
    """Where decimals cost more than the closest table does, it is not called optimal."""
    problem = heavy()
    outcome = adjust(problem, norm=norm)
    x = published(outcome)
    assert x[1] != problem.value[1]
    assert outcome.report.objective == pytest.approx(cost(problem, norm, x))
    # The closest table of any decimals leaves the dear cell alone.
    assert outcome.report.bound <= 1e-6 * 1087.48948652 * (4 if norm == "l1" else 1)
    assert outcome.status is Status.FEASIBLE
    assert "common decimals" in outcome.message


def odd_cells(outcome: Outcome, decimals: int) -> Booleans:
    """Cells that are not published with common decimals."""
    return ~has_decimals(published(outcome), decimals)


def test_digits_do_not_show_which_cells_moved() -> None:
    """Whichever way cells go, the same ones have digits of their own: those that cannot move."""
    problem = table(1, 1000.0)
    decimals = in_fine_units(problem, None).decimals
    assert decimals is not None
    outcomes = [adjust(problem, senses=senses) for senses in ([1, 1], [-1, -1], [1, -1], [-1, 1])]
    tables = [published(outcome) for outcome in outcomes]
    moved = np.array([np.abs(x - problem.value) > 1e-6 for x in tables])
    assert (moved != moved[0]).any()
    for outcome, x in zip(outcomes, tables, strict=True):
        assert (odd_cells(outcome, decimals) == problem.must_publish).all()
        # Relations of common decimals alone hold exactly.
        counts = np.rint(x * 10.0**decimals)
        whole = ~(abs(problem.relations) @ problem.must_publish.astype(float)).astype(bool)
        assert whole.any()
        assert not (problem.relations @ counts)[whole].any()


def test_a_table_where_nothing_must_move_is_published_as_it_is() -> None:
    """Without any level the true table is safe, and costs nothing."""
    value = np.array([0.1, 0.2, 0.1 + 0.2])
    problem = Problem(value=value, lower=0, relations=[[1, 1, -1]], sensitive=[0])
    outcome = adjust(problem)
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == 0
    assert (published(outcome) == value).all()


def written(problem: Problem, found: Floats, decimals: int) -> Written:
    """A table found that is to be written with decimals; all cells could move."""
    low, high = ranges(problem, found, np.full(len(found), np.inf))
    everyone = np.ones(len(found), bool)
    return Written(problem, found, low, high, everyone, problem.weight, "l1", decimals)


THIRDS = Problem(
    value=[10, 20, 30],
    lower=0,
    relations=[[1, 1, -1]],
    sensitive=[2],
    lower_level=[20 / 3],
    upper_level=[20 / 3],
)
FOUND = np.array([40 / 3, 70 / 3, 110 / 3])


def test_sums_of_decimals_hold() -> None:
    """Cell by cell or by a mixed-integer model: decimals add up, and the level is reached."""
    sketch = written(THIRDS, FOUND, 8)
    for x in (sketch.cell_by_cell(), sketch.by_mip(seconds=5.0, seed=1)):
        if x is None:
            continue
        counts = np.rint(x * 1e8)
        assert counts[0] + counts[1] == counts[2]
        assert x[2] - 30 >= (1 - 1e-9) * 20 / 3
    assert sketch.by_mip(seconds=5.0, seed=1) is not None


def test_sums_need_not_hold_to_the_last_decimal() -> None:
    """For want of an exact table, sums hold to the tolerance of the data, not worse."""
    fine = written(THIRDS, FOUND, 10).nearest()
    assert fine is not None
    assert has_decimals(fine, 10).all()
    assert written(THIRDS, FOUND, 2).nearest() is None
