"""Labels of codes in files: a CSV or Parquet file with columns, or a code list of tau-ARGUS."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import HierarchyError, InputError, name_columns
from tacit.hierarchy import label_texts
from tacit.io.argus.codelists import read_codelist
from tacit.io.cells import read_columns

_CODELIST = ".cdl"


def read_labels(path: str | Path) -> dict[str, str]:
    """The label of each code that has one.

    Args:
        path: A CSV or Parquet file with columns `code` and `label`, or with two columns in this
            order whatever they are called; or a code list of tau-ARGUS (`.cdl`).

    Raises:
        InputError: The columns cannot be told, or a code has two labels.
    """
    path = Path(path)
    if path.suffix.lower() == _CODELIST:
        return {code: label for code, label in read_codelist(path).items() if label}
    columns = read_columns(path)
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
