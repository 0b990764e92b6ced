"""Metadata of tau-ARGUS (`.rda`): the variables of microdata or of a finished table.

A line that does not begin with `<` names a variable, lines with `<KEY>` behind it say what it is.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tacit.errors import InputError, nearest
from tacit.hierarchy import DEFAULT_TOTAL
from tacit.io.argus.paths import read_argus_text

DEFAULT_LEAD = "@"


@dataclass(frozen=True, kw_only=True)
class Variable:
    """A variable.

    Attributes:
        name: Its name.
        line: Its line in the metadata.
        start: The first of its columns in a file of fixed width, counted from 1.
        width: How many characters it takes.
        missing: The codes that stand for a missing value.
        is_explanatory: Whether tables may be broken down by it.
        total: The code of its total.
        codelist: The file with the labels of its codes.
        is_hierarchical: Whether its codes form a hierarchy.
        levels: How many characters each level adds, where the codes themselves tell.
        hierarchy: The file with the hierarchy, where there is one.
        lead: What stands before a code for each level in that file.
        is_numeric: Whether it holds numbers.
        decimals: How many decimals are shown.
        is_weight: Whether it holds sampling weights.
        is_holding: Whether it tells the holding.
        requests: The codes of those who ask for protection.
        is_frequency: Whether it counts the contributors of a cell.
        is_top: Whether it holds one of the largest contributions to a cell.
        is_status: Whether it holds the status of a cell.
        is_shadow: Whether it holds the total that rules judge.
        is_cost: Whether it holds the costs.
        is_lower_level: Whether it holds lower protection levels.
        is_upper_level: Whether it holds upper ones.
        distance: The costs by distance.
        record_key: Whether it holds the record keys of the cell key method.
    """

    name: str
    line: int
    start: int | None = None
    width: int | None = None
    missing: tuple[str, ...] = ()
    is_explanatory: bool = False
    total: str = DEFAULT_TOTAL
    codelist: str | None = None
    is_hierarchical: bool = False
    levels: tuple[int, ...] = ()
    hierarchy: str | None = None
    lead: str = DEFAULT_LEAD
    is_numeric: bool = False
    decimals: int = 0
    is_weight: bool = False
    is_holding: bool = False
    requests: tuple[str, ...] = ()
    is_frequency: bool = False
    is_top: bool = False
    is_status: bool = False
    is_shadow: bool = False
    is_cost: bool = False
    is_lower_level: bool = False
    is_upper_level: bool = False
    distance: tuple[int, ...] = ()
    record_key: bool = False


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """The metadata of a data file.

    Attributes:
        path: The file that it was read from.
        separator: What stands between entries; None where they have fixed columns.
        safe: The letter of a safe cell.
        unsafe: The letter of a sensitive cell.
        protect: The letter of a cell that must be published.
        variables: All variables in the order of the file, by name.
    """

    path: Path
    separator: str | None
    safe: str = "S"
    unsafe: str = "U"
    protect: str = "P"
    variables: Mapping[str, Variable]

    def variable(self, name: str) -> Variable | None:
        """A variable by its name, whatever its case."""
        if name in self.variables:
            return self.variables[name]
        alike = [found for found in self.variables if found.casefold() == name.casefold()]
        return self.variables[alike[0]] if len(alike) == 1 else None

    def the_one(self, is_it: Callable[[Variable], bool]) -> Variable | None:
        """The first variable that is something, if there is one."""
        return next((found for found in self.variables.values() if is_it(found)), None)


def read_metadata(path: str | Path, *, tabular: bool) -> Metadata:
    """Read metadata.

    Args:
        path: The file.
        tabular: Whether they describe a finished table, whose variables have no widths.

    Raises:
        InputError: A line that cannot be understood.
    """
    path = Path(path)
    reader = _Reader(path, tabular)
    for line, text in enumerate(read_argus_text(path).split("\n"), start=1):
        stripped = text.strip()
        if not stripped or stripped.startswith("//"):
            continue
        try:
            if stripped.startswith("<"):
                reader.keys(stripped)
            else:
                reader.variable(stripped, line)
        except InputError as error:
            if error.path is not None:
                raise
            raise InputError(str(error), path=path, line=line) from None
    return reader.result()


_TOKEN = re.compile(r'"([^"]*)"?|(\S+)')
_KEY = re.compile(r"<\s*([A-Za-z_]+)\s*>")


def _tokens(text: str) -> list[str]:
    return [match[1] if match[1] is not None else match[2] for match in _TOKEN.finditer(text)]


class _Reader:
    """Metadata as far as they have been read."""

    def __init__(self, path: Path, tabular: bool):
        self._path = path
        self._tabular = tabular
        self._separator: str | None = None
        self._letters: dict[str, str] = {}
        self._variables: dict[str, Variable] = {}
        self._current: Variable | None = None

    def result(self) -> Metadata:
        if not self._variables:
            raise InputError("no variable is described", path=self._path)
        if self._tabular and self._separator is None:
            self._separator = ";"
        found = Metadata(
            path=self._path,
            separator=self._separator,
            variables=self._variables,
            **self._letters,
        )
        for variable in self._variables.values():
            self._check(variable)
        return found

    def _check(self, variable: Variable) -> None:
        def fault(message: str) -> InputError:
            return InputError(
                f"variable {variable.name} {message}", path=self._path, line=variable.line
            )

        if self._separator is None and variable.start is None:
            raise fault("has no first column; write name, first column and width")
        if variable.levels:
            given = sum(variable.levels)
            if variable.width is not None and given != variable.width:
                raise fault(
                    f"is {variable.width} characters wide, but HIERLEVELS adds up to {given}"
                )
            if variable.hierarchy is not None:
                raise fault("has both HIERLEVELS and HIERCODELIST; leave out one")
        elif variable.is_hierarchical and variable.hierarchy is None:
            raise fault("is hierarchical; say how with HIERCODELIST or HIERLEVELS")

    def variable(self, text: str, line: int) -> None:
        name, *rest = _tokens(text)
        if not name.strip():
            raise InputError("the name of a variable is empty")
        if name.casefold() in {known.casefold() for known in self._variables}:
            raise InputError(f"variable {name} is described twice; leave out one")
        start = width = None
        if not self._tabular:
            if self._separator is None:
                if len(rest) < 2:
                    raise InputError(
                        f"variable {name} needs its first column and its width; for a separated "
                        "file, <SEPARATOR> stands in the first line"
                    )
                start = _whole(rest.pop(0), "the first column", 1)
            if rest:
                width = _whole(rest.pop(0), "the width", 1)
        if len(rest) > 2:
            raise InputError(f"variable {name} has {len(rest)} codes for missing values; give two")
        self._keep(
            Variable(
                name=name,
                line=line,
                start=start,
                width=width,
                missing=tuple(dict.fromkeys(code.strip() for code in rest if code.strip())),
            )
        )

    def keys(self, text: str) -> None:
        """One or several keys in a line, each with what stands behind it."""
        places = list(_KEY.finditer(text))
        places = [match for match in places if text[: match.start()].count('"') % 2 == 0]
        if not places or places[0].start() != 0:
            raise InputError(f"{text!r} is not understood; a key stands in < and >")
        ends = [match.start() for match in places[1:]] + [len(text)]
        for match, end in zip(places, ends, strict=True):
            self._key(match[1].upper(), text[match.end() : end].strip())

    def _key(self, key: str, rest: str) -> None:
        if key == "SPSS":
            raise InputError("SPSS files are not read; save the data as text, with its metadata")
        if key == "SEPARATOR":
            separator = _first(rest, key, strip=False)
            separator = "\t" if separator.lower() in ("\\t", "tab") else separator
            if len(separator) != 1:
                raise InputError(f"the separator is {separator!r}; write one character in quotes")
            if self._variables:
                raise InputError("<SEPARATOR> stands before the first variable")
            self._separator = separator
        elif key in _LETTERS:
            self._letters[_LETTERS[key]] = _first(rest, key)
        elif self._current is None:
            raise InputError(f"<{key}> stands before the first variable")
        elif key in _KEYS:
            self._keep(_KEYS[key](self._current, rest, key))
        else:
            raise InputError(f"there is no key <{key}>; {nearest(key, [*_KEYS, *_LETTERS])}")

    def _keep(self, variable: Variable) -> None:
        self._variables[variable.name] = self._current = variable


def _whole(text: str, what: str, least: int = 0) -> int:
    if not (text.isascii() and text.isdigit()) or int(text[:9]) < least or len(text) > 9:
        raise InputError(f"{what} is {text!r}; write a whole number of at least {least}")
    return int(text)


def _first(rest: str, key: str, *, strip: bool = True) -> str:
    found = _tokens(rest)
    text = found[0].strip() if found and strip else found[0] if found else ""
    if not text:
        raise InputError(f"nothing stands behind <{key}>")
    return text


def _numbers(rest: str, key: str) -> tuple[int, ...]:
    return tuple(
        _whole(part, f"a number of <{key}>") for part in re.split(r"[\s,;]+", rest) if part
    )


_Setter: TypeAlias = Callable[[Variable, str, str], Variable]


def _flag(name: str) -> _Setter:
    def set_flag(variable: Variable, _rest: str, _key: str) -> Variable:
        changes: dict[str, Any] = {name: True}
        return dataclasses.replace(variable, **changes)

    return set_flag


def _text(name: str) -> _Setter:
    def set_text(variable: Variable, rest: str, key: str) -> Variable:
        changes: dict[str, Any] = {name: _first(rest, key)}
        return dataclasses.replace(variable, **changes)

    return set_text


def _total(variable: Variable, rest: str, key: str) -> Variable:
    return dataclasses.replace(variable, total=_first(rest, key))


def _levels(variable: Variable, rest: str, key: str) -> Variable:
    levels = tuple(size for size in _numbers(rest, key) if size)
    if not levels:
        raise InputError("<HIERLEVELS> gives no level; write how many characters each level adds")
    return dataclasses.replace(variable, levels=levels, is_hierarchical=True)


def _hierarchy(variable: Variable, rest: str, key: str) -> Variable:
    return dataclasses.replace(variable, hierarchy=_first(rest, key), is_hierarchical=True)


def _lead(variable: Variable, rest: str, key: str) -> Variable:
    return dataclasses.replace(variable, lead=_first(rest, key, strip=False))


def _decimals(variable: Variable, rest: str, key: str) -> Variable:
    return dataclasses.replace(variable, decimals=_whole(_first(rest, key), "DECIMALS"))


def _distance(variable: Variable, rest: str, key: str) -> Variable:
    return dataclasses.replace(variable, distance=_numbers(rest, key))


def _requests(variable: Variable, rest: str, _key: str) -> Variable:
    codes = tuple(code.strip() for code in _tokens(rest) if code.strip())
    if len(codes) > 2:
        raise InputError("<REQUEST> takes two codes at most")
    return dataclasses.replace(variable, requests=codes or ("1",))


def _nothing(variable: Variable, _rest: str, _key: str) -> Variable:
    return variable


_LETTERS = {"SAFE": "safe", "UNSAFE": "unsafe", "PROTECT": "protect"}

_KEYS: Mapping[str, _Setter] = {
    "RECODEABLE": _flag("is_explanatory"),
    "RECODABLE": _flag("is_explanatory"),
    "TOTCODE": _total,
    "CODELIST": _text("codelist"),
    "HIERARCHICAL": _flag("is_hierarchical"),
    "HIERLEVELS": _levels,
    "HIERCODELIST": _hierarchy,
    "HIERLEADSTRING": _lead,
    "DISTANCE": _distance,
    "NUMERIC": _flag("is_numeric"),
    "DECIMALS": _decimals,
    "WEIGHT": _flag("is_weight"),
    "HOLDING": _flag("is_holding"),
    "REQUEST": _requests,
    # Codes may be cut off at the end, which recoding does anyway.
    "TRUNCABLE": _nothing,
    "FREQUENCY": _flag("is_frequency"),
    "MAXSCORE": _flag("is_top"),
    "STATUS": _flag("is_status"),
    "SHADOW": _flag("is_shadow"),
    "COST": _flag("is_cost"),
    "COSTVAR": _flag("is_cost"),
    "LOWERPL": _flag("is_lower_level"),
    "UPPERPL": _flag("is_upper_level"),
    "RECORDKEY": _flag("record_key"),
    # The cell key method, which tacit does not have: <SUPPRESS> CKM(...) is refused.
    "PFILE": _nothing,
    "PFILE_FREQ": _nothing,
    "PFILE_CONT": _nothing,
    "PFILE_SEP": _nothing,
    "CKM": _nothing,
    "INCLUDEZEROS": _nothing,
    "PARITY": _nothing,
    "SEPARATION": _nothing,
    "SCALING": _nothing,
}
