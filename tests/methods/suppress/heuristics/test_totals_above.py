"""The pattern that suppresses all totals above sensitive cells, and what is kept ready of it."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.attack.knowledge import Attacker
from tacit.methods.engine.driver import Case
from tacit.methods.suppress.heuristics.totals_above import keep_totals_ready
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.options import SuppressOptions
from tacit.methods.suppress.run import suppress
from tacit.outcome import Suppression
from tests.attack.contributors import KINDS, RULES, contributed


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS), rule=st.sampled_from(RULES))
def test_what_is_kept_ready_withstands_every_contributor(seed: int, kind: str, rule: str) -> None:
    """A pattern that is kept is safe by brute force, and handed over if nothing else is found."""
    made = contributed(seed, kind, rule, everyone=False)
    case = Case.of(made.problem, [Attacker.external()])
    search = Search(case.problem, SuppressOptions(time_limit=20.0, jobs=1), case.attackers)
    search.case = case
    keep_totals_ready(search)
    assert search.best is None
    result = search.conclude()
    if result is not None:
        result = search.expand(result)
        assert result.audit is not None
        assert isinstance(result.solution, Suppression)
        assert result.audit.safe
        assert not replace(made, hidden=result.solution.suppressed).exposed()


def test_the_pattern_that_is_kept_covers_all_totals_above() -> None:
    """In a table of three dimensions without bounds there always is one."""
    kept = 0
    for seed in range(8):
        made = contributed(seed, "3-D", "p%", everyone=False)
        case = Case.of(made.problem, [Attacker.external()])
        search = Search(case.problem, SuppressOptions(time_limit=20.0, jobs=1), case.attackers)
        search.case = case
        keep_totals_ready(search)
        kept += search.proof.audit is not None
    assert kept > 0


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(("3-D", "linked")))
def test_small_tables_taken_for_large_ones_are_safe(seed: int, kind: str) -> None:
    """Patterns that are built for many levels together withstand every contributor."""
    made = contributed(seed, kind, "p%", everyone=False)
    with (
        patch("tacit.attack.sparing.LARGE", 0),
        patch("tacit.methods.suppress.heuristics.totals_above._MANY", 0),
    ):
        outcome = suppress(made.problem, time_limit=10.0, jobs=1)
    if outcome.solution is not None:
        hidden = np.isin(np.arange(made.problem.cell_count), outcome.suppressed)
        assert not replace(made, hidden=hidden).exposed()
