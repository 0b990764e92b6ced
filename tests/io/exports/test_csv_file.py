"""Publications as CSV."""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import InputError
from tacit.hierarchy import Hierarchy
from tacit.io.cells import read_columns
from tacit.release import Published
from tacit.table import Table
from tests.release.tables import HIDDEN, intervals, mask, published


def test_one_line_a_cell(tmp_path: Path) -> None:
    """Codes, value, status; nothing where there is no value; read back as it was."""
    path = tmp_path / "published.csv"
    published().to_csv(path, value="turnover")
    columns = read_columns(path)
    assert list(columns) == ["industry", "region", "turnover", "status"]
    expected = published().value
    for text, value, hidden in zip(columns["turnover"], expected, mask(*HIDDEN), strict=True):
        assert (text is None) == hidden
        assert hidden or float(text) == value


def test_marks_flags_and_intervals(tmp_path: Path) -> None:
    """Marks take the place of suppressed values only; ends have separate columns."""
    path = tmp_path / "published.csv.gz"
    intervals().to_csv(path, marks="...", flags="sdmx")
    rows = list(csv.DictReader(gzip.decompress(path.read_bytes()).decode().splitlines()))
    shown = {(row["industry"], row["region"]): row for row in rows}
    first = shown["A1", "N"]
    assert (first["value"], first["lower"], first["upper"]) == ("", "1000", "1250.25")
    assert shown["A2", "N"]["value"] == "..."
    assert (shown["A2", "N"]["CONF_STATUS"], shown["A2", "N"]["OBS_STATUS"]) == ("N", "Q")
    assert shown["B", "N"]["CONF_STATUS"] == "F"


def _formulas() -> Published:
    codes = ["=1+1", "+A", "-15", "-x", "@SUM(A1)", "a=b"]
    table = Table.from_cube(np.arange(6.0) - 3, {"=code": Hierarchy.flat(codes)})
    outcome = tacit.Outcome(
        status=tacit.Status.FEASIBLE, solution=tacit.Suppression(np.zeros(7, bool))
    )
    return Published.of(table, outcome)


def test_codes_are_no_formulas(tmp_path: Path) -> None:
    """An apostrophe keeps spreadsheets from computing; numbers and other codes stay."""
    path = tmp_path / "published.csv"
    _formulas().to_csv(path, flags="none")
    lines = [line.split(",") for line in path.read_text().splitlines()]
    assert lines[0] == ["'=code", "value"]
    assert [code for code, _ in lines[1:]] == [
        "Total",
        "'=1+1",
        "'+A",
        "-15",
        "'-x",
        "'@SUM(A1)",
        "a=b",
    ]
    assert [float(value) for _, value in lines[1:]] == [-3, -3, -2, -1, 0, 1, 2]
    _formulas().to_csv(path, formulas="keep")
    assert path.read_text().startswith("=code,value,status\nTotal,-3,published\n=1+1,")
    with pytest.raises(InputError, match="neutralise or keep"):
        _formulas().to_csv(path, formulas="drop")  # type: ignore[arg-type]  # what users may write


@pytest.mark.parametrize("separator", [";", ",", "|", "\t", "\n", "\r"])
@pytest.mark.parametrize("between", ["", " ", '"', ' "'])
@pytest.mark.parametrize("formula", ["=4+4", "@SUM(A1)", "-1+cmd", "+1", "－15"])
def test_no_separator_makes_a_formula(
    separator: str, between: str, formula: str, tmp_path: Path
) -> None:
    """Whatever separator the file is opened with, no field begins like a formula."""
    table = Table.from_cube(
        np.arange(2.0), {"code": Hierarchy.flat([f"a{separator}{between}{formula}", "b"])}
    )
    outcome = tacit.Outcome(
        status=tacit.Status.FEASIBLE, solution=tacit.Suppression(np.zeros(3, bool))
    )
    path = tmp_path / "published.csv"
    Published.of(table, outcome).to_csv(path, flags="none")
    text = path.read_bytes().decode()
    assert f"a{separator}'" in text
    for field in re.split(r"[;,|\t\n\r]", text):
        assert not re.match(r"[\s\"]*[=+@－-]", field)


def test_texts_with_separators_stay(tmp_path: Path) -> None:
    """A separator that no formula follows changes nothing, nor does a sign within a word."""
    codes = ["a; b", "Food, drink", "5-10", "a|b=c", "x=1;y"]
    table = Table.from_cube(np.arange(5.0), {"code": Hierarchy.flat(codes)})
    outcome = tacit.Outcome(
        status=tacit.Status.FEASIBLE, solution=tacit.Suppression(np.zeros(6, bool))
    )
    path = tmp_path / "published.csv"
    Published.of(table, outcome).to_csv(path, flags="none")
    assert [row[0] for row in csv.reader(path.read_text().splitlines())][2:] == codes
