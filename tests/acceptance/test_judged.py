"""Random tables through every algorithm of every method, judged by code that shares nothing."""

from __future__ import annotations

import pytest

from tests.judge.cases import ROADS, case, run

TABLES = 7 * len(ROADS)


@pytest.mark.parametrize("seed", range(TABLES))
def test_outcomes_are_what_they_say(seed: int) -> None:
    """Safe, as requested, and no claim is disproved by a solution that was found otherwise.

    `python -m studies.judged` runs thousands of these, larger ones among them.
    """
    one = case(seed, time_limit=1.0, largest=14)
    assert run(one).faults == (), (one.method, one.algorithm, one.drawn, one.options)
