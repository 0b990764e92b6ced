"""What is to happen to a cell."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tacit.errors import TableError, first_few

Statuses: TypeAlias = npt.NDArray[np.str_]


class CellStatus(StrEnum):
    """What is to happen to a cell."""

    SAFE = "safe"
    """May be published, or suppressed to protect others."""
    SENSITIVE = "sensitive"
    """Must not be published."""
    PUBLISH = "publish"
    """Must be published."""
    EMPTY = "empty"
    """Nobody contributes, as everybody knows."""
    SECONDARY = "secondary"
    """Suppressed to protect others."""


STATUS_DTYPE = np.dtype(f"<U{max(len(status) for status in CellStatus)}")


def status_array(given: Any, cell_count: int) -> Statuses:
    """Statuses as a new array of text, `safe` where none is given."""
    if given is None:
        return np.full(cell_count, CellStatus.SAFE.value, STATUS_DTYPE)
    if isinstance(given, np.ndarray) and given.dtype.kind == "U":
        array = given.copy()
    else:
        array = np.array([entry if isinstance(entry, str) else "" for entry in given], np.str_)
        array[array == ""] = CellStatus.SAFE.value
    known = np.zeros(array.shape, bool)
    for status in CellStatus:
        known |= array == status.value
    if not known.all():
        unknown = [str(status) for status in np.unique(array[~known])]
        raise TableError(f"status {first_few(unknown)} is unknown; use {', '.join(CellStatus)}")
    return array.astype(STATUS_DTYPE)
