"""What a search knows of its bound."""

from __future__ import annotations

import pytest

from tacit.methods.engine.progress import Progress
from tacit.options import Options
from tacit.outcome import Report


def test_a_bound_says_who_vouches_for_it() -> None:
    """The source is that of the last bound that was better than all before."""
    progress = Progress(Options())
    progress.raise_bound(5.0)
    progress.raise_bound(7.0, "solver")
    progress.raise_bound(6.0)
    report = progress.report(10.0)
    assert (report.bound, report.bound_source) == (7.0, "solver")
    assert report.bound_name == "solver's bound"
    progress.raise_bound(8.0)
    assert progress.report(10.0).bound_source == "recomputed"
    assert progress.report(10.0).bound_name == "proven bound"


def test_a_refuted_bound_of_a_solver_is_withdrawn() -> None:
    """A safe solution below the solver's bound keeps its cost; the recomputed bound remains."""
    progress = Progress(Options())
    progress.raise_bound(5.0)
    progress.raise_bound(9.0, "solver")
    progress.better(8.0)
    report = progress.report(progress.objective)
    assert (report.objective, report.bound, report.bound_source) == (8.0, 5.0, "recomputed")
    assert not progress.should_stop()


def test_rounding_below_a_bound_is_evened_out() -> None:
    """Sums of the same terms that differ in the last digit are the same."""
    progress = Progress(Options())
    progress.raise_bound(9.0, "solver")
    progress.better(9.0 * (1 - 1e-14))
    assert progress.objective == 9.0
    assert progress.should_stop()


@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e20])
def test_gaps_are_shares_at_any_magnitude(scale: float) -> None:
    """Half of a tiny objective is still a gap of one half."""
    assert Report(objective=2 * scale, bound=scale).gap == 0.5
    progress = Progress(Options())
    progress.raise_bound(scale)
    progress.better(2 * scale)
    assert progress.gap == 0.5
    assert not progress.should_stop()
