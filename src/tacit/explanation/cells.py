"""Which cell is meant: a number, codes of dimensions, or a text with either."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from tacit.errors import HierarchyError, InputError, first_few, nearest
from tacit.hierarchy import code_text
from tacit.problem import Problem
from tacit.table import Table
from tacit.table.table import VARIABLE

CellChoice: TypeAlias = int | str | Mapping[str, Any]
"""A cell: its number, its codes, or a text such as `41` or `industry=C10,region=North`."""


def find_cell(source: Table | Problem, given: CellChoice) -> int:
    """The number of a cell.

    A dimension that is not named stands at its total.

    Args:
        source: The table; of a problem, which has no dimensions, cells are known by their numbers
            and labels.
        given: The cell.

    Raises:
        InputError: There is no such cell.

    >>> import tacit
    >>> table = tacit.examples.get("002-figure-2.1").table
    >>> find_cell(table, "business=A, location=1") == find_cell(table, {"business": "A",
    ...                                                                 "location": 1})
    True
    """
    count = source.cell_count
    if isinstance(given, bool) or not isinstance(given, int | np.integer | str | Mapping):
        raise InputError(
            "a cell is a number, or codes such as {'industry': 'C10', 'region': 'North'}; not "
            f"{type(given).__name__}"
        )
    if isinstance(given, Mapping):
        return _by_codes(source, given)
    text = str(given).strip()
    if re.fullmatch(r"-?[0-9]+", text):
        number = int(text)
        if not 0 <= number < count:
            raise InputError(f"there is no cell {number}; cells are numbered 0 to {count - 1}")
        return number
    if isinstance(source, Problem):
        return _by_label(source, text)
    return _by_codes(source, _codes(source, text))


def _by_label(problem: Problem, text: str) -> int:
    if problem.labels is None:
        raise InputError(
            f"cell {text!r}: this input has no codes, only numbers; name the cell by a number from "
            f"0 to {problem.cell_count - 1}"
        )
    named = [cell for cell, label in enumerate(problem.labels) if label == text]
    if not named:
        raise InputError(f"there is no cell {text!r}; {_near(text, list(problem.labels))}")
    return named[0]


def _codes(table: Table, text: str) -> dict[str, str]:
    """Codes from a text; codes may contain commas and equals signs, as names start anew."""
    codes: dict[str, str] = {}
    if len(table.variables) > 1:
        # As in messages, which begin with the variable.
        begins = [name for name in table.variables if text.startswith(f"{name}:")]
        if begins:
            codes[VARIABLE] = max(begins, key=len)
            text = text[len(codes[VARIABLE]) + 1 :].strip()
    names = sorted(_names(table), key=len, reverse=True)
    start = re.compile(rf"(?:^|,)\s*({'|'.join(map(re.escape, names))})\s*=")
    found = list(start.finditer(text))
    if not found or found[0].start() != 0:
        name, equals, _ = text.partition("=")
        if not equals:
            raise InputError(
                f"cell {text!r} is neither a number nor codes such as {_example(table)}"
            )
        raise InputError(
            f"cell {text!r}: there is no dimension {name.strip()!r}; "
            f"{_near(name.strip(), _names(table))}"
        )
    ends = [each.start() for each in found[1:]] + [len(text)]
    for each, end in zip(found, ends, strict=True):
        name, code = each[1], text[each.end() : end].strip()
        if name in codes:
            raise InputError(f"cell {text!r} names dimension {name} twice")
        codes[name] = code
    return codes


def _by_codes(source: Table | Problem, codes: Mapping[str, Any]) -> int:
    if isinstance(source, Problem):
        raise InputError(
            "the cell is named by codes, but this input has none; give the number of the cell"
        )
    wanted: dict[str, str] = dict(source.totals)
    if len(source.variables) > 1 and VARIABLE not in codes:
        raise InputError(
            "the table has several variables: name one as well, such as "
            f"{VARIABLE}={source.variables[0]}"
        )
    for name, code in codes.items():
        if name not in _names(source):
            raise InputError(
                f"there is no dimension {str(name)!r}; {_near(str(name), _names(source))}"
            )
        try:
            wanted[name] = code_text(code)
        except HierarchyError as error:
            raise InputError(f"dimension {name}: {error}") from None
    there = np.ones(source.cell_count, bool)
    keys = source.cell_keys()
    for name, code in wanted.items():
        of_cells = keys[name]
        has_code = of_cells == code
        if not has_code.any():
            known = list(dict.fromkeys(of_cells.tolist()))
            raise InputError(_unknown_code(source, name, code, known))
        there &= has_code
    cells = np.flatnonzero(there)
    label = ", ".join(f"{name}={code}" for name, code in wanted.items())
    if not len(cells):
        raise InputError(
            f"there is no cell ({label}): each of the codes occurs, but not together; nobody "
            "contributes there, as everybody knows"
        )
    return int(cells[0])


def _names(table: Table) -> list[str]:
    """What cells can be named by: the dimensions, and the variable where there are several."""
    return [*([VARIABLE] if len(table.variables) > 1 else []), *table.totals]


def _unknown_code(table: Table, name: str, code: str, known: list[str]) -> str:
    """The message about a code that does not occur, with what may be meant."""
    if name == VARIABLE and name not in table.totals:
        return f"there is no variable {code!r}; {_near(code, known)}"
    told = f"dimension {name} has no code {code!r}"
    elsewhere = [
        other for other in table.totals if other != name and (table.codes(other) == code).any()
    ]
    if elsewhere:
        return f"{told}; dimension {elsewhere[0]} has it"
    return f"{told}; {_near(code, known)}"


def _near(word: str, known: list[str]) -> str:
    """What may be meant; where nothing is near, a few of what is known."""
    near = nearest(word, known)
    return near if near.endswith("?") else f"known are {first_few(known, 8)}"


def _example(table: Table) -> str:
    dimensions = table.dimensions
    return ",".join(f"{name}={dimensions[name].codes[-1]}" for name in table.totals)
