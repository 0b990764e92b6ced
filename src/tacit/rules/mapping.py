"""Rules, bounds and weights from tables of a TOML file."""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tacit.errors import InputError
from tacit.rules.concentration import Dominance, PPercent, PriorPosterior
from tacit.rules.frequency import GroupDisclosure, MinFrequency, SmallCounts
from tacit.rules.marks import Manual
from tacit.rules.requests import Request
from tacit.rules.rule import SensitivityRule
from tacit.rules.zeros import ZeroCells
from tacit.table.bounds import Bounds
from tacit.table.judging import Rule
from tacit.table.weighting import Weighting

_Made = TypeVar("_Made")

RULES: Mapping[str, type[SensitivityRule]] = {
    kind.key: kind
    for kind in (
        MinFrequency,
        Dominance,
        PPercent,
        PriorPosterior,
        ZeroCells,
        Request,
        Manual,
        SmallCounts,
        GroupDisclosure,
    )
}
"""The rules by their names in files."""


def from_mapping(
    mapping: Mapping[str, Any], where: str = "rule", folder: str | Path | None = None
) -> Rule:
    """A rule from a table of a TOML file; unknown keys and wrong types are refused.

    Args:
        mapping: The name of the rule under `rule`, and its parameters.
        where: What to call this place in messages.
        folder: Where files that the rule names lie, by default the current directory.

    >>> from_mapping({"rule": "p-percent", "p": 10, "levels": "upper"})
    PPercent(levels='upper', name=None, p=10.0, coalition=1, holding=False)
    >>> from_mapping({"rule": "p-percent", "p": 10, "colition": 2}, where="rules[0]")
    Traceback (most recent call last):
        ...
    tacit.errors.InputError: rules[0]: unknown key 'colition'; did you mean 'coalition'?
    """
    _refuse_no_table(mapping, where)
    if "rule" not in mapping:
        raise InputError(f"{where}: the key 'rule' is missing; it names one of {', '.join(RULES)}")
    key = mapping["rule"]
    if not isinstance(key, str) or key not in RULES:
        raise InputError(f"{where}: there is no rule {key!r}; {_nearest(str(key), [*RULES])}")
    rest = {name: given for name, given in mapping.items() if name != "rule"}
    if RULES[key] is Manual and isinstance(rest.get("marks"), str):
        rest["marks"] = Path(folder or ".") / rest["marks"]
    made: Any = read(RULES[key], rest, where)
    rule: Rule = made
    return rule


def bounds_from_mapping(mapping: Mapping[str, Any], where: str = "bounds") -> Bounds:
    """Bounds from a table of a TOML file.

    >>> bounds_from_mapping({"lower_factor": 0, "upper_factor": 11}).upper_factor
    11.0
    """
    return read(Bounds, mapping, where)


def weighting_from_mapping(given: str | Mapping[str, Any], where: str = "weights") -> Weighting:
    """Weights from the name of a column, or from a table of a TOML file.

    >>> weighting_from_mapping({"by": "count", "power": 0.5})
    Weighting(by='count', power=0.5)
    """
    return read(Weighting, {"by": given} if isinstance(given, str) else given, where)


def read(kind: type[_Made], mapping: Mapping[str, Any], where: str) -> _Made:
    """A dataclass from a mapping of its fields."""
    _refuse_no_table(mapping, where)
    fields = {field.name: field for field in dataclasses.fields(typing.cast(Any, kind))}
    hints = typing.get_type_hints(kind)
    arguments = {}
    for key, given in mapping.items():
        if key not in fields:
            raise InputError(f"{where}: unknown key {key!r}; {_nearest(key, [*fields])}")
        arguments[key] = _checked(key, given, hints[key], where)
    missing = [
        name
        for name, field in fields.items()
        if name not in mapping and field.default is dataclasses.MISSING
    ]
    if missing:
        raise InputError(f"{where}: the key {missing[0]!r} is missing")
    try:
        return kind(**arguments)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _refuse_no_table(mapping: Any, where: str) -> None:
    if not isinstance(mapping, Mapping):
        raise InputError(f"{where} must be a table of keys and values")


def _nearest(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"


def _checked(key: str, given: Any, wanted: Any, where: str) -> Any:
    """What was given for a key, as its type wants it; range checks are left to the class."""
    is_union = typing.get_origin(wanted) in (typing.Union, types.UnionType)
    allowed = typing.get_args(wanted) if is_union else (wanted,)
    literals = [kind for kind in allowed if typing.get_origin(kind) is typing.Literal]
    plain = tuple(kind for kind in allowed if kind in (bool, int, float, str))
    if not literals and not plain:
        return given
    if isinstance(given, list) and Sequence in [typing.get_origin(kind) for kind in allowed]:
        return given
    for kind in literals:
        choices = typing.get_args(kind)
        if given in choices:
            return given
        raise InputError(
            f"{where}: {key!r} must be one of {', '.join(repr(choice) for choice in choices)}"
        )
    # bool is an int to Python, but not to a user.
    if isinstance(given, bool):
        fits = bool in plain
    elif float in plain and isinstance(given, int):
        return float(given)
    else:
        fits = isinstance(given, plain)
    if not fits:
        names = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
        wish = " or ".join(names[kind] for kind in plain)
        raise InputError(f"{where}: {key!r} must be {wish}; it is {type(given).__name__}")
    return given
