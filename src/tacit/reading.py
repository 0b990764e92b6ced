"""Frozen dataclasses from tables of a TOML file, with errors that say what is wrong and allowed."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from datetime import date, time
from typing import Any, TypeVar

from tacit.errors import InputError, about, nearest

KINDS: Mapping[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a table",
}
"""What the types of TOML are called."""

_Made = TypeVar("_Made")


def kind_of(given: object) -> str:
    """What something in a TOML file is called.

    >>> kind_of(True), kind_of(3)
    ('true or false', 'a whole number')
    """
    if isinstance(given, tuple):
        return KINDS[list]
    if isinstance(given, date | time):
        return "a date or time"
    return KINDS.get(type(given), f"of type {type(given).__name__}")


def read_fields(
    kind: type[_Made], mapping: Mapping[str, Any], *, where: str = "", noun: str = "key"
) -> _Made:
    """A dataclass from a mapping of its fields; unknown keys and wrong types are refused.

    Args:
        kind: The dataclass. Its own checks of ranges are left to it.
        mapping: What is given.
        where: What to call this place in messages.
        noun: What to call a key in messages.
    """
    prefix = f"{where}: " if where else ""
    if not isinstance(mapping, Mapping):
        raise InputError(f"{where or 'this'} must be a table of keys and values")
    fields = {field.name: field for field in dataclasses.fields(typing.cast(Any, kind))}
    hints = typing.get_type_hints(kind)
    arguments = {}
    for key, given in mapping.items():
        if key not in fields:
            raise InputError(
                f"{prefix}unknown {noun} {key!r}; {nearest(key, [*fields])}", key=(key,)
            )
        named = repr(key) if noun == "key" else f"{noun} {key!r}"
        with about(key):
            arguments[key] = _checked(f"{prefix}{named}", given, hints[key])
    for name, field in fields.items():
        has_default = (field.default, field.default_factory) != (dataclasses.MISSING,) * 2
        if name not in mapping and not has_default:
            raise InputError(f"{prefix}the {noun} {name!r} is missing")
    try:
        return kind(**arguments)
    except InputError as error:
        if not where or error.path is not None:
            raise
        raise InputError(f"{prefix}{error}", key=error.key) from None


def _checked(label: str, given: Any, wanted: Any) -> Any:
    """What was given for a key, as its type wants it."""
    is_union = typing.get_origin(wanted) in (typing.Union, types.UnionType)
    allowed = typing.get_args(wanted) if is_union else (wanted,)
    if Any in allowed:
        return given
    choices = [
        choice
        for kind in allowed
        if typing.get_origin(kind) is typing.Literal
        for choice in typing.get_args(kind)
    ]
    if choices and given in choices:
        return given
    origins = [typing.get_origin(kind) or kind for kind in allowed]
    kinds = tuple(origin for origin in origins if isinstance(origin, type))
    if choices and not (given is None and type(None) in kinds):
        listed = ", ".join(repr(choice) for choice in choices)
        raise InputError(f"{label} must be one of {listed}; it is {given!r}")
    if tuple in kinds and isinstance(given, list):
        return tuple(given)
    # A scalar of numpy is to a user what it is to Python.
    given = _plain(given)
    # bool is an int to Python and text a sequence, but neither is to a user.
    if isinstance(given, bool | str):
        fits = type(given) in kinds
    elif float in kinds and isinstance(given, int):
        return float(given)
    else:
        fits = isinstance(given, kinds)
    if not fits:
        called = {
            KINDS.get(kind, KINDS[list] if _is_list(kind) else kind.__name__): None
            for kind in kinds
            if kind is not type(None)
        }
        raise InputError(f"{label} must be {' or '.join(called)}; it is {kind_of(given)}")
    return given


def _plain(given: Any) -> Any:
    """A number or truth value of numpy as one of Python; anything else as it is."""
    is_scalar = type(given).__module__ == "numpy" and getattr(given, "shape", None) == ()
    plain = given.item() if is_scalar else given
    return plain if isinstance(plain, bool | int | float) else given


def _is_list(kind: type) -> bool:
    return issubclass(kind, Sequence) or kind.__name__ == "ndarray"
