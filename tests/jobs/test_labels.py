"""Labels of codes in jobs: in what is published, and nowhere in how it is protected."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.cli.main import main
from tacit.errors import InputError
from tacit.jobs import job_table, read_job, run_job, write_outputs

LABELS = ("lengths = [1, 2]", 'lengths = [1, 2]\nlabels = "names.csv"')


@pytest.fixture
def names(folder: Path) -> Path:
    """A file with labels, one of them of a code that does not occur."""
    path = folder / "names.csv"
    path.write_text("code,label\nA,Food\nA1,Fish\nZ9,Other\n")
    return path


def test_labels_are_published_and_change_nothing_else(
    folder: Path, changed: Callable[..., Path], names: Path
) -> None:
    """A job with labels publishes the same cells as without, with a column of labels."""
    results = []
    for changes in ((), (LABELS,)):
        job = read_job(changed(*changes))
        write_outputs(job, run_job(job))
        text = (folder / "published.csv").read_text().splitlines()
        results.append((text, json.loads((folder / "result.json").read_text())["suppressed"]))
    (plain, before), (labelled, after) = results
    assert before == after
    assert labelled[0] == "industry,industry_label,region,turnover,status"
    assert "A1,Fish,N,250,published" in labelled or "A1,Fish,N,,suppressed" in labelled
    rows = [line.split(",") for line in labelled]
    assert [",".join((row[0], *row[2:])) for row in rows] == plain
    assert names in job.inputs


def test_merged_codes_can_have_labels(changed: Callable[..., Path], names: Path) -> None:
    """The new codes of a recode are known to the labels, and so are those that it leaves out."""
    names.write_text("code,label\nA1,Fish\nA,Food\nwhole,Everything\n")
    recode = (
        '[[rules]]\nrule = "min',
        '[recode]\nindustry = {whole = ["A", "B"]}\n\n[[rules]]\nrule = "min',
    )
    table = job_table(read_job(changed(LABELS, recode)))
    assert table.dimensions["industry"].labels == {"whole": "Everything"}


@pytest.mark.usefixtures("names")
def test_labels_of_codes_that_do_not_exist(changed: Callable[..., Path]) -> None:
    """A hierarchy that the job lists refuses labels of other codes, and names them."""
    listed = ("lengths = [1, 2]", 'codes = {A = ["A1", "A2"], B = ["B1"]}\nlabels = "names.csv"')
    with pytest.raises(InputError, match=r"names.csv: there are labels of Z9, but no such codes"):
        job_table(read_job(changed(listed)))


def test_a_place_for_labels_needs_labels(changed: Callable[..., Path]) -> None:
    """Where no dimension has labels, there is nothing to put anywhere."""
    with pytest.raises(InputError, match=r"job.toml:25: outputs: no dimension has labels"):
        read_job(changed(('json = "result.json"', 'labels = "together"')))


@pytest.mark.usefixtures("names")
def test_labels_on_the_command_line(
    folder: Path,
    changed: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """--labels takes precedence over the job, and is refused where there are none."""
    out = folder / "other.csv"
    command = ["protect", str(changed(LABELS)), "--quiet", "--out", str(out)]
    assert main([*command, "--labels", "together"]) == 0
    assert "\nA1 Fish,Total," in out.read_text()
    changed()
    assert main([*command, "--labels", "together"]) == 1
    assert "no dimension has labels" in capsys.readouterr().err
