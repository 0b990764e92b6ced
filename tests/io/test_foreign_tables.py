"""Tables that others made are read by the codes in them, in whatever form."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError
from tacit.io.solutions import read_solution
from tacit.outcome import Suppression
from tacit.problem import Booleans
from tacit.table import Table

INDUSTRY = tacit.Hierarchy.from_nested({"1": ["11", "12"], "2": ["21", "22", "23"]})
REGION = tacit.Hierarchy.flat(["N", "S"])
SIZE = tacit.Hierarchy.flat(["big", "small"])
TABLE = Table.from_cube(
    np.arange(1, 11).reshape(5, 2) * 111.5, {"industry": INDUSTRY, "region": REGION}
)
DEEP = Table.from_cube(
    np.arange(1, 21).reshape(5, 2, 2) * 13.0,
    {"industry": INDUSTRY, "region": REGION, "size": SIZE},
)
HIDDEN = np.zeros(TABLE.cell_count, bool)
HIDDEN[[4, 5, 7, 8, 13, 14]] = True


def keys(table: Table) -> list[tuple[str, ...]]:
    """The codes of all cells."""
    return list(zip(*(table.codes(name).tolist() for name in table.totals), strict=True))


def long(
    table: Table, hidden: Booleans, names: Sequence[str] | None, mark: str = "", sep: str = ","
) -> str:
    """A line for each cell."""
    lines = [] if names is None else [sep.join(names)]
    for key, value, gone in zip(keys(table), table.value, hidden, strict=True):
        lines.append(sep.join([*key, mark if gone else f"{value:.2f}"]))
    return "\n".join(lines) + "\n"


def wide(table: Table, hidden: Booleans, corner: str, mark: str = "c", sep: str = ";") -> list[str]:
    """The last of two dimensions across the columns."""
    cell = {key: n for n, key in enumerate(keys(table))}
    regions = REGION.codes
    lines = [sep.join([corner, *regions])]
    for code in INDUSTRY.codes:
        at = [cell[code, region] for region in regions]
        lines.append(sep.join([code, *(mark if hidden[n] else f"{table.value[n]}" for n in at)]))
    return lines


def suppressed(path: Path, content: str | bytes, table: Table = TABLE) -> list[int]:
    """The cells that a file says are suppressed."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    notes: list[str] = []
    found = read_solution(path, table, note=notes.append)
    assert isinstance(found, Suppression)
    return np.flatnonzero(found.suppressed).tolist()


WANTED = np.flatnonzero(HIDDEN).tolist()


@pytest.mark.parametrize("mark", ["", "c", "x", "*", "..", ":", "NA"])
@pytest.mark.parametrize("names", [None, ["industry", "region", "value"], ["NACE", "GEO", "val"]])
def test_lines_with_marks(tmp_path: Path, mark: str, names: list[str] | None) -> None:
    """Names of columns may be others or none; marks of all kinds stand for what is hidden."""
    assert suppressed(tmp_path / "t.csv", long(TABLE, HIDDEN, names, mark)) == WANTED


def test_statuses_of_sdctable(tmp_path: Path) -> None:
    """The finalData of sdcTable: true values beside the status u, x, s or z, after row numbers."""
    lines = ['"","industry","region","Freq","turnover","sdcStatus"']
    for n, (key, gone) in enumerate(zip(keys(TABLE), HIDDEN, strict=True)):
        status = "ux"[n % 2] if gone else "sz"[n % 2]
        lines.append(f'"{n + 1}","{key[0]}","{key[1]}",{n},{TABLE.value[n]},"{status}"')
    assert suppressed(tmp_path / "t.csv", "\n".join(lines)) == WANTED


def test_columns_of_gausssuppression(tmp_path: Path) -> None:
    """GaussSuppression: TRUE and FALSE in columns primary and suppressed."""
    lines = ["region,industry,turnover,primary,suppressed"]
    for n, (key, gone) in enumerate(zip(keys(TABLE), HIDDEN, strict=True)):
        words = [str(bool(gone and n % 2)).upper(), str(bool(gone)).upper()]
        lines.append(",".join([key[1], key[0], str(TABLE.value[n]), *words]))
    assert suppressed(tmp_path / "t.csv", "\n".join(lines)) == WANTED


