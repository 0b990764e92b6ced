"""Slow and obvious: tables and sensitivity rules in plain Python, written from the definitions.

Nothing here looks at how tacit computes. A cell is a list of what its contributors contribute;
every rule is judged from that list, in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

Codes = tuple[str, ...]
Record = Mapping[str, Any]


@dataclass
class Respondent:
    """What one contributor (or holding) has in one cell."""

    value: Fraction = Fraction(0)
    weighted: Fraction = Fraction(0)
    shadow: Fraction = Fraction(0)
    weight: Fraction = Fraction(1)
    asks: bool = False


@dataclass
class Cell:
    """A cell with everybody who contributes to it."""

    contributors: dict[object, Respondent] = field(default_factory=dict)
    holdings: dict[object, Respondent] = field(default_factory=dict)

    @property
    def value(self) -> Fraction:
        """The weighted total."""
        return sum((one.weighted for one in self.contributors.values()), Fraction(0))


def above(code: str, parents: Mapping[str, str]) -> list[str]:
    """A code and all its ancestors."""
    chain = [code]
    while chain[-1] in parents:
        chain.append(parents[chain[-1]])
    return chain


def cells_of(
    records: Iterable[Record], parents: Mapping[str, Mapping[str, str]], shadow: str = "value"
) -> dict[Codes, Cell]:
    """Every cell that somebody contributes to, totals included.

    Records have the codes of the dimensions, `firm`, `value` and, if they like, `holding`,
    `weight`, `asks` and the shadow column. All records of a firm have the same weight.
    """
    cells: dict[Codes, Cell] = {}
    for record in records:
        weight = Fraction(record.get("weight", 1))
        value = Fraction(record["value"])
        names = (("firm", record["firm"]), ("holding", record.get("holding")))
        for codes in product(*(above(record[name], parents[name]) for name in parents)):
            cell = cells.setdefault(codes, Cell())
            holding = names[0] if names[1][1] is None else names[1]
            for group, who in ((cell.contributors, names[0]), (cell.holdings, holding)):
                one = group.setdefault(who, Respondent(weight=weight))
                one.value += value
                one.weighted += weight * value
                one.shadow += Fraction(record[shadow])
                one.asks = one.asks or bool(record.get("asks"))
    return cells


def largest(amounts: Iterable[Fraction], length: int) -> list[float | None]:
    """The largest in size, with their sign; None where there are not so many."""
    ordered = sorted(amounts, key=abs, reverse=True)[:length]
    return [float(one) for one in ordered] + [None] * (length - len(ordered))


def copies(amounts: Sequence[Fraction], weights: Sequence[Fraction]) -> list[Fraction]:
    """Contributions of a sample written out: one of weight 3 occurs three times."""
    return sorted(
        (one for one, w in zip(amounts, weights, strict=True) for _ in range(int(w))), reverse=True
    )


def dominance_level(contributions: Sequence[Fraction], n: int, k: Fraction) -> Fraction | None:
    """What must be added until the n largest do not dominate; None for a cell that is safe."""
    total, first = sum(contributions), sum(sorted(contributions, reverse=True)[:n])
    return None if first <= k / 100 * total else Fraction(100 * first) / k - total


def prior_posterior_level(
    contributions: Sequence[Fraction], p: Fraction, q: Fraction, coalition: int = 1
) -> Fraction | None:
    """[KarlssonOlsson2015, (3.3)] for a coalition; None for a cell that is safe (2.1)."""
    ordered = sorted(contributions, reverse=True)
    if not ordered:
        return None
    rest = sum(ordered[1 + coalition :], Fraction(0))
    return (p * ordered[0] - q * rest) / 100 if q * rest < p * ordered[0] else None
