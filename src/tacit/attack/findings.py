"""What follows from evidence: what an attacker can deduce, who is exposed, and what stays open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.attack.evidence import Evidence
from tacit.attack.exposure import Exposure
from tacit.attack.knowledge import Attacker
from tacit.attack.reach import GAP_TOLERANCE, TOLERANCE
from tacit.problem import Booleans, Floats, Integers, Problem


@dataclass(frozen=True, eq=False)
class AttackerFindings:
    """What one attacker can deduce.

    Attributes:
        attacker: Who.
        cells: The cells looked at.
        lower: Smallest value deduced for each of them; where `exact` is False, the true
            smallest value may lie further away still.
        upper: Largest value deduced.
        exact: Whether both ends are proven to be exactly what can be deduced.
        exposures: Sensitive cells that are not protected as asked.
        evidence: What shows all this.
        undecided: Sensitive cells about which the evidence shows neither that they are protected
            nor that they are exposed: the audit was stopped, or no answer passed the check.
    """

    attacker: Attacker
    cells: Integers
    lower: Floats
    upper: Floats
    exact: Booleans
    exposures: tuple[Exposure, ...]
    evidence: Evidence
    undecided: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        problem: Problem,
        attacker: Attacker,
        evidence: Evidence,
        cells: Integers | None = None,
    ) -> AttackerFindings:
        """Judge claims: nothing but the claims, the table and its levels counts.

        A cell is protected where the claimed tables reach its levels, and exposed where the
        claimed limits lie below one of them.

        Args:
            problem: The true table.
            attacker: Who is attacking.
            evidence: The claims.
            cells: The cells that were to be looked at; by default those of the claims.
        """
        cells = np.unique(evidence.cells) if cells is None else cells
        amount = np.zeros((2, problem.cell_count))
        limit = np.full((2, problem.cell_count), np.inf)
        claimed = np.zeros((2, problem.cell_count), bool)
        where = (np.where(evidence.sides > 0, 0, 1), evidence.cells)
        amount[where], limit[where], claimed[where] = evidence.amount, evidence.limit, True
        covered: Booleans = claimed[0] & claimed[1]
        agreed = _agree(problem, amount, limit)
        rise, fall = amount[:, cells]
        return cls(
            attacker,
            cells,
            problem.value[cells] - fall,
            problem.value[cells] + rise,
            (covered & agreed[0] & agreed[1])[cells],
            *_judge(problem, attacker, amount, limit, covered, evidence),
        )


def _agree(problem: Problem, amount: Floats, limit: Floats) -> Booleans:
    """Where amount and limit agree up to the last digits of a solver."""
    ended = np.isfinite(limit) & np.isfinite(amount)
    between = np.where(ended, limit, 0.0) - np.where(ended, amount, 0.0)
    # For a zero, what was known before tells what is small.
    width = problem.upper - problem.lower
    size = np.where(problem.value == 0, np.where(np.isfinite(width), width, 0.0), problem.value)
    noise = GAP_TOLERANCE * np.where(ended, limit, 0.0) + TOLERANCE * np.abs(size)
    return np.isinf(amount) | (ended & (between <= noise))


def _judge(
    problem: Problem,
    attacker: Attacker,
    amount: Floats,
    limit: Floats,
    covered: Booleans,
    evidence: Evidence,
) -> tuple[tuple[Exposure, ...], Evidence, tuple[int, ...]]:
    judged = ~attacker.spares(problem)[problem.sensitive]
    s = problem.sensitive[judged]
    (rise, fall), (highest, lowest) = amount[:, s], limit[:, s]
    exposures: list[Exposure] = []
    is_open = ~covered[s]
    for name, asked, least, most in (
        ("lower", problem.lower_level, fall, lowest),
        ("upper", problem.upper_level, rise, highest),
        ("sliding", problem.sliding_level, rise + fall, highest + lowest),
    ):
        level = asked[judged]
        enough = level * (1 - TOLERANCE)
        # A level of 0 asks for nothing.
        missed = (level > 0) & (least < enough)
        shown = missed & covered[s] & (most < enough)
        is_open |= missed & ~shown
        exposures += [
            Exposure(cell, problem.name_cell(cell), attacker.name, name, share)
            for cell, share in zip(
                s[shown].tolist(), (least[shown] / level[shown]).tolist(), strict=True
            )
        ]
    exposures.sort(key=lambda exposure: (exposure.share, exposure.cell))
    return tuple(exposures), evidence, tuple(s[is_open].tolist())
