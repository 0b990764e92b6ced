"""What a user may choose for controlled tabular adjustment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tacit.errors import InputError, about
from tacit.options import Options

Algorithm = Literal["auto", "milp", "benders", "descent"]
Norm = Literal["l1", "l2", "linf"]
Weights = Literal["given", "unit", "value", "inverse"]
Solver = Literal["highs", "scip"]


@dataclass(frozen=True, kw_only=True)
class AdjustOptions(Options):
    """Options of `tacit.adjust`.

    Attributes:
        algorithm: How to search. `auto`: bounds from closed polygons, senses improved block by
            block, then branch and bound. `milp`: the mixed-integer model [Castro2012, (18)]
            with those bounds as rows. `benders`: cuts in the senses ((19) and (20)).
            `descent`: senses improved block by block, without much of a proof.
        norm: What is minimised: the sum of weight * |deviation| (`l1`), of
            weight * deviation² (`l2`), or the largest weight * |deviation| (`linf`).
        weights: What a unit of deviation costs: as `given`, 1, the cell's value, or 1 / value.
        integer: Publish integers only (True), or more decimals than the data have where that
            is closer (False). By default published values have the decimals of the true ones.
        keep: Numbers of cells that keep their value.
        limits: The largest deviation as a share of the cell's value: one number for all cells
            that are not sensitive, or a table of cell numbers and shares.
        prefer_totals: By which factor a deviation costs more with each step from the finest
            cells towards the grand total.
        quality: Bounds on sums of deviations over chosen cells, see `QualityBound`.
        solver: Who solves the mixed-integer model of `milp`.
        block: How many cells are looked at together when senses are improved.
    """

    algorithm: Algorithm = "auto"
    norm: Norm = "l1"
    weights: Weights = "given"
    integer: bool | None = None
    keep: tuple[int, ...] = ()
    limits: float | dict[str, Any] | None = None
    prefer_totals: float = 1.0
    quality: tuple[Any, ...] = ()
    solver: Solver = "highs"
    block: int = 80

    def __post_init__(self) -> None:
        super().__post_init__()
        # `not >` also refuses NaN.
        if not (self.prefer_totals > 0 and math.isfinite(self.prefer_totals)):
            raise InputError(
                "prefer_totals must be a positive number; 1 prefers no cell", key=("prefer_totals",)
            )
        if self.block < 2:
            raise InputError("block must be at least 2 cells", key=("block",))
        for share in self.limits.values() if isinstance(self.limits, Mapping) else [self.limits]:
            if share is None:
                continue
            is_number = isinstance(share, int | float) and not isinstance(share, bool)
            if not is_number or not share >= 0:
                raise InputError(
                    "limits must be shares of the cells' values, at least 0", key=("limits",)
                )
        if any(isinstance(cell, bool) or not isinstance(cell, int) for cell in self.keep):
            raise InputError("keep must be a list of cell numbers", key=("keep",))
        # Whoever only wants to know what can be chosen need not wait for numpy.
        from tacit.methods.adjust.quality import read_quality

        with about("quality"):
            object.__setattr__(self, "quality", read_quality(self.quality))
        if self.norm == "l2" and self.integer:
            raise InputError(
                "integer tables are closest in l1 or linf; norm l2 cannot do them", key=("integer",)
            )
        if self.solver == "scip" and (self.algorithm != "milp" or self.norm == "l2"):
            raise InputError(
                "solver scip is for algorithm milp with norm l1 or linf", key=("solver",)
            )
