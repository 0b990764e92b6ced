"""Names of files: a file that exists is meant literally, anything else may be a pattern."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from pathlib import Path

from tacit.errors import InputError, first_few

_DUCKDB_MAGIC = re.compile(r"[*?\[]")
_HADOOP_MAGIC = re.compile(r"[*?\[\]{}\\]")
_SKIPPED = (".", "_")
"""How names in a folder begin that are not data: hidden files, and those that Spark leaves."""


def is_remote(name: str) -> bool:
    """Whether a name is an address: not everything there can be listed."""
    return "://" in name


def matching_files(name: str) -> list[str]:
    """The files that a name stands for, in order; none where there are none.

    A name that exists is that file, or that folder with all Parquet files in it. Only a name that
    does not exist is a pattern. An address stands for itself.
    """
    if is_remote(name):
        return [name]
    if os.path.lexists(name):
        return _inside(name) if os.path.isdir(name) else [name]
    pattern = os.path.expanduser(name)
    found: list[str] = []
    for match in sorted(glob.glob(pattern, recursive=True)):
        if not os.path.isdir(match):
            found.append(match)
        elif match.endswith(".parquet"):
            # Spark writes a table as a folder with such a name.
            found += _inside(match)
    return found


def _inside(folder: str) -> list[str]:
    below = sorted(Path(folder).glob("**/*.parquet"))
    kept = [
        file
        for file in below
        if file.is_file()
        and not any(part.startswith(_SKIPPED) for part in file.relative_to(folder).parts)
    ]
    return [str(file) for file in kept]


def found_files(names: Iterable[str]) -> list[str]:
    """All files that some names stand for, each once.

    Raises:
        InputError: There is none for a name, or the same file for several: its records would be
            counted twice.
    """
    found: list[str] = []
    for name in names:
        files = matching_files(name)
        if not files:
            raise InputError("the file cannot be read: no such file", path=name)
        found += files
    refuse_same_files(found)
    return found


def refuse_same_files(files: Iterable[str]) -> None:
    """Refuse files that are read twice, also through links."""
    seen: set[object] = set()
    twice: list[str] = []
    for file in files:
        identity = _identity(file)
        if identity in seen:
            twice.append(file)
        seen.add(identity)
    if twice:
        raise InputError(
            f"records would be counted twice: {first_few(twice)} is named more than once, or is a "
            "link to another of the files; name each file once",
            key=("source",),
        )


def _identity(file: str) -> object:
    if is_remote(file):
        return file
    try:
        known = os.stat(file)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(f"the file cannot be read: {reason}", path=file) from None
    return known.st_dev, known.st_ino


def for_duckdb(file: str) -> str:
    """A name that DuckDB takes for this file and no other.

    >>> for_duckdb("firms[1].csv"), for_duckdb("s3://bucket/*.csv")
    ('firms[[]1].csv', 's3://bucket/*.csv')
    """
    if is_remote(file):
        return file
    refuse_undecodable(file)
    if os.sep == "/" and "\\" in file and _DUCKDB_MAGIC.search(file):
        raise InputError(
            "DuckDB cannot read a file whose name has both a backslash and one of * ? [; rename it",
            path=file,
        )
    # A tilde at the beginning would be the home of the user.
    literal = f"./{file}" if file.startswith("~") else file
    return _DUCKDB_MAGIC.sub(lambda mark: f"[{mark[0]}]", literal)


def for_spark(file: str) -> str:
    r"""A name that Spark takes for this file and no other.

    >>> print(for_spark("firms[1].csv"))
    firms\[1\].csv
    """
    if is_remote(file):
        return file
    refuse_undecodable(file)
    return _HADOOP_MAGIC.sub(lambda mark: f"\\{mark[0]}", file)


def refuse_undecodable(file: str) -> None:
    """Refuse names that are not text: no library that reads files takes them."""
    try:
        file.encode()
    except UnicodeEncodeError:
        raise InputError(
            "the name of the file is not text in UTF-8; rename it", path=file
        ) from None
