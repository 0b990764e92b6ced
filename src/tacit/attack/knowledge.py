"""What an attacker knows of each cell: how far it may lie from its true value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tacit.attack.reach import Requests
from tacit.errors import InputError, ProblemError
from tacit.outcome import Intervals, Outcome, Solution, Suppression, Values
from tacit.problem import Booleans, Floats, Integers, Problem
from tacit.tolerances import MET


@dataclass(frozen=True, eq=False)
class Knowledge:
    """How far each cell may move as far as the attacker can tell from that cell alone.

    Attributes:
        up: How far above its true value.
        down: How far below its true value.
    """

    up: Floats
    down: Floats

    @classmethod
    def of(cls, problem: Problem, solution: PublishedAs) -> Knowledge:
        """What a reader of the publication knows.

        Args:
            problem: The true table.
            solution: What is published: an outcome, a suppression, intervals, values, a mask
                of the suppressed cells or their numbers. For values without a radius a reader
                knows no more than the bounds.

        Raises:
            InputError: The solution does not fit the table.
            ProblemError: A published interval does not contain the cell's true value, or a
                published value lies further from it than readers are told.
        """
        solution = as_solution(problem, solution)
        above, below = problem.upper - problem.value, problem.value - problem.lower
        if isinstance(solution, Suppression):
            hidden = solution.suppressed
            up, down = np.where(hidden, above, 0.0), np.where(hidden, below, 0.0)
        elif isinstance(solution, Intervals):
            up = np.minimum(solution.upper - problem.value, above)
            down = np.minimum(problem.value - solution.lower, below)
        elif solution.radius is None:
            up, down = above, below
        else:
            up = np.minimum(solution.value + solution.radius - problem.value, above)
            down = np.minimum(problem.value - solution.value + solution.radius, below)
        slack = MET * np.maximum(np.abs(problem.value), 1.0)
        outside = np.flatnonzero((up < -slack) | (down < -slack))
        if len(outside):
            raise ProblemError(
                "the true value lies outside its bounds or outside what is published for it: "
                f"{problem.name_cells(outside)}",
                cells=outside,
            )
        # What is left of two numbers that differ in the last digits is rounding noise.
        noise = 4 * np.spacing(np.abs(problem.value))
        return cls(np.where(up > noise, up, 0.0), np.where(down > noise, down, 0.0))


PublishedAs = Outcome | Solution | Booleans | Integers | Sequence[int]


def as_solution(problem: Problem, given: PublishedAs) -> Solution:
    """Bring the forms in which a solution may be given to one of the solution types."""
    if isinstance(given, Outcome):
        if given.solution is None:
            raise InputError(f"the outcome is {given.status}: it has no solution to look at")
        given = given.solution
    n = problem.cell_count
    if isinstance(given, Suppression):
        length = len(given.suppressed)
    elif isinstance(given, Intervals):
        length = len(given.lower)
    elif isinstance(given, Values):
        length = len(given.value)
    else:
        array = np.asarray(given)
        if array.dtype == bool:
            length, given = len(array), Suppression(array)
        else:
            numbers = array.astype(np.int64)
            outside = numbers[(numbers < 0) | (numbers >= n)]
            if len(outside):
                raise InputError(f"there is no cell {outside[0]}; cells are numbered 0 to {n - 1}")
            mask = np.zeros(n, bool)
            mask[numbers] = True
            length, given = n, Suppression(mask)
    if length != n:
        raise InputError(f"the solution is about {length} cells, the table has {n}")
    return given


@dataclass(frozen=True)
class Attacker:
    """Someone who wants to know more, and what they know besides the publication.

    Attributes:
        name: For reports.
        known: Cells whose value the attacker knows exactly.
        at_least: Cells that the attacker knows to be at least so much, for instance because
            the attacker contributed that amount.
        at_most: Cells that the attacker knows to be at most so much.
        own: Cells that the attacker contributes to. Those it also knows exactly need no
            protection against it. The others are judged without what it knows of that very
            cell: the levels that sensitivity rules ask for already allow for contributors to
            the cell itself.
        colluding: Cells whose values are known unless the cell itself is attacked:
            [Castro2012, (9)].
    """

    name: str = "external"
    known: tuple[int, ...] = ()
    at_least: Mapping[int, float] = field(default_factory=dict)
    at_most: Mapping[int, float] = field(default_factory=dict)
    own: frozenset[int] = frozenset()
    colluding: tuple[int, ...] = ()

    @classmethod
    def external(cls) -> Attacker:
        """A reader who knows the publication, the relations and the bounds."""
        return cls()

    @classmethod
    def respondent(
        cls,
        contributions: Mapping[int, float],
        *,
        alone: Sequence[int] = (),
        name: str = "respondent",
    ) -> Attacker:
        """A respondent who knows its own contributions.

        Args:
            contributions: Cell numbers and the amounts contributed to them.
            alone: Cells where the respondent knows that nobody else contributes.
            name: For reports.
        """
        return cls(
            name=name,
            known=tuple(alone),
            at_least={
                cell: amount for cell, amount in contributions.items() if cell not in set(alone)
            },
            own=frozenset(contributions) | frozenset(alone),
        )

    @classmethod
    def coalition(cls, members: Sequence[Attacker], *, name: str = "coalition") -> Attacker:
        """Several attackers who pool what they know."""
        at_least: dict[int, float] = {}
        at_most: dict[int, float] = {}
        for member in members:
            for cell, amount in member.at_least.items():
                at_least[cell] = at_least.get(cell, 0.0) + amount
            for cell, amount in member.at_most.items():
                at_most[cell] = min(at_most.get(cell, np.inf), amount)
        return cls(
            name=name,
            known=tuple(sorted({cell for member in members for cell in member.known})),
            at_least=at_least,
            at_most=at_most,
            own=frozenset(cell for member in members for cell in member.own),
            colluding=tuple(sorted({cell for member in members for cell in member.colluding})),
        )

    @classmethod
    def all_singletons(cls, problem: Problem) -> Attacker:
        """All single respondents together: the worst case [Castro2012, (9) and (10)]."""
        return cls(
            name="all singletons",
            colluding=tuple(np.flatnonzero(problem.singleton >= 0).tolist()),
        )

    @property
    def is_reader(self) -> bool:
        """Whether the attacker knows nothing but the publication, the relations and the bounds."""
        return not (self.known or self.at_least or self.at_most or self.own or self.colluding)

    def expect_cells(self, problem: Problem) -> None:
        """Refuse an attacker who knows about cells that a table does not have."""
        for cells in (self.known, self.colluding, self.at_least, self.at_most, self.own):
            outside = [cell for cell in cells if not 0 <= cell < problem.cell_count]
            if outside:
                raise InputError(
                    f"attacker {self.name!r} knows about cell {outside[0]}, which does not exist"
                )

    def learn(self, problem: Problem, knowledge: Knowledge) -> Knowledge:
        """Add what this attacker knows to what everyone knows."""
        up, down = knowledge.up.copy(), knowledge.down.copy()
        self.expect_cells(problem)
        exactly = np.array([*self.known, *self.colluding], np.int64)
        up[exactly] = 0.0
        down[exactly] = 0.0
        for cell, amount in self.at_least.items():
            down[cell] = min(down[cell], problem.value[cell] - amount)
        for cell, amount in self.at_most.items():
            up[cell] = min(up[cell], amount - problem.value[cell])
        slack = MET * np.maximum(np.abs(problem.value), 1.0)
        wrong = np.flatnonzero((up < -slack) | (down < -slack))
        if len(wrong):
            raise InputError(
                f"attacker {self.name!r} is certain of something that is not true: "
                f"{problem.name_cells(wrong)}"
            )
        return Knowledge(np.maximum(up, 0.0), np.maximum(down, 0.0))

    def spares(self, problem: Problem) -> Booleans:
        """Cells that need no protection against this attacker: its own, known to it exactly."""
        mask = np.zeros(problem.cell_count, bool)
        mask[[cell for cell in self.known if cell in self.own]] = True
        return mask

    def reopened(self, problem: Problem) -> Booleans:
        """Cells that are judged without what this attacker knows of that very cell."""
        mask = np.zeros(problem.cell_count, bool)
        mask[[*self.colluding, *self.own]] = True
        return mask & ~self.spares(problem)

    def ask(self, problem: Problem, knowledge: Knowledge, requests: Requests) -> Requests:
        """Requests with the capacity that each asked cell itself has for this attacker."""
        if not self.colluding and not self.own:
            return requests
        told = self.learn(problem, knowledge)
        free = self.reopened(problem)[requests.cells]
        up = np.where(free, knowledge.up[requests.cells], told.up[requests.cells])
        down = np.where(free, knowledge.down[requests.cells], told.down[requests.cells])
        own = np.where(requests.sides > 0, up, down)
        return replace(requests, own=own)


def with_reader(problem: Problem, given: Sequence[Attacker]) -> tuple[Attacker, ...]:
    """Those who attack: by default a reader, who also joins others wherever contributors attack.

    What contributors can deduce is found out from what readers can.

    Args:
        problem: The true table, with the contributors who attack it.
        given: Who else attacks.
    """
    attackers = tuple(given) or (Attacker.external(),)
    if problem.insiders is not None and not any(each.is_reader for each in attackers):
        attackers = (*attackers, Attacker.external())
    return attackers


def attackers_of(
    problem: Problem, singletons: str = "ignore", given: Sequence[Attacker] = ()
) -> list[Attacker]:
    """The attackers that a publication is to withstand.

    Args:
        problem: The true table.
        singletons: Who joins because of cells with a single respondent: with `respondents` each of
            these, with `global` all of them together, otherwise nobody.
        given: Those who attack anyway; by default a reader who knows nothing more.
    """
    chosen = list(given) or [Attacker.external()]
    if singletons == "respondents":
        chosen += singleton_respondents(problem)
    elif singletons == "global":
        chosen.append(Attacker.all_singletons(problem))
    return chosen


def singleton_respondents(problem: Problem) -> list[Attacker]:
    """One attacker for each single respondent, who knows every cell it alone contributes to."""
    cells = np.flatnonzero(problem.singleton >= 0)
    respondents: dict[int, list[int]] = {}
    for cell in cells.tolist():
        respondents.setdefault(int(problem.singleton[cell]), []).append(cell)
    return [
        Attacker(name=_respondent(problem, number, own), known=tuple(own), own=frozenset(own))
        for number, own in respondents.items()
    ]


def _respondent(problem: Problem, number: int, own: Sequence[int]) -> str:
    """A respondent by the last of the cells that it is alone in, which is the finest."""
    if problem.labels is None:
        return f"respondent {number}"
    return f"respondent of ({problem.labels[own[-1]]})"


def largest_contributors(contributions: Mapping[int, Sequence[float]]) -> list[Attacker]:
    """For each cell its largest contributor, who knows that the cell is at least that much.

    Args:
        contributions: Cell numbers and the contributions to them, in any order. A cell with a
            single contribution is known exactly to its contributor.
    """
    attackers = []
    for cell, amounts in contributions.items():
        largest = max(amounts)
        alone = (cell,) if len(amounts) == 1 else ()
        attackers.append(
            Attacker.respondent(
                {cell: largest}, alone=alone, name=f"largest contributor to cell {cell}"
            )
        )
    return attackers
