"""Labels of codes in files: columns of a CSV, Excel or Parquet file, or a tau-ARGUS code list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tacit.errors import HierarchyError, InputError, name_columns
from tacit.hierarchy import label_texts
from tacit.io.argus.codelists import read_codelist
from tacit.io.cells import read_columns

_CODELIST = ".cdl"


def read_labels(
    path: str | Path, note: Callable[[str], object] | None = None, **how: Any
) -> dict[str, str]:
    """The label of each code that has one.

    Args:
        path: A CSV, Excel or Parquet file with columns `code` and `label`, or with two columns in
            this order whatever they are called; or a code list of tau-ARGUS (`.cdl`).
        note: Is told what was guessed about how the file is written.
        **how: How it is written, see `read_columns`.

    Raises:
        InputError: The columns cannot be told, or a code has two labels.
    """
    path = Path(path)
    if path.suffix.lower() == _CODELIST:
        return {code: label for code, label in read_codelist(path).items() if label}
    columns = read_columns(path, note=note, **how)
    names = ["code", "label"]
    if not columns.keys() >= {*names} and len(columns) == 2:
        names = [*columns]
    absent = [name for name in names if name not in columns]
    if absent:
        raise InputError(
            f"there is no column {absent[0]!r}; labels need columns code and label, and "
            f"{name_columns(columns)}",
            path=path,
        )
    code, label = (columns[name] for name in names)
    try:
        return label_texts(zip(code, label, strict=True))
    except HierarchyError as error:
        raise InputError(str(error), path=path) from None
