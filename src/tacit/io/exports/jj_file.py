"""JJ: the relations and what readers know of each cell, for programs that attack or check."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tacit.errors import InputError
from tacit.io.jj import write_jj
from tacit.problem import Problem
from tacit.release.flags import PublishedStatus
from tacit.release.published import Published


def write_reader_jj(published: Published, path: str | Path) -> None:
    """Write a JJ file without anything confidential; see `Published.to_jj`.

    Raises:
        InputError: The relations are not known, or the file cannot be written.
    """
    if published.relations is None or published.rhs is None:
        raise InputError("this publication does not know its relations, which a JJ file needs")
    hidden, value = published.is_hidden, published.value
    lower = np.where(hidden | published.altered, published.lowest, value)
    upper = np.where(hidden | published.altered, np.inf, value)
    if published.lower is not None and published.upper is not None:
        spread = published.status == PublishedStatus.INTERVAL.value
        lower = np.where(spread, published.lower, lower)
        upper = np.where(spread, published.upper, upper)
    if published.radius is not None:
        lower = np.maximum(lower, value - published.radius)
        upper = np.minimum(upper, value + published.radius)
    primary = np.zeros(len(value), bool) if published.primary is None else published.primary
    known = Problem(
        value=np.where(hidden, np.clip(0.0, lower, upper), value),
        lower=lower,
        upper=upper,
        relations=published.relations,
        rhs=published.rhs,
        sensitive=np.flatnonzero(primary),
    )
    write_jj(known, path, suppressed=hidden, confidential=False)
