"""What a user may choose for partial suppression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tacit.errors import InputError
from tacit.options import Options

Algorithm = Literal["auto", "benders", "monolithic"]


@dataclass(frozen=True, kw_only=True)
class IntervalsOptions(Options):
    """Options of `tacit.intervals`.

    Attributes:
        algorithm: How to search. `auto`: cuts between the relaxation's optimum and a point
            inside. `benders`: cuts at the relaxation's optimum (paper 000, section 4).
            `monolithic`: one linear programme with a table for every sensitive cell and side
            (paper 000, (3)).
        round_to: Move both ends of every interval outwards to multiples of this number.
    """

    algorithm: Algorithm = "auto"
    round_to: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        # `not >` also refuses NaN.
        if self.round_to is not None and not 0 < self.round_to < float("inf"):
            raise InputError("round_to must be a positive number")
