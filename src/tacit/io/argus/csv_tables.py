"""CSV files: a table with rows and columns (format 1), and a list for pivot tables (format 2).

Format 1 has the first dimension in the rows and the second one in the columns. Of a table with
more, there is such a block for each combination of the other codes, below a line that names
them. Format 2 has a line for each cell, as in code-value files, below a line of names.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.io.argus.code_value import shown_columns, write_code_value
from tacit.io.argus.sheet import Described, Sheet, quoted, write_lines

if TYPE_CHECKING:
    from tacit.io.argus.written import WriteOptions
    from tacit.release.release import WorkingPapers

INDENT = "  "
"""What stands before a code for each level below the total, if that is asked for (HI+)."""

_Objects = npt.NDArray[np.object_]


def write_pivot(
    sheet: Sheet,
    path: Path,
    options: WriteOptions,
    described: Described,
    papers: WorkingPapers | None,
) -> list[Path]:
    """Write a list for pivot tables; arguments as of `write_code_value`."""
    indented = replace(sheet, codes=_codes(sheet, options))
    return write_code_value(indented, path, options, described, papers, first_line=True)


def write_csv_table(
    sheet: Sheet,
    path: Path,
    options: WriteOptions,
    described: Described,
    papers: WorkingPapers | None,
) -> list[Path]:
    """Write a table with rows and columns; arguments as of `write_code_value`.

    The sheet has a line for every combination. Rows, columns and blocks in which all cells are
    empty are left out where empty cells are (SE+).
    """
    columns = shown_columns(sheet, options, described, papers)
    names = [*sheet.codes]
    shape = (len(sheet),) if sheet.grid is None else sheet.grid.shape
    if len(shape) == 1:
        # One column of values, which has no code.
        shape = (*shape, 1)
    codes = [
        column.reshape(shape)[
            tuple(slice(None) if place == d else 0 for place in range(len(shape)))
        ]
        for d, column in enumerate(_codes(sheet, options).values())
    ]
    filled = ~sheet.empty.reshape(shape) if options.without_empty else np.ones(shape, bool)
    cells = {name: np.array(texts, object).reshape(shape) for name, texts in columns.items()}
    always = options.quotes is not False
    rows = filled.any(axis=tuple(range(1, len(shape))))
    across = np.asarray(filled.any(axis=(0, *range(2, len(shape)))))
    header = _header(codes[1] if len(codes) > 1 else None, across, cells)

    def lines() -> Iterator[str]:
        if options.first_line:
            yield ",".join(quoted([*names, described.response], ",", always=always))
        others = [range(size) for size in shape[2:]]
        first = True
        for place in itertools.product(*others):
            there: Any = (slice(None), slice(None), *place)
            if not filled[there].any():
                continue
            if place:
                if not first:
                    yield ""
                fixed = [
                    text
                    for name, code, at in zip(names[2:], codes[2:], place, strict=True)
                    for text in (name, code[at])
                ]
                yield ",".join(quoted(fixed, ",", always=always))
            first = False
            yield ",".join(quoted(["", *header], ",", always=always))
            block = [each[there] for each in cells.values()]
            heads = quoted(codes[0].tolist(), ",", always=always)
            for row in np.flatnonzero(rows).tolist():
                beside = np.stack([each[row, across] for each in block], axis=1)
                yield ",".join([heads[row], *beside.ravel().tolist()])

    write_lines(path, lines(), confidential=papers is not None)
    return [path]


def _header(
    codes: _Objects | None, across: npt.NDArray[np.bool_], cells: Mapping[str, _Objects]
) -> list[str]:
    """The codes of the columns, each followed by it and the name of what is added."""
    response, *added = cells
    if codes is None:
        return [response, *added]
    return [
        text
        for code in codes[across].tolist()
        for text in (code, *(f"{code} {name}" for name in added))
    ]


def _codes(sheet: Sheet, options: WriteOptions) -> dict[str, _Objects]:
    """The codes of each line, indented by their level where the hierarchy is to be seen."""
    if not options.hierarchy:
        return dict(sheet.codes)
    return {
        name: np.array([INDENT * level for level in sheet.level(name).tolist()], object) + column
        for name, column in sheet.codes.items()
    }
