"""How the study of random tables runs, counts and goes on."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest
from studies.judged import Bench, as_row, counts, read_runs, write_counts

from studies import judged
from tests.judge.cases import ROADS, Result, case, run
from tests.judge.verdict import Fault


def test_runs_are_counted_by_how_they_ended_and_what_was_wrong(tmp_path: Path) -> None:
    """Each row counts the runs of one algorithm at one magnitude; a run may have two faults."""
    one = case(0)
    wrong = Result(
        "optimal", (Fault("false bound", "a"), Fault("unsafe", "b"), Fault("unsafe", "c"))
    )
    rows = [as_row(one, wrong, 1.0), as_row(one, Result("feasible"), 2.0)]
    (key,) = counts(rows)
    assert key == (one.method, one.algorithm, f"{one.drawn.magnitude:g}")
    write_counts(rows, tmp_path / "judged.csv")
    with (tmp_path / "judged.csv").open(newline="") as file:
        (row,) = csv.DictReader(line for line in file if not line.startswith("#"))
    told = {"tables": "2", "optimal": "1", "feasible": "1", "false bound": "1", "unsafe": "1"}
    assert {name: row[name] for name in told} == told
    assert row["crash"] == "0"


def test_a_bench_finds_what_is_found_without_one() -> None:
    """A case that runs in another process ends as it does here."""
    road = ("round", "milp")
    with Bench() as bench:
        found, seconds = bench.run(4, road, 2.0)
    assert found == run(case(4, road))
    assert seconds >= 0


def test_a_study_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that were made are not made again, and those with faults only on request."""
    asked: list[int] = []

    def found(
        _: Bench, seed: int, only: tuple[str, str] | None, limit: float, largest: int | None
    ) -> tuple[Result, float]:
        assert (limit, largest) == (2.0, None)
        assert only is None or only == ROADS[seed % len(ROADS)]
        asked.append(seed)
        faults = (Fault("crash", "such\nas this"),) if seed == 3 else ()
        return Result("feasible", faults), 0.1

    monkeypatch.setattr(Bench, "run", found)

    def study(*arguments: str) -> list[int]:
        asked.clear()
        monkeypatch.setattr(sys, "argv", ["judged", *arguments, "--out", str(tmp_path)])
        judged.main()
        return list(asked)

    assert study("--tables", "4") == [0, 1, 2, 3]
    assert study("--tables", "6") == [4, 5]
    assert study("--again") == [3]
    rows = read_runs(tmp_path / "judged_runs.csv")
    assert sorted(int(row["seed"]) for row in rows) == list(range(6))
    assert [row["text"] for row in rows if row["faults"]] == ["such as this"]
