"""How large a workbook becomes when it is read: files of a few kilobytes can fill any memory.

A workbook is a compressed archive, which may unpack to a thousand times its size. And a sheet is
read as a rectangle from its first cell to its last one: a single entry in the last cell of the
last column makes seventeen thousand million cells of it. Both are found out by looking at the
archive piece by piece, before the library that reads workbooks sees it.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat

from tacit.errors import InputError

MOST_UNPACKED = 2**28
"""Bytes that every workbook may unpack to."""
MOST_TIMES = 100
"""Larger ones may unpack to this many times their size; those of real data stay below 30 times."""
MOST_CELLS = 50_000_000
"""Cells of a sheet, from its first to its last one with an entry."""

_PIECE = 2**20
_LONGEST = 256
"""What is looked for may stand across two pieces; nothing of it is longer."""
_CELL = re.compile(rb'<c r="([A-Z]{1,3})([0-9]{1,7})"')
_ROW = re.compile(rb'<row r="([0-9]{1,7})"')
_ANY = re.compile(rb"[<:](?:c|row)[\s>/]")


def refuse_oversized(path: Path) -> None:
    """Refuse a workbook (.xlsx) that unpacks to more than any real one.

    Raises:
        InputError: It is too large, or no archive.
    """
    limit = max(MOST_UNPACKED, MOST_TIMES * path.stat().st_size)
    try:
        with zipfile.ZipFile(path) as archive:
            left = limit
            for member in archive.infolist():
                for size in _sizes(archive, member, path):
                    left -= size
                    if left < 0:
                        raise InputError(
                            "this workbook unpacks to more than a hundred times its size, which no "
                            "real one does; save the sheet as CSV",
                            path=path,
                        )
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError):
        raise InputError("this is not an Excel workbook, or it is damaged", path=path) from None


def _sizes(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> Iterator[int]:
    """The sizes of the pieces of a member; a sheet that reaches too far is refused."""
    width = height = 0
    is_usual = True
    before = b""
    for piece in _pieces(archive, member):
        text = before + piece
        cells, rows = _CELL.findall(text), _ROW.findall(text)
        width = max([width, *map(_column, {letters for letters, _ in cells})])
        height = max([height, *map(int, rows), *map(int, {number for _, number in cells})])
        cut = text.rfind(b"<", len(text) - _LONGEST)
        # What a piece ends with is seen again, whole, at the beginning of the next one.
        before = b"" if cut < 0 else text[cut:]
        shown = len(_ANY.findall(text)) - len(_ANY.findall(before))
        is_usual &= shown == len(cells) + len(rows) - len(_CELL.findall(before)) - len(
            _ROW.findall(before)
        )
        yield len(piece)
    # Cells with formats alone do not count, and some may not say where they are, or otherwise.
    if not is_usual or width * height > MOST_CELLS:
        width, height = _extent(archive, member)
        if width * height > MOST_CELLS:
            raise InputError(
                f"{member.filename} reaches to row {height} and column {width}, which makes more "
                f"than {MOST_CELLS:,} cells; delete what stands far from the data, or save the "
                "sheet as CSV",
                path=path,
            )


def _pieces(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """What a member unpacks to, whatever size it says it has."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise NotImplementedError
    kept = member.file_size, member.CRC
    # The library stops where the archive says that the member ends, others do not.
    member.file_size, member.CRC = 2**62, None  # type: ignore[assignment]
    try:
        with archive.open(member) as stream:
            while piece := stream.read(_PIECE):
                yield piece
    finally:
        member.file_size, member.CRC = kept


def _extent(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[int, int]:
    """The last column and the last row that have an entry."""
    at = {"row": 0, "column": 0, "width": 0, "height": 0}

    def start(name: str, given: dict[str, Any]) -> None:
        kind = name.rpartition(":")[2]
        where = str(given.get("r", ""))
        if kind == "row":
            at["row"] = int(where) if where.isdecimal() else at["row"] + 1
            at["column"] = 0
        elif kind == "c":
            match = re.fullmatch(r"([A-Za-z]{1,3})([0-9]{1,7})", where)
            at["column"] = at["column"] + 1 if match is None else _column(match[1].encode())
            at["row"] = at["row"] if match is None else int(match[2])
        elif kind in ("v", "is"):
            at["width"] = max(at["width"], at["column"])
            at["height"] = max(at["height"], at["row"])

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    try:
        for piece in _pieces(archive, member):
            parser.Parse(piece)
    except expat.ExpatError:
        # Not a sheet: pictures are in workbooks, too.
        return 0, 0
    return at["width"], at["height"]


def _column(letters: bytes) -> int:
    """The place of a column by its letters.

    >>> _column(b"A"), _column(b"AA"), _column(b"XFD")
    (1, 27, 16384)
    """
    place = 0
    for letter in letters.upper():
        place = 26 * place + letter - 64
    return place
