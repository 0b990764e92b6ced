"""The study of adjustment believes no solver: tables are checked in rational numbers."""

from __future__ import annotations

import numpy as np
from studies.adjust_peers import Plain, level_met, relations_missed, verdict

from tacit.methods.adjust.run import adjust
from tacit.outcome import Values
from tacit.problem import Floats, Problem

WIDE = Problem(
    value=[8000, 2000, 10000],
    lower=0,
    upper=2e10,
    relations=[[1, 1, -1]],
    sensitive=[0],
    lower_level=[3000],
    upper_level=[3000],
)


def within_tolerance(plain: Plain, x: Floats) -> bool:
    """Whether a vector meets model (18) as solvers see it: all but a millionth."""
    reached = plain.rows @ x
    size = np.maximum(1.0, np.abs(plain.upper).max())
    low = np.where(np.isfinite(plain.row_lower), plain.row_lower, -np.inf)
    missed = np.maximum(low - reached, reached - plain.row_upper).max()
    whole = x[plain.integer]
    near = np.abs(whole - np.rint(whole)).max()
    return bool(missed <= 1e-6 * size and near <= 1e-6)


def test_a_binary_column_within_tolerance_exposes_a_cell() -> None:
    """A sense of a millionth lets a cell both rise and fall: (18) is met, the level is not."""
    plain = Plain.of(WIDE, np.ones(3))
    y = 1e-7
    rises, falls = 1500.0, 3000.0 * (1 - y)
    x = np.array([rises, 0.0, 0.0, falls, 0.0, falls - rises, y])
    assert within_tolerance(plain, x)
    deviations = plain.deviations(x)
    assert deviations is not None
    assert level_met(WIDE, deviations) < 0.51
    assert verdict(WIDE, deviations).startswith("EXPOSED")


def test_tables_of_tacit_pass() -> None:
    """What tacit returns meets every level and relation without any tolerance."""
    outcome = adjust(WIDE)
    assert isinstance(outcome.solution, Values)
    deviations = outcome.solution.value - WIDE.value
    assert level_met(WIDE, deviations) == 1.0
    assert relations_missed(WIDE, deviations) == 0.0
    assert verdict(WIDE, deviations) == "safe"


def test_tables_that_do_not_add_up_are_refused() -> None:
    """A level that is met at the cost of a relation is not enough."""
    assert verdict(WIDE, np.array([3000.0, 0.0, 0.0])).startswith("NOT ADDITIVE")
