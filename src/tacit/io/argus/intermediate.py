"""Intermediate files (format 5): a table file with metadata and hierarchies, to be read again.

The table file has a line for each cell, with a semicolon and a blank between the entries:

    codes; value; frequency; shadow; cost; largest contributions; status; lower and upper level

Beside it are its metadata (`.rda`) and the hierarchy of each dimension that has more than one
level (`.hrc`). Statuses are S safe, U unsafe, P to be published, M secondary and E empty. Values
are the true ones, also where others were published in their place: all of it is confidential.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tacit.attack.audit import audit
from tacit.errors import InputError
from tacit.hierarchy import Hierarchy
from tacit.io.argus.code_value import true_digits
from tacit.io.argus.sheet import Described, Sheet, quoted, write_lines
from tacit.io.argus.statuses import letters, statuses
from tacit.outcome import Values
from tacit.problem import Floats
from tacit.release.marks import MOST_DECIMALS, number_texts, plain_number
from tacit.release.release import WorkingPapers
from tacit.tolerances import LAST_DIGITS

if TYPE_CHECKING:
    from tacit.io.argus.written import WriteOptions

SEPARATOR = ";"
_BETWEEN = f"{SEPARATOR} "
_LEADS = "@#~^%&$"
"""What may stand for a level in a hierarchy file: no code must begin with it."""


class _Column(NamedTuple):
    """A column of the table file: its name, its entries, and what metadata say of it."""

    name: str
    texts: list[str]
    keys: tuple[str, ...]


def write_intermediate(
    sheet: Sheet,
    path: Path,
    options: WriteOptions,
    described: Described,
    papers: WorkingPapers,
    *,
    frequency: bool,
) -> list[Path]:
    """Write a table file, its metadata and its hierarchies; all are confidential.

    Args:
        sheet: The lines.
        path: The table file; the others get its name with other endings.
        options: SO+ leaves out shadow and largest contributions, AR+ adds what an audit finds,
            QU+ puts codes in quotes, SE+ leaves out empty cells.
        described: What the metadata say.
        papers: The confidential working papers.
        frequency: Whether values are frequencies: there is no column for them then.

    Returns:
        The table file, the metadata and the hierarchies.

    Raises:
        InputError: The publication has no dimensions, or a file would have the name of another.
    """
    if sheet.grid is None:
        raise InputError(
            "format 5 writes codes and hierarchies, which this input does not have (a JJ file or "
            "a problem); write format 6",
            path=path,
        )
    rda = path.with_suffix(".rda")
    dimensions = sheet.grid.dimensions
    files = {
        name: path.with_name(f"{path.stem}_{_file_part(name)}.hrc")
        for name, hierarchy in dimensions.items()
        if hierarchy.depth > 1
    }
    written = [path, rda, *files.values()]
    names = [file.name.lower() for file in written]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(
            f"format 5 writes several files, and two of them would be called {twice[0]}; write the "
            "table to a name in .tab, and name dimensions differently",
            path=path,
        )
    columns = _columns(sheet, options, described, papers, frequency=frequency)
    codes = _code_columns(sheet, options)
    leads = {name: _lead(dimensions[name]) for name in files}
    for name, file in files.items():
        lines = _hierarchy_lines(dimensions[name], leads[name], described.widths.get(name, 0))
        write_lines(file, lines, confidential=True)
    lines = _metadata(dimensions, files, leads, columns, described.widths)
    write_lines(rda, lines, confidential=True)
    entries = [*codes.values(), *(column.texts for column in columns)]
    write_lines(path, map(_BETWEEN.join, zip(*entries, strict=True)), confidential=True)
    return written


def _code_columns(sheet: Sheet, options: WriteOptions) -> dict[str, list[str]]:
    """Codes; in quotes wherever blanks around them would be taken for the separator's."""
    found = {}
    for name, column in sheet.codes.items():
        texts = column.tolist()
        blanks = any(text != text.strip() for text in set(texts))
        found[name] = quoted(texts, SEPARATOR, always=bool(options.quotes) or blanks)
    return found


def _columns(
    sheet: Sheet,
    options: WriteOptions,
    described: Described,
    papers: WorkingPapers,
    *,
    frequency: bool,
) -> list[_Column]:
    """All columns but the codes, in the order of the file, each with its own name."""
    problem, table = papers.problem, papers.table
    response, numeric = described.response, "<NUMERIC>"
    digits = true_digits(sheet, described, problem.value)
    value = _exact(sheet, problem.value, digits)
    found = [_Column(response, value, (numeric, f"<DECIMALS> {digits or 0}"))]
    if not frequency and table is not None and table.count is not None:
        count = _exact(sheet, np.nan_to_num(table.count), 0)
        found.append(_Column("Freq", count, ("<FREQUENCY>",)))
    tops: list[_Column] = []
    if not frequency and not options.status_only and table is not None:
        # Rules judge the value itself where there is no other shadow.
        shadow = value if table.shadow is None else _exact(sheet, table.shadow, digits)
        found.append(_Column(f"{response}_Shadow", shadow, (f"{numeric} <SHADOW>",)))
        if table.top is not None:
            tops = [
                _Column(f"Top{rank}", _exact(sheet, np.nan_to_num(top), digits), ("<MAXSCORE>",))
                for rank, top in enumerate(table.top.T, 1)
            ]
    # Empty cells cost nothing, whether they occur in the table or not.
    empty = sheet.published.empty
    weight = problem.weight if empty is None else np.where(empty, 0.0, problem.weight)
    cost = _exact(sheet, weight, digits)
    found += [_Column(f"{response}_Cost", cost, (f"{numeric} <COST>",)), *tops]
    # The last one, number -1, is that of combinations that do not occur.
    status = np.append(letters(statuses(papers)), "E")[sheet.cell].tolist()
    found.append(_Column("Status", status, ("<STATUS>",)))
    for name, level, key in (
        ("LowerLevel", problem.lower_level, "<LOWERPL>"),
        ("UpperLevel", problem.upper_level, "<UPPERPL>"),
    ):
        every = np.zeros(problem.cell_count)
        every[problem.sensitive] = level
        found.append(_Column(name, _exact(sheet, every, digits), (f"{numeric} {key}",)))
    if options.audit and not isinstance(papers.outcome.solution, Values):
        found += _audited(sheet, papers, digits)
    return _named_apart(found, sheet)


