"""How the file of a job is written: what was recognised, and what the user says instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from tacit.app.columns import Look, look_at
from tacit.app.texts import text
from tacit.app.visits import Visit
from tacit.errors import InputError
from tacit.jobs.written import HOW_WRITTEN
from tacit.microdata.workbooks import is_workbook, sheets_of

KEYS = (*HOW_WRITTEN, "layout")
"""What `[data]` says about how a file is written."""
OTHER_COLUMNS = ("delimiter", "sheet", "layout")
"""Keys by which a file gets other columns."""
ENCODINGS = ("utf-8", "cp1252", "latin-1", "iso8859-2", "iso8859-15", "cp1250", "cp850", "utf-16")
_SIGNS = {
    ".": "point",
    ",": "comma",
    " ": "blank",
    "'": "apostrophe",
    ";": "semicolon",
    "\t": "tab",
    "|": "bar",
    "": "none",
}
_MARKS = {name: mark for mark, name in _SIGNS.items()}
_CHOICES = {
    "delimiter": (",", ";", "\t", "|"),
    "decimal": (".", ","),
    "thousands": ("", ".", ",", " ", "'"),
}


@dataclass(frozen=True)
class WrittenField:
    """A field about how a file is written.

    Attributes:
        key: The key of `[data]`.
        chosen: What the job says, as the form sends it; empty where it says nothing.
        choices: What can be chosen, as the form sends it, each with its name on the page.
        fault: What is wrong with the choice.
    """

    key: str
    chosen: str
    choices: tuple[tuple[str, str], ...]
    fault: str | None = None


def written_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a draft says about how its file is written."""
    return {key: data[key] for key in KEYS if key in data}


def look_by(visit: Visit, name: str, written: Mapping[str, Any]) -> Look:
    """The beginning of a file of the folder, read as somebody says.

    Raises:
        InputError: It cannot be read so.
    """
    told = {key: written[key] for key in HOW_WRITTEN if key in written}
    layout = written.get("layout")
    path = visit.workspace.inside(name)
    if layout is None:
        return look_at(path, told)
    try:
        return look_at(path, told, visit.workspace.inside(str(layout)))
    except InputError as error:
        # The same records can be read by another layout.
        raise InputError(str(error), key=("layout",)) from None


def first_written(visit: Visit, name: str) -> dict[str, Any]:
    """What has to be said about a file that is opened: its layout, or which of several sheets."""
    path = PurePosixPath(name)
    if path.suffix.lower() in (".asc", ".dat"):
        layouts = layouts_of(visit)
        same = [each for each in layouts if _same_but_for_ending(each, path)]
        if same or (len(layouts) == 1 and path.suffix.lower() == ".asc"):
            return {"layout": (same or layouts)[0]}
    if is_workbook(name):
        sheets = sheets_of(visit.workspace.inside(name))
        return {"sheet": sheets[0]} if len(sheets) > 1 else {}
    return {}


def _same_but_for_ending(layout: str, path: PurePosixPath) -> bool:
    return str(PurePosixPath(layout).with_suffix("")).lower() == str(path.with_suffix("")).lower()


def layouts_of(visit: Visit) -> list[str]:
    """The layouts in the folder."""
    return [file.name for file in visit.workspace.files() if file.kind == "layout"]


def sent_written(visit: Visit, before: Mapping[str, Any]) -> dict[str, Any]:
    """How the file is written as the form says; fields that it does not have stay."""
    written = dict(before)
    for key in KEYS:
        if key not in visit.form:
            continue
        given = visit.sent(key)
        if key in before and given == _shown(before[key]):
            continue
        written.pop(key, None)
        if given.strip():
            named = _MARKS.get(given, given) if key in _CHOICES else given.strip()
            written[key] = named
    if "layout" in written:
        # It says all of this itself.
        return {"layout": written["layout"]}
    return written


def fields(
    visit: Visit, path: Path, look: Look | None, faults: Mapping[str, str]
) -> list[WrittenField]:
    """The fields about how a file is written that make sense for it."""
    data = visit.draft.get("data", {})
    lower = path.name.lower()
    if lower.endswith((".parquet", ".pq")):
        return []
    found = None if look is None else look.format
    choices: dict[str, list[tuple[str, str]]] = {}
    layouts = layouts_of(visit)
    if "layout" in data or lower.endswith(".asc") or (layouts and not is_workbook(path)):
        without = [] if lower.endswith(".asc") else [("", text("data.no_layout"))]
        choices["layout"] = [*without, *((name, name) for name in layouts)]
    if "layout" not in data and not lower.endswith(".asc"):
        if is_workbook(path):
            sheets = _sheets(path)
            choices["sheet"] = [(name, name) for name in sheets]
        else:
            choices["encoding"] = [("", ""), *((name, name) for name in ENCODINGS)]
        for key, marks in _CHOICES.items():
            if key == "delimiter" and is_workbook(path):
                continue
            first = text("data.recognise")
            if found is not None and key not in data:
                unclear = found.is_ambiguous and key != "delimiter"
                what = getattr(found, key) or ""
                first = text("data.not_clear" if unclear else "data.recognised", what=_name(what))
            choices[key] = [("", first), *((_shown(mark), _name(mark)) for mark in marks)]
    made = []
    for key, offered in choices.items():
        chosen = _shown(data[key]) if key in data else ""
        if key == "sheet" and not chosen and found is not None:
            chosen = found.sheet or ""
        if key != "encoding" and chosen not in [value for value, _ in offered]:
            # What is wrong stays to be seen.
            offered = [(chosen, chosen), *offered]
        made.append(WrittenField(key, chosen, tuple(offered), faults.get(key)))
    return made


def _sheets(path: Path) -> tuple[str, ...]:
    try:
        return sheets_of(path)
    except InputError:
        # Looking at the file has said so already.
        return ()


def _shown(given: Any) -> str:
    return _SIGNS.get(given, str(given)) if isinstance(given, str) else str(given)


def _name(marks: str) -> str:
    """Signs by name; there may be several between thousands."""
    named = [text(f"punctuation.{_SIGNS[mark]}") if mark in _SIGNS else mark for mark in marks]
    return text("data.or").join(named or [text("punctuation.none")])
