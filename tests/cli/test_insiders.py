"""Insiders and known sums on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit.cli.main import main
from tacit.jobs import job_problem, read_job
from tacit.table import Table

JOB = """\
[data]
microdata = "records.csv"
value = "v"
contributor = "firm"

[dimensions]
r = {}

[[rules]]
rule = "p-percent"
p = 10

[method]
name = "suppress"
time_limit = 20
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A firm with 600 of 603 and 400 of 402 in two of three cells."""
    rows = ["r,firm,v", "a,big,600", "a,g,3", "b,big,400", "b,h,2"]
    rows += [f"c,c{number},100" for number in range(9)]
    (tmp_path / "records.csv").write_text("\n".join(rows) + "\n")
    path = tmp_path / "job.toml"
    path.write_text(JOB)
    return path


def test_none_is_told_what_it_means(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without insiders one line says what is not protected; otherwise there is no such line."""
    assert main(["protect", str(job), "--quiet", "--insiders", "none"]) == 0
    told = capsys.readouterr().err
    assert told == (
        "note: insiders = none: contributors, who know their own figures, may deduce what others "
        "contribute\n"
    )
    assert main(["protect", str(job), "--quiet", "--coalition", "2"]) == 0
    assert capsys.readouterr().err == ""


def test_what_is_typed_counts_more(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The job's choice holds unless another one is typed."""
    job.write_text(f'insiders = "none"\n{JOB}')
    assert main(["protect", str(job), "--quiet"]) == 0
    assert "insiders = none" in capsys.readouterr().err
    assert main(["protect", str(job), "--quiet", "--insiders", "singletons"]) == 0
    assert "insiders = none" not in capsys.readouterr().err


def test_an_audit_tells_of_known_sums(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two suppressed cells whose sum is known and dominated by one firm are reported."""
    out = job.parent / "audit.json"
    (job.parent / "pattern.txt").write_text("1\n2\n")
    assert main(["audit", str(job), str(job.parent / "pattern.txt"), "--json", str(out)]) == 0
    assert (
        "known sums: 1 sum of hidden cells is known to everybody, though rules find it sensitive: "
        "(r=a), (r=b): p%\n"
    ) in capsys.readouterr().out
    assert json.loads(out.read_text())["known_sums"] == [[[1, 2], "p%", True]]
    (job.parent / "pattern.txt").write_text("1\n2\n3\n")
    assert main(["audit", str(job), str(job.parent / "pattern.txt")]) == 0
    assert "known sums" not in capsys.readouterr().out


def test_all_contributors_and_pairs_of_them_attack_where_asked_for(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every contributor the table knows, two of them together: protected, and told."""
    arguments = ["protect", str(job), "--quiet", "--insiders", "contributors", "--coalition", "2"]
    assert main(arguments) == 0
    assert "up to 2 together" in capsys.readouterr().out


def test_sums_that_stay_known_are_printed(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where no other cell can be suppressed, whoever runs the command is told."""
    assert main(["protect", str(job), "--quiet", "--max-suppressed", "2"]) == 0
    assert "  known sums  1 sum of hidden cells is known" in capsys.readouterr().out
    assert main(["protect", str(job), "--quiet"]) == 0
    assert "known sums" not in capsys.readouterr().out


def test_contributors_without_names_are_refused(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A finished table that does not say who contributes cannot let all of them attack."""
    rows = ["r,v,n,t,u", "a,603,2,600,3", "b,402,2,400,2", "c,900,9,100,100"]
    (job.parent / "cells.csv").write_text("\n".join(rows) + "\n")
    data = '[data]\ntable = "cells.csv"\nvalue = "v"\ncount = "n"\ntop = ["t", "u"]\n'
    job.write_text(data + JOB[JOB.index("\n[dimensions]") :])
    assert main(["protect", str(job), "--quiet", "--insiders", "contributors"]) == 1
    told = capsys.readouterr().err
    assert "insiders = contributors needs to know who contributes" in told
    assert "top_contributor" in told
    job.write_text('insiders = "contributors"\n' + job.read_text())
    (job.parent / "pattern.txt").write_text("1\n2\n3\n")
    assert main(["audit", str(job), str(job.parent / "pattern.txt"), "--quiet"]) == 1
    assert "top_contributor" in capsys.readouterr().err


def test_columns_name_the_contributors_of_a_finished_table(job: Path) -> None:
    """With codes beside the largest contributions a finished table knows its contributors."""
    rows = ["r,v,n,t,u,who,other", "a,603,2,600,3,x,g", "b,402,2,400,2,x,h", "c,900,9,100,100,y,z"]
    (job.parent / "cells.csv").write_text("\n".join(rows) + "\n")
    data = '[data]\ntable = "cells.csv"\nvalue = "v"\ncount = "n"\ntop = ["t", "u"]\n'
    data += 'top_contributor = ["who", "other"]\n'
    job.write_text(data + JOB[JOB.index("\n[dimensions]") :])
    source = job_problem(read_job(job))
    assert isinstance(source, Table)
    insiders = source.problem("contributors").insiders
    assert insiders is not None
    # Of x, g, h, y and z, x is in both cells and their total.
    assert len(insiders) == 5
    assert sorted(insiders.amount.tolist())[-1] == 1000
