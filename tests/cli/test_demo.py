"""`tacit demo`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import tacit
from tacit.cli.commands import demo
from tacit.cli.main import main


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A demo of a few hundred firms."""
    monkeypatch.setattr(demo, "FIRMS", 2000)
    monkeypatch.setattr(
        "tacit.generators.microdata.INDUSTRIES", {"C": range(10, 14), "F": (41, 42)}
    )


@pytest.mark.usefixtures("small")
def test_a_complete_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All files are there, and the lines that it ends with can be typed as they stand."""
    folder = tmp_path / "new" / "demo"
    assert main(["demo", "--out", str(folder), "--time-limit", "5"]) == 0
    told = capsys.readouterr().out
    assert "guarantee   a reader who knows the published cells" in told
    assert "all verified with evidence" in told
    assert {path.name for path in folder.iterdir()} == set(demo._FILES)
    for name in demo._FILES:
        assert str(folder / name) in told
    protect, audit = (line.split() for line in told.splitlines()[-2:])
    assert audit[:2] == ["tacit", "audit"]
    assert main(audit[1:]) == 0
    assert capsys.readouterr().out.startswith("evidence verified")
    before = (folder / "published.csv").read_bytes()
    assert protect[:2] == ["tacit", "protect"]
    assert main([*protect[1:], "--quiet"]) == 0
    assert (folder / "published.csv").read_bytes() == before


@pytest.mark.usefixtures("small")
def test_the_publication_holds_what_may_be_known(tmp_path: Path) -> None:
    """Suppressed cells are empty in the CSV, and every other cell has its value."""
    assert main(["demo", "--out", str(tmp_path), "--time-limit", "5", "--quiet"]) == 0
    rows = list(csv.DictReader((tmp_path / "published.csv").read_text().splitlines()))
    assert list(rows[0]) == ["industry", "region", "turnover", "status"]
    result = json.loads((tmp_path / "result.confidential.json").read_text())
    assert result["audit"]["safe"] is True
    true = list(csv.DictReader((tmp_path / "table.confidential.csv").read_text().splitlines()))
    assert len(rows) == len(true) == result["cells"]
    for cell, (row, known) in enumerate(zip(rows, true, strict=True)):
        hidden = cell in result["suppressed"]
        assert row["turnover"] == ("" if hidden else known["value"])
        assert (known["status"] in ("sensitive", "secondary")) == hidden


def test_the_table_is_of_a_realistic_size() -> None:
    """The table has more than a thousand cells, two levels in both dimensions, some sensitive."""
    enterprises = tacit.generators.generate_enterprises(demo.FIRMS)
    table = tacit.tabulate(
        enterprises.records, enterprises.dimensions, "turnover", contributor="firm"
    ).apply(tacit.MinFrequency(3), tacit.PPercent(10))
    assert table.cell_count > 1000
    assert [hierarchy.depth for hierarchy in table.dimensions.values()] == [2, 2]
    assert 0 < table.is_sensitive.sum() < 0.2 * table.cell_count


@pytest.mark.usefixtures("small")
def test_no_time_is_no_pattern(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a safe pattern nothing is published."""
    interrupted = tacit.Outcome(status=tacit.Status.INTERRUPTED, stopped_by=tacit.StopReason.TIME)
    monkeypatch.setattr("tacit.methods.suppress.run.suppress", lambda *_, **__: interrupted)
    assert main(["demo", "--out", str(tmp_path)]) == 3
    assert "allow more with --time-limit" in capsys.readouterr().out
    inputs = {"microdata.csv", "industries.csv", "job.toml"}
    assert {path.name for path in tmp_path.iterdir()} == inputs


def test_a_folder_that_cannot_be_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file in the way is reported before any work."""
    (tmp_path / "demo").write_text("")
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "the folder cannot be created: file exists" in told.err
