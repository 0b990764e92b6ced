"""Cells that options of a method name, by number or by their codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.errors import HierarchyError, InputError, about, first_few, nearest
from tacit.hierarchy import code_text
from tacit.problem import Booleans, Problem
from tacit.table import Table


def with_cells(
    source: Table | Problem, options: Mapping[str, Any], names: Sequence[str]
) -> dict[str, Any]:
    """Options with cells by number where they were given by codes.

    Args:
        source: What is protected.
        options: Options of a method.
        names: Those that name cells.

    Raises:
        InputError: There is no such dimension or code.

    >>> import tacit
    >>> table = tacit.examples.get("002-figure-2.1").table
    >>> chosen = with_cells(table, {"withheld": {"business": "A"}}, ["withheld"])
    >>> [table.labels[cell] for cell in np.flatnonzero(chosen["withheld"])][:2]
    ['business=A, location=Total', 'business=A, location=1']
    """
    given = dict(options)
    for name in names:
        choice = given.get(name)
        if isinstance(choice, Mapping):
            given[name] = _cells(source, choice, name)
        elif isinstance(choice, list | tuple):
            given[name] = [_with_cells(source, each, name, n) for n, each in enumerate(choice)]
    return given


def _with_cells(source: Table | Problem, entry: Any, option: str, number: int) -> Any:
    """An entry of a list, with its cells by number where it has any by codes."""
    is_table = isinstance(entry, Mapping)
    cells = entry.get("cells") if is_table else getattr(entry, "cells", None)
    if not isinstance(cells, Mapping):
        return entry
    with about(option, number, "cells"):
        found = _cells(source, cells, f"{option} {number + 1}")
    return {**entry, "cells": found} if is_table else replace(entry, cells=found)


def _cells(source: Table | Problem, codes: Mapping[str, Any], option: str) -> Booleans:
    """Cells with one of the codes of each dimension that is named."""
    if isinstance(source, Problem):
        raise InputError(
            f"{option} names cells by codes, but this input has none; give cell numbers"
        )
    chosen = np.ones(source.cell_count, bool)
    for name, wanted in codes.items():
        if name not in source.totals:
            raise InputError(
                f"{option}: there is no dimension {name!r}; {nearest(str(name), [*source.totals])}"
            )
        of_cells = source.codes(name)
        several = isinstance(wanted, Sequence) and not isinstance(wanted, str)
        try:
            texts = [code_text(code) for code in (wanted if several else [wanted])]
        except HierarchyError as error:
            raise InputError(f"{option}, dimension {name}: {error}") from None
        absent = [code for code in texts if code not in set(of_cells.tolist())]
        if absent:
            raise InputError(
                f"{option}: dimension {name} has no code {first_few(absent)}; correct the codes"
            )
        chosen &= np.isin(of_cells, texts)
    return chosen
