"""Tables printed in the papers of the field, each with what the paper says of it.

>>> from tacit import examples
>>> example = examples.get("003-figure-11")
>>> example.problem
Problem(16 cells, 8 relations, 1 sensitive)
>>> example.intervals[example.cell("M2P3")]
(20, 68)
"""

from __future__ import annotations

import difflib
from collections.abc import Callable

from tacit.errors import InputError
from tacit.examples import castro, castro_via, karlsson_olsson
from tacit.examples.example import PAPERS, Deduction, Example

__all__ = ["PAPERS", "Deduction", "Example", "all_examples", "get", "names"]

_MAKERS: dict[str, Callable[[], Example]] = {
    "000-section-4.1": castro_via.section_4_1,
    "002-figure-2.1": karlsson_olsson.figure_2_1,
    "002-figure-2.2": karlsson_olsson.figure_2_2,
    "002-figure-2.3": karlsson_olsson.figure_2_3,
    "002-figure-2.4": karlsson_olsson.figure_2_4,
    "002-figure-3.1": karlsson_olsson.figure_3_1,
    "002-figure-3.2": karlsson_olsson.figure_3_2,
    "002-figure-3.3": karlsson_olsson.figure_3_3,
    "002-figure-3.4": karlsson_olsson.figure_3_4,
    "002-figure-3.5": karlsson_olsson.figure_3_5,
    "002-figure-3.6": karlsson_olsson.figure_3_6,
    "002-figure-3.7": karlsson_olsson.figure_3_7,
    "002-figure-3.8a": karlsson_olsson.figure_3_8a,
    "002-figure-3.8b": karlsson_olsson.figure_3_8b,
    "003-figure-1": castro.figure_1,
    "003-figure-2": castro.figure_2,
    "003-figure-3": castro.figure_3,
    "003-figure-9": castro.figure_9,
    "003-figure-10": castro.figure_10,
    "003-figure-11": castro.figure_11,
    "003-figure-16": castro.figure_16,
}


def names() -> tuple[str, ...]:
    """The names of all examples, in the order of the papers."""
    return tuple(_MAKERS)


def get(name: str) -> Example:
    """The example of this name.

    >>> get("003-figure-12")
    Traceback (most recent call last):
        ...
    tacit.errors.InputError: no example is called '003-figure-12'; did you mean ...
    """
    if name not in _MAKERS:
        near = difflib.get_close_matches(name, _MAKERS, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise InputError(f"no example is called {name!r}; {hint}Known are {', '.join(_MAKERS)}")
    return _MAKERS[name]()


def all_examples() -> tuple[Example, ...]:
    """Every example, in the order of the papers."""
    return tuple(make() for make in _MAKERS.values())
