"""Files for structural business statistics (format 4): value, frequency and flag of each cell.

    01,1,RegA,1,2541.00,17,V,,
    01,1,RegB,1,x,2,F,61.20,38.80

The flag says why a cell is not published: A too few contributors; B (first) dominance rule,
request, zero or by hand; C second dominance rule; F p% rule; D to protect others. V is
published, `-` empty. Of cells under a dominance or p% rule follow the shares of the largest and
the second largest contribution in percent, where the table knows them; of holdings, where the
rule is for holdings. That makes every such
file confidential, even where values of suppressed cells are left out (without AS+).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacit.io.argus.code_value import true_digits
from tacit.io.argus.sheet import EMPTY, Described, Sheet, quoted, write_lines
from tacit.io.argus.statuses import Cause, causes, flags, statuses
from tacit.outcome import Values
from tacit.problem import Booleans, Floats
from tacit.release.marks import number_texts
from tacit.release.release import WorkingPapers
from tacit.table import Table

if TYPE_CHECKING:
    from tacit.io.argus.written import WriteOptions

_SHARE_DIGITS = 2
_CONCENTRATED = (Cause.DOMINANCE, Cause.SECOND_DOMINANCE, Cause.P_PERCENT)


def write_sbs(
    sheet: Sheet,
    path: Path,
    options: WriteOptions,
    described: Described,
    papers: WorkingPapers,
    *,
    frequency: bool,
) -> list[Path]:
    """Write a file for structural business statistics; it is confidential.

    Args:
        sheet: The lines.
        path: Where to write.
        options: AS+ writes the true values of suppressed cells, HL+ the level of each code after
            it (0 for the total), QU+ quotes around codes, FL+ names on the first line.
        described: What the metadata say.
        papers: The confidential working papers.
        frequency: Whether values are frequencies.
    """
    always = bool(options.quotes)
    columns: dict[str, list[str]] = {}
    for name, codes in sheet.codes.items():
        columns[name] = quoted(codes.tolist(), ",", always=always)
        if options.levels:
            columns[f"{name}_level"] = [str(level) for level in sheet.level(name).tolist()]
    columns[described.response] = _values(sheet, options, described, papers)
    why = causes(papers)
    columns["Freq"] = _frequencies(sheet, papers, frequency=frequency)
    columns["Flag"] = _of_lines(sheet, flags(statuses(papers, why), why).tolist(), EMPTY)
    columns |= _shares(sheet, papers, np.isin(why, _CONCENTRATED))

    def lines() -> Iterator[str]:
        if options.first_line:
            yield ",".join(quoted(columns, ",", always=always))
        yield from map(",".join, zip(*columns.values(), strict=True))

    write_lines(path, lines(), confidential=True)
    return [path]


def _values(
    sheet: Sheet, options: WriteOptions, described: Described, papers: WorkingPapers
) -> list[str]:
    if not options.status or isinstance(papers.outcome.solution, Values):
        return sheet.values()
    true = papers.problem.value
    texts = np.array(sheet.numbers(true, true_digits(sheet, described, true)), object)
    texts[sheet.empty] = EMPTY
    return list(texts.tolist())


def _frequencies(sheet: Sheet, papers: WorkingPapers, *, frequency: bool) -> list[str]:
    """The number of contributors of each line; nothing where the table does not know it."""
    counts = papers.problem.value if frequency else None
    if counts is None and papers.table is not None:
        counts = papers.table.count
    if counts is None:
        return [""] * len(sheet)
    return sheet.numbers(np.nan_to_num(counts), None)


def _shares(sheet: Sheet, papers: WorkingPapers, concentrated: Booleans) -> dict[str, list[str]]:
    """The shares of the two largest contributions; no columns where they are not known."""
    table = papers.table
    top = None if table is None else _largest(table)
    if table is None or top is None:
        return {}
    total = np.abs(table.value if table.shadow is None else table.shadow)
    found: dict[str, list[str]] = {}
    for name, place in (("Dominance", 0), ("Second", 1)):
        if place >= top.shape[1]:
            break
        share = np.zeros(len(total))
        np.divide(100 * np.abs(top[:, place]), total, out=share, where=total > 0)
        told = concentrated & (total > 0) & np.isfinite(share)
        texts = number_texts(np.where(told, share, 0.0), _SHARE_DIGITS)
        shown = [text if tell else "" for text, tell in zip(texts, told.tolist(), strict=True)]
        found[name] = _of_lines(sheet, shown, "")
    return found


def _largest(table: Table) -> Floats | None:
    """The two largest contributions of each cell: of holdings, where only rules for them struck."""
    if table.top is None or table.holding_top is None:
        found = table.holding_top if table.top is None else table.top
        return None if found is None else found[:, :2]
    struck = {False: np.zeros(table.cell_count, bool), True: np.zeros(table.cell_count, bool)}
    for verdict in table.verdicts:
        struck[bool(getattr(verdict.rule, "holding", False))][verdict.cells] = True
    held = struck[True] & ~struck[False]
    width = min(2, table.top.shape[1], table.holding_top.shape[1])
    return np.where(held[:, None], table.holding_top[:, :width], table.top[:, :width])


def _of_lines(sheet: Sheet, cells: list[str], absent: str) -> list[str]:
    """Texts of cells in the order of the lines."""
    every = np.array([*cells, absent], object)
    # The last one, number -1, is that of combinations that do not occur.
    return list(every[sheet.cell].tolist())
