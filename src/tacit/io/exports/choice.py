"""Which format a publication is written in: the name of the file says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from tacit.errors import InputError, about, nearest
from tacit.io.exports.csv_file import write_csv
from tacit.io.exports.excel_file import require_xlsxwriter, write_excel
from tacit.io.exports.html_file import write_html
from tacit.io.exports.jj_file import write_reader_jj
from tacit.io.exports.layouts import Layout
from tacit.io.exports.parquet_file import write_parquet
from tacit.release.flags import Flags
from tacit.release.labels import Labels
from tacit.release.marks import Marks, check_marks
from tacit.release.published import Published


@dataclass(frozen=True, kw_only=True)
class Presentation:
    """How a publication is written; None leaves it to the format.

    Attributes:
        marks: What stands in place of suppressed values.
        flags: How readers learn how each cell is published: `status`, `sdmx` or `none`.
        layout: `pivot` or `list`.
        title: A heading.
        tell_primary: Tell readers which of the cells without a value are themselves sensitive.
        labels: Where labels of codes stand: `beside`, `together`, `instead` or `none`.
    """

    marks: Marks | None = None
    flags: Flags | None = None
    layout: Layout | None = None
    title: str | None = None
    tell_primary: bool = False
    labels: Labels | None = None

    def __post_init__(self) -> None:
        for name, known in (
            ("flags", get_args(Flags)),
            ("layout", get_args(Layout)),
            ("labels", get_args(Labels)),
        ):
            given = getattr(self, name)
            if given is not None and given not in known:
                raise InputError(
                    f"{name} cannot be {given!r}; {nearest(str(given), known)}", key=(name,)
                )
        if self.marks is None:
            return
        check_marks(self.marks)
        if not isinstance(self.marks, str) and not self.tell_primary:
            raise InputError(
                "two marks tell readers which cells are primary; say so with tell_primary, or "
                "give one mark",
                key=("marks",),
            )

    def choices(self, path: str | Path) -> dict[str, Any]:
        """The choices that the format of a file can use."""
        chosen = {name: getattr(self, name) for name in _format(path).choices}
        if chosen.get("layout") == "pivot":
            # A pivot has no columns for flags.
            del chosen["flags"]
        return {name: choice for name, choice in chosen.items() if choice is not None}

    def refuse_unused(self, *paths: Path, reported: bool = False) -> None:
        """Refuse choices without effect, unknown formats, and formats that are not installed.

        A choice has no effect if no file has a place for it.

        Args:
            paths: The files.
            reported: Whether there is a report as well, which has a place for the title.
        """
        for place, path in enumerate(paths):
            needed = _format(path).needs
            if needed is not None:
                with about("published", place):
                    needed(path)
        used = {name for path in paths for name in self.choices(path)}
        used |= {"title"} if reported else set()
        for name in ("marks", "flags", "layout", "title", "labels"):
            if getattr(self, name) is not None and name not in used:
                formats = dict.fromkeys(f.name for f in _FORMATS.values() if name in f.choices)
                raise InputError(
                    f"no published file has a place for {name}; leave it out, or write "
                    f"{' or '.join(formats)}",
                    key=(name,),
                )


@dataclass(frozen=True)
class _Format:
    """How to write a format, what can be chosen for it, and what refuses it if not installed."""

    name: str
    write: Callable[..., None]
    choices: tuple[str, ...]
    names_values: bool = True
    needs: Callable[[Path], object] | None = None


_CSV = _Format("CSV", write_csv, ("marks", "flags", "labels"))
_PARQUET = _Format("Parquet", write_parquet, ("flags", "labels"))
_EXCEL = _Format(
    "Excel",
    write_excel,
    ("marks", "flags", "layout", "title", "labels"),
    needs=require_xlsxwriter,
)
_HTML = _Format("HTML", write_html, ("marks", "flags", "layout", "title", "labels"))
_JJ = _Format("JJ", write_reader_jj, (), names_values=False)
_FORMATS: Mapping[str, _Format] = {
    ".csv": _CSV,
    ".csv.gz": _CSV,
    ".parquet": _PARQUET,
    ".xlsx": _EXCEL,
    ".html": _HTML,
    ".jj": _JJ,
    ".jj.gz": _JJ,
}

SUFFIXES = tuple(_FORMATS)
"""How the names of files with publications end."""


def write_published(
    published: Published,
    path: str | Path,
    presentation: Presentation | None = None,
    *,
    value: str = "value",
) -> None:
    """Write a publication in the format that the name of the file says.

    Args:
        published: What readers may see.
        path: Where to write; see `SUFFIXES`. The file appears complete or not at all.
        presentation: How to write it; what the format has no place for is left out.
        value: What to call the column of the values.

    Raises:
        InputError: The name says no format, or the file cannot be written.
    """
    chosen = (presentation or Presentation()).choices(path)
    found = _format(path)
    if found.names_values:
        chosen["value"] = value
    found.write(published, path, **chosen)


def _format(path: str | Path) -> _Format:
    name = Path(path).name.lower()
    for suffix, known in _FORMATS.items():
        if name.endswith(suffix):
            return known
    raise InputError(f"the name of the file must end in one of {', '.join(SUFFIXES)}", path=path)