@pytest.mark.parametrize("corner", ["industry", "", "NACE \\ GEO"])
def test_a_dimension_across_the_columns(tmp_path: Path, corner: str) -> None:
    """A pivot table is read whatever stands in its corner, titles above and notes below it."""
    lines = ["Turnover by industry and region", "", *wide(TABLE, HIDDEN, corner), "c: confidential"]
    assert suppressed(tmp_path / "t.csv", "\n".join(lines)) == WANTED
    commas = [line.replace(".", ",") for line in lines]
    assert suppressed(tmp_path / "t.csv", "\n".join(commas)) == WANTED


def test_workbooks(tmp_path: Path) -> None:
    """Excel files with the table on one of their sheets, long or wide; codes may be numbers."""
    content = io.BytesIO()
    book = xlsxwriter.Workbook(content, {"in_memory": True})
    book.add_worksheet("Notes").write(0, 0, "Confidential cells are marked c")
    sheet = book.add_worksheet("Table")
    for row, line in enumerate(wide(TABLE, HIDDEN, "industry")):
        for column, entry in enumerate(line.split(";")):
            is_number = entry.replace(".", "").isdigit()
            sheet.write(row + 2, column, float(entry) if is_number else entry)
    book.close()
    assert suppressed(tmp_path / "t.xlsx", content.getvalue()) == WANTED


def test_the_sheet_of_this_year(tmp_path: Path) -> None:
    """Of sheets with the same codes the one with the values of the table is read; it is told."""
    path = tmp_path / "years.xlsx"
    nothing = np.zeros(24, bool)
    before = Table.from_cube(
        np.arange(1, 11).reshape(5, 2) * 90.0, {"industry": INDUSTRY, "region": REGION}
    )
    with xlsxwriter.Workbook(path) as book:
        for name, table, hidden in (
            ("2022", before, nothing),
            ("2023", before, HIDDEN),
            ("2024", TABLE, HIDDEN),
        ):
            sheet = book.add_worksheet(name)
            for row, line in enumerate(wide(table, hidden, "industry")):
                sheet.write_row(row, 0, line.split(";"))
    notes: list[str] = []
    found = read_solution(path, TABLE, note=notes.append)
    assert isinstance(found, Suppression)
    assert np.flatnonzero(found.suppressed).tolist() == WANTED
    assert f"{path}: sheet 2024 is read" in notes
    other = Table.from_cube(
        np.arange(1, 11).reshape(5, 2) * 7.0, {"industry": INDUSTRY, "region": REGION}
    )
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Notes").write(0, 0, "c: confidential")
        sheet = book.add_worksheet("2023")
        for row, line in enumerate(wide(before, HIDDEN, "industry")):
            sheet.write_row(row, 0, line.split(";"))
    with pytest.raises(InputError, match="this is another table"):
        read_solution(path, other)


@pytest.mark.parametrize("total", ["Ensemble", "T", "", "Gesamt"])
def test_other_names_of_totals(tmp_path: Path, total: str) -> None:
    """The only code that is unknown, where the total is missing, is the total; it is told."""
    path = tmp_path / "t.csv"
    path.write_text(long(TABLE, HIDDEN, ["industry", "region", "value"]).replace("Total", total))
    notes: list[str] = []
    found = read_solution(path, TABLE, note=notes.append)
    assert isinstance(found, Suppression)
    assert np.flatnonzero(found.suppressed).tolist() == WANTED
    shown = f"{total!r}" if total else "nothing"
    assert notes == [
        f"{path}: {name}: {shown} is taken for the total 'Total'" for name in ("industry", "region")
    ]


def test_codes_written_otherwise(tmp_path: Path) -> None:
    """Zeros that a spreadsheet dropped, another case, and labels in place of codes."""
    industry = tacit.Hierarchy.flat(["01", "02"]).with_labels({"01": "Food", "02": "Wood"})
    table = Table.from_cube([[5.0, 6.0], [7.0, 8.0]], {"industry": industry, "region": REGION})
    lines = long(table, np.arange(9) == 4, ["industry", "region", "value"])
    for old, new in (("0", ""), ("N", "n"), ("01", "Food"), ("02", "02 Wood")):
        changed = "\n".join(
            line.replace(f"{old}", f"{new}", 1) if not line.startswith("industry") else line
            for line in lines.splitlines()
        )
        assert suppressed(tmp_path / "t.csv", changed, table) == [4]


