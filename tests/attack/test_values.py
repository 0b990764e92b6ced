"""Published values: adjusted ones judged as they stand, rounded ones by what can be deduced."""

from __future__ import annotations

import dataclasses

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from tacit import examples
from tacit.attack.audit import audit
from tacit.attack.evidence import EvidenceError
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.errors import InputError, ProblemError
from tacit.outcome import Intervals, Values
from tacit.problem import Problem
from tests.attack.tables import Published, agree, brute_force, published_tables

TABLE = Problem(
    value=[20, 22, 42],
    relations=[[1, 1, -1]],
    sensitive=[0],
    lower_level=[3],
    upper_level=[5],
)


@pytest.mark.parametrize("name", ["adjusted, lower sense", "adjusted, upper sense"])
def test_the_adjusted_tables_of_paper_003_are_safe(name: str) -> None:
    """Both senses of Figure 16 add up and keep away from the sensitive value."""
    example = examples.get("003-figure-16")
    found = audit(example.problem, example.published[name])
    assert found.safe
    assert found.checked == 1
    assert int(found.hidden.sum()) == 4
    found.check()


@pytest.mark.parametrize(
    ("value", "level", "share"),
    [
        (20, "lower", 0.0),
        (24, "upper", 0.8),
        (17.5, "lower", 2.5 / 3),
        (25, None, 1),
        (17, None, 1),
    ],
)
def test_a_value_within_the_forbidden_interval_is_exposed(
    value: float, level: str | None, share: float
) -> None:
    """The nearer level is named with how much of it is there; at the level itself all is well."""
    found = audit(TABLE, Values(np.array([value, 22.0, value + 22])))
    assert [exposure.level for exposure in found.exposures] == ([] if level is None else [level])
    assert [exposure.share for exposure in found.exposures] == pytest.approx(
        [] if level is None else [share]
    )
    assert found.safe == (level is None)


def test_a_sliding_level_asks_for_its_size_on_one_side() -> None:
    """A deviation of the sliding level suffices, one below it does not."""
    problem = TABLE.replace(sensitive=[0], sliding_level=[6])
    assert audit(problem, Values(np.array([26.0, 22, 48]))).safe
    found = audit(problem, Values(np.array([25.0, 22, 47])))
    assert [exposure.level for exposure in found.exposures] == ["sliding"]


@pytest.mark.parametrize(("lower", "upper"), [(3, 0), (0, 3)])
def test_a_side_without_a_level_is_no_way_out(lower: float, upper: float) -> None:
    """With one level only, values on the other side are exposed, the true one above all."""
    problem = TABLE.replace(sensitive=[0], lower_level=[lower], upper_level=[upper])
    away = 3.0 if upper else -3.0
    assert audit(problem, Values(np.array([20 + away, 22, 42 + away]))).safe
    for moved in (0.0, -away, -2 * away):
        found = audit(problem, Values(np.array([20 + moved, 22, 42 + moved])))
        named = [(exposure.level, exposure.share) for exposure in found.exposures]
        assert named == [("upper" if upper else "lower", 0.0)]


def test_a_sensitive_cell_without_any_level_may_keep_its_value() -> None:
    """Nothing was asked for, so nothing is missed."""
    problem = TABLE.replace(sensitive=[0], lower_level=[0], upper_level=[0])
    assert audit(problem, Values(problem.value)).safe


def test_adjusted_values_that_do_not_add_up_are_not_safe() -> None:
    """A reader would see where the table was changed; relation and cells are named."""
    found = audit(TABLE, Values(np.array([26.0, 22, 42])))
    assert not found.safe
    assert not found.exposures
    assert [fault.condition for fault in found.faults] == ["additivity"]
    assert found.faults[0].relations == (0,)
    assert "do not add up in 1 relation: relation 0" in found.summary()


def test_adjusted_values_outside_the_bounds_are_not_safe() -> None:
    """Nobody would believe in a value that everybody knows to be impossible."""
    found = audit(TABLE, Values(np.array([-4.0, 46, 42])))
    assert [fault.condition for fault in found.faults] == ["bounds"]
    assert not found.safe


def test_a_cell_known_to_its_own_respondent_is_not_judged_against_it() -> None:
    """Who contributes alone knows the value, whatever is published."""
    owner = Attacker(name="owner", known=(0,), own=frozenset({0}))
    found = audit(TABLE, Values(TABLE.value), attackers=[Attacker.external(), owner])
    assert [exposure.attacker for exposure in found.exposures] == ["external"]


