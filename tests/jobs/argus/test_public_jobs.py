"""Public batch files and what tau-ARGUS makes of them."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tacit
from tests.jobs.argus.small_jobs import Heard

ENTERPRISE = "P(0,0)|P(0,0)|P(10,1)|ZERO(10)|MAN(10)|MIS(1)|WGT(0)"
PRINTED = ["s", "s", "s", "s", "x", "u", "s", "s", "s", "s", "x", "x", "s", "s", "s"]


def _copied(shared: Path, name: str, folder: Path) -> Path:
    source = shared / "tables" / "argus" / name
    for path in source.rglob("*"):
        if path.is_file():
            shutil.copy(path, folder / path.name)
    return folder


def _run(folder: Path, *lines: str, time_limit: float = 20) -> Heard:
    (folder / "job.arb").write_text("\n".join(lines))
    heard = Heard()
    tacit.run_argus(folder / "job.arb", time_limit=time_limit, listener=heard)
    return heard


def _read(path: Path) -> list[list[str]]:
    with open(path, newline="") as stream:
        return list(csv.reader(stream))


@pytest.mark.parametrize("name", ["ex1", "ex2"])
def test_small_jobs_give_the_printed_statuses(shared: Path, tmp_path: Path, name: str) -> None:
    """A finished table and microdata end with the same pattern."""
    folder = shared / "tables" / "argus" / name
    (release,) = tacit.run_argus(folder / f"batch_{name}.arb", out_dir=tmp_path)
    hidden, sensitive = release.published.is_hidden, release.papers.problem.is_sensitive
    found = ["u" if s else "x" if h else "s" for h, s in zip(hidden, sensitive, strict=True)]
    assert found == PRINTED
    written = _read(tmp_path / f"tabout_{name}.txt")
    assert [row[3] for row in written[1:]] == [
        {"s": "1", "x": "11"}.get(status, written[1:][place][3])
        for place, status in enumerate(PRINTED)
    ]


def test_size_by_region(shared: Path, tmp_path: Path) -> None:
    """All values and sensitive cells are those of tau-ARGUS, and less is suppressed."""
    folder = _copied(shared, "tau_testW", tmp_path)
    _run(
        folder,
        '<OPENMICRODATA> "tau_testW.asc"',
        '<OPENMETADATA> "tau_testW.rda"',
        '<SPECIFYTABLE> "Size""Region"|"Var2"||"Var2"',
        "<SAFETYRULE> P(15,1)",
        "<READMICRODATA>",
        "<SUPPRESS> MOD(1,5,1,1,1)",
        '<WRITETABLE> (1,3,AS+,"out.txt")',
    )
    found, expected = _read(folder / "out.txt"), _read(folder / "Simple2D_expected.txt")
    assert [row[:3] for row in found] == [row[:3] for row in expected]
    assert [row[3] == "3" for row in found] == [row[3] == "3" for row in expected]

    def weight(rows: list[list[str]]) -> float:
        return sum(float(row[2]) for row in rows if row[3] in ("3", "11"))

    assert weight(found) <= weight(expected)


@pytest.mark.parametrize(
    ("variables", "before", "expected", "sensitive"),
    [
        ('"act""product"', "", "test_1.txt", 283),
        ('"act""region"', "", "test_2b.txt", 339),
        ('"region""mun"', "", "test_3a.txt", 36),
        ('"region""product"', '<APRIORI> "test_3a.hst",1,",",1,1', "test_3b.txt", 17),
    ],
)
def test_enterprises(
    shared: Path, tmp_path: Path, variables: str, before: str, expected: str, sensitive: int
) -> None:
    """Holdings, zeros, missing values and decisions give the sensitive cells of tau-ARGUS."""
    folder = _copied(shared, "enterprise", tmp_path)
    heard = _run(
        folder,
        '<OPENMICRODATA> "example_enterprise.asc"',
        '<OPENMETADATA> "example_enterprise.rda"',
        f'<SPECIFYTABLE> {variables}|"turnover"||"turnover"',
        f"<SAFETYRULE> {ENTERPRISE}",
        "<READMICRODATA>",
        before,
    )
    table = heard.tables[1]
    assert np.count_nonzero(table.is_sensitive) == sensitive
    names = list(table.dimensions)
    codes = zip(*(table.codes(name).tolist() for name in names), strict=True)
    marked = Counter(
        tuple(code.strip() for code in pair)
        for pair, is_sensitive in zip(codes, table.is_sensitive, strict=True)
        if is_sensitive
    )
    assert marked == Counter(
        (row[0].strip(), row[1].strip()) for row in _read(folder / expected) if row[3] == "3"
    )


def test_a_priori_file_and_what_is_left_of_it(shared: Path, tmp_path: Path) -> None:
    """Lines that cannot be applied are passed over, the others hold; statuses are as printed."""
    folder = _copied(shared, "enterprise", tmp_path)
    _run(
        folder,
        '<OPENMICRODATA> "example_enterprise.asc"',
        '<OPENMETADATA> "example_enterprise.rda"',
        '<SPECIFYTABLE> "region""product"|"turnover"||"turnover"',
        f"<SAFETYRULE> {ENTERPRISE}",
        "<READMICRODATA>",
        '<APRIORI> "test_3a.hst",1,",",1,1',
        "<SUPPRESS> MOD(1,5,1,1,1)",
        '<WRITETABLE> (1,3,AS+,"out.txt")',
    )
    found, expected = _read(folder / "out.txt"), _read(folder / "test_3b.txt")
    assert [row[:3] for row in found] == [row[:3] for row in expected]
    for status in ("3", "10", "14"):
        assert [row[3] == status for row in found] == [row[3] == status for row in expected]


@pytest.mark.parametrize("name", ["TestTable.arb", "tau_testW/TestRecode.arb"])
def test_jobs_that_go_on_in_windows(shared: Path, tmp_path: Path, name: str) -> None:
    """They read, recode and end; that nobody goes on is said."""
    heard = Heard()
    path = shared / "tables" / "argus" / name
    assert tacit.run_argus(path, out_dir=tmp_path, listener=heard) == []
    assert heard.tables[1].is_sensitive.any()
    assert any("<GOINTERACTIVE>" in note for note in heard.notes)
    assert not list(tmp_path.iterdir())


def test_a_table_keeps_its_statuses(shared: Path, tmp_path: Path) -> None:
    """The table that tau-ARGUS wrote, with decimal commas, has nine sensitive cells."""
    heard = Heard()
    tacit.run_argus(shared / "tables" / "argus" / "TestTable.arb", out_dir=tmp_path, listener=heard)
    table = heard.tables[1]
    assert table.cell_count == 162
    assert np.count_nonzero(table.is_sensitive) == 9
    assert table.upper_level is not None
    assert np.all(table.upper_level[table.is_sensitive] > 0)
