"""How far requests get in strips, when cells are suppressed by shares."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.methods.combined.model import CombinedModel
from tacit.methods.combined.run import combined
from tacit.methods.combined.sides import Sides
from tacit.problem import Floats
from tests.attack.tables import small_problem
from tests.methods.combined.tables import assert_sound, obvious_optimum


def random_shares(model: CombinedModel, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Slacks and suppressions such that some levels are within reach and others are not."""
    x = np.where(
        rng.random(model.problem.cell_count) < 0.6, rng.random(model.problem.cell_count), 1
    )
    x[model.is_always] = 1.0
    ends = model.upper[: model.cell_ends] * rng.random(model.cell_ends)
    return np.maximum(ends, model.lower[: model.cell_ends]), x


@pytest.mark.parametrize("seed", range(10))
def test_strips_and_linear_programs_agree(seed: int) -> None:
    """Levels are out of reach with strips if and only if they are for linear programs alone."""
    rng = np.random.default_rng(seed)
    problem = small_problem(seed, hierarchies=True)
    problem = problem.replace(must_publish=np.zeros(problem.cell_count, bool))
    nothing = np.zeros(problem.cell_count)
    model = CombinedModel(problem, problem.weight, np.repeat(problem.weight, 2), nothing)
    assert not model.structure.in_network.all()
    sides = Sides(model, model.states[0])
    for _ in range(4):
        ends, x = random_shares(model, rng)
        for request in sides.requests:
            capacity = {
                number: sides._capacity(number, ends, x, request.level)
                for number in request.numbers
            }
            plain = sides._beyond(request, ends, capacity)
            found = sides.missed(request, ends, x)
            assert (found is None) == (plain is None)


@pytest.mark.parametrize("seed", range(5))
def test_tables_with_two_hierarchies(seed: int) -> None:
    """Their optimum is that of one large mixed-integer program."""
    problem = small_problem(seed, hierarchies=True)
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 30, problem.cell_count).astype(float)
    widths = rng.integers(0, 3, problem.cell_count).astype(float)
    expected = obvious_optimum(problem, weight=weights, width_weight=widths)
    outcome = combined(problem, weights=weights, width_weights=widths, gap=1e-9)
    assert_sound(outcome, problem, ())
    if expected is None:
        assert outcome.status.value == "infeasible"
    else:
        assert outcome.report.objective == pytest.approx(expected, rel=1e-6)
