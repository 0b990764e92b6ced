"""Deviations suggested to an audit, each checked before it is used.

Whoever made a pattern safe knows deviations that show it. To check one takes a product with the
relations, to find it again may take a linear program. A suggestion that does not hold is left
out: the request is then answered as if nothing had been suggested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.engines import FURTHEST
from tacit.attack.evidence import Residuals
from tacit.attack.knowledge import Knowledge
from tacit.attack.reach import TOLERANCE, Reaches, Requests
from tacit.attack.sweep import Attack
from tacit.clock import time_left
from tacit.errors import InputError
from tacit.problem import Booleans, Integers, Problem
from tacit.tolerances import EVIDENCE

Deviations = sparse.csr_array[Any, Any]
"""One row per deviation from the true table, one column per cell."""

_EXACT = EVIDENCE / 10
"""What misses more than this share of what it is to show would have to be mended."""
_AT_ONCE = 500_000
"""Entries of deviations that are checked together."""
_TRIES = 64
"""Deviations of a cell that are tried for a request."""


class Suggestions:
    """Deviations that meet all relations; each attacker's bounds are looked at when it asks."""

    def __init__(self, problem: Problem, suggested: Deviations | None = None):
        """Take deviations in.

        Args:
            problem: The true table.
            suggested: Deviations, by default none.

        Raises:
            InputError: The deviations are about another number of cells.
        """
        self._problem = problem
        self._known: Deviations = sparse.csr_array((0, problem.cell_count))
        # What each misses the relations by in all, rounding included.
        self._missed = np.zeros(0)
        if suggested is not None:
            self.add(suggested)

    def add(self, suggested: Deviations) -> None:
        """Keep those of some deviations that are finite and meet the relations."""
        x = sparse.csr_array(suggested)
        n = self._problem.cell_count
        if x.shape[1] != n:
            raise InputError(f"deviations are suggested for {x.shape[1]} cells, the table has {n}")
        held: list[Deviations] = [self._known]
        missed = [self._missed]
        for some in _parts(x):
            part = sparse.csr_array(x[some])
            finite = np.ones(part.shape[0], bool)
            finite[_rows(part)[~np.isfinite(part.data)]] = False
            part = sparse.csr_array(part[finite])
            part = sparse.csr_array(part[self._residuals.are_met(part, TOLERANCE)])
            held.append(part)
            missed.append(self._residuals.of(part))
        self._known = sparse.csr_array(sparse.vstack(held))
        self._missed = np.concatenate(missed)

    @cached_property
    def _residuals(self) -> Residuals:
        return Residuals(self._problem)

    @property
    def known(self) -> Deviations:
        """All deviations, one per row."""
        return self._known

    def shown(
        self,
        told: Knowledge,
        requests: Requests,
        asked: Booleans,
        *,
        ranking: Integers | None = None,
    ) -> Integers:
        """For each request a deviation that reaches its target, -1 where none is known.

        Args:
            told: How far each cell may move, as far as the attacker knows.
            requests: What is asked; without a finite target there is nothing to show.
            asked: Requests to look at.
            ranking: Deviations with a low number are tried first.
        """
        x = self._known
        capacity = np.where(x.data > 0, told.up[x.indices], told.down[x.indices])
        row = _rows(x)
        inside = np.ones(x.shape[0], bool)
        inside[row[np.abs(x.data) > capacity * (1 + TOLERANCE)]] = False
        found = np.full(len(requests), -1, np.int64)
        largest = np.zeros(x.shape[0])
        np.maximum.at(largest, row, np.abs(x.data))
        for side in (1, -1):
            # The deviations of each cell, first those in which other cells move least, for the
            # sake of exactness.
            fair = side * x.data * FURTHEST >= largest[row]
            fair &= side * x.data * _EXACT >= self._missed[row]
            use = np.flatnonzero(inside[row] & (side * x.data > 0) & fair)
            first_ones = np.zeros(len(use)) if ranking is None else ranking[row[use]]
            nearest = -side * x.data[use] / largest[row[use]]
            use = use[np.lexsort((nearest, first_ones, x.indices[use]))]
            first = np.searchsorted(x.indices[use], np.arange(len(told.up) + 1))
            left = np.flatnonzero(asked & (requests.sides == side))
            for rank in range(_TRIES):
                place = first[requests.cells[left]] + rank
                is_there = place < first[requests.cells[left] + 1]
                left, entry = left[is_there], use[place[is_there]]
                if not len(left):
                    break
                met = side * x.data[entry] >= requests.targets[left] * (1 - TOLERANCE)
                if requests.limits is not None:
                    met &= requests.limits.take(left).kept(x, row[entry])
                found[left[met]] = row[entry[met]]
                left = left[~met]
        return found

    def reach(
        self,
        attack: Callable[[], Attack],
        told: Knowledge,
        requests: Requests,
        *,
        reopened: Booleans,
        **sweep: Any,
    ) -> Reaches:
        """Answer requests: by what is suggested where that suffices, by the attack otherwise.

        What the attack finds is suggested to whoever asks next.

        Args:
            attack: Makes the attack, if it is needed.
            told: How far each cell may move, as far as the attacker knows.
            requests: What to find out.
            reopened: Cells that have more capacity while they are asked: the attack answers.
            sweep: For `Attack.reach`.
        """
        if time_left() <= 0:
            return Reaches.unanswered(len(requests), self._problem)
        shown = self.shown(told, requests, ~reopened[requests.cells])
        left = np.flatnonzero(shown < 0)
        if len(left) == len(requests):
            answers = attack().reach(requests, **sweep)
            self.learn(requests, answers)
            return answers
        amount = np.zeros(len(requests))
        limit = np.full(len(requests), np.inf)
        answered = shown >= 0
        done = np.flatnonzero(answered)
        used, place = np.unique(shown[done], return_inverse=True)
        known = sparse.csr_array(self._known[used])
        amount[done] = requests.sides[done] * np.asarray(known[place, requests.cells[done]])
        row = np.zeros(len(requests), np.int64)
        row[done] = place
        parts: list[Deviations] = [known]
        proofs: list[Deviations] = [
            sparse.csr_array((len(done), self._problem.relation_count)),
        ]
        if len(left):
            rest = requests.take(left)
            progress = sweep.pop("progress", None)
            if progress is not None:
                sweep["progress"] = lambda count: progress(count + len(done))
            answers = attack().reach(rest, **sweep)
            self.learn(rest, answers)
            amount[left], limit[left] = answers.amount, answers.limit
            answered[left] = answers.answered
            row[left] = len(used) + answers.row
            parts.append(answers.tables)
            proofs.append(answers.multipliers)
        back = np.argsort(np.concatenate([done, left]), kind="stable")
        return Reaches(
            amount,
            limit,
            sparse.csr_array(sparse.vstack(parts)),
            sparse.csr_array(sparse.csr_array(sparse.vstack(proofs))[back]),
            answered,
            row,
        )

    def learn(self, requests: Requests, answers: Reaches) -> None:
        """Keep deviations that reach a target: the next attacker is asked much the same."""
        useful = answers.reached(requests) & np.isfinite(answers.amount) & (answers.amount > 0)
        if useful.any():
            self.add(sparse.csr_array(answers.tables[np.unique(answers.row[useful])]))


def _parts(x: Deviations) -> Iterator[slice]:
    """Rows that are checked together: products with the relations are several times as large."""
    start = 0
    while start < x.shape[0]:
        enough = x.indptr[start] + _AT_ONCE
        end = max(start + 1, int(np.searchsorted(x.indptr, enough, side="right")) - 1)
        yield slice(start, end)
        start = end


def _rows(x: Deviations) -> Integers:
    """The row of each entry."""
    return np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
