"""Publications as Excel workbooks."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import InputError
from tacit.hierarchy import Hierarchy
from tacit.release import Published
from tacit.table import Table
from tests.io.exports.reading import Workbook
from tests.release.tables import intervals, linked, published


def _plain(table: Table) -> Published:
    outcome = tacit.Outcome(
        status=tacit.Status.FEASIBLE, solution=tacit.Suppression(np.zeros(table.cell_count, bool))
    )
    return Published.of(table, outcome)


def test_a_sheet_in_rows_and_columns(tmp_path: Path) -> None:
    """Numbers are numbers, suppressed cells are marks, and the legend explains them."""
    path = tmp_path / "published.xlsx"
    published().to_excel(path, marks="c", title="Turnover")
    book = Workbook.read(path)
    assert list(book.sheets) == ["industry x region", "Legend"]
    sheet, legend = book.sheets.values()
    assert sheet["A1"] == "Turnover"
    assert [sheet[place] for place in ("B3", "A4", "B4", "C4", "D4")] == [
        "region",
        "industry",
        "Total",
        "N",
        "S",
    ]
    assert [sheet[f"A{row}"] for row in range(5, 10)] == ["Total", "A", "A1", "A2", "B"]
    assert [sheet[f"C{row}"] for row in range(5, 10)] == [9999.5, 4444.5, "c", "c", 5555.0]
    assert (legend["A1"], legend["B1"]) == ("c", "not published, to protect respondents")
    assert book.formulas == 0


def test_a_list_has_flags(tmp_path: Path) -> None:
    """One row per cell with its flags; ends of intervals are numbers."""
    path = tmp_path / "published.xlsx"
    intervals().to_excel(path, value="turnover", flags="sdmx")
    book = Workbook.read(path)
    sheet, legend = book.sheets.values()
    header = [sheet[f"{letter}1"] for letter in "ABCDEFG"]
    assert header == [
        "industry",
        "region",
        "turnover",
        "lower",
        "upper",
        "CONF_STATUS",
        "OBS_STATUS",
    ]
    row = next(n for n in range(2, 17) if (sheet[f"A{n}"], sheet[f"B{n}"]) == ("A1", "N"))
    assert [sheet.get(f"{letter}{row}") for letter in "CDEFG"] == [None, 1000.0, 1250.25, "N", "Q"]
    row = next(n for n in range(2, 17) if (sheet[f"A{n}"], sheet[f"B{n}"]) == ("A1", "S"))
    assert [sheet[f"{letter}{row}"] for letter in "DE"] == [2000.0, "inf"]
    row = next(n for n in range(2, 17) if (sheet[f"A{n}"], sheet[f"B{n}"]) == ("A2", "N"))
    assert sheet[f"C{row}"] == "x"
    assert "CONF_STATUS N" in legend.values()


def test_linked_tables_have_a_sheet_each(tmp_path: Path) -> None:
    """Each sheet has the dimensions of its table only."""
    path = tmp_path / "published.xlsx"
    linked().to_excel(path)
    assert list(Workbook.read(path).sheets) == ["industry x region", "industry x size", "Legend"]
    linked().to_excel(path, layout="list")
    book = Workbook.read(path)
    assert [sheet["B1"] for sheet in book.sheets.values()][:2] == ["region", "size"]


def test_no_text_is_a_formula(tmp_path: Path) -> None:
    """Codes and titles that look like formulas are text, also after somebody edits the cell."""
    codes = ["=1+1", "+A1", "-A1", "@x", '=HYPERLINK("http://x.y","z")', "http://x.y"]
    table = Table.from_cube(
        np.ones((6, 1)), {"=a": Hierarchy.flat(codes), "b": Hierarchy.flat(["=2"])}
    )
    path = tmp_path / "published.xlsx"
    for layout in ("pivot", "list"):
        _plain(table).to_excel(path, layout=layout, title="=now()")
        book = Workbook.read(path)
        assert book.formulas == 0
        assert {*codes[:5], "=a", "=2", "=now()"} <= book.quoted
        assert "http://x.y" not in book.quoted


def test_names_of_sheets_fit(tmp_path: Path) -> None:
    """Forbidden letters and lengths are dealt with, and no two sheets have one name."""
    first = Table.from_cube(np.ones(2), {"[a]:*?/\\'" * 5: Hierarchy.flat(["x", "y"])})
    second = Table.from_cube(np.ones(2), {"[a]:*?/\\'" * 5 + "more": Hierarchy.flat(["x", "y"])})
    path = tmp_path / "published.xlsx"
    _plain(first.link(second)).to_excel(path)
    names = list(Workbook.read(path).sheets)
    assert len(names) == len({name.lower() for name in names}) == 3
    assert all(len(name) <= 31 for name in names)
    _plain(Table.from_cube(np.ones(1), {"Legend": Hierarchy.flat(["x"])})).to_excel(path)
    assert list(Workbook.read(path).sheets) == ["Legend x value", "Legend"]


def test_equal_publications_give_equal_files(tmp_path: Path) -> None:
    """Nothing tells when a file was written."""
    first, second = tmp_path / "1.xlsx", tmp_path / "2.xlsx"
    published().to_excel(first)
    published().to_excel(second)
    assert first.read_bytes() == second.read_bytes()


def test_a_part_as_a_workbook(tmp_path: Path) -> None:
    """A pivot is written with the code that it is fixed at."""
    path = tmp_path / "part.xlsx"
    published().pivot("region", fixed={"industry": "A1"}).to_excel(path)
    sheet = Workbook.read(path).sheets["region x value"]
    assert sheet["A1"] == "region (industry A1)"
    assert [sheet[f"B{row}"] for row in range(5, 8)] == [3333.5, "x", "x"]


def test_what_does_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many rows, codes that are too long, and layouts without a place for flags."""
    path = tmp_path / "published.xlsx"
    with pytest.raises(InputError, match="flags are columns of a list"):
        published().to_excel(path, layout="pivot", flags="sdmx")
    with pytest.raises(InputError, match="there is no layout 'pivo'; did you mean 'pivot'"):
        published().to_excel(path, layout="pivo")  # type: ignore[arg-type]  # what users may write
    long = Table.from_cube(np.ones(1), {"a": Hierarchy.flat(["x" * 40_000])})
    with pytest.raises(InputError, match="a code is longer than an Excel cell holds"):
        _plain(long).to_excel(path)
    monkeypatch.setattr("tacit.io.exports.excel_file.MOST_ROWS", 3)
    with pytest.raises(InputError, match="more than an Excel sheet holds; write CSV or Parquet"):
        published().to_excel(path)
    assert not path.exists()


def test_a_missing_library_gets_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where xlsxwriter is not installed, the message says what to install."""
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    path = tmp_path / "published.xlsx"
    with pytest.raises(InputError, match=r"^published.xlsx: .* pip install 'tacit\[excel\]'"):
        published().to_excel(path)
    with pytest.raises(InputError, match=r"pip install 'tacit\[excel\]'"):
        published().pivot("region", fixed={"industry": "A1"}).to_excel(path)
    assert not path.exists()
