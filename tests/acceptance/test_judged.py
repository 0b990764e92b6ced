"""Random tables through every algorithm of every method, judged by code that shares nothing."""

from __future__ import annotations

import pytest

from tests.judge.cases import ROADS, case, run

TABLES = 7 * len(ROADS)
NOT_YET = {
    66: "round: bounds and optima are false where costs are tiny",
    82: "combined: the solver gives up on values near 1e-9",
    92: "suppress: bounds and optima are false where weights are near 1e-9",
    138: "suppress: bounds and optima are false where weights are near 1e-9",
}
"""What is known to be wrong. Whoever repairs one takes its line out."""
NOT_ALWAYS = (92, 138)
"""Which of these depend on how far the search gets; for the others passing is an error."""


def _seeds() -> list[object]:
    def wrong(seed: int) -> pytest.MarkDecorator:
        return pytest.mark.xfail(reason=NOT_YET[seed], strict=seed not in NOT_ALWAYS)

    return [
        pytest.param(seed, marks=wrong(seed)) if seed in NOT_YET else seed for seed in range(TABLES)
    ]


@pytest.mark.parametrize("seed", _seeds())
def test_outcomes_are_what_they_say(seed: int) -> None:
    """Safe, as asked for, and no claim is disproved by a solution that was found otherwise.

    `python -m studies.judged` runs thousands of these, larger ones among them.
    """
    one = case(seed, time_limit=1.0, largest=14)
    assert run(one).faults == (), (one.method, one.algorithm, one.drawn, one.options)
