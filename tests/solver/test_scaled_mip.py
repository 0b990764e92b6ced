"""Models in other units than the solver's: the same vectors, objectives and bounds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tacit.solver.mip import MipSolution
from tacit.solver.scaled_mip import ScaledMip
from tests.solver.programs import Cover, values


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("unit", "cost_unit"), [(1e7, 1e9), (1e-6, 1e-3)])
def test_the_optimum_is_in_the_units_of_the_caller(
    seed: int, unit: float, cost_unit: float
) -> None:
    """Columns and costs far from 1 make no difference, nor does a start in these units."""
    cover = Cover(seed)
    units = np.where(cover.integer, 1.0, unit)
    rows, columns = cover.A.shape
    heard: list[MipSolution] = []

    def watch(so_far: MipSolution) -> bool:
        heard.append(so_far)
        return False

    found = ScaledMip(
        sparse.csr_array(cover.A / units),
        row_lower=cover.right,
        row_upper=np.full(rows, np.inf),
        lower=np.zeros(columns),
        upper=units,
        cost=cover.cost * cost_unit / units,
        integer=cover.integer,
        offset=5.0 * cost_unit,
        unit=units,
        cost_unit=cost_unit,
    ).minimise(seconds=20, start=units, watch=watch)
    assert found.status == "optimal"
    assert found.objective == pytest.approx((cover.optimum() + 5.0) * cost_unit, rel=1e-7)
    assert found.bound == pytest.approx(found.objective, rel=1e-6)
    x = values(found)
    assert (cover.cost / units @ x + 5.0) * cost_unit == pytest.approx(found.objective)
    assert ((x >= 0) & (x <= units)).all()
    assert all(each.objective >= found.objective * (1 - 1e-9) for each in heard)
