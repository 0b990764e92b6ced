"""Wishes and the last publication, through the command line and in jobs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tacit.cli.exits import ExitCode
from tacit.cli.main import main

CELLS = """\
industry,region,turnover,firms
C10,North,210,2
C11,North,340,9
F41,North,120,7
C10,South,180,8
C11,South,250,9
F41,South,60,6
C10,West,330,9
C11,West,410,12
F41,West,95,5
"""
JOB = """\
wishes = ["industry=C11, region=South: must stay"]

[data]
table = "cells.csv"
value = "turnover"
count = "firms"

[dimensions.industry]

[dimensions.region]

[[rules]]
rule = "min-frequency"
minimum = 3

[outputs]
published = "published.csv"
json = "result.json"
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A job beside its data."""
    (tmp_path / "cells.csv").write_text(CELLS)
    path = tmp_path / "job.toml"
    path.write_text(JOB)
    return path


def without_value(job: Path) -> set[tuple[str, str]]:
    """The cells that are published without a value."""
    with (job.parent / "published.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {(row["industry"], row["region"]) for row in rows if not row["turnover"]}


def test_wishes_of_the_job_and_of_the_command_line(job: Path) -> None:
    """Both hold; what must stay is there, what is never published is not."""
    assert main(["protect", str(job), "--quiet"]) == ExitCode.DONE
    first = without_value(job)
    assert ("C10", "North") in first
    assert ("C11", "South") not in first
    wish = ["--wish", "region=West: never publish", "--wish", "industry=F41, region=*: publish"]
    assert main(["protect", str(job), "--quiet", *wish]) == ExitCode.DONE
    second = without_value(job)
    assert ("Total", "West") in second
    assert ("C11", "South") not in second
    assert not any(industry == "F41" for industry, _ in second)


def test_a_wish_that_cannot_be_granted(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, the cells are named, and nothing is written."""
    wish = ["--wish", "industry=C10, region=*: publish unless sensitive"]
    assert main(["protect", str(job), "--quiet", *wish]) == ExitCode.NO_SAFE_OUTCOME
    assert "but where they are, (industry=C10, region=North)" in capsys.readouterr().err
    assert not (job.parent / "published.csv").exists()


def test_the_last_publication(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pattern that would not be chosen again is kept; what changed is told, in confidence."""
    last = job.parent / "last.csv"
    cheap = ["--wish", "industry=*, region=West: factor 0.001"]
    assert main(["protect", str(job), "--quiet", *cheap]) == ExitCode.DONE
    kept = without_value(job)
    (job.parent / "published.csv").rename(last)
    assert main(["protect", str(job), "--quiet"]) == ExitCode.DONE
    assert without_value(job) != kept
    text = job.read_text()
    job.write_text(f'{text}\n[previous]\ntable = "last.csv"\nkeep = 0.001\nunchanged = "none"\n')
    capsys.readouterr()
    assert main(["protect", str(job), "--quiet"]) == ExitCode.DONE
    assert without_value(job) == kept
    count = len(kept)
    told = f"{count} of {count} cells without a value then have none again, 0 are published"
    assert told in capsys.readouterr().out
    changes = json.loads((job.parent / "result.json").read_text())["previous"]
    assert changes == {"kept": count, "published": 0, "added": 0, "new": 0, "new_hidden": 0}
    assert "again" not in (job.parent / "published.csv").read_text()


def test_the_last_publication_is_not_overwritten(job: Path) -> None:
    """An output that is an input is refused."""
    assert main(["protect", str(job), "--quiet"]) == ExitCode.DONE
    published = job.parent / "published.csv"
    before = published.read_text()
    again = ["protect", str(job), "--quiet", "--previous", str(published)]
    assert main(again) == ExitCode.WRONG_INPUT
    assert published.read_text() == before
