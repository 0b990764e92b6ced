"""What `<WRITETABLE>` asks for: the six formats of tau-ARGUS with their options.

    1  CSV, a table with rows and columns         csv_tables.py
    2  CSV, a list for pivot tables               csv_tables.py
    3  code-value                                 code_value.py
    4  structural business statistics             sbs.py
    5  intermediate: .tab, .rda and .hrc          intermediate.py
    6  JJ, with frequencies in .frq               jj_files.py

Formats 1 to 3 are made of what readers may see, unless options ask for more (AS+, AO+, AD+).
Formats 4 to 6, and all with these options, are confidential: new files can be read by their
owner alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from tacit.errors import InputError
from tacit.io.argus.code_value import write_code_value
from tacit.io.argus.csv_tables import write_csv_table, write_pivot
from tacit.io.argus.intermediate import write_intermediate
from tacit.io.argus.jj_files import write_jj_files
from tacit.io.argus.sbs import write_sbs
from tacit.io.argus.sheet import Described, Sheet
from tacit.outcome import Intervals, Values
from tacit.release.release import Release

FORMATS = {
    1: "CSV",
    2: "CSV for pivot tables",
    3: "code-value",
    4: "SBS",
    5: "intermediate",
    6: "JJ",
}
"""What the formats are called."""

_LETTERS = {
    "AS": "status",
    "AR": "audit",
    "FL": "first_line",
    "HI": "hierarchy",
    "HL": "levels",
    "QU": "quotes",
    "SE": "without_empty",
    "SO": "status_only",
    "TR": "without_trivial",
    "AO": "original",
    "AD": "difference",
    "AC": "cell_key",
}

_USED = {
    1: ("AS", "FL", "HI", "QU", "SE", "AO", "AD"),
    2: ("AS", "FL", "HI", "QU", "SE", "AO", "AD"),
    3: ("AS", "FL", "QU", "SE", "AO", "AD"),
    4: ("AS", "FL", "HL", "QU", "SE"),
    5: ("AR", "QU", "SE", "SO"),
    6: ("SE", "TR"),
}
"""The options that make a difference in each format."""

_WHY_NOT = {
    "AS": "true values and statuses are there anyway",
    "AR": "it has no columns for what an audit finds; write format 5",
    "FL": "its columns have no names in the file; the metadata beside it name them",
    "HI": "indented codes could not be read again; formats 1 and 2 show the hierarchy",
    "HL": "it has no columns for levels; write format 4",
    "QU": "it has no codes",
    "SO": "it has no columns to leave out; they are in format 5",
    "TR": "it has a line for every code; write format 6",
    "AO": "true values are in formats 1, 2 and 3, beside those that were changed",
    "AD": "differences are in formats 1, 2 and 3, beside values that were changed",
    "AC": "cell keys belong to the cell key method, which did not make this table",
}

_WHY_NOT_CHANGED = {
    "AR": "an audit of values that were changed finds no ends of intervals",
    "AS": "values were changed, and are written as they are published; true ones are in format 3",
}
"""The same where values were changed, by rounding or adjustment."""

_OPTION = re.compile(r"([A-Za-z]{2})([+-])")
_NUMBERS = {
    "0": {},
    "1": {"status": True},
    "2": {"without_empty": True},
    "3": {"status": True, "without_empty": True},
}


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    """The options of `<WRITETABLE>`: two letters and a sign each, such as `AS+SE-`.

    An option that is not given is None, and the format decides.

    Attributes:
        status: AS, add statuses: the true value of every cell, and its status by number.
        audit: AR, add what an audit finds for each cell: both ends of what a reader can deduce,
            whether they are exact, and how wide that is in percent of the value.
        first_line: FL, names of the variables on the first line; in format 2 unless FL-.
        hierarchy: HI, show the hierarchy: codes are indented by two blanks for each level.
        levels: HL, add the level of each code in its hierarchy, 0 for the total.
        quotes: QU, codes in quotes; in formats 1 to 3 unless QU-. Codes that would not be
            understood without quotes always get them.
        without_empty: SE, leave out empty cells.
        status_only: SO, only the status, without shadow and largest contributions.
        without_trivial: TR, leave out trivial levels: codes that are alone below another one.
        original: AO, add the true value where values were changed.
        difference: AD, add how far the changed value is from the true one.
        cell_key: AC, add the cell key; nothing that tacit writes has one.
    """

    status: bool | None = None
    audit: bool | None = None
    first_line: bool | None = None
    hierarchy: bool | None = None
    levels: bool | None = None
    quotes: bool | None = None
    without_empty: bool | None = None
    status_only: bool | None = None
    without_trivial: bool | None = None
    original: bool | None = None
    difference: bool | None = None
    cell_key: bool | None = None

    @classmethod
    def parsed(cls, text: str) -> WriteOptions:
        """Options from the text of a batch file.

        Args:
            text: Letters with signs (`AS+SE-FL+`), of which the last one of a kind holds; or one
                number of older batch files: 0 none, 1 AS+, 2 SE+, 3 both; or nothing.

        Raises:
            InputError: There is no such option.

        >>> WriteOptions.parsed("AS+FL-") == WriteOptions(status=True, first_line=False)
        True
        >>> WriteOptions.parsed("1") == WriteOptions.parsed("as+")
        True
        """
        given = text.strip().strip('"').strip()
        if given.isdigit():
            if given not in _NUMBERS:
                raise InputError(
                    f"there is no option {given} of WRITETABLE; numbers are 0 (none), 1 (AS+), "
                    "2 (SE+) and 3 (both)"
                )
            return cls(**_NUMBERS[given])
        chosen: dict[str, bool] = {}
        rest = re.sub(r"\s+", "", given)
        while rest:
            found = _OPTION.match(rest)
            if found is None or found[1].upper() not in _LETTERS:
                raise InputError(
                    f"there is no option {rest[:3]!r} of WRITETABLE; options are two letters and a "
                    f"sign, such as AS+ or AS-, from {', '.join(_LETTERS)}"
                )
            chosen[_LETTERS[found[1].upper()]] = found[2] == "+"
            rest = rest[found.end() :]
        return cls(**chosen)

    def __str__(self) -> str:
        """The options that are given, as letters with signs."""
        given = ((letters, getattr(self, name)) for letters, name in _LETTERS.items())
        return "".join(f"{letters}{'-+'[on]}" for letters, on in given if on is not None)

    def confidential(self, format: int) -> bool:
        """Whether a file of this format holds what readers must not know."""
        return format >= 4 or bool(self.status or self.original or self.difference)

    def without_effect(self, format: int, *, changed: bool) -> list[str]:
        """Which options that are asked for make no difference, and why; one sentence each.

        Args:
            format: The number of the format.
            changed: Whether values were changed, by rounding or adjustment.
        """
        asked = [letters for letters, name in _LETTERS.items() if getattr(self, name)]
        said = []
        for letters in asked:
            why = None if letters in _USED[format] else _WHY_NOT.get(letters)
            if why is None and letters in ("AO", "AD") and not changed:
                why = "values are published as they are"
            if why is None and changed and letters in ("AR", "AS") and format >= 4:
                why = _WHY_NOT_CHANGED[letters]
            if why is not None:
                said.append(
                    f"{letters}+ has no effect in format {format} ({FORMATS[format]}): {why}"
                )
        return said


assert {field.name for field in fields(WriteOptions)} == set(_LETTERS.values())


def write_argus(
    release: Release,
    path: str | Path,
    format: int,
    options: WriteOptions | str = "",
    *,
    frequency: bool = False,
    described: Described | None = None,
    table: int | None = None,
    say: Callable[[str], object] | None = None,
) -> list[Path]:
    """Write a table as tau-ARGUS would.

    Args:
        release: The table, protected.
        path: Where to write; formats 5 and 6 write further files of that name beside it.
        format: 1 to 6, see `FORMATS`.
        options: The options of `<WRITETABLE>`, or their letters (see `WriteOptions.parsed`).
        frequency: Whether values are frequencies.
        described: What the metadata say: the name of the response, decimals, widths of codes.
        table: Which one of several linked tables, counted from 0.
        say: Is told which options make no difference, and why; a log book's `line`, for instance.

    Returns:
        The files. Each appears complete or not at all.

    Raises:
        InputError: There is no such format or table, or a file cannot be written.
    """
    if format not in FORMATS:
        known = ", ".join(f"{number} {name}" for number, name in FORMATS.items())
        why = " (7 is for the cell key method, which tacit does not have)" if format == 7 else ""
        raise InputError(f"there is no output format {format}{why}; formats are {known}")
    if isinstance(options, str):
        options = WriteOptions.parsed(options)
    solution = release.papers.outcome.solution
    if isinstance(solution, Intervals):
        raise InputError(
            "formats of tau-ARGUS have no place for intervals; write CSV, Excel or HTML "
            "(published.to_csv and so on)",
            path=path,
        )
    changed = isinstance(solution, Values)
    for sentence in options.without_effect(format, changed=changed):
        if say is not None:
            say(sentence)
    described = described or Described()
    # A table with rows and columns leaves out whole rows and columns, when it is written.
    without_empty = bool(options.without_empty) and format != 1
    sheet = Sheet.of(
        release.published,
        described,
        table=table,
        frequency=frequency,
        without_empty=without_empty,
    )
    path = Path(path)
    papers = release.papers
    if format <= 3:
        shown = papers if options.confidential(format) else None
        write = {1: write_csv_table, 2: write_pivot, 3: write_code_value}[format]
        return write(sheet, path, options, described, shown)
    if format == 4:
        return write_sbs(sheet, path, options, described, papers, frequency=frequency)
    if format == 5:
        return write_intermediate(sheet, path, options, described, papers, frequency=frequency)
    return write_jj_files(sheet, path, options, papers, frequency=frequency)
