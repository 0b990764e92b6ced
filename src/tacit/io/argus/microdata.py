"""Microdata of tau-ARGUS (`.asc`): records of fixed width, or with separators.

DuckDB reads them: a query cuts records into variables. Text in another code page and unusual line
ends go through a copy that nobody else can read.
"""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

from tacit.errors import InputError
from tacit.io.argus.metadata import Metadata, Variable, read_metadata
from tacit.io.argus.paths import decoded
from tacit.microdata.csv_files import NO_SEPARATOR
from tacit.microdata.duck_errors import plain_errors
from tacit.microdata.duck_watch import WatchedConnection
from tacit.microdata.file_names import for_duckdb
from tacit.microdata.quoting import quoted_name, quoted_text
from tacit.microdata.sources import FileQuery
from tacit.observer import Observer

_CHUNK = 1 << 24


class MicrodataFile:
    """A file of records that is open for tabulation.

    Attributes:
        path: The file.
        metadata: What its variables are.
    """

    def __init__(self, path: Path, metadata: Metadata):
        self.path = path
        self.metadata = metadata
        self._open = ExitStack()
        self._read_from = path

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            try:
                if not self.path.stat().st_size:
                    raise InputError("the file is empty; there are no records", path=self.path)
                if _needs_copy(self.path):
                    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tacit-"))
                    self._read_from = Path(folder) / "records.txt"
                    self._read_from.write_bytes(_plain(self.path))
            except OSError as error:
                reason = (error.strerror or "unknown reason").lower()
                raise InputError(f"the file cannot be read: {reason}", path=self.path) from None
            self._open = stack.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._open.close()

    def source(self, *, aligned: bool = True) -> FileQuery:
        """The records as a source for `tacit.tabulate`, with one column per variable.

        Codes are as in hierarchies of tau-ARGUS: with blanks to the width of the variable, unless
        they are not to be aligned. A variable with requests becomes a flag; for each of its
        codes there is a flag of its own, see `request_column`.
        """
        chosen: list[str] = []
        for place, variable in enumerate(self.metadata.variables.values()):
            for name, expression in _columns(variable, self._entry(variable, place), aligned):
                chosen.append(f"{expression} AS {quoted_name(name)}")
        query = f"SELECT {', '.join(chosen)} FROM {self._lines()}"
        files = (str(self._read_from),)
        return FileQuery(query, files) if aligned else FileQuery(query, files, self._entries)

    def _entries(self, column: str) -> Iterator[tuple[str, int, str]]:
        """The entries of a variable, with the lines of their records."""
        place = [*self.metadata.variables].index(column)
        variable, separator = self.metadata.variables[column], self.metadata.separator
        with open(self._read_from, encoding="utf-8", errors="replace") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.strip():
                    continue
                if separator is None:
                    start = (variable.start or 1) - 1
                    entry = line.rstrip("\n")[start : start + (variable.width or 0)]
                else:
                    row = next(csv.reader([line.rstrip("\n")], delimiter=separator), [])
                    entry = row[place] if place < len(row) else ""
                if variable.is_numeric or variable.is_weight:
                    entry = entry.replace(",", ".")
                yield str(self.path), number, entry.strip()

    def codes(
        self, variables: Sequence[Variable], observer: Observer | None = None
    ) -> dict[str, tuple[str, ...]]:
        """The codes of variables that occur, by name; the records are read once."""
        names = [variable.name for variable in variables]
        if not names:
            return {}
        source = self.source()
        columns = ", ".join(map(quoted_name, names))
        lists = ", ".join(f"list(DISTINCT {quoted_name(name)})" for name in names)
        # Combinations first: there are fewer than records.
        query = (
            f"WITH found AS MATERIALIZED (SELECT DISTINCT {columns} FROM ({source.query})) "
            f"SELECT {lists} FROM found"
        )
        with (
            self.named_in_errors(),
            plain_errors(source.files),
            WatchedConnection(observer or Observer()) as duck,
        ):
            ((*found,),) = duck.execute(query).fetchall()
        return {name: tuple(sorted(codes or ())) for name, codes in zip(names, found, strict=True)}

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """Errors about the copy that is read are about the file itself."""
        try:
            yield
        except InputError as error:
            if error.path is None or error.path != self._read_from:
                raise
            where = f"{error.path}: " if error.line is None else f"{error.path}:{error.line}: "
            reason = str(error).removeprefix(where)
            reason = reason.replace("the first line names", "the metadata describe")
            raise InputError(reason, path=self.path, line=error.line) from None

    def _entry(self, variable: Variable, place: int) -> str:
        """What a record holds of a variable, as SQL."""
        if self.metadata.separator is None:
            return f"substr(line, {variable.start}, {variable.width})"
        return f"coalesce(column_{place}, '')"

    def _lines(self) -> str:
        name = quoted_text(for_duckdb(str(self._read_from)))
        told = "auto_detect = false, header = false, hive_partitioning = false"
        if self.metadata.separator is None:
            return (
                f"(SELECT line FROM read_csv([{name}], {told}, columns = {{'line': 'VARCHAR'}}, "
                f"delim = '{NO_SEPARATOR}', quote = '', escape = '') WHERE trim(line) <> '')"
            )
        count = len(self.metadata.variables) + self._empty_columns(self.metadata.separator)
        kinds = ", ".join(f"'column_{place}': 'VARCHAR'" for place in range(count))
        return (
            f"read_csv([{name}], {told}, columns = {{{kinds}}}, "
            f"delim = {quoted_text(self.metadata.separator)}, quote = '\"', escape = '\"')"
        )

    def _empty_columns(self, separator: str) -> int:
        """How many entries without content stand at the end of records."""
        known = len(self.metadata.variables)
        with open(self._read_from, "rb") as stream:
            first = decoded(stream.readline(1 << 20)).rstrip("\r\n")
        try:
            row = next(csv.reader([first], delimiter=separator), [])
        except csv.Error:
            raise InputError(
                "the line cannot be divided into entries; correct its quotation marks",
                path=self.path,
                line=1,
            ) from None
        if len(row) < known or any(entry.strip() for entry in row[known:]):
            raise InputError(
                f"there are {len(row)} entries, but the metadata describe {known} variables "
                f"({self.metadata.path.name}); correct the separator or the variables",
                path=self.path,
                line=1,
            )
        return len(row) - known


