"""Random tables through every algorithm of every method, judged by code that shares nothing."""

from __future__ import annotations

import pytest

from tests.judge.cases import ROADS, case, run

TABLES = 7 * len(ROADS)
NOT_YET = {
    66: "round: bounds and optima are false where costs are tiny",
    82: "combined: the solver gives up on values near 1e-9",
    138: "suppress: bounds and optima are false where weights are near 1e-9",
}
"""What is known to be wrong. Whoever repairs one takes its line out: passing is an error here."""


def _seeds() -> list[object]:
    return [
        pytest.param(seed, marks=pytest.mark.xfail(reason=NOT_YET[seed], strict=True))
        if seed in NOT_YET
        else seed
        for seed in range(TABLES)
    ]


@pytest.mark.parametrize("seed", _seeds())
def test_outcomes_are_what_they_say(seed: int) -> None:
    """Safe, as asked for, and no claim is disproved by a solution that was found otherwise.

    `python -m studies.judged` runs thousands of these, larger ones among them.
    """
    one = case(seed, time_limit=1.0, largest=14)
    assert run(one).faults == (), (one.method, one.algorithm, one.drawn, one.options)
