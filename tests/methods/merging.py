"""Methods with equal cells merged, and without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tacit.methods.engine.driver import Case
from tacit.outcome import Outcome
from tacit.problem import Problem
from tacit.reductions.equal_cells import EqualCells


def without_merging(method: Callable[..., Outcome], problem: Problem, **options: Any) -> Outcome:
    """The outcome of a search over the cells as they were given."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Case, "of", lambda *given, **_: Case(EqualCells.none(given[0]), given[1]))
        return method(problem, **options)
