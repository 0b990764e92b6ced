"""Networks inside a table that is none.

Any subset of the relations gives valid cuts: whoever knows less is stopped more easily. Subsets in
which every cell sits at most twice, with opposite signs after turning some relations round, are
networks, and their cuts are minimum cuts of flows. Some tens of them find nearly all cuts of a
table with two hierarchies or three dimensions that linear programs find, in a fraction of the
time. Nothing but the relations is needed, so that linked tables and files without dimensions are
served alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.network import Network, link_up
from tacit.problem import Booleans, Floats, Integers

_AT_ONCE = 16
"""So many networks are at hand at a time."""


@dataclass(frozen=True, eq=False)
class NetworkPart:
    """Some relations of a table that are a network.

    Attributes:
        network: The network; its arcs are the cells, its nodes the relations.
        cells: The cell of each arc, increasing: those that sit in one of the relations.
    """

    network: Network
    cells: Integers


class NetworkParts:
    """Networks among the relations of a table, some at a time.

    Each is as large as can be. Relations join in breadth-first order, first those that no network
    has had since all of them had their turn, each time from another relation on.
    """

    def __init__(self, A: sparse.csr_array[Any, Any], cells: Booleans):
        """Prepare.

        Args:
            A: The relations.
            cells: The cells that matter: relations without any of them are left out.
        """
        row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        self._usable = np.asarray(abs(A).sign() @ cells.astype(np.float64)) > 0
        self._usable[row[np.abs(A.data) != 1]] = False
        self._A = A
        self._covered = ~self._usable
        self._order = np.arange(A.shape[0])
        self._rng = np.random.default_rng(20_260_511)
        self._grown: list[NetworkPart] = []

    def get(self) -> list[NetworkPart]:
        """The networks at hand."""
        if not self._grown:
            self.renew()
        return self._grown

    def renew(self) -> bool:
        """Look for others instead; False if there are none."""
        if not self._usable.any():
            return False
        self._grown = []
        for _ in range(_AT_ONCE):
            self._grow()
        return True

    def _grow(self) -> None:
        from tacit.attack.kernels import grow_network

        order = self._order
        rows = sparse.csr_array(self._A[order])
        columns = sparse.csc_array(rows)
        sign = grow_network(
            rows.indptr,
            rows.indices,
            rows.data,
            columns.indptr,
            columns.indices,
            self._covered[order],
            self._usable[order],
        )
        signs = np.zeros(len(sign))
        signs[order] = sign
        chosen = np.flatnonzero(signs)
        self._grown.append(_part(self._A, chosen, signs[chosen]))
        self._covered[chosen] = True
        if self._covered.all():
            self._covered = ~self._usable
            self._order = self._rng.permutation(len(order))


def _part(A: sparse.csr_array[Any, Any], rows: Integers, sign: Floats) -> NetworkPart:
    """The network of some relations, turned round as the signs say."""
    chosen = sparse.coo_array(A[rows])
    cells, arc = np.unique(chosen.col, return_inverse=True)
    root = len(rows)
    tail, head = np.full(len(cells), root, np.int64), np.full(len(cells), root, np.int64)
    into = chosen.data * sign[chosen.row] > 0
    head[arc[into]] = chosen.row[into]
    tail[arc[~into]] = chosen.row[~into]
    return NetworkPart(link_up(tail, head, rows, sign), cells.astype(np.int64))
