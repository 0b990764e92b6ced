"""`Example`: a table printed in a paper, with what the paper says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError
from tacit.outcome import Solution
from tacit.problem import Problem
from tacit.table import Table

PAPERS: Mapping[str, str] = {
    "CastroVia2016": (
        "J. Castro and A. Via, Revisiting Interval Protection, a.k.a. Partial Cell Suppression, "
        "for Tabular Data"
    ),
    "KarlssonOlsson2015": (
        "J. Karlsson and A. Olsson, Comparison and Analysis of Three Approaches to Cell "
        "Suppression in Statistical Tables, Master's thesis, Chalmers University of Technology, "
        "2015"
    ),
    "Castro2012": (
        "J. Castro, Recent advances in optimization techniques for statistical tabular data "
        "protection, Research Report UPC-DEIO DR 2011-03"
    ),
}
"""The papers that the examples come from, by the keys of `docs/references.md`."""


@dataclass(frozen=True, kw_only=True)
class Deduction:
    """What one contributor to a suppressed cell can deduce about another one.

    Attributes:
        attacker: The cell that the attacker contributes to.
        contribution: The attacker's own contribution, which that cell holds at least.
        cell: The cell under attack.
        upper: The largest value that the attacker finds possible for it.
        required: The value that this must reach for the cell to be protected.
    """

    attacker: int
    contribution: float
    cell: int
    upper: float
    required: float

    @property
    def is_too_close(self) -> bool:
        """Whether the attacker gets closer than the protection level allows."""
        return self.upper < self.required


@dataclass(frozen=True, eq=False, kw_only=True)
class Example:
    """A printed table and its facts.

    Cells are numbered row by row as printed, from 0 (papers count from 1). A cell of a table
    is labelled by its row and its column: `A1`, `TotalTotal`.

    Attributes:
        name: How to ask for it: `examples.get(name)`.
        paper: Key of the paper (see `PAPERS`) and where in it, as in `Castro2012, Figure 11`.
        text: What the paper says of it.
        problem: The table for algorithms. Levels are 0 where the paper gives none.
        table: The same table for statisticians, where it is one. A table puts its cells in an
            order of its own; the cell numbers below are those of `problem`.
        suppressed: The suppression pattern that the paper prints.
        intervals: For some suppressed (or widened) cells the smallest and largest value that
            an external attacker can deduce.
        published: Other protected versions that the paper prints, by what was done.
        objective: The least information loss of the protected version, where it is stated.
        loss: What the protected version loses by several definitions of information loss: the
            `number` of suppressed cells, the `sum` of their values, the `widths` of what an
            attacker deduces.
        contributions: For each cell, by label, what its contributors contribute, largest first.
        sensitive_by: For each sensitivity rule the labels of the cells that it finds sensitive.
        deductions: What single contributors can deduce from the published cells.
        paths: For each set of cells that could be suppressed to protect the sensitive cell, how
            far below and above its value an attacker's interval then reaches.
    """

    name: str
    paper: str
    text: str
    problem: Problem
    table: Table | None = None
    suppressed: npt.NDArray[np.bool_] | None = None
    intervals: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    published: Mapping[str, Solution] = field(default_factory=dict)
    objective: float | None = None
    loss: Mapping[str, float] = field(default_factory=dict)
    contributions: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    sensitive_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    deductions: tuple[Deduction, ...] = ()
    paths: Mapping[tuple[int, ...], tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.suppressed is not None:
            self.suppressed.setflags(write=False)

    def __repr__(self) -> str:
        return f"Example({self.name!r}, {self.problem!r})"

    @property
    def citation(self) -> str:
        """Authors and title of the paper."""
        return PAPERS[self.paper.partition(",")[0]]

    def cell(self, label: str) -> int:
        """The number of the cell with this label."""
        labels = list(self.problem.labels or ())
        if label not in labels:
            raise InputError(f"{self.name} has no cell {label!r}; cells are {', '.join(labels)}")
        return labels.index(label)
