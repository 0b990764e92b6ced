"""Evidence: what an audit claims, in a form that anybody can check with numpy alone.

That a cell is safe is shown by a consistent table that reaches its protection level. That it
is exposed, or that an interval is exact, is shown by row multipliers g: with d = e_s - A'g no
consistent table moves the cell by more than the sum of d+ up + d- down (paper 002, (3.10)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.knowledge import Attacker, Knowledge
from tacit.attack.reach import Reaches, Requests, charges
from tacit.errors import TacitError
from tacit.problem import Booleans, Floats, Integers, Problem

EVIDENCE_TOLERANCE = 1e-7
"""Claims hold when relations, bounds and amounts are met to this share of their magnitude."""


class EvidenceError(TacitError):
    """Evidence that does not show what it claims.

    Attributes:
        cells: The cells whose claims fail.
    """

    def __init__(self, message: str, cells: Integers):
        self.cells = tuple(cells.tolist())
        super().__init__(message)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Claims of one audit against one attacker, with what shows them.

    Attributes:
        cells: The cell of each claim.
        sides: 1 where the claim is about rising, -1 about falling.
        amount: The cell moves at least so far in a consistent table; inf for without end.
        deviations: That table, as deviations from the true one; a direction for inf.
        limit: No consistent table moves it further; inf where nothing is claimed.
        multipliers: Row multipliers that show the limit.
    """

    cells: Integers
    sides: Integers
    amount: Floats
    deviations: sparse.csr_array[Any, Any]
    limit: Floats
    multipliers: sparse.csr_array[Any, Any]

    @classmethod
    def of(cls, requests: Requests, reaches: Reaches) -> Evidence:
        """Turn answers into claims; unanswered requests claim nothing."""
        told = reaches.answered
        return cls(
            requests.cells[told],
            requests.sides[told],
            reaches.amount[told],
            sparse.csr_array(reaches.deviations[told]),
            reaches.limit[told],
            sparse.csr_array(reaches.multipliers[told]),
        )

    def __len__(self) -> int:
        return len(self.cells)

    def check(
        self,
        problem: Problem,
        knowledge: Knowledge,
        attacker: Attacker | None = None,
        *,
        tolerance: float = EVIDENCE_TOLERANCE,
    ) -> None:
        """Verify every claim from scratch.

        Args:
            problem: The true table.
            knowledge: What everyone knows from the publication.
            attacker: Who is attacking; by default someone who knows nothing more.
            tolerance: Allowed error: of a relation as a share of the sum of the absolute
                terms of the table in it, of a bound as a share of the cell's value and bounds,
                of an amount as a share of itself.

        Raises:
            EvidenceError: Some claim does not hold.
        """
        attacker = attacker or Attacker.external()
        told = attacker.learn(problem, knowledge)
        reopened = attacker.reopened(problem)
        wrong = self._unreached(problem, told, knowledge, reopened, tolerance)
        wrong |= self._unlimited(problem, told, knowledge, reopened, tolerance)
        if wrong.any():
            cells = np.unique(self.cells[wrong])
            raise EvidenceError(
                f"the evidence does not show what it claims about {problem.name_cells(cells)}; "
                "audit again, and do not rely on this one",
                cells,
            )

    def _own_capacity(self, told: Knowledge, knowledge: Knowledge, reopened: Booleans) -> Floats:
        """How far the cell of each claim may itself move in the claimed direction."""
        raised = self.sides > 0
        alone = np.where(raised, told.up[self.cells], told.down[self.cells])
        free = np.where(raised, knowledge.up[self.cells], knowledge.down[self.cells])
        return np.where(reopened[self.cells], free, alone)

    def _unreached(
        self,
        problem: Problem,
        told: Knowledge,
        knowledge: Knowledge,
        reopened: Booleans,
        tolerance: float,
    ) -> Booleans:
        """Claims whose consistent table is none, or does not reach the amount."""
        x = sparse.csr_array(self.deviations)
        claims, n = x.shape
        if claims != len(self) or n != problem.cell_count:
            return np.ones(len(self), bool)
        wrong = np.zeros(claims, bool)
        endless = np.isinf(self.amount)
        row = np.repeat(np.arange(claims), np.diff(x.indptr))
        is_own = x.indices == self.cells[row]
        own = np.zeros(claims)
        own[row[is_own]] = x.data[is_own]
        reached = own * self.sides
        enough = np.where(endless, 0.0, self.amount)
        enough = enough - tolerance * np.abs(enough)
        wrong |= ~np.where(endless, reached > 0, reached >= enough)

        up, down = told.up[x.indices], told.down[x.indices]
        capacity = self._own_capacity(told, knowledge, reopened)
        up = np.where(is_own & (self.sides[row] > 0), capacity[row], up)
        down = np.where(is_own & (self.sides[row] < 0), capacity[row], down)
        room = np.where(x.data > 0, up, down)
        slack = tolerance * np.maximum(np.abs(problem.value[x.indices]), np.abs(x.data))
        # Along a direction without end only cells without bound may move.
        outside = np.where(endless[row], np.isfinite(room), np.abs(x.data) > room + slack)
        outside |= ~np.isfinite(x.data)
        wrong[row[outside]] = True

        residual = sparse.csr_array(x @ problem.relations.T)
        terms = sparse.csr_array(abs(x) @ abs(problem.relations).T)
        size = problem.scale()
        at = np.repeat(np.arange(claims), np.diff(residual.indptr))
        entry_terms = np.asarray(terms[at, residual.indices]).ravel()
        allowed = entry_terms + np.where(endless[at], 0.0, size[residual.indices])
        wrong[at[~(np.abs(residual.data) <= tolerance * allowed)]] = True
        return wrong

    def _unlimited(
        self,
        problem: Problem,
        told: Knowledge,
        knowledge: Knowledge,
        reopened: Booleans,
        tolerance: float,
    ) -> Booleans:
        """Claims of a limit that the multipliers do not show."""
        wrong = np.zeros(len(self), bool)
        bounded = np.flatnonzero(self.limit != np.inf)
        g = sparse.csr_array(self.multipliers)
        if g.shape != (len(self), problem.relation_count):
            wrong[bounded] = True
            return wrong
        unusable = np.repeat(np.arange(len(self)), np.diff(g.indptr))[~np.isfinite(g.data)]
        wrong[unusable] = True
        bounded = bounded[~wrong[bounded]]
        capacity = self._own_capacity(told, knowledge, reopened)
        for start in range(0, len(bounded), 256):
            chunk = bounded[start : start + 256]
            d = -np.asarray((g[chunk] @ problem.relations).toarray())
            d[np.arange(len(chunk)), self.cells[chunk]] += self.sides[chunk]
            up = np.broadcast_to(told.up, d.shape).copy()
            down = np.broadcast_to(told.down, d.shape).copy()
            at = (np.arange(len(chunk)), self.cells[chunk])
            up[at] = np.where(self.sides[chunk] > 0, capacity[chunk], up[at])
            down[at] = np.where(self.sides[chunk] < 0, capacity[chunk], down[at])
            room = np.where(d > 0, up, down)
            shown = charges(d, room).sum(axis=1)
            allowed = self.limit[chunk] * (1 + tolerance) + tolerance * np.abs(
                problem.value[self.cells[chunk]]
            )
            wrong[chunk[~(shown <= allowed)]] = True
        return wrong
