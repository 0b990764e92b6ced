"""What a user may choose for complete suppression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tacit.errors import InputError
from tacit.options import Options
from tacit.threads import available_cores

Algorithm = Literal[
    "auto",
    "branch-and-cut",
    "stabilized",
    "benders",
    "monolithic",
    "paths",
    "hypercube",
    "modular",
]
Singletons = Literal["ignore", "local", "respondents", "global"]
Preference = Literal["none", "leaves"]
Subproblem = Literal["meth1", "meth2", "meth3", "meth4", "meth5"]


@dataclass(frozen=True, kw_only=True)
class SuppressOptions(Options):
    """Options of `tacit.suppress`.

    Attributes:
        algorithm: How to search.
        singletons: Protection of and against cells with a single respondent. `local`: in every
            relation at least one more cell is suppressed than it has singletons [Castro2012,
            (8)]. `respondents`: each single respondent is an attacker who knows its own cells.
            `global`: all of them together, the worst case ((9), (10)).
        max_suppressed: Suppress at most this many cells, sensitive ones included.
        prefer: Which of patterns that cost the same is chosen: `leaves` takes the one that
            suppresses the least value, and then the deepest cells; `none` leaves it open.
        subproblem: The form of the subproblem that makes cuts, for `benders` and `stabilized`
            [BaenaCastroFrangioni2020, section 5].
        radius: Radii of the trust region as shares of the number of sensitive cells, for
            `stabilized`; after the last one there is no trust region.
        own_cuts: Strengthen the cuts of `benders` and `stabilized` as the other algorithms do;
            without, they are the cuts of the paper.
        jobs: How many cores `auto` may use; by default all that there are.
    """

    algorithm: Algorithm = "auto"
    singletons: Singletons = "ignore"
    max_suppressed: int | None = None
    prefer: Preference = "none"
    subproblem: Subproblem = "meth1"
    radius: tuple[float, ...] = (0.01, 0.02, 0.5, 1.0)
    own_cuts: bool = True
    jobs: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_suppressed is not None and self.max_suppressed < 0:
            raise InputError("max_suppressed must not be negative", key=("max_suppressed",))
        if self.jobs is not None and self.jobs < 1:
            raise InputError("jobs must be at least 1 (cores)", key=("jobs",))
        if not self.radius or any(not share > 0 for share in self.radius):
            raise InputError(
                "radius needs at least one share, and all must be positive", key=("radius",)
            )

    @property
    def cores(self) -> int:
        """The number of cores to use."""
        return available_cores() if self.jobs is None else self.jobs
