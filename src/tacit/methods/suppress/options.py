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
SubproblemSolver = Literal["primal", "dual", "interior-point"]
SubproblemWeights = Literal["unit", "capacity", "cost"]
Sides = Literal["both", "lower", "upper"]


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
        subproblem_solver: The method for the subproblem's linear programs: primal or dual simplex,
            or interior point. By default `meth1` is solved by flows where the table has networks,
            and everything else by simplex.
        subproblem_weights: The weights w of (21), for `meth4` and `meth5`: `unit`, all 1 as in the
            paper; `capacity`, how far a cell can move; `cost`, what suppressing it costs.
        radius: Radii of the trust region as shares of the number of sensitive cells, for
            `stabilized`; after the last one there is no trust region.
        reset_radius: Go back to the first radius whenever the centre of the trust region has
            moved, for `stabilized`.
        improvement: `stabilized` ends a master problem in a trust region at the first pattern that
            is lighter than the best by this share of what is open; 1 solves them to the end.
        own_cuts: Strengthen the cuts of `benders` and `stabilized` as the other algorithms do;
            without, they are the cuts of the paper.
        sides: The levels that cuts of `benders` ask for. With `lower` or `upper` the others are
            relaxed [RojoGonzalez2019, section 4]: the bound is that of the relaxation, and
            patterns are made safe for all levels.
        max_iterations: `benders` ends after so many master problems.
        jobs: How many cores `auto` may use; by default all that there are.
    """

    algorithm: Algorithm = "auto"
    singletons: Singletons = "ignore"
    max_suppressed: int | None = None
    prefer: Preference = "none"
    subproblem: Subproblem = "meth1"
    subproblem_solver: SubproblemSolver | None = None
    subproblem_weights: SubproblemWeights = "unit"
    radius: tuple[float, ...] = (0.01, 0.02, 0.5, 1.0)
    reset_radius: bool = False
    improvement: float = 0.1
    own_cuts: bool = True
    sides: Sides = "both"
    max_iterations: int | None = None
    jobs: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_suppressed is not None and self.max_suppressed < 0:
            raise InputError("max_suppressed must not be negative", key=("max_suppressed",))
        if self.jobs is not None and self.jobs < 1:
            raise InputError("jobs must be at least 1 (cores)", key=("jobs",))
        if self.subproblem == "meth2" and self.subproblem_solver == "interior-point":
            raise InputError(
                "meth2 follows a ray, and interior point methods find none; choose 'primal' or "
                "'dual', or another subproblem",
                key=("subproblem_solver",),
            )
        if self.subproblem_weights != "unit" and self.subproblem not in ("meth4", "meth5"):
            raise InputError(
                f"subproblem_weights has no effect on {self.subproblem}; choose meth4 or meth5",
                key=("subproblem_weights",),
            )
        if not 0 < self.improvement <= 1:
            raise InputError("improvement must be above 0 and at most 1", key=("improvement",))
        for name, is_set in (
            ("sides", self.sides != "both"),
            ("max_iterations", self.max_iterations is not None),
        ):
            if is_set and self.algorithm != "benders":
                raise InputError(
                    f"{name} is for algorithm 'benders', not {self.algorithm!r}; leave it out, or "
                    "choose that one",
                    key=(name,),
                )
        if self.max_iterations is not None and self.max_iterations < 1:
            raise InputError("max_iterations must be at least 1", key=("max_iterations",))
        if not self.radius or any(not share > 0 for share in self.radius):
            raise InputError(
                "radius needs at least one share, and all must be positive", key=("radius",)
            )

    @property
    def cores(self) -> int:
        """The number of cores to use."""
        return available_cores() if self.jobs is None else self.jobs
