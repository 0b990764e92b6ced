"""Dimensions of a job: hierarchies written out, in files, or in the codes themselves.

Labels of codes come from a file or a table of their own, or from columns of the hierarchy's file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.entries import tidy_code
from tacit.errors import HierarchyError, InputError, TacitError, first_few
from tacit.hierarchy import DEFAULT_TOTAL, Hierarchy, label_texts
from tacit.io.cells import read_columns
from tacit.io.hrc import read_hrc
from tacit.io.labels import read_labels
from tacit.jobs.sections import Section
from tacit.microdata.file_format import Reading

HOW_WRITTEN = ("encoding", "delimiter", "sheet")
"""How the files of a dimension are written."""

_KEYS = (
    "codes",
    "file",
    "child",
    "parent",
    "levels",
    "indent",
    "lengths",
    "total",
    "label",
    "labels",
    "unknown_labels",
    *HOW_WRITTEN,
)
_ABOUT_FILES = ("child", "parent", "levels", "indent", "label")
_ALTERNATIVES = (
    ("codes", "file"),
    ("child", "levels"),
    ("parent", "levels"),
    ("levels", "lengths"),
    ("parent", "lengths"),
)
_HRC = ".hrc"
_LABEL = "label"
"""The column of labels in the file of a hierarchy, where none is named."""


@dataclass(frozen=True, eq=False)
class Dimension:
    """A dimension of a table.

    Attributes:
        section: Where it stands in the job.
        hierarchy: Its hierarchy, if the job says it all.
        lengths: Otherwise, for codes whose beginnings are codes too, the lengths of each level.
        total: The code of the total.
        labels: The labels of its codes.
        notes: What was guessed about how its files are written.
    """

    section: Section
    hierarchy: Hierarchy | None
    lengths: tuple[int, ...] | None = None
    total: str = DEFAULT_TOTAL
    labels: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def files(self) -> list[Path]:
        """The files that it is read from."""
        named = [key for key in ("file", "labels") if isinstance(self.section.given.get(key), str)]
        return [self.section.file.parent / self.section.given[key] for key in named]

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

    def refuse_labels(self, known: Collection[str]) -> None:
        """Refuse labels of codes that there are not.

        Where the codes are those that occur, a list of labels may well have more; it is refused
        if it is about other codes altogether.

        Args:
            known: The codes that there are, those before and after recoding.
        """
        if not self.labels or self.section.given.get("unknown_labels") == "ignore":
            return
        unknown = [code for code in self.labels if code not in known]
        if not unknown or (self.hierarchy is None and len(unknown) < len(self.labels)):
            return
        message = (
            f"there are labels of {first_few(unknown)}, but no such codes; correct them, leave "
            'them out, or say unknown_labels = "ignore" in the job'
        )
        if isinstance(self.section.given["labels"], str):
            raise InputError(message, path=self.section.path("labels"))
        raise self.section.fault(message, "labels", unknown[0])


def read_dimension(section: Section) -> Dimension:
    """A dimension from its table in a job."""
    section.refuse_unknown(_KEYS)
    notes: list[str] = []
    how = _how_written(section)
    labels = _labels(section, how, notes)
    total = section.text("total") or DEFAULT_TOTAL
    lengths = _lengths(section)
    file = section.path("file")
    codes = section.get("codes", list, dict)
    _refuse_contradictions(section, codes)
    if file is None and codes is None:
        if lengths is None and "total" in section.given:
            raise section.fault("'total' needs 'codes', 'file' or 'lengths' beside it", "total")
        return Dimension(section, None, lengths, total, labels, tuple(notes))
    try:
        if codes is not None:
            found = _from_codes(_tidied(codes), lengths, total)
        else:
            assert file is not None
            found = _from_file(section, file, lengths, total, how, notes)
    except InputError:
        raise
    except TacitError as error:
        key = "codes" if file is None else "file"
        raise section.fault(str(error), key) from None
    labels = {**found.labels, **labels}
    return Dimension(section, found, labels=labels, notes=tuple(notes))


def _how_written(section: Section) -> dict[str, Any]:
    """How the files of a dimension are written, as far as the job says."""
    given = {key: section.text(key) for key in ("encoding", "delimiter")}
    how = {**given, "sheet": section.get("sheet", str, int)}
    how = {key: told for key, told in how.items() if told is not None}
    if how and not {"file", "labels"} & section.given.keys():
        key = next(iter(how))
        raise section.fault(f"{key!r} needs a 'file', which is not given", key)
    try:
        Reading(**how)
    except InputError as error:
        raise section.blame(error) from None
    return how


def _labels(section: Section, how: Mapping[str, Any], notes: list[str]) -> dict[str, str]:
    """The labels that are given apart from the hierarchy."""
    given = section.get("labels", str, dict)
    if section.one_of("unknown_labels", ("refuse", "ignore")) is not None and given is None:
        raise section.fault(
            "'unknown_labels' needs 'labels', which are not given", "unknown_labels"
        )
    if given is None:
        return {}
    if isinstance(given, str):
        file = section.path("labels")
        assert file is not None
        # A sheet is that of the hierarchy, if both are in workbooks.
        apart = {key: how[key] for key in how if key != "sheet" or "file" not in section.given}
        return read_labels(file, notes.append, **apart)
    for code, label in given.items():
        if not isinstance(label, str) or not label.strip():
            raise section.fault("a label must be a text", "labels", code)
    try:
        return label_texts(given.items())
    except HierarchyError as error:
        raise section.fault(str(error), "labels", *error.codes[:1]) from None


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
    for key in ("child", "parent", "levels", "lengths", "label") if is_hrc else ("indent",):
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


def _tidied(codes: Any) -> Any:
    """Codes of a job without blanks around them, as in data."""
    if isinstance(codes, dict):
        return {_tidied(code): _tidied(below) for code, below in codes.items()}
    if isinstance(codes, list):
        return [_tidied(code) for code in codes]
    return tidy_code(codes) if isinstance(codes, str) else codes


def _from_codes(codes: Any, lengths: tuple[int, ...] | None, total: str) -> Hierarchy:
    if lengths is not None:
        return Hierarchy.from_prefixes(codes, lengths, total)
    if isinstance(codes, dict):
        return Hierarchy.from_nested(codes, total)
    return Hierarchy.flat(codes, total)


def _from_file(
    section: Section,
    file: Path,
    lengths: tuple[int, ...] | None,
    total: str,
    how: Mapping[str, Any],
    notes: list[str],
) -> Hierarchy:
    if file.suffix.lower() == _HRC:
        encoding, indent = how.get("encoding"), section.text("indent") or "@"
        return read_hrc(file, indent, total, encoding=encoding, note=notes.append)
    levels = section.texts("levels")
    read = read_columns(file, note=notes.append, **how)
    needed = levels or [section.text("child") or "child"]
    if levels is None and lengths is None:
        needed.append(section.text("parent") or "parent")
    labelled = _label_columns(section, read, needed, levels)
    for name in (*needed, *(label for _, label in labelled)):
        if name not in read:
            known = ", ".join(read)
            raise InputError(f"there is no column {name!r}; the columns are {known}", path=file)
    try:
        if levels is not None:
            found = Hierarchy.from_levels(read, levels, total)
        elif lengths is not None:
            found = Hierarchy.from_prefixes(read[needed[0]], lengths, total)
        else:
            child, parent = needed
            found = Hierarchy.from_parents(read, child, parent, section.text("total"))
        pairs = [
            (code, text)
            for column, label in labelled
            for code, text in zip(read[column], read[label], strict=True)
            if code is not None
        ]
        return found.with_labels(label_texts(pairs))
    except HierarchyError as error:
        raise InputError(str(error), path=file) from None


def _label_columns(
    section: Section, read: Collection[str], needed: list[str], levels: list[str] | None
) -> list[tuple[str, str]]:
    """Columns of a hierarchy's file with codes, each with the column of their labels."""
    given = section.texts("label")
    if levels is None:
        if given is not None and len(given) > 1:
            raise section.fault("'label' names one column, unless there are 'levels'", "label")
        names = given or [name for name in [_LABEL] if name in read]
        return [(needed[0], name) for name in names]
    if given is not None and len(given) != len(levels):
        raise section.fault(
            f"'label' names {len(given)} columns for {len(levels)} levels; name one for each",
            "label",
        )
    return list(zip(levels, given or (), strict=False))
