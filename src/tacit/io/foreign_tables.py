"""Tables that other programs publish, by the codes in them: long or wide, with or without names.

Nothing is known about such a file but which cells the table has. A column holds a dimension if
it has its name, or nothing but its codes; where a dimension runs across the columns, their names
are its codes. What stands for a total may be called otherwise: `T`, `Ensemble` or nothing at all.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.entries import tidy_code
from tacit.errors import InputError, first_few, name_columns
from tacit.hierarchy import Hierarchy
from tacit.io.argus.metadata import read_metadata
from tacit.io.cells import read_columns
from tacit.io.files import read_text
from tacit.microdata.file_format import guess_delimiter
from tacit.microdata.workbooks import is_workbook, sheet_rows

_SAMPLE_LINES = 200
_MOST_TITLES = 30
"""So many lines may stand above the names of the columns."""

_MOST_ARRANGEMENTS = 720


@dataclass(eq=False)
class Codes:
    """The codes of a dimension, and how others may write them.

    Attributes:
        name: The dimension.
        total: Its total, if it is known.
        known: All codes.
        labels: Labels of codes.
    """

    name: str
    total: str | None
    known: Sequence[str]
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._written: dict[str, str] = {}
        # The more exact a way to write a code, the later, because the last one counts.
        self._note((code.lstrip("0"), code) for code in self.known if code.isdecimal())
        self._note((tidy_code(code).casefold(), code) for code in self.known)
        self._note((label.strip(), code) for code, label in self.labels.items())
        self._note(
            (f"{tidy_code(code)} {label.strip()}", code) for code, label in self.labels.items()
        )
        self._written.update((tidy_code(code), code) for code in self.known)
        self.alias: str | None = None

    def _note(self, pairs: Iterator[tuple[str, str]]) -> None:
        """Note how codes may be written, as long as that is not the same for two of them."""
        found: dict[str, list[str]] = {}
        for text, code in pairs:
            found.setdefault(text, []).append(code)
        self._written.update((text, own[0]) for text, own in found.items() if len({*own}) == 1)

    def find(self, entry: Any) -> str | None:
        """The code that an entry is, None where it is none."""
        text = code_entry(entry)
        if self.alias is not None and text == self.alias:
            return self.total
        if text in self._written:
            return self._written[text]
        return self._written.get(text.casefold())

    def alias_in(self, entries: Sequence[Any]) -> str | None:
        """What stands for the total in a column, where it can only be one thing."""
        texts = {code_entry(entry) for entry in entries}
        unknown = [text for text in texts if self.find(text) is None]
        has_total = any(self.find(text) == self.total for text in texts)
        return unknown[0] if len(unknown) == 1 and not has_total and self.total else None

    def fits(self, entries: Sequence[Any]) -> bool:
        """Whether a column may hold codes of this dimension.

        There may be a few others: another name of the total, or codes of cells that are empty.
        """
        texts = {code_entry(entry) for entry in entries}
        unknown = sum(self.find(text) is None for text in texts)
        return not unknown or (len(texts) > 2 and unknown <= max(1, len(texts) // 10))


def code_entry(entry: Any) -> str:
    """An entry as it may be a code."""
    if isinstance(entry, float) and entry.is_integer():
        return str(int(entry))
    return "" if entry is None else tidy_code(str(entry))


@dataclass(eq=False)
class ForeignTable:
    """The rows of a file, one per cell.

    Attributes:
        path: The file.
        columns: A column for each dimension, with the codes of the table where there are such;
            and the others, by their names or places.
        lines: The line of each row; None where a file has none.
        is_named: Whether columns have names of their own.
        notes: What was guessed.
    """

    path: Path
    columns: dict[str, list[Any]]
    lines: Sequence[int] | None
    is_named: bool
    notes: list[str] = field(default_factory=list)


def read_foreign_table(
    path: Path,
    codes: Mapping[str, npt.NDArray[np.str_]],
    hierarchies: Mapping[str, Hierarchy] | None = None,
    sheet: str | None = None,
) -> ForeignTable:
    """Read a published table of some other program.

    Args:
        path: A CSV, text, Excel or Parquet file; a `.tab` file of tau-ARGUS with its `.rda`.
        codes: For each dimension the code of each cell.
        hierarchies: The hierarchies of dimensions: with codes that no cell has, totals and labels.
        sheet: The sheet of a workbook; without it the first one that fits.

    Raises:
        InputError: The file cannot be read, or its columns are not those of the table.
    """
    known = []
    for name, own in codes.items():
        hierarchy = (hierarchies or {}).get(name)
        occurring = dict.fromkeys(own.tolist())
        if hierarchy is None:
            known.append(Codes(name, None, list(occurring)))
        else:
            all_codes = list(occurring | dict.fromkeys(hierarchy.codes))
            known.append(Codes(name, hierarchy.total, all_codes, hierarchy.labels))
    cells = set(zip(*(own.tolist() for own in codes.values()), strict=True))
    notes: list[str] = []
    faults: list[InputError] = []
    for rows in _sheets(path, notes.append, sheet):
        try:
            found = _Arranging(path, rows, known, cells).table()
        except InputError as error:
            faults.append(error)
            continue
        found.notes[:0] = notes
        return found
    raise faults[0] if faults else InputError("the file has no rows", path=path)


@dataclass(frozen=True, eq=False)
class _Rows:
    """All lines of a file or a sheet that are not empty, with their numbers."""

    entries: list[list[Any]]
    lines: list[int] | None
    names: list[str] | None = None


def _sheets(path: Path, note: Callable[[str], object], sheet: str | None) -> Iterator[_Rows]:
    name = path.name.lower()
    if name.endswith(".parquet"):
        columns = read_columns(path)
        yield _Rows([list(row) for row in zip(*columns.values(), strict=True)], None, [*columns])
        return
    if is_workbook(path):
        for name, rows in sheet_rows(path):
            if sheet is not None and name != sheet:
                continue
            yield _Rows([row for _, row in rows], [line for line, _ in rows])
        return
    metadata = _metadata(path)
    text = read_text(path, note=note)
    lines = text.split("\n")
    filled = [line for line in lines[:_SAMPLE_LINES] if line.strip()]
    mark = (metadata and metadata.separator) or _delimiter(filled)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, skipinitialspace=True)
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise InputError(f"this is not CSV: {error}", path=path) from None
    rows = [(line, row) for line, row in rows if any(entry.strip() for entry in row)]
    if not rows:
        raise InputError("the file is empty", path=path)
    entries = [[entry.strip() or None for entry in row] for _, row in rows]
    names = None
    if metadata is not None:
        names = [
            "status" if variable.is_status else variable.name
            for variable in metadata.variables.values()
        ]
        entries = [row[: len(names)] + [None] * (len(names) - len(row)) for row in entries]
    yield _Rows(entries, [line for line, _ in rows], names)


def _metadata(path: Path) -> Any:
    """The metadata beside a table file of tau-ARGUS."""
    if path.suffix.lower() != ".tab":
        return None
    beside = [
        each for each in (path.with_suffix(".rda"), path.with_suffix(".RDA")) if each.is_file()
    ]
    return read_metadata(beside[0], tabular=True) if beside else None


def _delimiter(lines: Sequence[str]) -> str:
    """What separates entries; titles above the table have none."""
    usual = [line for line in lines if any(mark in line for mark in ",;\t|")]
    return guess_delimiter(usual[-20:] + usual[:1] if usual else lines)


class _Arranging:
    """Finds out what is where in the rows of a file."""

    def __init__(self, path: Path, rows: _Rows, known: list[Codes], cells: set[tuple[str, ...]]):
        self._path = path
        self._rows = rows
        self._known = known
        self._cells = cells

    def table(self) -> ForeignTable:
        """The rows, one per cell."""
        for each in self._known:
            each.alias = None
        if self._rows.names is not None:
            named = self._long(self._rows.names, 0, is_named=True)
            if named is not None:
                return named
            raise self._no_columns(self._rows.names)
        entries = self._rows.entries
        ways: list[Callable[[], ForeignTable | None]] = [
            *(
                lambda start=start: self._long(
                    _names(entries[start]), start + 1, is_named=True, by_name=True
                )
                for start in range(min(len(entries), _MOST_TITLES))
                if self._has_names(entries[start])
            ),
            lambda: self._long(None, 0, is_named=False),
            self._wide,
            lambda: self._long(_names(entries[0]), 1, is_named=True),
        ]
        for way in ways:
            found = way()
            if found is not None:
                return found
        raise self._no_columns(_names(entries[0]))

    def _no_columns(self, names: Sequence[str]) -> InputError:
        absent = [each.name for each in self._known if each.name not in names]
        return InputError(
            f"there is no column {(absent or [self._known[0].name])[0]}, which tells the cells "
            f"apart; {name_columns(names)}",
            path=self._path,
        )

    def _has_names(self, row: Sequence[Any]) -> bool:
        named = {str(entry).casefold() for entry in row if entry is not None}
        return all(each.name.casefold() in named for each in self._known)

    def _long(
        self, names: list[str] | None, start: int, *, is_named: bool, by_name: bool = False
    ) -> ForeignTable | None:
        """A row for each cell."""
        rows = self._rows.entries[start:]
        lines = None if self._rows.lines is None else self._rows.lines[start:]
        width = len(names) if names is not None else max(map(len, rows), default=0)
        rows, lines = self._of_width(rows, lines, width, len(self._known))
        if not rows or width < len(self._known) + 1:
            return None
        columns = [[row[place] for row in rows] for place in range(width)]
        places = self._by_name(names) if by_name and names is not None else None
        if places is None:
            places = self._by_content(columns, names)
        if places is None or (names is None and not self._begins_with_codes(columns, places)):
            return None
        found = _named(columns, names)
        notes: list[str] = []
        for each, place in zip(self._known, places, strict=True):
            del found[_name_of(place, names)]
            found[each.name] = self._read_codes(each, columns[place], notes)
        return ForeignTable(self._path, found, lines, is_named, notes)

    def _begins_with_codes(self, columns: Sequence[Sequence[Any]], places: Sequence[int]) -> bool:
        """Whether the first row is one of a cell, and does not name the columns."""
        for each, place in zip(self._known, places, strict=True):
            first = columns[place][0]
            if each.find(first) is None and code_entry(first) != each.alias_in(columns[place]):
                return False
        return True

    def _of_width(
        self, rows: list[list[Any]], lines: list[int] | None, width: int, least: int
    ) -> tuple[list[list[Any]], list[int] | None]:
        """Rows with entries in all columns that are needed; notes below the table are left out."""
        kept = [n for n, row in enumerate(rows) if least == 1 or _is_beside(row, 1)]
        padded = [rows[n][:width] + [None] * (width - len(rows[n])) for n in kept]
        return padded, None if lines is None else [lines[n] for n in kept]

    def _by_name(self, names: Sequence[str]) -> list[int] | None:
        folded = [name.casefold() for name in names]
        places = []
        for each in self._known:
            if each.name in names:
                places.append(names.index(each.name))
            elif folded.count(each.name.casefold()) == 1:
                places.append(folded.index(each.name.casefold()))
            else:
                return None
        return places

    def _by_content(
        self, columns: Sequence[Sequence[Any]], names: Sequence[str] | None
    ) -> list[int] | None:
        """The columns that hold the codes of each dimension: those that give the most cells."""
        fitting = []
        for each in self._known:
            own = self._by_name_of(each, names)
            fitting.append(
                [own] if own is not None else [n for n, col in enumerate(columns) if each.fits(col)]
            )
        best: tuple[int, list[int]] | None = None
        tried = itertools.islice(itertools.product(*fitting), _MOST_ARRANGEMENTS)
        for places in tried:
            if len(set(places)) < len(places):
                continue
            count = self._cell_count([columns[place] for place in places])
            # Of arrangements that are alike, the first is in the order of the dimensions.
            if best is None or count > best[0]:
                best = count, list(places)
        return best[1] if best is not None and best[0] else None

    def _by_name_of(self, each: Codes, names: Sequence[str] | None) -> int | None:
        return names.index(each.name) if names is not None and each.name in names else None

    def _cell_count(self, columns: Sequence[Sequence[Any]]) -> int:
        aliases = [each.alias_in(column) for each, column in zip(self._known, columns, strict=True)]
        keys = {
            tuple(
                each.total if code_entry(entry) == alias else each.find(entry)
                for each, entry, alias in zip(self._known, row, aliases, strict=True)
            )
            for row in zip(*columns, strict=True)
        }
        return len(keys & self._cells)

    def _read_codes(self, each: Codes, entries: Sequence[Any], notes: list[str]) -> list[str]:
        """The codes of a column as the table has them; others as they are."""
        alias = each.alias_in(entries)
        if alias is not None:
            shown = f"{alias!r}" if alias else "nothing"
            notes.append(
                f"{self._path}: {each.name}: {shown} is taken for the total {each.total!r}"
            )
            each.alias = alias
        found = [each.find(entry) for entry in entries]
        other = {
            code_entry(entry): code
            for entry, code in zip(entries, found, strict=True)
            if code is not None and code_entry(entry) not in (tidy_code(code), alias)
        }
        if other:
            text, code = next(iter(other.items()))
            notes.append(
                f"{self._path}: {each.name}: codes are matched as in {text!r} for {code!r}"
            )
        return [
            code_entry(entry) if code is None else code
            for entry, code in zip(entries, found, strict=True)
        ]

    # --- A dimension that runs across the columns -------------------------------------------------

    def _wide(self) -> ForeignTable | None:
        """One dimension across the columns, the others in front of the rows or above a block."""
        if len(self._known) < 2:
            return None
        blocks: dict[str, list[Any]] = {"value": [], **{each.name: [] for each in self._known}}
        lines: list[int] = []
        fixed: dict[str, Any] = {}
        header: _Header | None = None
        for number, row in enumerate(self._rows.entries):
            above = self._fixed(row)
            if above is not None:
                fixed, header = above, None
                continue
            named = self._header(row, fixed)
            if named is not None:
                header = named
                continue
            if header is None or not _is_beside(row, len(header.keys)):
                if header is None and number > _MOST_TITLES:
                    return None
                continue
            line = 0 if self._rows.lines is None else self._rows.lines[number]
            for place, code, what in header.cells:
                entry = row[place] if place < len(row) else None
                if what:
                    # Of the same cell as the entry before.
                    blocks.setdefault(what, [None] * (len(blocks["value"]) - 1)).append(entry)
                    continue
                keys = {**fixed, header.across: code}
                for at, name in header.keys.items():
                    keys[name] = row[at] if at < len(row) else None
                for each in self._known:
                    blocks[each.name].append(keys.get(each.name))
                blocks["value"].append(entry)
                lines.append(line)
        if not blocks["value"]:
            return None
        count = len(blocks["value"])
        notes: list[str] = []
        columns = {name: own + [None] * (count - len(own)) for name, own in blocks.items()}
        if not self._cell_count([columns[each.name] for each in self._known]):
            return None
        for each in self._known:
            columns[each.name] = list(self._read_codes(each, columns[each.name], notes))
        return ForeignTable(self._path, columns, lines, True, notes)

    def _fixed(self, row: Sequence[Any]) -> dict[str, Any] | None:
        """Codes that hold for the block below: names and codes in turn."""
        filled = [entry for entry in row if entry is not None]
        if len(filled) < 2 or len(filled) % 2 or len(filled) // 2 > len(self._known) - 2:
            return None
        by_name = {each.name.casefold(): each for each in self._known}
        found = {}
        for name, code in zip(filled[0::2], filled[1::2], strict=True):
            each = by_name.get(str(name).casefold())
            if each is None or each.find(code) is None:
                return None
            found[each.name] = code
        return found

    def _header(self, row: Sequence[Any], fixed: Mapping[str, Any]) -> _Header | None:
        """What the columns are, where a row names them by the codes of a dimension."""
        rest = [each for each in self._known if each.name not in fixed]
        keys = len(rest) - 1
        if keys < 1 or len(row) < keys + 2:
            return None
        names = [None if entry is None else str(entry).casefold() for entry in row[:keys]]
        best: _Header | None = None
        for across in rest:
            others = [each for each in rest if each is not across]
            placed = {
                place: each.name
                for each in others
                for place, name in enumerate(names)
                if name == each.name.casefold()
            }
            if len(placed) < len(others):
                # Without names they are in their order.
                placed = {place: each.name for place, each in enumerate(others)}
            cells = self._across(row, keys, across)
            if cells is not None and (best is None or len(cells) > len(best.cells)):
                best = _Header(across.name, placed, cells)
        return best

    def _across(
        self, row: Sequence[Any], keys: int, across: Codes
    ) -> list[tuple[int, Any, str]] | None:
        entries = [(place, row[place]) for place in range(keys, len(row)) if row[place] is not None]
        plain = [entry for _, entry in entries if across.find(entry) is not None]
        alias = across.alias_in([e for _, e in entries if not _added(e, across)])
        if len({across.find(entry) for entry in plain}) < 2:
            return None
        cells: list[tuple[int, Any, str]] = []
        for place, entry in entries:
            added = _added(entry, across)
            if across.find(entry) is not None or code_entry(entry) == alias:
                cells.append((place, entry, ""))
            elif added is not None:
                cells.append((place, *added))
            else:
                return None
        return cells


@dataclass(frozen=True, eq=False)
class _Header:
    """What the columns of a wide table are.

    Attributes:
        across: The dimension that runs across them.
        keys: The columns with the codes of other dimensions.
        cells: Columns with entries: their places, codes, and what is added to the value.
    """

    across: str
    keys: Mapping[int, str]
    cells: list[tuple[int, Any, str]]


def _added(entry: Any, across: Codes) -> tuple[Any, str] | None:
    """The code and what it is about, of a column such as `North Status`."""
    code, _, what = code_entry(entry).rpartition(" ")
    if what.casefold() in ("status", "flag", "flags") and across.find(code) is not None:
        return code, what.casefold()
    return None


def _is_beside(row: Sequence[Any], start: int) -> bool:
    """Whether a row has more than its first entries, as a note below a table has not."""
    return any(entry is not None for entry in row[start:])


def _names(row: Sequence[Any]) -> list[str]:
    return ["" if entry is None else code_entry(entry) for entry in row]


def _name_of(place: int, names: Sequence[str] | None) -> str:
    if names is None or not names[place] or names.index(names[place]) != place:
        return f"column {place + 1}"
    return names[place]


def _named(columns: Sequence[list[Any]], names: Sequence[str] | None) -> dict[str, list[Any]]:
    return {_name_of(place, names): list(column) for place, column in enumerate(columns)}


def name_unknown(keys: Sequence[Mapping[str, str]]) -> str:
    """Name cells by their codes.

    >>> name_unknown([{"region": "N", "size": "9"}])
    '(region=N, size=9)'
    """
    shown = [f"({', '.join(f'{n}={c}' for n, c in key.items())})" for key in keys]
    return first_few(shown)
