"""Bounds over iterations, and the printed patterns of [RojoGonzalez2019]."""

from __future__ import annotations

from pathlib import Path

import pytest
from studies.one_sided import by_iteration, is_its_table, printed, printed_pattern

from tacit.io.jj import read_jj
from tacit.outcome import TracePoint


def test_bounds_over_iterations() -> None:
    """Every iteration has what was known at its end; before the first solution there is none."""
    trace = [
        TracePoint(0.0, None, 3.0, 0),
        TracePoint(0.1, 9.0, 4.0, 2),
        TracePoint(0.2, 8.0, 4.0, 2),
        TracePoint(0.3, 8.0, 8.0, 4),
    ]
    found = [tuple(point.values()) for point in by_iteration(trace, 4)]
    assert found == [(0, None, 3.0), (1, None, 3.0), (2, 8.0, 4.0), (3, 8.0, 4.0), (4, 8.0, 8.0)]


def test_the_printed_sensitive_cells_are_those_of_the_files(shared: Path) -> None:
    """All three tables are those of the report, and printed patterns hide their sensitive cells."""
    rows = printed()
    assert list(rows) == ["small", "example_2D", "targus"]
    for name, row in rows.items():
        problem = read_jj(shared / "instances" / f"{name}.jj")
        assert is_its_table(problem, row)
        assert set(problem.sensitive.tolist()) <= set(printed_pattern(row))
        assert len(printed_pattern(row)) == pytest.approx(int(row["n_suppressed_reported"]))