@pytest.mark.parametrize("format", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("options", ["", "AS+", "SE+"])
@pytest.mark.parametrize("shape", ["two", "three"])
def test_what_tau_argus_writes(tmp_path: Path, format: int, options: str, shape: str) -> None:
    """All of its formats are read again, with and without statuses."""
    base = TABLE if shape == "two" else DEEP
    marks = {name: base.codes(name)[[-1]].tolist() for name in base.totals}
    table = base.apply(tacit.Manual(marks))
    release = tacit.protect(table, "suppress", time_limit=10)
    name = {1: "t.csv", 2: "t.csv", 3: "t.txt", 4: "t.sbs", 5: "t.tab"}[format]
    tacit.write_argus(release, tmp_path / name, format, options if format != 5 else "")
    found = read_solution(tmp_path / name, table)
    solution = release.papers.outcome.solution
    assert isinstance(found, Suppression)
    assert isinstance(solution, Suppression)
    assert np.array_equal(found.suppressed, solution.suppressed)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_every_form_says_the_same(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    """Any pattern, in any form, encoding and order of columns, is read as it is."""
    hidden = np.array(data.draw(st.lists(st.booleans(), min_size=24, max_size=24)))
    mark = data.draw(st.sampled_from(["", "c", "x", "*", "..", "conf"]))
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]))
    form = data.draw(st.sampled_from(["named", "nameless", "wide"]))
    path = tmp_path_factory.mktemp("any") / "t.csv"
    if form == "wide":
        text = "\n".join(wide(TABLE, hidden, "Müller", mark))
    else:
        names = ["industry", "region", "value"] if form == "named" else None
        text = long(TABLE, hidden, names, mark, sep=data.draw(st.sampled_from(",;\t|")))
    path.write_bytes(text.encode(encoding))
    found = read_solution(path, TABLE)
    assert isinstance(found, Suppression)
    assert np.array_equal(found.suppressed, hidden)


GOOD = long(TABLE, HIDDEN, ["industry", "region", "value"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            GOOD + "99,N,5\n99,S,6\n",
            r"no cell \(industry=99, region=N\), \(industry=99, region=S\)",
        ),
        (GOOD.replace("11,N,", "11,N,new "), r"no mark that is known \(cell industry=11"),
        (GOOD.replace("Total", "T").replace("1,T", "1,U"), "no column region|no cell|have no row"),
        ("\n".join(GOOD.splitlines()[:-2]), r"2 of 24 cells have no row: .*industry=23"),
        (GOOD.replace(",", "~"), "no column industry"),
    ],
)
def test_what_does_not_fit_is_named_by_its_codes(tmp_path: Path, text: str, message: str) -> None:
    """Errors name cells by their codes, and show no value."""
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_solution(path, TABLE)
    assert str(path) in str(caught.value)
    assert not any(f"{value:.2f}" in str(caught.value) for value in TABLE.value)


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("6132.50", "6133.50"),
        "\n".join(wide(TABLE, HIDDEN, "x")).replace("6132", "6133"),
    ],
)
def test_other_tables_are_refused(tmp_path: Path, text: str) -> None:
    """A published value that is not the true one shows that the tables do not belong together."""
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match="this is another table"):
        read_solution(path, TABLE)


def test_rows_for_empty_cells_do_no_harm(tmp_path: Path) -> None:
    """Cells that nobody contributes to are not in the table, but others may list them."""
    records = {"r": ["N", "S", "S"], "s": ["a", "a", "b"], "v": [5.0, 6.0, 7.0]}
    table = tacit.tabulate(records, {"r": None, "s": None}, "v")
    lines = long(table, np.zeros(table.cell_count, bool), ["r", "s", "v"])
    for entry in ("0", "-", "", "0.00"):
        assert suppressed(tmp_path / "t.csv", lines + f"N,b,{entry}\n", table) == []
    with pytest.raises(InputError, match=r"no cell \(r=N, s=b\)"):
        suppressed(tmp_path / "t.csv", lines + "N,b,4\n", table)
