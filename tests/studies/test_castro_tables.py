"""The studies of [Castro2012, Tables 1 to 4] have a table for every printed row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from studies.adjust import CUBES, SETS, TABLE_3, TABLE_4
from studies.adjust import instance as adjusted
from studies.adjust import printed as printed_of_adjusted
from studies.common import published, published_by_instance
from studies.heuristics import METHODS, PUBLIC, SIZES, three_levels
from studies.heuristics import instance as suppressed


@pytest.fixture(autouse=True)
def _shared(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_SHARED", str(shared))


def test_every_printed_table_is_generated_in_its_size() -> None:
    """Codes of both dimensions make up the cells that are printed, and no row is left out."""
    first = published_by_instance(1, "003")
    assert set(first) == set(SIZES)
    for name, (codes, columns) in SIZES.items():
        assert codes * columns == int(first[name]["n"])
        assert len(three_levels(codes).codes) == codes
    assert set(published_by_instance(2, "003")) == set(PUBLIC)
    problem = suppressed("DES2", 1)
    assert problem.cell_count == int(first["DES2"]["n"])
    assert len(problem.sensitive) == int(first["DES2"]["s"])


def test_every_method_has_its_printed_columns() -> None:
    """The four methods of the paper, each with what is printed for it; only `auto` has none."""
    for table in (1, 2):
        for row in published(table, "003"):
            assert all(f"{name}_f" in row for name in METHODS.values() if name)
    assert [method for method, name in METHODS.items() if not name] == ["auto"]


def test_every_printed_adjustment_has_a_table() -> None:
    """Tables 3 and 4 in all sizes, with what the paper says beside them."""
    assert len(published(3, "003")) == len(TABLE_3) == len(SETS["table3"])
    assert set(published_by_instance(4, "003")) == set(TABLE_4) == set(SETS["table4"])
    for name in TABLE_3:
        assert printed_of_adjusted(name, "tacit")["paper_gap_pct"]
    for name in TABLE_4:
        assert printed_of_adjusted(name, "benders")["paper_iterations"]
    small = adjusted("sbs-E", 1)
    row = published(3, "003")[0]
    assert (small.cell_count, len(small.sensitive)) == (int(row["n"]), int(row["s"]))
    cube = adjusted("3d-a", 1)
    assert abs(cube.cell_count - 10_000) < 1000
    assert len(cube.sensitive) == CUBES["3d-a"][1]
    assert np.isfinite(cube.value).all()
