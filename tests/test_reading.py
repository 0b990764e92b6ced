"""Dataclasses from tables of a TOML file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

import numpy as np
import pytest

from tacit.errors import InputError
from tacit.reading import kind_of, read_fields


@dataclass(frozen=True)
class Example:
    """One field of every kind that options, rules and bounds have."""

    size: float
    number: int = 1
    word: str = "a"
    flag: bool = False
    side: Literal["left", "right"] | None = None
    limits: float | Sequence[float] | None = None
    radii: tuple[float, ...] = ()
    anything: Any = None
    names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.size < 0:
            raise InputError("size must not be negative")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Example(2.0)),
        ({"number": 3, "word": "b", "flag": True}, Example(2.0, 3, "b", True)),
        ({"side": "left", "limits": 4}, Example(2.0, side="left", limits=4.0)),
        ({"side": None, "limits": [4, 5]}, Example(2.0, limits=[4, 5])),
        ({"radii": [1, 2]}, Example(2.0, radii=(1, 2))),
        ({"anything": {"a": 1}, "names": ["x"]}, Example(2.0, anything={"a": 1}, names=["x"])),
    ],
)
def test_fields_are_read(given: dict[str, Any], expected: Example) -> None:
    """Whole numbers do for numbers, lists for tuples; what has a default may be missing."""
    read = read_fields(Example, {"size": 2, **given})
    assert read == expected
    assert isinstance(read.size, float)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "here: the key 'size' is missing"),
        ({"size": "2"}, "here: 'size' must be a number; it is a text"),
        ({"size": True}, "here: 'size' must be a number; it is true or false"),
        ({"size": date(2024, 1, 1)}, "here: 'size' must be a number; it is a date or time"),
        ({"size": -1}, "here: size must not be negative"),
        ({"size": 2, "number": 1.5}, "here: 'number' must be a whole number; it is a number"),
        ({"size": 2, "flag": 1}, "here: 'flag' must be true or false; it is a whole number"),
        ({"size": 2, "side": "up"}, "here: 'side' must be one of 'left', 'right'; it is 'up'"),
        ({"size": 2, "limits": "3"}, "here: 'limits' must be a number or a list; it is a text"),
        ({"size": 2, "radii": 3}, "here: 'radii' must be a list; it is a whole number"),
        ({"size": 2, "wrd": "b"}, "here: unknown key 'wrd'; did you mean 'word'?"),
        ({"size": 2, "xyz": 1}, "here: unknown key 'xyz'; known are size, number, word"),
        ([1], "here must be a table of keys and values"),
    ],
)
def test_mistakes_are_named(given: Any, message: str) -> None:
    """Unknown keys, missing ones and wrong types are refused in words of TOML."""
    with pytest.raises(InputError) as caught:
        read_fields(Example, given, where="here")
    assert str(caught.value).startswith(message)


def test_keys_can_be_called_options() -> None:
    """Methods speak of options."""
    with pytest.raises(InputError, match=r"^option 'size' must be a number; it is a list$"):
        read_fields(Example, {"size": (1, 2)}, noun="option")
    assert kind_of({}) == "a table"
    assert kind_of(object()) == "of type object"


def test_scalars_of_numpy_are_plain_ones() -> None:
    """Computed numbers and flags are taken for what they are, and nothing else."""
    made = read_fields(Example, {"size": np.float64(2.5), "number": np.int64(3)})
    assert (type(made.size), type(made.number)) == (float, int)
    with pytest.raises(InputError, match="it is true or false"):
        read_fields(Example, {"size": np.bool_(True)})
