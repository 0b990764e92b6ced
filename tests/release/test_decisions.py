"""Cells that are published by decision, although a rule finds them sensitive."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.report.document import html_report

RECORDS = {
    "region": ["N", "N", "N", "S", "S", "S"],
    "sex": ["f", "m", "x"] * 2,
    "value": [71.0, 82.0, 93.0, 54.0, 65.0, 76.0],
    "count": [1, 9, 9, 9, 2, 9],
}
DECIDED = "by decision of the publisher although a rule found them sensitive"


def _release(*marked: tuple[str, str], minimum: int = 3) -> tacit.Release:
    table = tacit.Table.from_frame(RECORDS, {"region": None, "sex": None}, count="count")
    regions, sexes = zip(*marked, strict=True) if marked else ((), ())
    marks = {"region": regions, "sex": sexes, "status": ["publish"] * len(marked)}
    rules: list[tacit.table.Rule] = [tacit.MinFrequency(minimum)]
    if marked:
        rules.append(tacit.Manual(marks, override=True))
    return tacit.protect(table.apply(*rules), time_limit=20)


def test_the_guarantee_tells_of_decisions() -> None:
    """Readers are told that there are such cells, neither how many nor which."""
    release = _release(("N", "f"))
    assert DECIDED in release.guarantee
    assert DECIDED in release.summary()
    assert "cannot deduce any sensitive cell" in release.guarantee
    decided = release.guarantee[release.guarantee.index("some cells") :].split(".")[0]
    assert not any(character.isdigit() for character in decided)
    assert "region" not in release.guarantee
    assert release.published.value[release.papers.problem.overridden].tolist() == [71.0]


def test_no_decision_is_told_of_where_there_is_none() -> None:
    """The usual guarantee stays what it was."""
    assert "decision" not in _release().guarantee
    assert "decision" not in _release(("N", "m")).guarantee


def test_decisions_where_nothing_else_is_sensitive() -> None:
    """A table whose sensitive cells are all published does not say that none is sensitive."""
    told = _release(("N", "f"), minimum=2).guarantee
    assert "no other cell is sensitive" in told
    assert DECIDED in told


def test_working_papers_name_the_cells() -> None:
    """The true table and the working report tell which cells; the report for readers does not."""
    release = _release(("N", "f"))
    table = release.papers.table
    assert table is not None
    assert table.reason is not None
    (cell,) = np.flatnonzero(table.overridden)
    assert table.reason[cell] == "minimum frequency; overridden"
    working, public = (html_report(release, confidential=told) for told in (True, False))
    named = "published although a rule finds them sensitive: cell region=N, sex=f"
    assert named in working
    assert named not in public
    assert DECIDED in public


def test_jobs_decide_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without `override` a job is refused with cells and rule; with it the guarantee tells."""
    from tacit.cli.main import main

    lines = zip(*RECORDS.values(), strict=True)
    text = "\n".join(",".join(map(str, line)) for line in lines)
    (tmp_path / "cells.csv").write_text(f"{','.join(RECORDS)}\n{text}\n")
    (tmp_path / "marks.csv").write_text("region,sex,status\nN,f,publish\n")
    job = tmp_path / "job.toml"
    job.write_text(
        '[data]\ntable = "cells.csv"\ncount = "count"\n[dimensions.region]\n[dimensions.sex]\n'
        '[[rules]]\nrule = "min-frequency"\nminimum = 3\n'
        '[[rules]]\nrule = "manual"\nmarks = "marks.csv"\n'
    )
    assert main(["protect", str(job), "--quiet"]) == 1
    told = capsys.readouterr()
    assert "(region=N, sex=f) by minimum frequency" in told.err
    assert "override = true" in told.err
    job.write_text(f"{job.read_text()}override = true\n")
    assert main(["protect", str(job), "--quiet"]) == 0
    assert DECIDED in capsys.readouterr().out
