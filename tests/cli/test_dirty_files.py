"""Dirty files are read as the clean one, or refused with a message: never read wrongly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tacit.cli.main import main
from tacit.cli.progress import Silence
from tacit.jobs import job_problem, job_table, read_job
from tacit.table import Table

from .dirty import CASES, DOCUMENT, SECRETS, Dirty, listed
from .dirty.case import ROWS


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_becomes_of_it(
    case: Dirty,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What is printed is as in the documents, and what is read is the table of the clean file."""
    case.arrange(tmp_path)
    monkeypatch.chdir(tmp_path)
    # On a slow machine progress would show in between.
    monkeypatch.setattr("tacit.cli.progress.PlainLines", Silence)
    code = main(["info", "job.toml"])
    printed = capsys.readouterr()
    assert printed.err == case.printed
    assert code == case.code
    assert not any(secret in printed.err for secret in SECRETS)
    if code == 0:
        table = job_table(read_job(Path("job.toml")))
        assert sorted(table.value.tolist()) == pytest.approx(sorted(_totals(table)))
        assert table.count is not None
        assert table.count[0] == len(ROWS)


def _totals(table: Table) -> list[float]:
    """The values of all cells, from the firms; codes of the table are in the order of theirs."""
    codes = {name: table.codes(name) for name in table.totals}
    industries = sorted({code for _, code, _, _ in ROWS})
    leaves = table.dimensions["industry"].leaves
    found = np.zeros(table.cell_count)
    for _, industry, region, value in ROWS:
        own = leaves[industries.index(industry)]
        if "99" in leaves and value == ROWS[-1][3]:
            own = "99"
        inside = np.isin(codes["industry"], ["Total", own]) & np.isin(
            codes["region"], ["Total", region]
        )
        found[inside] += value
    return [float(value) for value in found]


def test_cells_of_missing_codes_are_safe_where_the_job_says_so(tmp_path: Path) -> None:
    """A rule finds the cell of the missing code sensitive, unless it is declared safe."""
    (case,) = (each for each in CASES if each.title == "a code that stands for missing ones")
    case.arrange(tmp_path)
    job = (tmp_path / "job.toml").read_text()
    rule = '\n[[rules]]\nrule = "min-frequency"\nminimum = 2\n'
    for safe, found in (("true", False), ("false", True)):
        (tmp_path / "job.toml").write_text(job.replace("safe = true", f"safe = {safe}") + rule)
        table = job_problem(read_job(tmp_path / "job.toml"))
        assert isinstance(table, Table)
        own = table.codes("industry") == "99"
        assert own.sum() == 2
        assert bool(table.is_sensitive[own].any()) is found


def test_there_are_at_least_thirty_kinds() -> None:
    """Every case has its own title."""
    assert len({case.title for case in CASES}) == len(CASES) >= 30


def test_the_document_lists_them_all() -> None:
    """`python -m tests.cli.dirty` was run after the last change."""
    assert DOCUMENT.read_text().endswith(listed())
