"""Methods against the contributors of random tables, held against models that ask everybody."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from tacit.outcome import Intervals, Outcome, Status
from tests.attack.contributors import KINDS, RULES, Contributed

CASES: dict[str, Any] = {
    "seed": st.integers(0, 2**32 - 1),
    "kind": st.sampled_from(KINDS),
    "rule": st.sampled_from(RULES),
    "everyone": st.booleans(),
}
"""What `contributed` makes a table of."""


def assert_least_cost(outcome: Outcome, case: Contributed, expected: float | None) -> None:
    """Safe by brute force, proven at what a model finds that asks against everybody at once.

    Where that finds nothing, the outcome says that there is nothing.
    """
    if expected is None:
        assert outcome.status is Status.INFEASIBLE
        assert outcome.message
        return
    found = outcome.solution
    assert isinstance(found, Intervals)
    assert not case.told(found.lower, found.upper).exposed()
    assert outcome.report.objective == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert outcome.report.bound == pytest.approx(expected, rel=1e-6, abs=1e-6)
