"""What a user may choose for partial suppression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tacit.errors import InputError
from tacit.options import Options

Algorithm = Literal["auto", "benders", "monolithic"]
AUTO, EXACT = "auto", "exact"
"""What `round_to` may be besides a number."""


@dataclass(frozen=True, kw_only=True)
class EndsOptions(Options):
    """What the methods that publish intervals have in common.

    Attributes:
        algorithm: How to search.
        round_to: Which ends are published, see `IntervalsOptions`.
    """

    algorithm: Algorithm = "auto"
    round_to: float | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.round_to
        if given is None or given in (AUTO, EXACT):
            return
        # `not <` also refuses NaN.
        if isinstance(given, str) or not 0 < given < float("inf"):
            raise InputError(
                f"round_to must be a positive number, {AUTO!r} or {EXACT!r}", key=("round_to",)
            )

    @property
    def base(self) -> float | str | None:
        """To multiples of what ends are moved; None where they are published as found."""
        return None if self.round_to == EXACT else self.round_to


@dataclass(frozen=True, kw_only=True)
class IntervalsOptions(EndsOptions):
    """Options of `tacit.intervals`.

    Attributes:
        algorithm: How to search. `auto`: cuts between the relaxation's optimum and a point
            inside. `benders`: cuts at the relaxation's optimum [CastroVia2016, section 4].
            `monolithic`: one linear program with a table for every sensitive cell and side
            [CastroVia2016, (3)].
        round_to: Move both ends of every interval outwards to multiples of this number, or to
            multiples of a base that follows from the interval (`auto`), so that no end can be
            computed back to a true value. `exact`, or nothing, leaves the ends as found;
            `tacit.protect`, jobs and the command line have `auto` unless told otherwise.
        published: The cells that are published (H of [CastroVia2016]), as cell numbers or a mask;
            all others are withheld, except those that must be published. By default all cells.
        withheld: The same the other way round: cells that are not published at all, whatever
            else happens.
        allowed: The published cells that may become intervals; the others are published as
            they are. By default all that need not be published.
    """

    published: Any = None
    withheld: Any = None
    allowed: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.published is not None and self.withheld is not None:
            raise InputError(
                "published and withheld say the same the other way round; give one",
                key=("published",),
            )
