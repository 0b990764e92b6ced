"""CSV: one line per cell, numbers as numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np

from tacit.errors import InputError
from tacit.io.exports.formulas import neutralised
from tacit.io.files import replacing
from tacit.release.flags import Flags, PublishedStatus
from tacit.release.labels import Labels
from tacit.release.marks import Marks, mark_column, plain_number
from tacit.release.published import Published


def write_csv(
    published: Published,
    path: str | Path,
    *,
    value: str = "value",
    marks: Marks | None = None,
    flags: Flags = "status",
    formulas: Literal["neutralise", "keep"] = "neutralise",
    labels: Labels = "beside",
) -> None:
    """Write a CSV file, one line per cell; see `Published.to_csv`.

    Raises:
        InputError: The file cannot be written.
    """
    if formulas not in ("neutralise", "keep"):
        raise InputError(f"formulas is {formulas!r}; it can be neutralise or keep")
    plain: Callable[[str], str] = neutralised if formulas == "neutralise" else str
    columns = published.columns(value, flags, labels)
    texts: dict[str, list[str]] = {}
    for name, column in columns.items():
        if column.dtype.kind == "f":
            entries = column.tolist()
            texts[name] = ["" if entry != entry else plain_number(entry) for entry in entries]
        else:
            # Codes repeat, so each is looked at once.
            distinct, inverse = np.unique(column, return_inverse=True)
            looked_at = np.array([plain(code) for code in distinct.tolist()], dtype=object)
            texts[name] = looked_at[inverse].tolist()
    if marks is not None:
        place = published.value_column(value, labels)
        marked = mark_column(published, marks).tolist()
        for cell in np.flatnonzero(published.status == PublishedStatus.SUPPRESSED.value).tolist():
            texts[place][cell] = marked[cell]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(plain, texts))
    writer.writerows(zip(*texts.values(), strict=True))
    with replacing(path, confidential=False) as stream:
        stream.write(text.getvalue().encode())