def request_column(variable: Variable, code: str) -> str:
    """The column that is 1 where a contributor asks for protection by one of two codes."""
    return f"{variable.name}={code}"


@contextmanager
def fixed_width(path: str | Path, layout: str | Path) -> Iterator[FileQuery]:
    """Records of fixed width as a source for `tacit.tabulate`, as long as the context lasts.

    Args:
        path: The records, a line each. Blanks around entries mean nothing, numbers have a decimal
            point or comma, and text is in UTF-8 or cp1252.
        layout: The metadata of tau-ARGUS (`.rda`), which name the variables with their places;
            they may also name a separator.

    Raises:
        InputError: A file cannot be read or understood.
    """
    metadata = read_metadata(layout, tabular=False)
    with MicrodataFile(Path(path), metadata) as records, records.named_in_errors():
        yield records.source(aligned=False)


def _columns(variable: Variable, entry: str, aligned: bool) -> Iterator[tuple[str, str]]:
    text = f"trim({entry})"
    if variable.requests:
        for codes, name in (
            (variable.requests, variable.name),
            *(((code,), request_column(variable, code)) for code in variable.requests),
        ):
            yield name, f"CAST({text} IN ({_listed(codes)}) AS INTEGER)"
    elif variable.is_explanatory and aligned:
        yield variable.name, _code(variable, entry)
    elif variable.is_numeric or variable.is_weight:
        # Where records are separated by commas, none is left within an entry without quotes.
        yield variable.name, f"replace({text}, ',', '.')"
    else:
        yield variable.name, text


def _listed(codes: Sequence[str]) -> str:
    return ", ".join(quoted_text(code) for code in codes)


def _code(variable: Variable, entry: str) -> str:
    width = variable.width or 0
    if variable.levels and variable.start is not None:
        # What stands where counts, also in front.
        return f"rpad({entry}, {width}, ' ')"
    text, width = f"trim({entry})", max(width, 1)
    return f"CASE WHEN length({text}) < {width} THEN lpad({text}, {width}, ' ') ELSE {text} END"


def _needs_copy(path: Path) -> bool:
    """Whether a file is not plain text in UTF-8 with line ends of Unix or Windows."""
    returns = newlines = 0
    last = b""
    with open(path, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            if not chunk.isascii() and not _is_utf8(path):
                return True
            if b"\0" in chunk or b"\x1a" in chunk or NO_SEPARATOR.encode() in chunk:
                return True
            if chunk.startswith(b"\xef\xbb\xbf") and not last:
                return True
            returns += chunk.count(b"\r")
            newlines += chunk.count(b"\n")
            if b"\r\r" in last[-1:] + chunk:
                return True
            last = chunk
    return returns not in (0, newlines)


def _is_utf8(path: Path) -> bool:
    try:
        with open(path, encoding="utf-8") as stream:
            while stream.read(_CHUNK):
                pass
    except UnicodeDecodeError:
        return False
    return True


def _plain(path: Path) -> bytes:
    content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    if b"\0" in content:
        raise InputError(
            "this is not a text file; records are text of fixed width or separated", path=path
        )
    text = decoded(content).rstrip("\x1a")
    text = text.replace(NO_SEPARATOR, " ").replace("\r\r\n", "\n").replace("\r\n", "\n")
    lines = text.replace("\r", "\n").split("\n")
    return os.linesep.join(line for line in lines if line.strip()).encode()
