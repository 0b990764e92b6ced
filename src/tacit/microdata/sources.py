"""Sources of microdata, recognised without importing any library."""

from __future__ import annotations

import importlib.util
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from tacit.errors import InputError, first_few
from tacit.microdata.file_names import matching_files
from tacit.microdata.workbooks import SUFFIXES as WORKBOOKS
from tacit.table.frames import FRAME_LIBRARIES

ENDINGS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    **dict.fromkeys(WORKBOOKS, "excel"),
}
COMPRESSED = (".gz", ".zst")


@dataclass(frozen=True)
class Files:
    """Parquet, CSV or Excel files: their names, patterns of them, or folders of Parquet files."""

    kind: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Frame:
    """A data frame in memory, as DuckDB can scan it."""

    native: Any
    columns: tuple[str, ...]
    backend: str | None


@dataclass(frozen=True)
class Relation:
    """A DuckDB relation on somebody's connection."""

    relation: Any


@dataclass(frozen=True)
class Database:
    """A DuckDB database (its path, or a connection), with a table in it or a query on it."""

    database: Any
    query: str


@dataclass(frozen=True)
class FileQuery:
    """A query that reads files of another format; only readers of formats make one.

    Attributes:
        query: The query, run by DuckDB as it is.
        files: The files that it reads, for errors.
        entries: Gives the entries of a column as text, with their files and lines, to say where
            something is wrong; by default none are known.
    """

    query: str
    files: tuple[str, ...]
    entries: Callable[[str], Iterator[tuple[str, int, str]]] = lambda _column: iter(())


@dataclass(frozen=True)
class SparkFrame:
    """A Spark data frame."""

    frame: Any


Source: TypeAlias = Files | Frame | Relation | Database | FileQuery | SparkFrame


def source_number(source: Source) -> int:
    """A number for the records of a source, by which those without contributors get theirs.

    Files have the same number every time, so that a record is the same contributor in all tables
    that are made of them; of other sources nobody knows whether their records come in the same
    order again.
    """
    if not isinstance(source, Files | FileQuery):
        return secrets.randbits(62)
    names = source.names if isinstance(source, Files) else source.files
    digest = blake2b(digest_size=8)
    for name in names:
        for file in matching_files(name) or [name]:
            digest.update(f"{os.path.realpath(file)}\0".encode(errors="surrogateescape"))
            if os.path.isfile(file):
                found = os.stat(file)
                digest.update(f"{found.st_size} {found.st_mtime_ns}\0".encode())
    return int.from_bytes(digest.digest(), "little") >> 2


def refuse_undecodable_text(frame: Frame) -> None:
    """Refuse text that no library can encode; looked for once one could not."""
    native = frame.native
    if isinstance(native, Mapping):
        columns = {name: column.tolist() for name, column in native.items()}
    else:
        import narwhals as nw

        opened = nw.from_native(native, eager_only=True)
        columns = {name: opened[name].to_list() for name in opened.columns}
    for name, entries in columns.items():
        for row, entry in enumerate(entries):
            try:
                str(entry).encode()
            except UnicodeEncodeError:
                raise InputError(
                    f"column {name}, row {row}: a text holds half of a character (a lone "
                    "surrogate); correct it, rows are counted from 0"
                ) from None


def recognise(source: Any, columns: tuple[str, ...]) -> Source:
    """Recognise the kind of a source.

    Args:
        source: See `tacit.tabulate`.
        columns: The columns that will be read.
    """
    if isinstance(source, FileQuery):
        return source
    if isinstance(source, str | os.PathLike):
        return _files([source])
    if isinstance(source, tuple) and len(source) == 2 and _is_database(source[0]):
        return _database(*source)
    if isinstance(source, list | tuple) and source:
        if all(isinstance(path, str | os.PathLike) for path in source):
            return _files(source)
    elif isinstance(source, Mapping):
        return _from_columns(source, columns)
    elif _comes_from(source, "pyspark"):
        return SparkFrame(source)
    elif _comes_from(source, "duckdb"):
        if hasattr(source, "write_parquet"):
            return Relation(source)
    else:
        return _from_frame(source, columns)
    raise InputError(
        f"{type(source).__name__} is not a source of microdata; give a data frame, the path of "
        "Parquet, CSV or Excel files, a DuckDB relation, a pair of a DuckDB database and a table "
        "or query, or a Spark data frame"
    )


