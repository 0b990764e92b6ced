"""Every format holds the same numbers, with the decimals that the published ones have."""

from __future__ import annotations

import csv
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.hierarchy import Hierarchy
from tacit.io.exports import write_published
from tacit.io.jj import read_jj
from tacit.release import Published
from tacit.release.marks import plain_number, settled
from tacit.table import Table
from tests.io.exports.reading import Workbook

NOISY = 0.1 + 0.2
"""0.30000000000000004"""


def _published(values: list[float]) -> Published:
    table = Table.from_cube(
        np.array(values), {"code": Hierarchy.flat([f"c{place}" for place in range(len(values))])}
    )
    outcome = tacit.Outcome(
        status=tacit.Status.FEASIBLE,
        solution=tacit.Suppression(np.arange(table.cell_count) > len(values) - 2),
    )
    return Published.of(table, outcome)


def test_all_formats_hold_what_csv_shows(tmp_path: Path) -> None:
    """No noise of adding up is in CSV, Parquet, JJ, workbooks, frames or the columns."""
    published = _published([NOISY, 15.600000000000001, 7.1, 1e6 + NOISY, 3.0, 5.0])
    wanted = [1000031.3, 0.3, 15.6, 7.1, 1000000.3]
    for suffix in (".csv", ".parquet", ".jj", ".xlsx"):
        write_published(published, tmp_path / f"published{suffix}")
    with open(tmp_path / "published.csv") as stream:
        rows = list(csv.DictReader(stream))
    shown = ["1000031.3", "0.3", "15.6", "7.1", "1000000.3"]
    assert [row["value"] for row in rows if row["value"]] == shown
    query = f"SELECT value FROM '{tmp_path / 'published.parquet'}' WHERE value IS NOT NULL"
    with duckdb.connect() as duck:
        assert [row[0] for row in duck.execute(query).fetchall()] == wanted
    assert read_jj(tmp_path / "published.jj").value[:5].tolist() == wanted
    sheet = next(iter(Workbook.read(tmp_path / "published.xlsx").sheets.values()))
    assert [number for number in sheet.values() if isinstance(number, float)] == wanted
    for backend in ("pandas", "polars", "pyarrow", "dict"):
        frame = published.to_frame(backend)
        column = frame["value"].to_pylist() if backend == "pyarrow" else list(frame["value"])
        assert [v for v in column if v == v][:5] == wanted
    pivot = published.pivot().to_frame("dict", marks=None)
    assert pivot["value"][:5].tolist() == wanted


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20),
    st.integers(0, 6),
    st.integers(-8, 8),
)
def test_noise_goes_and_numbers_stay(whole: list[int], decimals: int, ulps: int) -> None:
    """Numbers with so many decimals come back from whatever is next to them."""
    exact = np.array([float(f"{number}e-{decimals}") for number in whole])
    noisy = exact + ulps * np.spacing(np.abs(exact))
    np.testing.assert_array_equal(settled(noisy), exact)
    np.testing.assert_array_equal(settled(exact), exact)


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=8))
def test_what_is_settled_is_what_its_text_says(numbers: list[float]) -> None:
    """Any number is kept to twelve digits at least, and its text reads back as it is."""
    given_numbers = np.array(numbers)
    found = settled(given_numbers)
    scale = np.maximum(np.abs(given_numbers), 1e-3 * min(1.0, np.abs(given_numbers).max()))
    assert (np.abs(found - given_numbers) <= 2e-12 * scale).all()
    for number in found.tolist():
        if abs(number) < 1e15:
            assert float(plain_number(number)) == number


def test_large_whole_numbers_are_written_out() -> None:
    """A whole number of sixteen digits keeps them all, wherever it is written."""
    published = _published([1234567890123456.0, 1.0, 2.0])
    assert published.pivot().to_frame("dict")["value"][1] == "1234567890123456"
    assert settled(np.array([np.nan, np.inf, -0.0]))[:2] == pytest.approx(
        [np.nan, np.inf], nan_ok=True
    )
    assert not np.signbit(settled(np.array([-0.0]))).any()
