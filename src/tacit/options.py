"""`Options`: what every method lets a user choose, readable from a TOML table."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tacit.errors import InputError
from tacit.reading import read_fields


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
            raise InputError("time_limit must be positive (seconds)", key=("time_limit",))
        if not self.gap >= 0:
            raise InputError("gap must not be negative", key=("gap",))

    def replace(self, **changes: Any) -> Self:
        """The same options with some changed."""
        return dataclasses.replace(self, **changes)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Self:
        """Options from a table of a TOML file; unknown keys and wrong types are refused."""
        return read_fields(cls, mapping, noun="option")
