"""Audits of publications that other programs made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.cli.main import main

ENTERPRISE = """\
[data]
microdata = "{folder}/enterprise/example_enterprise.asc"
layout = "{folder}/enterprise/example_enterprise.rda"
value = "turnover"
holding = "h_id"
missing = {{code = {{act = "00"}}, safe = true}}

[dimensions.act]
file = "{folder}/enterprise/nace_divisions.hrc"

[dimensions.region]
file = "{folder}/enterprise/KohStatReg.hrc"

[[rules]]
rule = "p-percent"
p = 10
"""

SIMPLE = """\
[data]
microdata = "{folder}/tau_testW/tau_testW.asc"
layout = "{folder}/tau_testW/Tau_TestW.rda"
value = "Var2"

[dimensions.Size]

[dimensions.Region]
file = "{folder}/tau_testW/region2.hrc"

[[rules]]
rule = "p-percent"
p = 15
"""


@pytest.mark.parametrize(
    ("job", "published", "told"),
    [
        (ENTERPRISE, "enterprise/expected/test_2b.txt", "253 sensitive cells, 466 of 1193 cells"),
        (SIMPLE, "tau_testW/Simple2D_expected.txt", "9 sensitive cells, 21 of 119 cells"),
    ],
)
def test_what_tau_argus_published(
    shared: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    job: str,
    published: str,
    told: str,
) -> None:
    """Records of fixed width against the code-value files of tau-ARGUS: safe for readers."""
    folder = shared / "tables" / "argus"
    (tmp_path / "job.toml").write_text(job.format(folder=folder))
    arguments = [str(tmp_path / "job.toml"), str(folder / published)]
    assert main(["audit", *arguments, "--attackers", "external", "--quiet"]) == 0
    assert f"safe: {told}" in capsys.readouterr().out


def test_a_pattern_that_is_not_enough(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the secondary cells of tau-ARGUS, sensitive ones are exposed: exit code 4."""
    folder = shared / "tables" / "argus"
    (tmp_path / "job.toml").write_text(SIMPLE.format(folder=folder))
    expected = (folder / "tau_testW" / "Simple2D_expected.txt").read_text()
    (tmp_path / "open.txt").write_text(expected.replace(",11\n", ",1\n"))
    arguments = [str(tmp_path / "job.toml"), str(tmp_path / "open.txt")]
    assert main(["audit", *arguments, "--attackers", "external", "--quiet"]) == 4
    assert "NOT SAFE" in capsys.readouterr().out


def test_guesses_are_told_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another name of the total is told; cells are named by codes where files do not match."""
    (tmp_path / "cells.csv").write_text("r,value\nN,5\nS,6\nW,7\n")
    (tmp_path / "job.toml").write_text('[data]\ntable = "cells.csv"\n[dimensions.r]\n')
    published = tmp_path / "published.csv"
    published.write_text("r,value\nEnsemble,18\nN,\nS,\nW,7\n")
    assert main(["audit", str(tmp_path / "job.toml"), str(published), "--quiet"]) == 0
    told = capsys.readouterr().err
    assert told == f"note: {published}: r: 'Ensemble' is taken for the total 'Total'\n"
    published.write_text("r,value\nTotal,18\nN,\nS,\nE,7\n")
    assert main(["audit", str(tmp_path / "job.toml"), str(published), "--quiet"]) == 1
    assert "there is no cell (r=E) in the table" in capsys.readouterr().err
