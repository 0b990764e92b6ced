"""How documents for people are laid out: in rows and columns, or as a list of cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError, nearest
from tacit.release.flags import Flags
from tacit.release.labels import Labels, label_columns
from tacit.release.marks import Marks, mark_column
from tacit.release.pivot import table_names, tables_of
from tacit.release.published import Published

Layout: TypeAlias = Literal["pivot", "list"]


def chosen_layout(layout: Layout | None, flags: Flags | None) -> Layout:
    """The requested layout, or the one that flags need.

    Raises:
        InputError: There is no such layout, or it has no place for flags.
    """
    if layout is None:
        return "list" if flags is not None else "pivot"
    if layout not in get_args(Layout):
        known = get_args(Layout)
        raise InputError(f"there is no layout {layout!r}; {nearest(str(layout), known)}")
    if layout == "pivot" and flags is not None:
        raise InputError("flags are columns of a list; choose the layout list, or leave them out")
    return layout


@dataclass(frozen=True, eq=False)
class CellList:
    """One of the linked tables as a list of cells.

    Attributes:
        name: What it is called: its dimensions, unless it has a name.
        columns: Codes, numbers and flags.
        value_name: The column of the values.
        marks: What stands for the value of each cell that has none; empty for all others.
    """

    name: str
    columns: Mapping[str, npt.NDArray[Any]]
    value_name: str
    marks: npt.NDArray[np.str_]


def cell_lists(
    published: Published, value: str, flags: Flags, marks: Marks, labels: Labels
) -> list[CellList]:
    """Each of the linked tables as a list; dimensions that it lacks have no column there."""
    columns = published.columns(value, flags, labels)
    value_name = published.value_column(value, labels)
    marked = mark_column(published, marks)
    own = label_columns(published) if labels == "beside" else dict.fromkeys(published.codes, "")
    lists = []
    titles = table_names(published)
    for number, (cells, dimensions) in enumerate(tables_of(published)):
        absent = {name for name in published.codes if name not in dimensions}
        absent |= {own[name] for name in absent if name in own}
        kept = {name: column[cells] for name, column in columns.items() if name not in absent}
        variable = published.grids[number].variable if published.grids else ""
        shown = value_name if not variable or variable in kept else variable
        kept = {shown if name == value_name else name: column for name, column in kept.items()}
        lists.append(CellList(titles[number], kept, shown, marked[cells]))
    return lists
