"""Improve a safe pattern region by region: all cells outside it stay as they are.

A region is some relations that hang together. Branch and cut over the few columns in it takes about
a second, and often finds something lighter: single cells that are published and protected anew do
not lead there, and a tree over the whole table comes to it by chance.
"""

from __future__ import annotations

import numpy as np

from tacit.clock import Clock
from tacit.methods.engine.cut_pool import Rows
from tacit.methods.suppress.algorithms.branch_and_cut import Tree
from tacit.methods.suppress.cuts import Master
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.model import Search
from tacit.problem import Booleans, Integers

_SIZE = 40
"""Columns of the first region that the relaxation or the best pattern uses."""
_LEAST_SIZE = 20
_GROWTH = 1.05
"""Regions grow by this factor when they are searched to the end, and shrink when they are not."""
_SECONDS = 1.5
"""What one region may take."""
_PATIENCE = 12
"""So many regions in a row may have nothing lighter before they are left."""
_USED = 1e-3
"""What the relaxation suppresses by more than this it uses."""
_CHEAP = 0.1
"""Of the other columns those with the least reduced costs may be used, too, this share of them."""


class Regions:
    """Goes from region to region of the best pattern."""

    def __init__(self, search: Search, master: Master, constructor: Constructor):
        self._search = search
        self._master = master
        self._constructor = constructor
        self._random = np.random.default_rng(search.options.seed)
        touches = abs(search.problem.relations).sign()
        self._relations, self._cells = touches.tocsr(), touches.T.tocsr()
        self._column = np.full(search.problem.cell_count, -1, np.int64)
        self._column[master.cells] = np.arange(len(master.cells))
        self._size = float(_SIZE)
        self._tried_in_vain = 0

    def improve(self, *, seconds: float) -> bool:
        """Search regions for some time, or until many have nothing lighter.

        Returns:
            Whether the best pattern has become lighter.
        """
        search = self._search
        before, end = search.objective, search.seconds + seconds
        self._tried_in_vain = 0
        while search.seconds < end and self._tried_in_vain < _PATIENCE:
            search.hear()
            if search.should_stop() or search.best is None or not self._search_one(search.best):
                break
        return search.objective < before

    def _search_one(self, best: Booleans) -> bool:
        """Search one region; False if nothing is left to search."""
        search, master = self._search, self._master
        chosen = best[master.cells]
        inside = self._region(chosen)
        if len(inside) < 2:
            return False
        held = chosen.copy()
        held[inside] = False
        before, began = search.objective, search.seconds
        tree = Tree(search, master, self._constructor, columns=inside, held=held, seconds=_SECONDS)
        # Contributors may take long over one pattern, longer than SCIP looks at its clock.
        with Clock(_SECONDS):
            tree.run()
        is_searched = search.seconds - began < _SECONDS
        self._size = max(_LEAST_SIZE, self._size * (_GROWTH if is_searched else 1 / _GROWTH))
        self._tried_in_vain += 1
        if search.objective < before:
            self._tried_in_vain = 0
            # A lighter pattern rules more columns out, and the tree has left its cuts.
            while master.tighten() and not search.should_stop() and master.recall_violated():
                pass
        return not search.should_stop()

    def _region(self, chosen: Booleans) -> Integers:
        """The columns of some relations that hang together by cells that are used.

        Args:
            chosen: The columns that the best pattern uses.
        """
        master, random = self._master, self._random
        is_open = ~(master.fixed_out | master.fixed_in)
        used = is_open & ((master.y > _USED) | chosen)
        unused = is_open & ~used
        if unused.any():
            dear = np.quantile(master.reduced[unused], _CHEAP)
            is_open &= used | (master.reduced <= dear)
        inside = np.zeros(len(chosen), bool)
        known: set[int] = set()
        border = random.choice(np.flatnonzero(used), min(1, int(used.sum()))).tolist()
        while border and inside[used].sum() < self._size:
            at = int(random.integers(len(border)))
            fresh = [each for each in self._relations_of(border[at]) if each not in known]
            if not fresh:
                border.pop(at)
                continue
            relation = int(random.choice(fresh))
            known.add(relation)
            found = self._column[_members(self._relations, relation)]
            found = found[found >= 0]
            found = found[is_open[found] & ~inside[found]]
            inside[found] = True
            border.extend(found[used[found]].tolist())
        return np.flatnonzero(inside)

    def _relations_of(self, column: int) -> list[int]:
        """The relations that the cell of a column is in."""
        relations: list[int] = _members(self._cells, int(self._master.cells[column])).tolist()
        return relations


def _members(rows: Rows, row: int) -> Integers:
    """The columns that a row has entries in."""
    return rows.indices[rows.indptr[row] : rows.indptr[row + 1]].astype(np.int64)
