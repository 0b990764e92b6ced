"""The largest contributions to each cell, and what all others contribute together.

Magnitudes count. What hides a contribution is how much the others contribute, and a loss hides
as well as a gain; so a rule about contributions is a rule about their magnitudes. A table holds
the sum of all contributions, not of their magnitudes. Where contributions are negative, the rest
is therefore the least that is possible: no cell is called safe because of magnitudes that are
not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.errors import TableError
from tacit.problem import Booleans, Floats
from tacit.rules.rule import SensitivityRule, is_occupied, refuse_cells
from tacit.table import Table
from tacit.tolerances import AGREEMENT


@dataclass(frozen=True, eq=False)
class Magnitudes:
    """Magnitudes of contributions, one row per cell.

    With sampling weights a contribution x of weight w stands for w contributors that contribute x
    each, also where w is not a whole number.

    Attributes:
        amount: The largest contributions, largest first; 0 where there are no more.
        weight: How many contributors each stands for; None where each is one.
        rest: What all others contribute together.
        judged: The total that is judged: the shadow of a cell, or its value.
        scale: What a level of the total amounts to in the value of the cell.
    """

    amount: Floats
    weight: Floats | None
    rest: Floats
    judged: Floats
    scale: Floats | float

    @cached_property
    def total(self) -> Floats:
        """What all contribute together."""
        weighted = self.amount if self.weight is None else self.amount * self.weight
        total: Floats = weighted.sum(axis=1) + self.rest
        return total

    def largest(self, number: int) -> Floats:
        """What this many of the largest contributors contribute together.

        Where sampling weights below 1 leave fewer than that among the known ones, the others are
        taken to be as large as they can be.
        """
        if self.weight is None:
            first: Floats = self.amount[:, :number].sum(axis=1)
            return first
        taken = np.zeros(len(self.amount))
        left = np.full(len(self.amount), float(number))
        for amount, weight in zip(self.amount.T, self.weight.T, strict=True):
            copies = np.minimum(weight, left)
            taken += copies * amount
            left -= copies
        smallest = self.amount[:, -1] if self.amount.shape[1] else 0.0
        return taken + np.minimum(left * smallest, self.rest)

    def beyond(self, number: int) -> Floats:
        """What all but the largest contributors contribute together."""
        if self.weight is None:
            others: Floats = self.amount[:, number:].sum(axis=1) + self.rest
            return others
        return np.maximum(self.total - self.largest(number), 0.0)


def contributions(table: Table, rule: SensitivityRule, *, holding: bool) -> Magnitudes:
    """The contributions to the cells of a table.

    Args:
        table: The table.
        rule: The rule that needs them.
        holding: Whether holdings count instead of contributors.
    """
    name, whose = ("holding_top", "holding") if holding else ("top", "contributor")
    top: Floats | None = getattr(table, name)
    if top is None:
        raise TableError(
            f"the rule '{rule.reason}' needs the largest contributions to each cell by {whose}; "
            f"tabulate with {whose}s, or name the columns that hold them ({name})"
        )
    judged = table.value if table.shadow is None else table.shadow
    if table.shadow is not None:
        judged = np.where(np.isnan(judged), table.value, judged)
    missing = np.isnan(top)
    signed = np.where(missing, 0.0, top) if missing.any() else top
    weight = None if holding else _weights(table, missing)
    known = (signed if weight is None else signed * weight).sum(axis=1)
    others = judged - known
    amount = np.abs(signed)
    _refuse_incomplete(table, rule, name, missing, others, known)
    is_signed = (signed < 0).any(axis=1) | (judged < 0)
    rest = np.where(is_signed, np.abs(others), np.maximum(others, 0.0))
    count = table.holding_count if holding else table.count
    if count is not None:
        everybody: Booleans = count <= np.sum(~missing, axis=1)
        if weight is None:
            # Total and contributions may each have been rounded to whole numbers.
            rounding = np.maximum(AGREEMENT * np.abs(known), 0.5 * (top.shape[1] + 1))
            differs: Booleans = np.abs(others) > rounding
            refuse_cells(
                table,
                everybody & differs & is_occupied(table),
                "the contributions do not add up to the total, though all of them are given",
                f"correct {name}, the counts or the total; in a sample, give top_weight",
            )
        rest[everybody] = 0.0
    found = Magnitudes(amount, weight, rest, judged, 1.0)
    return found if table.shadow is None else _carried_over(found, table)


def _weights(table: Table, missing: Booleans) -> Floats | None:
    if table.top_weight is None:
        return None
    weight = np.where(np.isnan(table.top_weight), 1.0, table.top_weight)
    refuse_cells(
        table,
        np.any(weight < 0, axis=1),
        "a sampling weight is negative",
        "correct top_weight",
    )
    weight[missing] = 0.0
    return weight


def _refuse_incomplete(
    table: Table,
    rule: SensitivityRule,
    name: str,
    missing: Booleans,
    others: Floats,
    known: Floats,
) -> None:
    """Refuse cells that have more contributors than are known, though the rule needs more."""
    largest = rule.largest_needed
    listed = (~missing).sum(axis=1)
    few = np.flatnonzero(listed < largest)
    if not len(few):
        return
    left_over = np.abs(others[few]) > AGREEMENT * np.maximum(np.abs(known[few]), 1.0)
    count = table.holding_count if name == "holding_top" else table.count
    if count is not None:
        unknown = np.isnan(count[few])
        left_over = np.where(unknown, left_over, count[few] > listed[few])
    incomplete = np.zeros(table.cell_count, bool)
    incomplete[few] = left_over
    remedy = (
        "tabulate with more of the largest contributions"
        if missing.shape[1] < largest
        else f"complete {name}"
    )
    refuse_cells(
        table,
        incomplete & is_occupied(table),
        f"the rule '{rule.reason}' needs more of the largest contributions than are given",
        remedy,
    )


def _carried_over(found: Magnitudes, table: Table) -> Magnitudes:
    """Levels of the shadow become the same share of the value."""
    size = np.where(found.judged == 0, found.total, np.abs(found.judged))
    scale = np.divide(np.abs(table.value), size, out=np.zeros(len(size)), where=size > 0)
    return Magnitudes(found.amount, found.weight, found.rest, found.judged, scale)
