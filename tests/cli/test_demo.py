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
    """A demo of a few hundred cells."""
    monkeypatch.setattr(demo, "DIVISIONS", {"C": range(10, 16), "F": range(41, 44)})
    monkeypatch.setattr(demo, "PARTS", 2)


@pytest.mark.usefixtures("small")
def test_a_complete_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The files agree with each other, and the line it ends with can be typed as it stands."""
    folder = tmp_path / "new" / "demo"
    assert main(["demo", "--out", str(folder), "--time-limit", "5"]) == 0
    told = capsys.readouterr().out
    assert "safe: " in told
    assert "guaranteed: a reader who knows the published cells" in told
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "published.csv",
        "table.confidential.jj",
        "suppression.confidential.json",
        "evidence.confidential.json",
    }
    last = told.splitlines()[-1].split()
    assert last[:2] == ["tacit", "audit"]
    assert main(last[1:]) == 0
    assert capsys.readouterr().out.startswith("evidence verified")


@pytest.mark.usefixtures("small")
def test_the_publication_holds_what_may_be_known(tmp_path: Path) -> None:
    """Suppressed cells are an x in the CSV, and every other cell has its value."""
    assert main(["demo", "--out", str(tmp_path), "--time-limit", "5", "--quiet"]) == 0
    rows = list(csv.reader((tmp_path / "published.csv").read_text().splitlines()))
    assert rows[0] == ["industry", "region", "turnover"]
    suppressed = json.loads((tmp_path / "suppression.confidential.json").read_text())["suppressed"]
    value = tacit.read_jj(tmp_path / "table.confidential.jj").value
    assert len(rows) == len(value) + 1
    for cell, row in enumerate(rows[1:]):
        assert row[2] == ("x" if cell in suppressed else f"{value[cell]:.0f}")


def test_the_table_is_of_a_realistic_size() -> None:
    """The table has thousands of cells, two levels in both dimensions, some cells sensitive."""
    table = demo.generated(1)
    assert table.cell_count == 65 * 36
    assert [hierarchy.depth for hierarchy in table.dimensions.values()] == [2, 2]
    assert 0 < table.is_sensitive.sum() < 0.2 * table.cell_count


@pytest.mark.usefixtures("small")
def test_no_time_is_no_pattern(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a safe pattern nothing is written."""
    interrupted = tacit.Outcome(status=tacit.Status.INTERRUPTED, stopped_by="time")
    monkeypatch.setattr(tacit, "suppress", lambda *_, **__: interrupted)
    assert main(["demo", "--out", str(tmp_path)]) == 3
    assert "allow more with --time-limit" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file in the way is said, before any work."""
    (tmp_path / "demo").write_text("")
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "the folder cannot be created: file exists" in told.err