def _named_apart(columns: list[_Column], sheet: Sheet) -> list[_Column]:
    """The columns with names that neither dimensions nor other columns have."""
    taken = {name.lower() for name in sheet.codes}
    found = []
    for column in columns:
        name = column.name
        while name.lower() in taken:
            name += "_"
        taken.add(name.lower())
        found.append(column._replace(name=name))
    return found


def _audited(sheet: Sheet, papers: WorkingPapers, digits: int | None) -> Iterator[_Column]:
    """What a reader can deduce: both ends, whether they are exact, and how wide in percent.

    Of published values both ends are the value. An end that nothing limits is left blank.
    """
    problem = papers.problem
    found = audit(problem, papers.outcome, cells="suppressed", insiders=False).findings[0]
    lower, upper = problem.value.copy(), problem.value.copy()
    vague = np.zeros(problem.cell_count)
    lower[found.cells], upper[found.cells] = found.lower, found.upper
    vague[found.cells] = ~found.exact
    width = np.zeros(problem.cell_count)
    size = np.abs(problem.value)
    np.divide(100 * (upper - lower), size, out=width, where=size > 0)
    for name, numbers, places in (
        ("RealizedLower", sheet.of_cells(lower), digits),
        ("RealizedUpper", sheet.of_cells(upper), digits),
        ("Exact", 1 - sheet.of_cells(vague), 0),
        ("WidthPercent", sheet.of_cells(width), 2),
    ):
        limited = np.isfinite(numbers)
        texts = number_texts(np.where(limited, numbers, 0.0), places)
        shown = [text if known else "" for text, known in zip(texts, limited.tolist(), strict=True)]
        yield _Column(name, shown, ("<NUMERIC>",))


def _exact(sheet: Sheet, column: Floats, digits: int | None) -> list[str]:
    """Numbers with this many decimals if that changes none of them, else with all they have.

    A level of 0.3 that became 0 would protect nothing when the file is read again.
    """
    column = sheet.of_cells(column)
    for places in range(digits or 0, MOST_DECIMALS + 1):
        rounded = np.round(column, places)
        if np.allclose(rounded, column, rtol=LAST_DIGITS, atol=LAST_DIGITS):
            return number_texts(column, places)
    return list(map(plain_number, column.tolist()))


def _metadata(
    dimensions: Mapping[str, Hierarchy],
    files: Mapping[str, Path],
    leads: Mapping[str, str],
    columns: list[_Column],
    widths: Mapping[str, int],
) -> Iterator[str]:
    yield f'<SEPARATOR> "{SEPARATOR}"'
    yield "<SAFE> S"
    yield "<UNSAFE> U"
    yield "<PROTECT> P"
    for name, hierarchy in dimensions.items():
        yield _name(name)
        yield "  <RECODEABLE>"
        total = hierarchy.total.rjust(widths.get(name, 0))
        yield f'  <TOTCODE> "{total}"'
        if name in files:
            yield "  <HIERARCHICAL>"
            yield f'  <HIERCODELIST> "{files[name].name}"'
            yield f'  <HIERLEADSTRING> "{leads[name]}"'
    for column in columns:
        yield _name(column.name)
        for key in column.keys:
            yield f"  {key}"


def _name(name: str) -> str:
    """The name of a variable; in quotes where it has blanks."""
    return f'"{name}"' if re.search(r"\s", name) or name.startswith("<") else name


def _lead(hierarchy: Hierarchy) -> str:
    first = {code[0] for code in hierarchy.codes}
    for sign in _LEADS:
        if sign not in first:
            return sign
    raise InputError(
        f"codes begin with each of {' '.join(_LEADS)}, one of which must stand for a level in a "
        "hierarchy file; rename codes"
    )


def _hierarchy_lines(hierarchy: Hierarchy, lead: str, width: int) -> Iterator[str]:
    """The codes below the total, each after as many lead strings as it lies below the first."""
    for code, level in zip(hierarchy.codes[1:], hierarchy.level[1:].tolist(), strict=True):
        yield f"{lead * (level - 1)}{code.rjust(width)}"


def _file_part(name: str) -> str:
    """The name of a dimension as part of the name of a file."""
    return re.sub(r"[^\w-]+", "_", name)
