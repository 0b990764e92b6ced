"""What a user may choose for controlled rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tacit.errors import InputError
from tacit.options import Options

Algorithm = Literal["auto", "flow", "milp", "partition", "random"]


@dataclass(frozen=True, kw_only=True)
class RoundOptions(Options):
    """Options of `tacit.round`.

    Attributes:
        algorithm: How to search. `flow`: for tables that are networks, as a linear model
            whose vertices are integral. `milp`: one mixed-integer model. `partition`: totals first,
            then part after part, then one neighbourhood after the other; for large tables.
            `auto`: whichever suits the table. `random`: each cell for itself, to either
            neighbouring multiple so that its expected value is the true one; the table does
            not add up then, and whoever knows the seed can undo part of it: `tacit.round` draws
            one in secret unless it is given.
        base: Every published value is a multiple of this.
        steps: Every published value lies at most this many bases from the true one (K).
        zero_restricted: Multiples of the base keep their value.
        most_steps: Where no rounding within `steps` exists, allow one step more at a time, up
            to this many; by default none.
    """

    algorithm: Algorithm = "auto"
    base: float = 5.0
    steps: int = 1
    zero_restricted: bool = False
    most_steps: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        # `not >` also refuses NaN.
        if not 0 < self.base < float("inf"):
            raise InputError("base must be a positive number", key=("base",))
        if self.steps < 1:
            raise InputError("steps must be at least 1", key=("steps",))
        if self.most_steps is not None and self.most_steps < self.steps:
            raise InputError("most_steps must not be less than steps", key=("most_steps",))
        if self.seed < 0:
            raise InputError("seed must not be negative", key=("seed",))
        if self.algorithm == "random" and (self.steps > 1 or self.most_steps is not None):
            raise InputError(
                "algorithm random rounds to one of the two neighbouring multiples: leave out "
                "steps and most_steps",
                key=("algorithm",),
            )

    @property
    def last_steps(self) -> int:
        """How many steps are allowed where fewer are not enough."""
        return self.steps if self.most_steps is None else self.most_steps
