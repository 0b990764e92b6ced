"""Dimensions of a job: hierarchies written out, in files, or in the codes themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import HierarchyError, InputError, TacitError
from tacit.hierarchy import DEFAULT_TOTAL, Hierarchy
from tacit.io.cells import read_columns
from tacit.io.files import read_text
from tacit.jobs.sections import Section

_KEYS = ("codes", "file", "child", "parent", "levels", "indent", "lengths", "total")
_ABOUT_FILES = ("child", "parent", "levels", "indent")
_ALTERNATIVES = (
    ("codes", "file"),
    ("child", "levels"),
    ("parent", "levels"),
    ("levels", "lengths"),
    ("parent", "lengths"),
)
_HRC = ".hrc"


@dataclass(frozen=True, eq=False)
class Dimension:
    """A dimension of a table.

    Attributes:
        section: Where it stands in the job.
        hierarchy: Its hierarchy, if the job says it all.
        lengths: Otherwise, for codes whose beginnings are codes too, the lengths of each level.
        total: The code of the total.
    """

    section: Section
    hierarchy: Hierarchy | None
    lengths: tuple[int, ...] | None = None
    total: str = DEFAULT_TOTAL

    def resolved(self, occurring: Callable[[], Iterable[object]]) -> Hierarchy | None:
        """The hierarchy; None puts the codes that occur below one total.

        Args:
            occurring: The codes that occur, asked for only where they are needed.
        """
        if self.lengths is None:
            return self.hierarchy
        try:
            return Hierarchy.from_prefixes(occurring(), self.lengths, self.total)
        except HierarchyError as error:
            raise self.section.fault(str(error), "lengths") from None


def read_dimension(section: Section) -> Dimension:
    """A dimension from its table in a job."""
    section.refuse_unknown(_KEYS)
    total = section.text("total") or DEFAULT_TOTAL
    lengths = _lengths(section)
    file = section.path("file")
    codes = section.get("codes", list, dict)
    _refuse_contradictions(section, codes)
    if file is None and codes is None:
        if lengths is None and "total" in section.given:
            raise section.fault("'total' needs 'codes', 'file' or 'lengths' beside it", "total")
        return Dimension(section, None, lengths, total)
    try:
        if codes is not None:
            found = _from_codes(codes, lengths, total)
        else:
            assert file is not None
            found = _from_file(section, file, lengths, total)
    except InputError:
        raise
    except TacitError as error:
        key = "codes" if file is None else "file"
        raise section.fault(str(error), key) from None
    return Dimension(section, found)


def _refuse_contradictions(section: Section, codes: Any) -> None:
    given = section.given
    for one, other in _ALTERNATIVES:
        if one in given and other in given:
            raise section.fault(f"give {one!r} or {other!r}, not both", other)
    for key in _ABOUT_FILES:
        if key in given and "file" not in given:
            raise section.fault(f"{key!r} needs a 'file', which is not given", key)
    if "lengths" in given and isinstance(codes, dict):
        raise section.fault("'lengths' are for a plain list of 'codes'", "lengths")
    is_hrc = str(given.get("file", "")).lower().endswith(_HRC)
    for key in ("child", "parent", "levels", "lengths") if is_hrc else ("indent",):
        if key in given:
            wrong = "a .hrc file has no columns" if is_hrc else "this is not a .hrc file"
            raise section.fault(f"{wrong}: leave out {key!r}", key)


def _lengths(section: Section) -> tuple[int, ...] | None:
    given = section.get("lengths", list)
    if given is None:
        return None
    if not given or not all(type(length) is int and length > 0 for length in given):
        raise section.fault("'lengths' must be whole numbers, such as [2, 3, 4]", "lengths")
    if sorted(set(given)) != given:
        raise section.fault("'lengths' must increase from level to level", "lengths")
    return tuple(given)


def _from_codes(codes: Any, lengths: tuple[int, ...] | None, total: str) -> Hierarchy:
    if lengths is not None:
        return Hierarchy.from_prefixes(codes, lengths, total)
    if isinstance(codes, dict):
        return Hierarchy.from_nested(codes, total)
    return Hierarchy.flat(codes, total)


def _from_file(
    section: Section, file: Path, lengths: tuple[int, ...] | None, total: str
) -> Hierarchy:
    if file.suffix.lower() == _HRC:
        return _from_hrc(file, section.text("indent") or "@", total)
    levels = section.texts("levels")
    read = read_columns(file)
    needed = levels or [section.text("child") or "child"]
    if levels is None and lengths is None:
        needed.append(section.text("parent") or "parent")
    for name in needed:
        if name not in read:
            known = ", ".join(read)
            raise InputError(f"there is no column {name!r}; the columns are {known}", path=file)
    try:
        if levels is not None:
            return Hierarchy.from_levels(read, levels, total)
        if lengths is not None:
            return Hierarchy.from_prefixes(read[needed[0]], lengths, total)
        child, parent = needed
        return Hierarchy.from_parents(read, child, parent, section.text("total"))
    except HierarchyError as error:
        raise InputError(str(error), path=file) from None


def _from_hrc(file: Path, indent: str, total: str) -> Hierarchy:
    """A file with one code per line, each level marked by one more mark in front of the code."""
    lines = read_text(file).split("\n")
    above = [total]
    parents: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        code = line.strip()
        depth = 0
        while code.startswith(indent):
            code = code[len(indent) :].lstrip()
            depth += 1
        if not code:
            if depth:
                raise InputError("there are marks but no code", path=file, line=number)
            continue
        if depth >= len(above):
            raise InputError(
                f"code {code} is more than one level below the line before",
                path=file,
                line=number,
            )
        if code in parents or code == total:
            raise InputError(f"code {code} is listed more than once", path=file, line=number)
        parents[code] = above[depth]
        above[depth + 1 :] = [code]
    if not parents:
        raise InputError("the file holds no codes", path=file)
    return Hierarchy.from_parents(parents, total=total)
