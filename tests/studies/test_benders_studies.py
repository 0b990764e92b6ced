"""What the studies of Benders' decomposition make of their rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from studies.common import Run
from studies.intervals_common import counting, run
from studies.pictures import read_rows
from studies.table3 import (
    BEST,
    COMBINATIONS,
    best_combinations,
    compare,
    until_close,
    write_figures,
    write_means,
)
from studies.table4 import watched

from tacit.generators import generate_1h2d
from tacit.io.jj import read_jj
from tacit.methods.suppress.run import suppress
from tacit.outcome import TracePoint

LIMIT = 10.0


def rows() -> Iterator[dict[str, str]]:
    """Two tables by every combination: stabilized is close to one after 2 s, classic never."""
    for place, (form, solver, variant) in enumerate(COMBINATIONS):
        for name in ("small", "large"):
            stable = variant == "stabilized"
            yield {
                "instance": name,
                "method": form,
                "solver": solver,
                "variant": variant,
                "safe": "yes",
                "gap_pct": "0.5",
                "secondary_gap_pct": str(place + (0 if stable else 100)),
                "iterations": "10" if name == "small" else "30",
                "seconds_to_close": "2" if stable and name == "small" else "",
                "secondary_weight": "100" if stable else "150",
            }


def test_all_28_combinations_are_there() -> None:
    """Five forms, three methods, two masters, less the interior points of meth2."""
    assert len(COMBINATIONS) == len(set(COMBINATIONS)) == 28
    assert not any(each[:2] == ("meth2", "interior-point") for each in COMBINATIONS)


def test_means_are_those_of_the_rows(shared: Path, tmp_path: Path) -> None:
    """A run that never gets close counts with the time limit; the paper's means stand beside."""
    assert shared.is_dir()
    path = tmp_path / "table3.csv"
    write_means(rows(), path, ["a note"], LIMIT)
    found = {(row["method"], row["variant"]): row for row in read_rows(path)}
    assert len(found) == 10
    stable, classic = found["meth1", "stabilized"], found["meth1", "classic"]
    assert (stable["runs"], stable["close"], stable["mean_seconds_to_close"]) == ("6", "3", "6")
    assert (classic["close"], classic["mean_seconds_to_close"]) == ("0", "10")
    assert stable["mean_iterations"] == "20"
    assert (stable["paper_mean_gap_pct"], stable["paper_mean_iterations"]) == ("1.50", "137")
    assert found["meth2", "classic"]["runs"] == "4"


def test_no_profile_is_empty(tmp_path: Path) -> None:
    """Each figure has a step for every method it shows, and the better ones are above."""
    write_figures(rows(), tmp_path, LIMIT)
    names = {path.name for path in tmp_path.glob("*.csv")}
    solvers = ("primal", "dual", "interior-point")
    assert names == {
        *(f"figure{number}_{solver}_profile.csv" for number in (5, 6) for solver in solvers),
        "figure7_weight_best_profile.csv",
        "figure7_seconds_best_profile.csv",
    }
    steps = read_rows(tmp_path / "figure6_dual_profile.csv")
    at_once = {row["method"]: float(row["share"]) for row in steps if row["q"] == "1"}
    assert len(at_once) == 10
    assert at_once["meth1 stabilized dual"] == 1.0
    # The limit counts on the table that nobody got close to.
    assert at_once["meth1 classic dual"] == 0.5
    best = {row["method"] for row in read_rows(tmp_path / "figure7_weight_best_profile.csv")}
    assert best == set(best_combinations(rows()))
    assert len(best) == BEST


def test_pairs_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """Ties at the time limit count for neither side."""
    compare(rows(), LIMIT)
    assert "of 28 pairs stabilized is sooner close in 14, classic in 0" in capsys.readouterr().out
    assert until_close({"seconds_to_close": "10.3"}, LIMIT) == LIMIT


def test_time_to_a_gap_is_that_of_the_trace() -> None:
    """The gap is a share of what is paid beyond the sensitive cells."""
    trace = (
        TracePoint(1.0, 200.0, 190.0, 1),
        TracePoint(2.0, 200.0, 199.95, 2),
        TracePoint(3.0, 200.0, 200.0, 3),
    )
    made = Run(sensitive_weight=100.0, status="", stopped_by="", seconds=3.0, trace=trace)
    assert (made.seconds_to(10.0), made.seconds_to(0.1), made.seconds_to(0.01)) == (1.0, 2.0, 3.0)
    assert Run(sensitive_weight=0.0, status="", stopped_by="", seconds=1.0).seconds_to(50) is None


def test_masters_and_subproblems_are_watched() -> None:
    """Every master problem and every pattern that is cut off is counted, with its seconds."""
    problem = generate_1h2d("table1", weight="value")
    with watched() as spent:
        suppress(problem, algorithm="benders", own_cuts=False)
    assert spent.masters >= spent.patterns > 0
    assert spent.master > 0
    assert spent.lower_cuts + spent.upper_cuts > 0


def test_plain_benders_needs_few_iterations(shared: Path) -> None:
    """No more than one and a half times the paper's 31 on its public table, and HiGHS counts."""
    problem = read_jj(shared / "instances" / "targus.jj")
    found = run(problem, algorithm="benders")
    assert found["status"] == "optimal"
    assert found["objective"] == pytest.approx(2142265.7)
    assert isinstance(found["iterations"], int)
    assert found["iterations"] <= 1.5 * 31
    assert isinstance(found["solver_iterations"], int)
    assert found["solver_iterations"] > found["iterations"]
    with counting() as nothing:
        pass
    assert nothing.iterations == 0
