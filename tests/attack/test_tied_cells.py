"""Cells tied together move as the relations say, and no further than any of them may."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, sparse

from tacit.attack.tied_cells import TiedCells

CELLS = 7


@st.composite
def relations(draw: st.DrawFn) -> sparse.csr_array:
    """Some relations with small integer coefficients."""
    row = st.lists(st.sampled_from([-2, -1, 0, 0, 1, 2]), min_size=CELLS, max_size=CELLS)
    return sparse.csr_array(np.array(draw(st.lists(row, min_size=1, max_size=5)), float))


@given(relations(), st.integers(0, 2**16))
def test_columns_cover_every_deviation(A: sparse.csr_array, seed: int) -> None:
    """Whatever fulfils the relations moves cells by their ratios, and the columns fulfil them."""
    cells = np.arange(CELLS) + 2
    tied = TiedCells.of(A, cells, CELLS + 2)
    basis = linalg.null_space(A.toarray())
    deviation = np.zeros(CELLS + 2)
    deviation[cells] = basis @ np.random.default_rng(seed).normal(size=basis.shape[1])
    still = np.setdiff1d(np.arange(CELLS + 2), tied.cells)
    assert np.allclose(deviation[still], 0, atol=1e-9)
    columns = np.zeros(tied.size)
    columns[tied.column[tied.cells]] = deviation[tied.cells] / tied.ratio[tied.cells]
    moved = np.where(tied.column >= 0, columns[tied.column] * tied.ratio, 0.0)
    assert np.allclose(moved, deviation, atol=1e-9)
    assert np.allclose(tied.combined(A) @ columns, 0, atol=1e-8)


@given(relations(), st.lists(st.integers(0, 9), min_size=2 * CELLS, max_size=2 * CELLS))
def test_capacities_are_those_of_the_narrowest_cell(
    A: sparse.csr_array, capacities: list[int]
) -> None:
    """A column at its capacity takes no cell beyond its own, and takes one of them there."""
    up, down = np.array(capacities[:CELLS], float), np.array(capacities[CELLS:], float)
    tied = TiedCells.of(A, np.arange(CELLS), CELLS)
    for side, capacity in zip((1, -1), tied.capacities(up, down), strict=True):
        for column in range(tied.size):
            cells = np.flatnonzero(tied.column == column)
            moved = side * capacity[column] * tied.ratio[cells]
            spare = np.where(moved > 0, up[cells] - moved, down[cells] + moved)
            away = side * tied.ratio[cells]
            spare = np.where(moved == 0, np.where(away > 0, up[cells], down[cells]), spare)
            assert abs(spare.min()) < 1e-9


def test_cells_may_keep_columns_of_their_own() -> None:
    """Untied cells have a column each, even where a relation ties them."""
    A = sparse.csr_array(np.array([[1.0, -1.0, 0.0]]))
    assert TiedCells.of(A, np.arange(3), 3).size == 2
    assert TiedCells.of(A, np.arange(3), 3, tie=False).column.tolist() == [0, 1, 2]
