"""A table as algorithms see it: plain arrays, and what attackers know besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit.problem import Integers, Problem
from tacit.table.columns import filled
from tacit.table.former import rhs_of
from tacit.table.insiders import respondents
from tacit.table.status import CellStatus
from tacit.table.weighting import default_weights

if TYPE_CHECKING:
    from tacit.table.table import Table


def without_insiders(table: Table) -> Problem:
    """The problem that a table is against readers; see `Table.problem`."""
    sensitive = np.flatnonzero(table.is_sensitive)
    levels: dict[str, Any] = {
        name: filled(table, name, 0.0)[sensitive]
        for name in ("lower_level", "upper_level", "sliding_level")
    }
    published = (CellStatus.PUBLISH.value, CellStatus.EMPTY.value)
    relations, rhs = table.relations, np.zeros(table.relations.shape[0])
    if table.former is not None:
        # Whoever has both publications knows these as well.
        sums = table.former.known_sums(relations)
        relations = sparse.csr_array(sparse.vstack([relations, sums]))
        rhs = np.append(rhs, rhs_of(sums, table.value))
    return Problem(
        value=table.value,
        lower=filled(table, "lower", np.where(table.can_be_negative, -np.inf, 0.0)),
        upper=filled(table, "upper", np.inf),
        weight=filled(table, "weight", default_weights(table)),
        relations=relations,
        rhs=rhs,
        sensitive=sensitive,
        must_publish=np.isin(table.status, published),
        overridden=np.flatnonzero(table.overridden),
        singleton=respondents(table.relations, filled(table, "count", np.nan) == 1),
        strips=_strips(table),
        labels=table.labels,
        **levels,
    )


def _strips(table: Table) -> list[Integers] | None:
    """What methods look for in tables that are not networks."""
    if len(table.grids) == 1 and not table.grids[0].has_two_hierarchies:
        return None
    return [cells for grid in table.grids for cells in grid.strips()] or None
