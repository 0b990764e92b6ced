"""Audits of publications that other programs made."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import xlsxwriter

import tacit
from tacit.cli.main import main
from tacit.outcome import Suppression

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


@pytest.mark.shared
def test_linked_tables_that_tau_argus_published(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its two tables of enterprises are attacked together; each file finds its table by codes."""
    folder = shared / "tables" / "argus"
    tables = "".join(f'[[tables]]\ndimensions = ["act", "{n}"]\n' for n in ("product", "region"))
    job = ENTERPRISE.replace("[[rules]]", f"[dimensions.product]\n\n{tables}\n[[rules]]")
    (tmp_path / "job.toml").write_text(job.format(folder=folder) + "holding = true\n")
    files = [str(folder / "enterprise" / "expected" / f"test_2{n}.txt") for n in "ba"]
    arguments = ["audit", str(tmp_path / "job.toml"), *files, "--levels-only", "--quiet"]
    assert main([*arguments, "--attackers", "external"]) == 0
    assert "safe: 613 sensitive cells, 809 of 2060 cells" in capsys.readouterr().out


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


# --- The French turnover tables, as other programs would publish them ----------------------------

HEAD = """\
insiders = "none"

[data]
value = "TOT"
count = "N_OBS"
top = ["MAX"]
{data}
[dimensions.ACTIVITY]
file = "activity_corr_table.csv"
levels = ["A10", "A21", "A88"]

[dimensions.SIZE]

[dimensions.CJ]
"""
LINKED = """
[[tables]]
name = "act_size"
table = "turnover_act_size.csv"
dimensions = ["ACTIVITY", "SIZE"]

[[tables]]
name = "act_cj"
table = "turnover_act_cj.csv"
dimensions = ["ACTIVITY", "CJ"]
"""
RULES = """
[[rules]]
rule = "min-frequency"
minimum = 3

[[rules]]
rule = "dominance"
n = 1
k = 85

[method]
name = "suppress"
time_limit = 60
gap = 0.5
"""
ONE = HEAD.format(data='table = "turnover_act_size.csv"\n').replace("[dimensions.CJ]\n", "") + RULES
BOTH = HEAD.format(data="") + LINKED + RULES

Rows = list[tuple[str, str, str, str]]
"""Two codes, the value as the file of the office has it, and `u`, `m` or `s`."""


