"""A dirty file, and the clean one that it should be."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECRETS = ("1250", "9317", "4100", "8734", "2641", "7755")
"""What firms report: none of it may appear in any message."""

ROWS: Sequence[tuple[str, str, str, float]] = (
    ("a", "01", "Zürich", 1250.5),
    ("b", "01", "Zürich", 9317.25),
    ("c", "02", "Zürich", 4100.0),
    ("d", "01", "Genève", 8734.75),
    ("e", "02", "Genève", 2641.5),
    ("f", "02", "Genève", 7755.0),
)
"""Firm, industry, region and turnover."""

NAMES = ("firm", "industry", "region", "turnover")

JOB = """\
[data]
microdata = "firms.csv"
value = "turnover"
contributor = "firm"

[dimensions.industry]
codes = ["01", "02"]

[dimensions.region]
file = "regions.csv"
"""

REGIONS = "child,parent\nZürich,Total\nGenève,Total\n"


def written(
    *,
    delimiter: str = ",",
    decimal: str = ".",
    thousands: str = "",
    end: str = "\n",
    encoding: str = "utf-8",
    around: str = "",
    digits: int = 2,
    quote: str = "",
) -> bytes:
    """The firms as a CSV file, written in another way."""

    def number(value: float) -> str:
        plain = f"{value:,.{digits}f}" if thousands else f"{value:.{digits}f}"
        return plain.translate({ord(","): thousands, ord("."): decimal})

    def line(entries: Sequence[str]) -> str:
        return delimiter.join(f"{around}{quote}{entry}{quote}{around}" for entry in entries)

    lines = [line(NAMES), *(line([*row[:3], number(row[3])]) for row in ROWS)]
    return (end.join(lines) + end).encode(encoding)


def workbook(sheets: Mapping[str, Sequence[Sequence[Any]]]) -> bytes:
    """An Excel workbook; what comes as bytes is written as text."""
    import xlsxwriter

    content = io.BytesIO()
    book = xlsxwriter.Workbook(content, {"default_date_format": "yyyy-mm-dd", "in_memory": True})
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for place, row in enumerate(rows):
            for column, entry in enumerate(row):
                sheet.write(place, column, entry)
    book.close()
    return content.getvalue()


@dataclass(frozen=True)
class Dirty:
    """One kind of dirty file.

    Attributes:
        group: What it is about.
        title: What is dirty.
        printed: What appears on standard error, all of it.
        files: Files that differ from the clean ones, made when they are needed.
        edits: Texts of the job that are replaced by others.
        code: The exit code. Where it is 0, the table is that of the clean files.
        show: Lines of the file that the page shows, if it can be shown.
    """

    group: str
    title: str
    printed: str
    files: Mapping[str, bytes | Callable[[], bytes]]
    edits: Sequence[tuple[str, str]] = ()
    code: int = 0
    show: str = ""

    def arrange(self, folder: Path) -> None:
        """Write the files."""
        job = JOB
        for old, new in self.edits:
            assert old in job, (self.title, old)
            job = job.replace(old, new, 1)
        files: dict[str, bytes | Callable[[], bytes]] = {
            "firms.csv": written(),
            "regions.csv": REGIONS.encode(),
            "job.toml": job.encode(),
            **self.files,
        }
        for name, content in files.items():
            (folder / name).write_bytes(content() if callable(content) else content)

    def __str__(self) -> str:
        return self.title