def test_a_forged_audit_of_values_is_found_out() -> None:
    """An audit whose exposures were taken out does not pass its own check."""
    found = audit(TABLE, Values(TABLE.value))
    honest = found.findings[0]
    forged = dataclasses.replace(found, findings=(dataclasses.replace(honest, exposures=()),))
    assert forged.safe
    with pytest.raises(EvidenceError):
        forged.check()


def test_a_radius_is_what_readers_know() -> None:
    """A true value lies within the radius of the published one, and within its bounds."""
    told = Knowledge.of(
        TABLE.replace(upper=[23, 99, 99]), Values(np.array([20.0, 25, 45]), np.array(5.0))
    )
    assert told.up.tolist() == [3, 8, 8]
    assert told.down.tolist() == [5, 2, 2]


def test_a_radius_that_is_not_true_is_refused() -> None:
    """Values further from the truth than readers are told contradict themselves."""
    with pytest.raises(ProblemError, match="what is published for it: cell 2"):
        audit(TABLE, Values(np.array([20.0, 20, 55]), np.array(5.0)))


@pytest.mark.parametrize("radius", [-1, np.nan, [1.0, 2.0]])
def test_a_radius_that_is_none_is_refused(radius: object) -> None:
    """It is not negative, and has one entry per cell."""
    with pytest.raises(InputError, match="radius"):
        Values(np.zeros(3), radius)  # type: ignore[arg-type]


def test_values_that_do_not_add_up_may_still_hide() -> None:
    """Rounding cell by cell protects as far as its radius says; that it shows is only told."""
    found = audit(TABLE, Values(np.array([20.0, 20, 45]), np.array(5.0)))
    assert [fault.condition for fault in found.faults] == ["additivity"]
    assert found.safe == (not found.exposures)


@settings(max_examples=80)
@given(published_tables(units=(1.0,)), st.sampled_from([1, 2, 5]), st.integers(0, 2**31))
def test_rounded_values_are_deduced_as_by_brute_force(
    published: Published, base: int, seed: int
) -> None:
    """What a reader with the base can deduce equals a linear program over what may be."""
    problem = published.problem
    rng = np.random.default_rng(seed)
    up = rng.integers(0, 2, problem.cell_count)
    rounded = (base * (np.floor(problem.value / base) + up)).astype(np.float64)
    values = Values(rounded, np.array(float(base)))
    found = audit(problem, values, cells="all")
    ends = Intervals(
        np.maximum(rounded - base, problem.lower), np.minimum(rounded + base, problem.upper)
    )
    lower, upper = brute_force(published, np.arange(problem.cell_count), intervals=ends)
    assert agree(found.findings[0].lower, lower, published.tolerance)
    assert agree(found.findings[0].upper, upper, published.tolerance)
    found.check()


@settings(max_examples=80)
@given(published_tables(), st.integers(0, 2**31))
def test_adjusted_values_are_judged_as_by_hand(published: Published, seed: int) -> None:
    """Safe is what adds up, respects the bounds and stays out of every forbidden interval."""
    problem = published.problem
    rng = np.random.default_rng(seed)
    unit = max(float(np.abs(problem.value).max(initial=0.0)), 1.0) / 10
    x = problem.value + unit * rng.integers(-3, 4, problem.cell_count) * rng.integers(0, 2)
    found = audit(problem, Values(x))
    expected = set()
    for cell, low, high, slide in zip(
        problem.sensitive,
        problem.lower_level,
        problem.upper_level,
        problem.sliding_level,
        strict=True,
    ):
        moved, slack = x[cell] - problem.value[cell], published.tolerance
        may_rise, may_fall = high > 0 or slide > 0, low > 0 or slide > 0
        if not may_rise and not may_fall:
            continue
        is_out = may_rise and moved >= max(high, slide) - slack
        if not (is_out or (may_fall and -moved >= max(low, slide) - slack)):
            expected.add(int(cell))
    assert set(found.exposed_cells) == expected
    sums = np.abs(problem.relations @ x - problem.rhs)
    assert bool(found.faults) == bool(
        (sums > 1e-6 * unit).any() or (x < problem.lower).any() or (x > problem.upper).any()
    )
