"""Labels of codes, as readers see them: beside the code, with it or in its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError, nearest

if TYPE_CHECKING:
    from tacit.release.published import Published

Labels: TypeAlias = Literal["beside", "together", "instead", "none"]
"""Where labels stand, in tables whose codes have some.

`beside`: in a column of their own where cells are listed, and after the code in a table of rows and
columns. `together`: always after the code, as in `C10 Food`. `instead`: in place of the code.
`none`: nowhere.
"""


def check_labels(labels: object) -> None:
    """Refuse something else than a choice of labels."""
    if labels not in get_args(Labels):
        known = get_args(Labels)
        raise InputError(f"labels cannot be {labels!r}; {nearest(str(labels), known)}")


def known_labels(published: Published) -> dict[str, dict[str, str]]:
    """The labels of the codes of each dimension that has any.

    Linked tables may divide a dimension in several ways; the first one that knows a label counts.
    """
    found: dict[str, dict[str, str]] = {}
    hierarchies = [*published.dimensions.items()]
    hierarchies += [pair for grid in published.grids for pair in grid.dimensions.items()]
    for name, hierarchy in hierarchies:
        for code, label in hierarchy.labels.items():
            found.setdefault(name, {}).setdefault(code, label)
    return found


def code_texts(labels: Mapping[str, str], choice: Labels) -> dict[str, str]:
    """What stands for each code that has a label.

    A label in place of codes has its code with it where another code has the same label: nobody
    could tell the two apart.

    Args:
        labels: The label of each code.
        choice: `together` or `instead`; for rows and columns `beside` is the same as `together`.

    >>> code_texts({"C10": "Food", "C11": "Drinks"}, "together")
    {'C10': 'C10 Food', 'C11': 'C11 Drinks'}
    >>> code_texts({"C10": "Food", "C101": "Food", "C11": "Drinks"}, "instead")
    {'C10': 'C10 Food', 'C101': 'C101 Food', 'C11': 'Drinks'}
    """
    if choice == "none":
        return {}
    times = Counter(labels.values())
    return {
        code: label if choice == "instead" and times[label] == 1 else f"{code} {label}"
        for code, label in labels.items()
    }


def head_columns(published: Published, labels: Labels) -> dict[str, npt.NDArray[Any]]:
    """The columns that tell cells apart where they are listed: codes, and what labels there are."""
    check_labels(labels)
    known = {} if labels == "none" else known_labels(published)
    own = label_columns(published)
    columns: dict[str, npt.NDArray[Any]] = {}
    for name, codes in published.codes.items():
        columns[name] = codes
        if name not in known:
            continue
        if labels == "beside":
            columns[own[name]] = _replaced(codes, known[name], missing="")
        else:
            columns[name] = _replaced(codes, code_texts(known[name], labels))
    return columns


def label_columns(published: Published) -> dict[str, str]:
    """For each dimension the column with its labels, where they stand beside codes."""
    found: dict[str, str] = {}
    for dimension in published.codes:
        taken = dict.fromkeys((*published.codes, *found.values()))
        found[dimension] = free_name(f"{dimension}_label", taken)
    return found


def free_name(name: str, taken: Mapping[str, Any]) -> str:
    """The name of a column, with `cell_` before it where a dimension has the name."""
    while name in taken:
        name = f"cell_{name}"
    return name


def _replaced(
    codes: npt.NDArray[np.str_], texts: Mapping[str, str], missing: str | None = None
) -> npt.NDArray[np.str_]:
    """The text of each code; where it has none, the code itself or what stands for missing ones."""
    distinct, inverse = np.unique(codes, return_inverse=True)
    shown = [texts.get(code, code if missing is None else missing) for code in distinct.tolist()]
    return np.array(shown, dtype=str)[inverse.reshape(-1)]
