"""The least width of published intervals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError
from tacit.methods.combined.options import WRONG_WIDTH, width_share
from tacit.problem import Floats, Problem


def least_widths(problem: Problem, min_width: float | str | npt.ArrayLike) -> Floats:
    """The least width of the interval of each cell that is not published exactly.

    >>> least_widths(Problem(value=[20, -40]), "5%").tolist()
    [1.0, 2.0]
    """
    if isinstance(min_width, str):
        return np.asarray(width_share(min_width) * np.abs(problem.value))
    try:
        given = np.asarray(min_width, float)
    except (TypeError, ValueError):
        raise InputError(WRONG_WIDTH) from None
    if given.shape not in ((), (problem.cell_count,)):
        raise InputError(f"min_width as an array needs {problem.cell_count} entries, one a cell")
    # `not >=` also refuses NaN.
    if not (given >= 0).all() or not np.isfinite(given).all():
        raise InputError(WRONG_WIDTH)
    return np.array(np.broadcast_to(given, problem.cell_count))
