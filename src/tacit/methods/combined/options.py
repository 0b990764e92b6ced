"""What a user may choose for combined suppression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tacit.errors import InputError
from tacit.methods.intervals.options import EndsOptions


@dataclass(frozen=True, kw_only=True)
class CombinedOptions(EndsOptions):
    """Options of `tacit.combined`.

    Attributes:
        algorithm: How to search. `auto`: cuts for intervals and for patterns together, then
            rounds of integer master problems, and better solutions along the way. `benders`:
            [KarlssonOlsson2015, Algorithm 4.3]. `monolithic`: one mixed-integer program with
            a table for every sensitive cell and side.
        round_to: Which ends are published: moved outwards to multiples of this number, or of a
            base that follows from the interval (`auto`), or as found (`exact`), as for
            `tacit.intervals`.
        width_weights: What a unit of width costs: as `given` by the problem, `unit`, the
            cell's `value`, or an array; a pair of these is for the lower and upper ends.
        max_suppressed: Publish all but this many cells exactly; sensitive ones count.
        min_width: No interval is narrower than this, or than its cell's bounds if these are
            narrower: a number, a share of the cell's value such as `"5%"`, or an array.
    """

    width_weights: Any = "given"
    max_suppressed: int | None = None
    min_width: Any = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_suppressed is not None and self.max_suppressed < 0:
            raise InputError("max_suppressed must not be negative", key=("max_suppressed",))
        if isinstance(self.min_width, str):
            width_share(self.min_width)


WRONG_WIDTH = "min_width must be a number that is not negative, a share such as '5%', or an array"


def width_share(text: str) -> float:
    """A share such as `5%` as a number."""
    try:
        share = float(text.strip().removesuffix("%")) / 100
    except ValueError:
        raise InputError(WRONG_WIDTH, key=("min_width",)) from None
    if not text.strip().endswith("%") or not 0 <= share < math.inf:
        raise InputError(WRONG_WIDTH, key=("min_width",))
    return share
