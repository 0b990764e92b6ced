"""`Options`: what every method lets a user choose, readable from a TOML table."""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tacit.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Options:
    """Choices common to all methods; each method adds its own in a subclass.

    Attributes:
        time_limit: Seconds after which the best safe result so far is returned.
        gap: Stop when (objective - bound) / objective is at most this.
        seed: The same seed gives the same result.

    >>> Options.from_mapping({"time_limit": 10})
    Options(time_limit=10.0, gap=0.0001, seed=1)
    >>> Options.from_mapping({"time_limt": 10})
    Traceback (most recent call last):
        ...
    tacit.errors.InputError: unknown option 'time_limt'; did you mean 'time_limit'?
    """

    time_limit: float = 60.0
    gap: float = 1e-4
    seed: int = 1

    def __post_init__(self) -> None:
        # `not >` also refuses NaN.
        if not self.time_limit > 0:
            raise InputError("time_limit must be positive (seconds)")
        if not self.gap >= 0:
            raise InputError("gap must not be negative")

    def replace(self, **changes: Any) -> Self:
        """The same options with some changed."""
        return dataclasses.replace(self, **changes)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Self:
        """Options from a table of a TOML file; unknown keys and wrong types are refused."""
        hints = typing.get_type_hints(cls)
        known = [field.name for field in dataclasses.fields(cls)]
        checked = {}
        for key, given in mapping.items():
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
                raise InputError(f"unknown option {key!r}; {hint}")
            checked[key] = _checked(key, given, hints[key])
        return cls(**checked)


def _checked(key: str, given: Any, wanted: Any) -> Any:
    alternatives = typing.get_args(wanted)
    is_union = isinstance(wanted, types.UnionType)
    allowed = alternatives if is_union else (wanted,)
    origins = tuple(typing.get_origin(kind) or kind for kind in allowed)
    if typing.get_origin(wanted) is typing.Literal:
        if given not in alternatives:
            choices = ", ".join(repr(choice) for choice in alternatives)
            raise InputError(f"option {key!r} must be one of {choices}; it is {given!r}")
        return given
    if tuple in origins and isinstance(given, list):
        return tuple(given)
    # bool is an int to Python, but not to a user.
    if isinstance(given, bool) and bool not in origins:
        fits = False
    elif float in origins and isinstance(given, int):
        return float(given)
    else:
        fits = isinstance(given, origins)
    if not fits:
        names = " or ".join(kind.__name__ for kind in origins)
        raise InputError(f"option {key!r} must be {names}; it is {type(given).__name__}")
    return given
