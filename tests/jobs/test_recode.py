"""Recoding in jobs, and suggestions on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import tacit
from tacit.cli.main import main
from tacit.errors import InputError
from tacit.jobs import job_table, read_job

RECODE = '[recode]\nregion = {all = ["N", "S"]}\nindustry = 1\n'


@pytest.fixture
def written(folder: Path) -> Callable[[str], Path]:
    """Writes the job with something added."""
    job = folder / "job.toml"

    def write(addition: str) -> Path:
        job.write_text(f"{job.read_text()}\n{addition}")
        return job

    return write


def test_microdata_are_tabulated_for_the_recode(written: Callable[[str], Path]) -> None:
    """A firm in both merged regions counts once, which no table of the regions could tell."""
    table = job_table(read_job(written(RECODE)))
    assert table.dimensions["industry"].codes == ("Total", "A", "B")
    assert table.dimensions["region"].codes == ("Total", "all")
    assert table.count is not None
    # Sixteen firms, of which f1 has records in both regions.
    assert table.count[0] == table.count[1] == 16
    assert table.top is not None
    assert table.top[table.labels.index("industry=A, region=all"), 1] == 210


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("[recode]\nland = 1\n", "unknown key 'land'"),
        ('[recode]\nregion = "N"\n', "'region' must be"),
        ('[recode]\nregion = {all = ["N", "X"]}\n', "there is no code X"),
        ('[recode]\noverlap = "best"\n', "'overlap' cannot be 'best'"),
    ],
)
def test_mistakes_are_found_at_their_line(
    written: Callable[[str], Path], section: str, message: str
) -> None:
    """What cannot be merged is named with file and line."""
    path = written(section)
    with pytest.raises(InputError, match=message) as caught:
        job_table(read_job(path))
    assert caught.value.path == path
    assert caught.value.line is not None


def test_suggestions_are_printed_and_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each merge has a line and an entry in the JSON, with what it removes."""
    job, out = folder / "job.toml", folder / "info.json"
    assert main(["info", str(job), "--suggest-recodes", "2", "--json", str(out), "--quiet"]) == 0
    told = capsys.readouterr().out
    steps = json.loads(out.read_text())["recodes"]
    assert "as it is" in told
    assert 1 <= len(steps) <= 2
    assert all(step["removed"] > 0 and step["into"] for step in steps)
    assert ", ".join(steps[0]["codes"]) in told or f"all of {steps[0]['into']}" in told


def test_a_jj_file_has_no_categories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Suggestions need dimensions and rules, and the message says so."""
    path = tmp_path / "cube.jj"
    assert main(["generate", "2d", "--structure", "3-3", "--out", str(path)]) == 0
    assert main(["info", str(path), "--suggest-recodes", "2"]) == 1
    assert "give a job" in capsys.readouterr().err


def test_levels_to_leave_out_are_told(
    folder: Path, changed: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """A run without a safe publication tells what leaving out levels would do, and so does info."""
    job = changed(("time_limit = 20", "time_limit = 20\nmax_suppressed = 0"))
    assert main(["protect", str(job), "--quiet"]) == 2
    told = capsys.readouterr()
    line = "level 2 of industry (such as A1): 1 fewer sensitive cells of 1, 9 fewer cells of 18"
    assert f"  recoding    without {line}\n" in told.out
    hint = "fewer cells are sensitive without level 2 of industry (such as A1) by [recode] industry"
    assert hint in told.err
    assert not (folder / "published.csv").exists()
    found = folder / "info.json"
    assert main(["info", str(job), "--suggest", "--quiet", "--json", str(found)]) == 0
    assert "industry = 1  0 (-1)     9 (-9)" in capsys.readouterr().out
    (choice, *_) = json.loads(found.read_text())["levels_to_leave_out"]
    assert (choice["dimension"], choice["level"], choice["sensitive"]) == ("industry", 1, 0)
    recoded = changed(
        ('[[rules]]\nrule = "min', '[recode]\nindustry = 1\n\n[[rules]]\nrule = "min')
    )
    assert main(["protect", str(recoded), "--quiet"]) == 0


def test_a_jj_file_has_no_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Suggestions need hierarchies."""
    path = tmp_path / "table.jj"
    tacit.write_jj(tacit.examples.get("003-figure-11").problem, path)
    assert main(["info", str(path), "--suggest"]) == 1
    assert "a JJ file has no levels to leave out" in capsys.readouterr().err
