"""Published values keep the decimals of the data, at any magnitude."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tacit.methods.adjust.run import adjust
from tacit.methods.adjust.units import decimals_of, in_fine_units
from tacit.outcome import Status
from tacit.problem import Problem
from tacit.solver.mip import solvers_left_behind
from tests.attack.tables import Codes, crossed, flat
from tests.methods.adjust.tables import assert_sound, published


def table(seed: int, scale: float = 1000.0, decimals: int | None = 2) -> Problem:
    """A table of a magnitude whose finest cells have so many decimals, or all of their digits."""
    rng = np.random.default_rng(seed)
    relations, definitions = (
        crossed([Codes((-1, 0, 0, 1, 1)), flat(3)])
        if seed % 2
        else crossed([flat(3), flat(2), flat(2)])
    )
    inner = rng.uniform(0.01, 1.0, definitions.shape[1]) * scale
    if decimals is not None:
        inner = np.round(inner, decimals)
    value = np.asarray(definitions @ inner)
    own = np.sort(rng.permutation(len(value))[:4])
    level = value[own] * rng.uniform(0.05, 0.2, 4)
    return Problem(
        value=value,
        lower=0,
        upper=np.inf if seed % 2 else 2 * value,
        weight=value if seed % 3 else np.ones(len(value)),
        relations=relations,
        sensitive=own,
        lower_level=level,
        upper_level=level * 1.3,
    )


@pytest.mark.parametrize(
    ("value", "decimals"),
    [
        ([12.0, 30.0, 42.0], 0),
        ([0.1, 0.2, 0.1 + 0.2], 1),
        ([12.35, 30.0, 42.35], 2),
        ([3.25e-9, 1e-11, 3.26e-9], 11),
        ([1e12 + 0.25, 1.0, 1e12 + 1.25], 2),
        ([1 / 3, 2 / 3, 1.0], None),
        ([1e15 / 3, 2e15 / 3, 1e15], None),
    ],
)
def test_decimals_are_counted(value: list[float], decimals: int | None) -> None:
    """Decimals are found behind the rounding of floating-point sums, and only where there are."""
    assert decimals_of(Problem(value=value, relations=[[1, 1, -1]])) == decimals


@pytest.mark.parametrize("norm", ["l1", "linf", "l2"])
@pytest.mark.parametrize("algorithm", ["auto", "milp", "benders", "descent"])
@pytest.mark.parametrize("decimals", [1, 2])
def test_decimals_of_the_data_are_kept(norm: Any, algorithm: Any, decimals: int) -> None:
    """Every published value is a decimal as one would write it, changed or not."""
    problem = table(decimals, decimals=decimals)
    outcome = adjust(problem, norm=norm, algorithm=algorithm, time_limit=5)
    assert_sound(outcome, problem)
    x = published(outcome)
    assert (x == np.round(x, decimals)).all()
    assert not np.signbit(x[x == 0]).any()
    assert not outcome.message


@pytest.mark.parametrize("scale", [1000.0, 1e-9, 1e12])
@pytest.mark.parametrize("norm", ["l1", "linf", "l2"])
def test_data_without_a_unit_are_rounded_to_one(scale: float, norm: Any) -> None:
    """Where values have all their digits, all cells get as many decimals, also unchanged ones."""
    problem = table(3, scale, decimals=None)
    assert decimals_of(problem) is None
    units = in_fine_units(problem, None)
    assert units.decimals is not None
    outcome = adjust(problem, norm=norm, time_limit=5)
    assert outcome.status in (Status.OPTIMAL, Status.FEASIBLE)
    assert outcome.audit is not None
    assert outcome.audit.safe
    assert not outcome.message
    counts = published(outcome) * 10.0**units.decimals
    assert np.abs(counts - np.rint(counts)).max() <= 1e-3
    # Exactly so: decimals divided by a power of ten.
    assert (np.rint(counts) / 10.0**units.decimals == published(outcome)).all()


@pytest.mark.parametrize(("scale", "decimals"), [(1e12, 0), (1e12, 2), (1e-9, 11), (1e6, 0)])
@pytest.mark.parametrize("algorithm", ["auto", "milp", "benders", "descent"])
def test_any_magnitude(scale: float, decimals: int, algorithm: Any) -> None:
    """Tables near 1e12 and near 1e-9 are adjusted like all others."""
    problem = table(2, scale, decimals)
    before = solvers_left_behind()
    outcome = adjust(problem, algorithm=algorithm, time_limit=5)
    assert outcome.status in (Status.OPTIMAL, Status.FEASIBLE)
    assert outcome.audit is not None
    assert outcome.audit.safe
    assert solvers_left_behind() <= before
    x = published(outcome)
    assert (x == np.round(x, decimals)).all()
    if algorithm != "descent":
        assert outcome.status is Status.OPTIMAL


def test_mixed_magnitudes() -> None:
    """Cells of a millionth beside cells of millions lose none of their protection."""
    rng = np.random.default_rng(4)
    relations, definitions = crossed([flat(3), flat(3)])
    inner = np.round(10.0 ** rng.uniform(-5, 6, definitions.shape[1]), 6)
    value = np.asarray(definitions @ inner)
    own = np.array([5, 6, 9])
    level = 0.1 * value[own]
    problem = Problem(
        value=value, lower=0, relations=relations, sensitive=own, lower_level=level,
        upper_level=level,
    )  # fmt: skip
    for norm in ("l1", "linf", "l2"):
        outcome = adjust(problem, norm=norm, time_limit=5)
        assert outcome.audit is not None
        assert outcome.audit.safe
        assert (published(outcome) == np.round(published(outcome), 6)).all()


def test_a_table_that_cannot_be_rounded_keeps_its_digits() -> None:
    """Coefficients that are not whole leave no unit; what that may show is said."""
    problem = Problem(
        value=[1 / 3, 2 / 3, 0.5],
        lower=0,
        relations=sparse.csr_array([[0.5, 0.5, -1.0]]),
        sensitive=[0],
        lower_level=[0.01],
        upper_level=[0.01],
    )
    assert decimals_of(problem) is None
    assert in_fine_units(problem, None).decimals is None
    outcome = adjust(problem)
    assert outcome.audit is not None
    assert outcome.audit.safe
    assert "all their digits" in outcome.message


def test_a_coarse_tolerance_does_not_loosen_levels() -> None:
    """A table that misses its relations by a permille is adjusted, and by its full levels."""
    problem = Problem(
        value=[1000, 1000, 2001],
        lower=0,
        relations=[[1, 1, -1]],
        sensitive=[0],
        lower_level=[100],
        upper_level=[100],
    )
    outcome = adjust(problem, tolerance=1e-2)
    assert outcome.status is Status.OPTIMAL
    assert abs(published(outcome)[0] - 1000) >= 100
