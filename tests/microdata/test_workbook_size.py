"""Workbooks that would fill any memory are refused before they are read."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InputError
from tacit.microdata import workbook_size
from tacit.microdata.workbook_size import refuse_oversized
from tacit.microdata.workbooks import sheets_of


def letters(column: int) -> str:
    """A column as Excel names it, counted from 1."""
    text = ""
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def sheet(cells: dict[tuple[int, int], bool], style: str) -> str:
    """A sheet with some cells, some of which have an entry, as different programs write it."""
    name = "x:" if style == "prefix" else ""
    rows = []
    for row in sorted({row for row, _ in cells}):
        line = []
        for column in sorted(column for at, column in cells if at == row):
            where = f"r='{letters(column)}{row}' s='1'"
            if style == "usual":
                where = f'r="{letters(column)}{row}" s="1"'
            elif style == "last":
                where = f's="1"\n r = "{letters(column).lower()}{row}"'
            inside = f"<{name}v>7</{name}v>" if cells[row, column] else ""
            line.append(f"<{name}c {where}>{inside}</{name}c>")
        rows.append(f'<{name}row r="{row}" spans="1:9">{"".join(line)}</{name}row>')
    space = ' xmlns:x="http://x"' if name else ""
    return f"<{name}worksheet{space}>{''.join(rows)}</{name}worksheet>"


@given(
    st.dictionaries(st.tuples(st.integers(1, 40), st.integers(1, 60)), st.booleans(), max_size=12),
    st.sampled_from(["usual", "single", "last", "prefix"]),
    st.integers(20, 300),
)
def test_what_a_sheet_reaches_to(
    cells: dict[tuple[int, int], bool], style: str, piece: int
) -> None:
    """A sheet is refused exactly when the rectangle of its entries is too large."""
    filled = [at for at, entry in cells.items() if entry]
    area = max((row for row, _ in filled), default=0) * max((c for _, c in filled), default=0)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", sheet(cells, style))
        archive.writestr("xl/media/picture.png", b"\x89PNG\r\n<c <row r=")
    refused = ""
    with (
        patch.object(workbook_size, "MOST_CELLS", 400),
        patch.object(workbook_size, "_PIECE", piece),
        zipfile.ZipFile(packed) as archive,
    ):
        try:
            for member in archive.infolist():
                list(workbook_size._sizes(archive, member, Path("x.xlsx")))
        except InputError as error:
            refused = str(error)
    assert ("reaches to row" in refused) == (area > 400)


def test_a_cell_far_away_is_refused(tmp_path: Path) -> None:
    """Few kilobytes with an entry in the last cell do not fill the memory; formats do no harm."""
    import xlsxwriter

    path = tmp_path / "far.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        book.add_worksheet("Data").write(1_048_575, 16_383, 1)
    with pytest.raises(InputError, match="reaches to row 1048576 and column 16384"):
        sheets_of(path)
    with xlsxwriter.Workbook(str(path)) as book:
        made = book.add_worksheet("Data")
        made.write(0, 0, "a")
        made.write_blank(1_048_575, 16_383, None, book.add_format({"bold": True}))
    assert sheets_of(path) == ("Data",)


@pytest.mark.parametrize("lies", [False, True])
def test_a_bomb_is_refused(tmp_path: Path, lies: bool) -> None:
    """What unpacks to far more than its size is refused, whatever the archive says of it."""
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/sharedStrings.xml", b" " * 3_000_000)
    if lies:
        content = bytearray(path.read_bytes())
        place = content.rfind(b"PK\x01\x02")
        content[place + 24 : place + 28] = struct.pack("<I", 100)
        path.write_bytes(content)
    with (
        patch.object(workbook_size, "MOST_UNPACKED", 1_000_000),
        pytest.raises(InputError, match="unpacks to more than"),
    ):
        refuse_oversized(path)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    """A file that only calls itself a workbook is told as such."""
    path = tmp_path / "text.xlsx"
    path.write_text("region,value\n")
    with pytest.raises(InputError, match="not an Excel workbook"):
        sheets_of(path)
