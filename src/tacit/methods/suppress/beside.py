"""Branch and cut on a second core, beside the search.

Integer master problems raise the bound where cuts describe a table well, a tree where they do not,
and nobody knows which it is beforehand: with two cores both run, and tell each other of patterns
and cuts. The tree runs in a thread: solvers and kernels let other threads go on.
"""

from __future__ import annotations

import contextvars
import threading
from queue import Empty, SimpleQueue
from typing import TypeAlias

import numpy as np

from tacit.clock import TimeUpError
from tacit.errors import SolverError
from tacit.methods.engine.cut_pool import Rows
from tacit.methods.suppress.algorithms.branch_and_cut import Tree
from tacit.methods.suppress.cuts import Master
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.model import Search
from tacit.observer import Observer
from tacit.problem import Booleans, Floats
from tacit.solver.mip import remember_run

_GRACE = 2.0
"""Seconds that the tree has to end when it is told to; then it is left behind."""

Letters: TypeAlias = "SimpleQueue[tuple[Rows, Floats]]"


class TreeBeside:
    """A tree over all columns in a thread of its own.

    It has a search, a relaxation and attackers of its own: nothing that changes is shared. What it
    finds waits until the search asks for it (`Search.hear`), and the other way round.
    """

    def __init__(self, search: Search, master: Master):
        self._search = search
        self._master = master
        self._known_rows = len(master.pool)
        self._begin = master.pool.matrix, master.pool.right.copy()
        self._fixed = master.fixed_out.copy(), master.fixed_in.copy(), master.ceiling
        self._bound = -np.inf
        self._best: Booleans | None = search.best
        self._offered: Booleans | None = search.best
        self._to_search: Letters = SimpleQueue()
        self._to_tree: Letters = SimpleQueue()
        self._is_over = threading.Event()
        self._end = threading.Event()
        self._tree: Tree | None = None
        self._failure: BaseException | None = None

    @property
    def has_ended(self) -> bool:
        """Has the tree come to its end?"""
        return self._end.is_set()

    def start(self) -> None:
        """Let the tree grow; the search hears of it from now on."""
        context = contextvars.copy_context()
        thread = threading.Thread(
            target=context.run, args=(self._run,), name="branch and cut", daemon=True
        )
        self._search.news.append(self._tell_search)
        thread.start()
        remember_run(self)

    def stop(self) -> None:
        """End the tree; the search hears of it for the last time.

        In a few steps SCIP listens to nothing: if it does not end soon it is left behind, and
        what it still finds goes nowhere.
        """
        self._is_over.set()
        if self._tree is not None:
            self._tree.interrupt()
        self._end.wait(_GRACE)
        self._search.news.remove(self._tell_search)

    def _run(self) -> None:
        """What the thread does."""
        try:
            twin = self._search.twin(_UntilOver(self._is_over))
            master = Master(twin)
            master.add(*self._begin)
            out, into, master.ceiling = self._fixed
            master.fixed_out, master.fixed_in = out, into
            fixed = np.flatnonzero(out | into)
            master.set_bounds(fixed, into[fixed].astype(np.float64), 1.0 - out[fixed])
            self._grow(twin, master)
        except (TimeUpError, SolverError):
            # The search goes on with what it has.
            pass
        except BaseException as error:
            self._failure = error
        finally:
            self._end.set()

    def _grow(self, twin: Search, master: Master) -> None:
        known = len(master.pool)

        def hear() -> None:
            nonlocal known
            for rows, right in _all(self._to_tree):
                master.add(rows, right)
            best = self._best
            if best is not None and best is not twin.best:
                twin.adopt(best)
            if len(master.pool) > known:
                fresh = np.arange(known, len(master.pool))
                known = len(master.pool)
                self._to_search.put((master.pool.rows(fresh), master.pool.right[fresh]))
            self._offered, self._bound = twin.best, twin.bound

        self._tree = Tree(twin, master, Constructor(twin), hear=hear)
        try:
            self._tree.run()
        finally:
            hear()

    def _tell_search(self) -> None:
        """Bring the search what the tree has found, and the tree what the search has."""
        search, master = self._search, self._master
        if self._failure is not None:
            raise self._failure
        for rows, right in _all(self._to_search):
            master.add(rows, right)
        if len(master.pool) > self._known_rows:
            fresh = np.arange(self._known_rows, len(master.pool))
            self._known_rows = len(master.pool)
            self._to_tree.put((master.pool.rows(fresh), master.pool.right[fresh]))
        offered = self._offered
        if offered is not None and search.weigh(offered) < search.objective:
            search.offer(offered)
        if self._bound > search.bound:
            search.raise_bound(min(self._bound, search.objective), "solver")
        self._best = search.best


class _UntilOver(Observer):
    """Stops a search as soon as it is of no use any more."""

    def __init__(self, is_over: threading.Event):
        self._is_over = is_over

    def should_stop(self) -> bool:
        """Whether it is."""
        return self._is_over.is_set()


def _all(letters: Letters) -> list[tuple[Rows, Floats]]:
    """What has arrived."""
    found = []
    while True:
        try:
            found.append(letters.get_nowait())
        except Empty:
            return found
