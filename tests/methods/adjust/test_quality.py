"""Bounds on sums of deviations: honoured by every algorithm, at the least cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import examples
from tacit.errors import InputError
from tacit.methods.adjust.options import AdjustOptions
from tacit.methods.adjust.quality import QualityBound
from tacit.methods.adjust.run import adjust
from tacit.outcome import Status
from tests.methods.adjust.tables import KINDS, assert_sound, obvious_optimum, published
from tests.methods.adjust.tables import random_problem as table_of

ALGORITHMS: tuple[Any, ...] = ("auto", "milp", "benders", "descent")


def assert_kept(problem: Any, values: Any, sums: Any) -> None:
    """No sum exceeds its limit."""
    z = values - problem.value
    for kind, cells, limit in sums:
        reached = abs(z[cells].sum()) if kind == "net" else np.abs(z[cells]).sum()
        assert reached <= limit + 1e-7 * max(1.0, limit)


def bounds_of(sums: Any) -> list[QualityBound]:
    """The sums as bounds for `adjust`."""
    return [QualityBound(cells=cells, **{kind: limit}) for kind, cells, limit in sums]


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 1000),
    st.sampled_from(KINDS),
    st.sampled_from(ALGORITHMS),
    st.booleans(),
    st.sampled_from([0.0, 0.3, 0.7]),
)
def test_the_closest_table_within_bounds_on_quality(
    seed: int, kind: str, algorithm: Any, integer: bool, share: float
) -> None:
    """With bounds the optimum is that of all senses tried one by one, or there is none either."""
    problem = table_of(seed, kind, sensitive=3)
    # Linked tables have decimals.
    integer = integer and kind != "linked"
    rng = np.random.default_rng(seed)
    free = adjust(problem, time_limit=10)
    cells = [rng.random(problem.cell_count) < 0.4 for _ in range(2)]
    for chosen in cells:
        chosen[rng.integers(problem.cell_count)] = True
    z = np.zeros(problem.cell_count)
    if free.solution is not None:
        z = published(free) - problem.value
    # Below what the closest table has, so that bounds bind where they can.
    sums = [
        ("net", cells[0], float(np.floor(share * abs(z[cells[0]].sum())))),
        ("absolute", cells[1], float(np.ceil((0.5 + share / 2) * np.abs(z[cells[1]]).sum()))),
    ]
    expected = obvious_optimum(problem, integer=integer, sums=sums)
    outcome = adjust(
        problem,
        algorithm=algorithm,
        integer=integer,
        gap=1e-7,
        time_limit=20,
        quality=bounds_of(sums),
    )
    if expected is None:
        assert outcome.status is Status.INFEASIBLE
        assert outcome.message
        return
    assert_sound(outcome, problem)
    assert_kept(problem, published(outcome), sums)
    objective = outcome.report.objective
    assert objective is not None
    assert objective >= expected * (1 - 1e-7)
    assert outcome.report.bound <= expected * (1 + 1e-6)
    if algorithm != "descent":
        assert outcome.status is Status.OPTIMAL
        assert objective == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_bounds_on_quality_hold_for_other_norms(norm: Any) -> None:
    """Squares and largest deviations keep them as well, and all algorithms agree on the optimum."""
    problem = table_of(7, "2d", sensitive=4)
    every = np.ones(problem.cell_count, bool)
    z = published(adjust(problem, norm=norm, integer=False, time_limit=10)) - problem.value
    some = np.arange(problem.cell_count) % 2 == 0
    sums = [
        ("absolute", every, 0.999 * float(np.abs(z).sum())),
        ("net", some, 0.5 * abs(float(z[some].sum()))),
    ]
    found = []
    for algorithm in ALGORITHMS[:3]:
        outcome = adjust(
            problem,
            norm=norm,
            integer=False,
            algorithm=algorithm,
            gap=1e-5,
            time_limit=20,
            quality=bounds_of(sums),
        )
        if outcome.status is Status.INFEASIBLE:
            found.append(np.inf)
            continue
        assert_sound(outcome, problem)
        assert_kept(problem, published(outcome), sums)
        assert outcome.report.objective is not None
        found.append(outcome.report.objective)
    assert found[1:] == pytest.approx(found[:1] * 2, rel=2e-4)


def test_equal_cells_count_once_each() -> None:
    """Cells that are searched as one count as often as they are in the table."""
    from tacit.problem import Problem

    # Cells 0 and 1 are equal; the relation with 2 and 3 leaves them free to move.
    problem = Problem(
        value=[10, 10, 5, 15],
        relations=[[1, -1, 0, 0], [1, 0, 1, -1]],
        rhs=[0, 0],
        sensitive=[0],
        lower_level=[2],
        upper_level=[4],
    )
    loose = adjust(problem, quality=[{"cells": [0, 1], "absolute": 4}], time_limit=10)
    assert abs(published(loose)[0] - 10) == 2
    tight = adjust(problem, quality=[{"cells": [0, 1], "absolute": 3}], time_limit=10)
    assert tight.status is Status.INFEASIBLE


def test_an_impossible_bound_is_named() -> None:
    """The message names the bound without which there would be a table, and no other."""
    example = examples.get("003-figure-16")
    cell = example.cell("M2P3")
    outcome = adjust(
        example.problem,
        quality=[
            QualityBound(cells=[0, 1], absolute=100, name="harmless"),
            QualityBound(cells=[cell], absolute=4, name="of the sensitive cell"),
        ],
        time_limit=10,
    )
    assert outcome.status is Status.INFEASIBLE
    assert "quality bound of the sensitive cell (absolute deviation)" in outcome.message
    assert "harmless" not in outcome.message


def test_bounds_that_are_in_each_others_way() -> None:
    """Where the search alone finds out that there is no table, bounds are named as well."""
    example = examples.get("003-figure-16")
    others = [c for c in range(16) if c != example.cell("M2P3")]
    outcome = adjust(
        example.problem, quality=[QualityBound(cells=others, absolute=10)], time_limit=10
    )
    assert outcome.status is Status.INFEASIBLE
    assert "quality bound 1 (absolute deviation)" in outcome.message


def test_shares_are_of_what_the_cells_hold() -> None:
    """A share is the same as the amount that it stands for."""
    problem = table_of(3, "2d")
    cells = list(range(0, problem.cell_count, 2))
    size = float(np.abs(problem.value[cells]).sum())
    by_share = adjust(problem, quality=[{"cells": cells, "absolute_share": 0.25}], time_limit=10)
    by_amount = adjust(problem, quality=[{"cells": cells, "absolute": 0.25 * size}], time_limit=10)
    assert by_share.status is by_amount.status
    assert by_share.report.objective == by_amount.report.objective


@pytest.mark.parametrize(
    ("bound", "message"),
    [
        ({"cells": [0, 99], "net": 1}, "quality bound 1: there is no cell 99"),
        ({"cells": [], "net": 1}, "no cell is chosen"),
        ({"cells": [0]}, "needs a limit"),
        ({"cells": [0], "net": -1}, "net must be a number that is not negative"),
        ({"cells": [0], "net": 1, "net_share": 0.1}, "leave one out"),
        ({"cells": [0], "nett": 1}, "did you mean 'net'"),
        ({"cells": {"region": "North"}, "net": 1}, "a problem has none"),
        ({"net": 1}, "'cells' is missing"),
    ],
)
def test_wrong_bounds_are_refused(bound: dict[str, Any], message: str) -> None:
    """Each says what is wrong."""
    problem = table_of(1, "2d")
    with pytest.raises(InputError, match=message) as error:
        adjust(problem, quality=[bound])
    assert error.value.key[:2] == ("quality", 0)


def test_a_single_bound_is_no_list() -> None:
    """A table where a list of tables is expected is refused."""
    with pytest.raises(InputError, match="list of bounds"):
        AdjustOptions(quality={"cells": [0], "net": 1})  # type: ignore[arg-type]
