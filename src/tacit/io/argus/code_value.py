"""Code-value files (format 3): one line per cell with its codes, its value and its status.

    "Total","Nr",4373664.00,1
    " 2","Nr",x

Values that are not published are `x`, those of empty cells `-`. With statuses (AS+) the file is
confidential: it holds the true values of all cells and tells which ones are unsafe.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacit.io.argus.sheet import EMPTY, Described, Sheet, quoted, write_lines
from tacit.io.argus.statuses import ArgusStatus, statuses
from tacit.outcome import Values
from tacit.problem import Floats
from tacit.release.marks import decimals

if TYPE_CHECKING:
    from tacit.io.argus.written import WriteOptions
    from tacit.release.release import WorkingPapers

STATUS = "Status"
"""What the column of the statuses is called."""


def write_code_value(
    sheet: Sheet,
    path: Path,
    options: WriteOptions,
    described: Described,
    papers: WorkingPapers | None,
    *,
    first_line: bool = False,
) -> list[Path]:
    """Write a code-value file.

    Args:
        sheet: The lines.
        path: Where to write.
        options: QU- leaves out the quotes around codes, FL+ puts names on the first line; AS+,
            AO+ and AD+ add columns, see `shown_columns`.
        described: What the metadata say.
        papers: The confidential working papers, where the options need them.
        first_line: Whether names are on the first line unless options say otherwise.
    """
    columns = shown_columns(sheet, options, described, papers)
    always = options.quotes is not False
    codes = [quoted(column.tolist(), ",", always=always) for column in sheet.codes.values()]

    def lines() -> Iterator[str]:
        if first_line if options.first_line is None else options.first_line:
            yield ",".join(quoted([*sheet.codes, *columns], ",", always=always))
        yield from map(",".join, zip(*codes, *columns.values(), strict=True))

    write_lines(path, lines(), confidential=papers is not None)
    return [path]


def shown_columns(
    sheet: Sheet, options: WriteOptions, described: Described, papers: WorkingPapers | None
) -> dict[str, list[str]]:
    """The columns of values and what is added to them, by name.

    Of cells that are suppressed, readers see `x`; with statuses (AS+) the true value stands
    there. Where values were changed, the changed value comes first and the true one after it
    (AS+ or AO+), then the difference of the two (AD+). The status comes last.

    Args:
        sheet: The lines.
        options: Which columns.
        described: What the metadata say.
        papers: The confidential working papers, where the options need them.
    """
    response = described.response
    if papers is None:
        return {response: sheet.values()}
    true = papers.problem.value
    solution = papers.outcome.solution
    digits = true_digits(sheet, described, true)
    columns: dict[str, list[str]] = {}
    if isinstance(solution, Values):
        columns[response] = sheet.values()
        if options.status or options.original:
            columns[f"{response}_original"] = _texts(sheet, true, digits)
        if options.difference:
            columns[f"{response}_difference"] = _texts(sheet, solution.value - true, digits)
    else:
        columns[response] = _texts(sheet, true, digits) if options.status else sheet.values()
    if options.status:
        columns[STATUS] = status_texts(sheet, papers)
    return columns


def true_digits(sheet: Sheet, described: Described, true: Floats) -> int | None:
    """How many decimals true values are written with; None for as many as they need."""
    if described.decimals is not None:
        return described.decimals
    return decimals(sheet.published.replace(value=true, lower=None, upper=None))


def status_texts(sheet: Sheet, papers: WorkingPapers) -> list[str]:
    """The status of each line as its number."""
    found = np.append(statuses(papers), int(ArgusStatus.EMPTY))
    # The last one, number -1, is that of combinations that do not occur.
    return [str(number) for number in found[sheet.cell].tolist()]


def _texts(sheet: Sheet, column: Floats, digits: int | None) -> list[str]:
    texts = np.array(sheet.numbers(column, digits), object)
    texts[sheet.empty] = EMPTY
    return list(texts.tolist())
