"""What the study of large tables computes from its runs."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies.alone import Measured, TableName, hierarchies_for, run_alone
from studies.growth import curves, exponent
from studies.large_tables import best_bound, entries, excess_percent, ratio

from tacit.generators import random_hierarchy


def measured(**given: object) -> Measured:
    """A run with some of its figures."""
    rest = {"status": "feasible", "stopped_by": "heuristic", "wall_seconds": 1.0}
    return Measured(**rest | given)  # type: ignore[arg-type]  # figures of any kind


@given(
    st.integers(3_000, 60_000),
    st.sampled_from([(3, 3), (2, 1), (3, 2, 2)]),
)
def test_the_smallest_table_of_a_size(size: int, depths: tuple[int, ...]) -> None:
    """The table has the requested size, and with one leaf less in each dimension it would not."""
    hierarchies = hierarchies_for(size, depths)
    leaves = len(hierarchies[0].leaves)
    assert [hierarchy.depth for hierarchy in hierarchies] == list(depths)
    assert math.prod(map(len, hierarchies)) >= size
    fewer = [random_hierarchy(leaves - 1, depth=depth) for depth in depths]
    assert math.prod(map(len, fewer)) < size


@given(
    st.floats(-2, 3),
    st.floats(1e-3, 1e3),
    st.lists(st.integers(10, 10**6), min_size=2, max_size=6, unique=True),
)
def test_exponent_of_a_power(power: float, factor: float, sizes: list[int]) -> None:
    """What grows with a power of the size has that power as its exponent."""
    amounts = [factor * size**power for size in sizes]
    assert exponent(sizes, amounts) == pytest.approx(power, abs=1e-6)


def test_no_exponent_of_one_size() -> None:
    """One size tells nothing about growth."""
    assert exponent([10, 10], [1.0, 2.0]) is None


def test_curves_are_of_safe_runs(tmp_path: Path) -> None:
    """Runs without a safe pattern are no points, and points are in the order of their sizes."""
    path = tmp_path / "scaling.csv"
    path.write_text(
        "# a note\nkind,algorithm,cells,cpu_seconds,safe\n"
        "2d,modular,300,3,yes\n2d,modular,100,1,yes\n2d,modular,900,9,\n3d,paths,50,2,no\n"
    )
    assert curves(path, "cpu_seconds") == {"2d modular": [(100.0, 1.0), (300.0, 3.0)]}


def test_figures_of_runs_without_a_pattern() -> None:
    """What is not known stays unknown, and is no zero."""
    nothing = measured(status="interrupted", stopped_by="time")
    assert nothing.safe is None
    assert nothing.gap_percent is None
    assert entries(nothing)["safe"] is None
    assert best_bound([nothing]) is None
    assert best_bound([nothing, measured(bound=3.0), measured(bound=2.0)]) == 3.0
    assert ratio(1.0, None) is None
    assert ratio(3.0, 2.0) == 1.5
    assert excess_percent(None, 2.0) is None
    assert excess_percent(99.0, 100.0) == pytest.approx(-1.0)


def test_exposed_cells_make_a_run_unsafe() -> None:
    """A single exposed cell is enough."""
    assert entries(measured(exposed=1))["safe"] == "no"
    assert entries(measured(exposed=0))["safe"] == "yes"


def test_a_run_in_a_process_of_its_own() -> None:
    """The process protects the table that was named, and says what that took."""
    table = TableName(kind="1h2d", name="table1")
    run = run_alone(table, "hypercube", time_limit=20.0)
    problem = table.problem()
    assert (run.cells, run.sensitive) == (problem.cell_count, len(problem.sensitive))
    assert run.safe
    assert run.objective is not None
    assert run.objective >= run.sensitive_weight
    assert run.peak_gb is not None
    assert run.table_gb is not None
    assert run.peak_gb >= run.table_gb > 0
