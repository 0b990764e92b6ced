"""Small tables of firms who know their own figures, for all methods that publish intervals."""

from __future__ import annotations

import tacit

ONE = tacit.Hierarchy.from_nested({"n": ["n1"], "s": None, "m": None})
"""A parent with one child beside two other codes."""


def two_singles() -> tacit.Table:
    """A row of two firms that are alone in a cell each, and two cells of many firms."""
    records = {
        "place": ["a", "b"] + ["c"] * 5 + ["d"] * 5,
        "firm": ["a1", "b1", *(f"c{k}" for k in range(5)), *(f"d{k}" for k in range(5))],
        "turnover": [100.0, 80.0] + [30.0] * 5 + [90.0] * 5,
    }
    table = tacit.tabulate(records, {"place": None}, "turnover", contributor="firm")
    return table.apply(tacit.MinFrequency(3))


def lone_child() -> tacit.Table:
    """A parent whose one child has one firm: a chain that this firm knows, and no one else."""
    records = {
        "place": ["n1"] + ["s"] * 4 + ["m"] * 4,
        "firm": ["n", *(f"s{k}" for k in range(4)), *(f"m{k}" for k in range(4))],
        "turnover": [100.0] + [50.0] * 4 + [40.0] * 4,
    }
    table = tacit.tabulate(records, {"place": ONE}, "turnover", contributor="firm")
    return table.apply(tacit.MinFrequency(3))