_PART = r'"(?:[^"]|"")+"|[^\s"();.,]+'
_TABLE = re.compile(rf"\s*(?:{_PART})(?:\.(?:{_PART}))*\s*")


def is_query(text: str) -> bool:
    """Whether a text is a query, not the name of a table.

    >>> is_query("more.firms"), is_query('"firms of 2024"'), is_query("FROM firms")
    (False, False, True)
    """
    return _TABLE.fullmatch(text) is None


def table_name(text: str) -> list[str]:
    """The parts of the name of a table, such as its schema, without quotation marks.

    >>> table_name('more."firms.2024"')
    ['more', 'firms.2024']
    """
    parts = re.findall(_PART, text)
    return [part[1:-1].replace('""', '"') if part.startswith('"') else part for part in parts]


def _is_database(first: Any) -> bool:
    if isinstance(first, str | os.PathLike):
        return _kind(os.fspath(first)) is None
    return _comes_from(first, "duckdb")


def _database(database: Any, query: str) -> Source:
    if not isinstance(query, str) or not query.strip():
        raise InputError(
            "with a DuckDB database, give the name of a table or a query as text", key=(1,)
        )
    is_path = isinstance(database, str | os.PathLike)
    return Database(os.fspath(database) if is_path else database, query)


def _kind(name: str) -> str | None:
    path = Path(name)
    ending = Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix
    return ENDINGS.get(ending.casefold())


def _files(paths: Iterable[str | os.PathLike[str]]) -> Files:
    names = [os.fspath(path) for path in paths]
    if not all(names):
        raise InputError("the name of a file is empty; name Parquet, CSV or Excel files")
    for name in names:
        if os.path.isdir(name) and not matching_files(name):
            raise InputError("this is a directory without Parquet files; name a file", path=name)
    kinds = {name: "parquet" if os.path.isdir(name) else _kind(name) for name in names}
    odd = [name for name, kind in kinds.items() if kind is None]
    if odd:
        raise InputError(
            f"{first_few(odd)} has none of the endings {', '.join(ENDINGS)}; give files of these "
            "kinds, or for a DuckDB database a pair of its path and a table or query",
            key=(names.index(odd[0]),),
        )
    if len(set(kinds.values())) > 1:
        raise InputError(f"{first_few(names)} are of different kinds; give one kind at a time")
    return Files(str(kinds[names[0]]), tuple(names))


def _comes_from(source: Any, library: str) -> bool:
    homes = {kind.__module__.split(".")[0].lstrip("_") for kind in type(source).__mro__}
    return library in homes


def _from_columns(columns: Mapping[Any, Any], wanted: tuple[str, ...]) -> Frame:
    arrays = {str(name): _array(columns[name]) for name in columns if str(name) in wanted}
    lengths = {len(array) for array in arrays.values()}
    if len(lengths) > 1:
        raise InputError(f"the columns have different lengths: {sorted(lengths)}")
    return Frame(arrays, tuple(str(name) for name in columns), None)


def _array(column: Any) -> Any:
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
        return column
    entries = list(column)
    if entries and {type(entry) for entry in entries} <= {int} | {float}:
        return np.array(entries)
    array = np.empty(len(entries), object)
    array[:] = [None if entry is None or entry != entry else entry for entry in entries]
    return array


def _from_frame(frame: Any, columns: tuple[str, ...]) -> Frame:
    # Slow to import, and needed for frames only.
    import narwhals as nw

    try:
        opened = nw.from_native(frame)
    except TypeError:
        raise InputError(
            f"{type(frame).__name__} is not a source of microdata; give a data frame of pandas, "
            "polars or pyarrow, the path of Parquet, CSV or Excel files, a DuckDB relation or a "
            "Spark data frame"
        ) from None
    present = tuple(opened.collect_schema().names())
    chosen = opened.select([name for name in columns if name in present])
    read = chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen
    library = read.implementation.name.lower()
    known = library in FRAME_LIBRARIES
    backend = library if known else None
    if backend != "pandas" and importlib.util.find_spec("pyarrow") is None:
        # DuckDB looks at all frames but those of pandas through pyarrow.
        native: Any = {name: _array(read[name].to_list()) for name in read.columns}
    else:
        native = read.to_native() if known else read.to_arrow()
    return Frame(native, present, backend)