@pytest.fixture(scope="module")
def french(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the French tables, a job about one and one about two, and their results."""
    folder = tmp_path_factory.mktemp("french")
    for file in (shared / "tables" / "rtauargus").glob("*.csv"):
        shutil.copy(file, folder)
    for name, text in (("one", ONE), ("both", BOTH)):
        (folder / f"{name}.toml").write_text(text)
        result = str(folder / f"{name}.json")
        assert main(["protect", str(folder / f"{name}.toml"), "--json", result, "--quiet"]) == 0
    return folder


def published(folder: Path, job: str, table: str) -> Rows:
    """The cells of a table in the order of its file, with what the job found."""
    source = tacit.jobs.job_problem(tacit.jobs.open_job(folder / f"{job}.toml"))
    assert isinstance(source, tacit.Table)
    solution = tacit.read_solution(folder / f"{job}.json", source)
    assert isinstance(solution, Suppression)
    names = [*source.totals]
    number = {
        key: cell
        for cell, key in enumerate(zip(*(source.codes(n).tolist() for n in names), strict=True))
    }
    rows: Rows = []
    with (folder / f"turnover_{table}.csv").open() as file:
        for row in csv.DictReader(file):
            cell = number[tuple(row.get(name, "Total") for name in names)]
            status = "m" if solution.suppressed[cell] else "s"
            first, second = [*row.values()][:2]
            rows.append((first, second, row["TOT"], "u" if source.is_sensitive[cell] else status))
    return rows


def lines_of(rows: Sequence[Sequence[str]], separator: str = ",") -> str:
    """Rows as text."""
    return "\n".join(separator.join(row) for row in rows) + "\n"


def empty_cells(rows: Rows) -> str:
    """A spreadsheet of the office: semicolons, decimal comma, French total, empty cells."""
    written = [
        (a.replace("Total", "Ensemble"), b, "" if s != "s" else v.replace(".", ","))
        for a, b, v, s in rows
    ]
    return lines_of([("Activité", "Taille", "CA"), *written], ";")


def flagged_cells(rows: Rows) -> str:
    """Values in a column of their own, with a flag for what is confidential or provisional."""
    written = [(a, b, v if s == "s" else "", "p" if s == "s" else "c") for a, b, v, s in rows]
    return lines_of([("ACTIVITY", "SIZE", "OBS_VALUE", "FLAG"), *written])


def of_sdctable(rows: Rows) -> str:
    """`write.csv` of sdcTable's finalData: true values, and u or x where they are not published."""
    written = [
        (f'"{n}"', f'"{a}"', f'"{b}"', v, f'"{"x" if s == "m" else s}"')
        for n, (a, b, v, s) in enumerate(rows, 1)
    ]
    return lines_of([('""', '"ACTIVITY"', '"SIZE"', '"TOT"', '"sdcStatus"'), *written])


def of_gausssuppression(rows: Rows) -> str:
    """GaussSuppression: TRUE and FALSE, the dimensions in another order."""
    written = [(b, a, v, str(s == "u").upper(), str(s != "s").upper()) for a, b, v, s in rows]
    return lines_of([("SIZE", "ACTIVITY", "TOT", "primary", "suppressed"), *written])


def of_rtauargus(rows: Rows) -> str:
    """rtauargus: A and B are sensitive, D is secondary, V is valid."""
    words = {"u": "B", "m": "D", "s": "V"}
    written = [(a, b, "7", v, words[s]) for a, b, v, s in rows]
    return lines_of([("ACTIVITY", "SIZE", "N_OBS", "TOT", "Status"), *written])


def of_tau_argus(rows: Rows) -> str:
    """The code-value file of tau-ARGUS with statuses: no names, 5 is sensitive, 11 secondary."""
    words = {"u": "5", "m": "11", "s": "1"}
    return lines_of([(f'"{a}"', f'"{b}"', v, words[s]) for a, b, v, s in rows])


FORMS = [
    empty_cells,
    flagged_cells,
    of_sdctable,
    of_gausssuppression,
    of_rtauargus,
    of_tau_argus,
]


@pytest.mark.shared
@pytest.mark.parametrize("form", FORMS)
def test_a_french_table_of_other_programs(
    french: Path, capsys: pytest.CaptureFixture[str], form: Callable[[Rows], str]
) -> None:
    """In every form a safe pattern is safe; without secondary cells labels tell who is exposed."""
    rows = published(french, "one", "act_size")
    arguments = ["audit", str(french / "one.toml"), str(french / "published.txt")]
    (french / "published.txt").write_text(form(rows), encoding="cp1252")
    assert main([*arguments, "--levels-only", "--quiet"]) == 0
    hidden = sum(row[3] != "s" for row in rows)
    assert f"{hidden} of {len(rows)} cells not published" in capsys.readouterr().out
    few = [(a, b, v, "s" if s == "m" else s) for a, b, v, s in rows]
    (french / "published.txt").write_text(form(few), encoding="cp1252")
    assert main([*arguments, "--levels-only", "--quiet"]) == 4
    told = capsys.readouterr().out
    assert told.startswith("NOT SAFE")
    assert "cell ACTIVITY=" in told
    shown = [line for line in told.splitlines() if line.startswith("  cell")]
    assert len(shown) == 5
    assert "more" in told


def write_sheet(book: xlsxwriter.Workbook, name: str, rows: Rows) -> None:
    """A sheet with a title, the second dimension across the columns, and c for confidential."""
    sheet = book.add_worksheet(name)
    sheet.write(0, 0, "Chiffre d'affaires, en milliers d'euros")
    down = list(dict.fromkeys(row[0] for row in rows))
    across = list(dict.fromkeys(row[1] for row in rows))
    for column, code in enumerate(across, 1):
        sheet.write(2, column, code)
    for row, code in enumerate(down, 3):
        sheet.write(row, 0, code)
    for first, second, value, status in rows:
        place = 3 + down.index(first), 1 + across.index(second)
        if status == "s":
            sheet.write_number(*place, float(value))
        else:
            sheet.write(*place, "c")
    sheet.write(4 + len(down), 0, "c: secret statistique")


def write_workbook(path: Path, sheets: dict[str, Rows]) -> None:
    """A workbook with notes before the tables."""
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Lisez-moi").write(0, 0, "Les cellules secrètes portent un c.")
        for name, rows in sheets.items():
            write_sheet(book, name, rows)


@pytest.mark.shared
@pytest.mark.parametrize("names", [("act_size", "act_cj"), ("Tableau 1", "Tableau 2")])
def test_linked_tables_in_a_workbook(
    french: Path, capsys: pytest.CaptureFixture[str], names: tuple[str, str]
) -> None:
    """Sheets are found by the names of the tables or by what is in them, and attacked together."""
    tables = [published(french, "both", name) for name in ("act_size", "act_cj")]
    path = french / "published.xlsx"
    write_workbook(path, dict(zip(reversed(names), reversed(tables), strict=True)))
    arguments = ["audit", str(french / "both.toml"), str(path), "--levels-only", "--quiet"]
    assert main(arguments) == 0
    assert " of 707 cells not published" in capsys.readouterr().out
    # A total that one of the sheets shows is known in the other one, too.
    first, second = tables
    hidden = next(row for row in second if row[1] == "Total" and row[3] == "u")
    shown = [(*row[:3], "s") if row == hidden else row for row in second]
    write_workbook(path, dict(zip(names, (first, shown), strict=True)))
    assert main(arguments) == 4
    assert f"cell ACTIVITY={hidden[0]}" in capsys.readouterr().out


@pytest.mark.shared
def test_linked_tables_in_files_of_tau_argus(
    french: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files without names of columns are assigned to the tables by their codes."""
    paths = []
    for name in ("act_cj", "act_size"):
        paths.append(str(french / f"{name}.txt"))
        Path(paths[-1]).write_text(of_tau_argus(published(french, "both", name)))
    arguments = ["audit", str(french / "both.toml"), "--levels-only", "--quiet"]
    assert main([*arguments, *paths]) == 0
    assert " of 707 cells not published" in capsys.readouterr().out
    assert main([*arguments, paths[0], paths[0]]) == 1
    assert "table act_cj has a file already" in capsys.readouterr().err


@pytest.mark.shared
def test_a_workbook_without_one_of_the_tables(
    french: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table that is missing is named, and so are the sheets that fit none."""
    path = french / "half.xlsx"
    write_workbook(path, {"Tableau 1": published(french, "both", "act_cj")})
    assert main(["audit", str(french / "both.toml"), str(path), "--quiet"]) == 1
    told = capsys.readouterr().err
    assert "there is no file or sheet for table act_size (Lisez-moi fits no table)" in told
    rows = [
        ("99" if a == "01" else a, b, v, s) for a, b, v, s in published(french, "both", "act_cj")
    ]
    write_workbook(path, {"act_cj": rows, "act_size": published(french, "both", "act_size")})
    assert main(["audit", str(french / "both.toml"), str(path), "--quiet"]) == 1
    assert "sheet act_cj: there is no cell (ACTIVITY=99, CJ=" in capsys.readouterr().err
