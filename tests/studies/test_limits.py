"""What the study of time limits makes of its runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from studies.alone import TableName
from studies.common import Results
from studies.limits import COLUMNS, Ask, algorithms, asks, choices, read_rows, run

from tacit.methods.registry import METHODS
from tacit.problem import Problem

SMALL = TableName(kind="2d", name="60")


def test_every_algorithm_of_every_method_is_run() -> None:
    """The runs are all algorithms with all limits on all tables, or one alone on request."""
    every = asks((3.0, 10.0), ["dale"])
    assert len(every) == 2 * sum(len(algorithms(method)) for method in METHODS)
    assert {ask.method for ask in every} == set(METHODS)
    alone = asks((3.0,), ["dale", "ninenew"], "adjust/milp")
    assert [ask.key for ask in alone] == [
        ("dale", "adjust", "milp", "3"),
        ("ninenew", "adjust", "milp", "3"),
    ]


@pytest.mark.parametrize("method", ["suppress", "round"])
def test_a_run_tells_what_came_out(method: str) -> None:
    """A run in a separate process hands back status, objective, bound and the check's verdict."""
    row = run(Ask("small", method, "auto", 5.0, SMALL))
    assert row["ended"] == "done", row
    assert row["status"] in ("optimal", "feasible")
    assert row["safe"] == "yes"
    assert float(str(row["bound"])) <= float(str(row["objective"])) * (1 + 1e-9)


def test_a_run_that_takes_too_long_is_ended_and_recorded() -> None:
    """A process that has not answered in time is gone, and its row says so."""
    row = run(Ask("small", "suppress", "auto", 5.0, SMALL), patience=0.0)
    assert row["ended"] == "killed"
    assert row["cells"] is not None
    assert row["status"] is None


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    """A study that goes on finds the runs that were made before."""
    row = dict.fromkeys(COLUMNS, "1") | {"instance": "dale"}
    with Results(tmp_path / "limits.csv", COLUMNS, aloud=False) as results:
        results.add(row)
    assert read_rows(tmp_path / "limits.csv") == [row]
    assert read_rows(tmp_path / "none.csv") == []


def test_the_base_of_a_rounding_leaves_room_for_every_level() -> None:
    """Twice the largest level fits into a base, and other methods need no choice."""
    problem = Problem(value=[20, 22, 42], sensitive=[0], lower_level=[3], upper_level=[4])
    assert choices("round", problem) == {"base": 20.0}
    assert choices("suppress", problem) == {}
