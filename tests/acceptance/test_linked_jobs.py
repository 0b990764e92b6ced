"""Linked tables of offices as jobs, from the command line to audited files of single tables."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from studies.linked_job import FRENCH

from tacit.cli.main import main

JOB = f"""{FRENCH}
time_limit = 300
gap = 0.6

[outputs]
published = ["published {{table}}.csv", "published.xlsx"]
json = "result.json"
"""
EAST = """
[[tables]]
name = "east"
table = "turnover_act_nuts_size.csv"
dimensions = ["ACTIVITY", "NUTS", "SIZE"]
hierarchies.NUTS = {file = "east.csv", levels = ["NUTS2", "NUTS3"], total = "Total_EAST"}

[[rules]]
rule = "min-frequency"
"""
ENTERPRISE = "P(0,0)|P(0,0)|P(10,1)|ZERO(10)|MAN(10)|MIS(1)|WGT(0)"


@pytest.fixture
def french(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the French turnover tables and their job."""
    for file in (shared / "tables" / "rtauargus").glob("*.csv"):
        shutil.copy(file, tmp_path)
    (tmp_path / "french.toml").write_text(JOB)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.mark.shared
def test_the_four_french_tables(french: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are one problem; each is published by itself, and the files together are safe."""
    assert main(["protect", "french.toml", "--quiet"]) == 0
    told = capsys.readouterr().out
    assert "1493 cells, 824 relations, 260 sensitive" in told
    assert "act_size: ACTIVITY x SIZE, 414 cells" in told
    names = ("act_size", "act_cj", "nuts_size", "nuts_cj")
    for name in names:
        published = _rows(french / f"published {name}.csv")
        given = {
            tuple(row.values())[:2]: float(row["TOT"])
            for row in _rows(french / f"turnover_{name}.csv")
        }
        assert len(published) == len(given)
        for row in published:
            first, second, value, status = row.values()
            assert status == ("suppressed" if value == "" else "published")
            assert value == "" or float(value) == pytest.approx(given[first, second])
    sizes = [
        {
            row["SIZE"]: row["TOT"]
            for row in _rows(french / f"published {name}.csv")
            if row[by] == "Total"
        }
        for name, by in (("act_size", "ACTIVITY"), ("nuts_size", "NUTS"))
    ]
    assert sizes[0] == sizes[1]
    result = json.loads((french / "result.json").read_text())
    assert result["audit"]["safe"]
    for solution in (["result.json"], [f"published {name}.csv" for name in names]):
        assert main(["audit", "french.toml", *solution, "--levels-only", "--quiet"]) == 0
        hidden = len(result["suppressed"])
        assert f"{hidden} of 1493 cells not published" in capsys.readouterr().out


@pytest.mark.shared
def test_the_eastern_table_contradicts(french: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its turnover is another one: common cells are named with both tables, five of them."""
    regions = (french / "nuts23_fr_corr_table.csv").read_text().splitlines()
    east = [line for line in regions if line.startswith(("NUTS2", "FR41", "FR42", "FR43"))]
    (french / "east.csv").write_text("\n".join(east))
    first, _, rest = JOB.partition('\n[[rules]]\nrule = "min-frequency"\n')
    (french / "french.toml").write_text(first + EAST + rest)
    assert main(["protect", "french.toml", "--quiet"]) == 1
    told = capsys.readouterr().err
    assert "the value of 52 common cells differs between the tables" in told
    assert "between nuts_size and east" in told
    assert "and 47 more" in told
    assert told.count("(NUTS=") == 5


@pytest.mark.shared
def test_two_tables_of_enterprises(
    shared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A batch file with linked tables becomes a job with the sensitive cells of tau-ARGUS."""
    folder = shared / "tables" / "argus" / "enterprise"
    for file in folder.glob("*.*"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    lines = ['<OPENMICRODATA> "example_enterprise.asc"', '<OPENMETADATA> "example_enterprise.rda"']
    for other in ("product", "region"):
        lines += [f'<SPECIFYTABLE> "act""{other}"|"turnover"||"turnover"']
        lines += [f"<SAFETYRULE> {ENTERPRISE}"]
    lines += ["<READMICRODATA>", "<SUPPRESS> MOD(0,5,1,1,1)"]
    lines += ['<WRITETABLE> (1,3,AS+,"product.txt")', '<WRITETABLE> (2,3,AS+,"region.txt")']
    (tmp_path / "linked.arb").write_text("\n".join(lines))
    assert main(["argus", "linked.arb", "--to-job", "linked.toml"]) == 0
    capsys.readouterr()
    typed = ["protect", "linked.toml", "--quiet", "--gap", "0.95", "--json", "result.json"]
    assert main(typed) == 0
    told = capsys.readouterr().out
    assert "table-1: act x product, 1665 cells, 283 sensitive" in told
    assert "table-2: act x region, 1665 cells, 339 sensitive" in told
    for name, expected in (("product", "test_2a.txt"), ("region", "test_2b.txt")):
        published = {
            (row["act"], row[name]): row["status"] for row in _rows(tmp_path / f"{name}.csv")
        }
        for line in (folder / "expected" / expected).read_text().splitlines():
            act, other, _, status = next(csv.reader([line]))
            if status.strip() == "3":
                assert published[act.strip(), other.strip()] == "suppressed"
    arguments = ["product.csv", "region.csv", "--levels-only", "--quiet"]
    assert main(["audit", "linked.toml", *arguments]) == 0
