"""Cells that options of a method name, by number or by their codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacit.errors import HierarchyError, InputError, first_few, nearest
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
        if isinstance(given.get(name), Mapping):
            given[name] = _cells(source, given[name], name)
    return given


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
