"""One driver for all methods: validate, reduce, search, expand, audit, hand over.

Outcomes are made here and nowhere else, and so is every question to the audit: what a method calls
safe is handed over only if the audit, which shares no state with the search, has found it safe.

A method searches a smaller table than the one it was given, in which equal cells are merged: it
takes problem and attackers from its `Case`, answers in cells of the smaller table, and the driver
translates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from tacit.attack.audit import Audit, audit
from tacit.attack.knowledge import Attacker, with_reader
from tacit.attack.shrink import Structure
from tacit.attack.suggestions import Deviations
from tacit.clock import Clock
from tacit.errors import TacitError
from tacit.methods.engine.progress import Progress
from tacit.methods.inputs import refuse_contradictions, unattainable_levels
from tacit.observer import Observer
from tacit.options import Options
from tacit.outcome import Outcome, Report, Solution, Status, StopReason
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Floats, Integers, Problem
from tacit.reductions.equal_cells import EqualCells

_MOST_REASONS = 5
"""How many reasons are told why a table cannot be protected."""


@dataclass(frozen=True, eq=False)
class Case:
    """A table as it was given, the smaller one that is searched, and who attacks.

    Attributes:
        reduction: The smaller table, and the way back.
        given_attackers: Who attacks the table as it was given.
    """

    reduction: EqualCells
    given_attackers: Sequence[Attacker] = ()

    @classmethod
    def of(
        cls,
        problem: Problem,
        attackers: Sequence[Attacker] = (),
        *,
        merges: bool = True,
        apart: Booleans | None = None,
        agreeing: Sequence[Floats] = (),
    ) -> Case:
        """Reduce a table; for the arguments see `protected`."""
        if not merges:
            return cls(EqualCells.none(problem), attackers)
        reduction = EqualCells.of(problem, attackers=attackers, apart=apart, agreeing=agreeing)
        return cls(reduction, attackers)

    @property
    def given(self) -> Problem:
        """The table as it was given."""
        return self.reduction.given

    @property
    def problem(self) -> Problem:
        """The table that is searched."""
        return self.reduction.problem

    @cached_property
    def attackers(self) -> list[Attacker]:
        """Who attacks the table that is searched."""
        return self.reduction.attackers(self.given_attackers)

    def sensitive(self, cells: Sequence[int] | Integers) -> Integers:
        """The sensitive cells of the given table that cells of the searched one stand for."""
        return np.intersect1d(self.reduction.cells(cells), self.given.sensitive)

    def audited(
        self,
        solution: Solution,
        *,
        suggested: Deviations | None = None,
        structure: Structure | None = None,
        observer: Observer | None = None,
        tolerance: float | None = None,
    ) -> Audit:
        """Have a solution of the searched table audited, as one of the table as it was given.

        Args:
            solution: What is to be published of the searched table.
            suggested: Deviations of the searched table; see `audited`.
            structure: The examined relations of the given table, where they are at hand.
            observer: May stop the audit, which then leaves cells unchecked.
            tolerance: How exactly the relations must hold; None where that has been looked at.
        """
        reduction = self.reduction
        return audited(
            self.given,
            reduction.expand(solution),
            self.given_attackers,
            suggested=None if suggested is None else reduction.expand_rows(suggested),
            structure=structure,
            observer=observer,
            tolerance=tolerance,
        )

    def unprotected(self, found: Audit) -> Integers:
        """Cells of the searched table that an audit left unchecked."""
        return np.unique(self.reduction.group[list(found.unchecked)])


@dataclass(frozen=True, eq=False)
class Result:
    """What a search hands over, in cells of the table that it searched.

    Attributes:
        solution: What to publish.
        objective: Its information loss, in the search's unit.
        audit: What the audit found; safe.
        message: A sentence for people.
        published_objective: For intervals, the loss of what is published.
        left_out: For intervals, cells that are not published although their interval is a point.
        may_be_proven: Whether the bound counts; not where chance chose the solution.
    """

    solution: Solution
    objective: float
    audit: Audit | None = None
    message: str = ""
    published_objective: float | None = None
    left_out: tuple[int, ...] = ()
    may_be_proven: bool = True


class Search(Progress, ABC):
    """One run of a method. Each method says in a subclass what it searches for, and how.

    Attributes:
        method: The method's name.
        case: The table that is searched and the one that was given; None for a search within
            another one, and for one of a table that was not reduced.
    """

    method: ClassVar[str]
    case: Case | None = None

    def obstacles(self) -> list[str]:
        """Why no solution exists, as far as that shows before the search; empty if one may."""
        return []

    @abstractmethod
    def run(self) -> None:
        """Search. May be ended by an interrupt or by the clock at any point."""

    @abstractmethod
    def conclude(self) -> Result | None:
        """The best solution, made ready and audited in the time that was kept for that."""

    def excuse(self) -> tuple[str, Sequence[int]]:
        """What to say where there is no solution, and which cells were still exposed."""
        return "", ()

    def given_cells(self, exposed: Sequence[int]) -> Sequence[int]:
        """Cells that were still exposed, as sensitive cells of the table as it was given.

        To be overridden where `excuse` speaks of these cells already.
        """
        return exposed if self.case is None else self.case.sensitive(exposed).tolist()

    def successor(self, outcome: Outcome) -> Callable[[], Search] | None:  # noqa: ARG002
        """Makes the search that follows, of the same case; None to hand over this outcome."""
        return None

    def expand(self, result: Result) -> Result:
        """A result in cells of the table as it was given.

        To be overridden where `conclude` speaks of these cells already, because equal cells are
        published in different ways.
        """
        if self.case is None:
            return result
        reduction = self.case.reduction
        return replace(
            result,
            solution=reduction.expand(result.solution),
            left_out=tuple(reduction.cells(result.left_out).tolist()),
        )


def protected(
    problem: Problem,
    method: str,
    options: Options,
    prepare: Callable[[Case], Search],
    *,
    clock: Clock,
    attackers: Sequence[Attacker] = (),
    merges: bool = True,
    apart: Booleans | None = None,
    agreeing: Sequence[Floats] = (),
    either_side: bool = False,
    observer: Observer | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
) -> Outcome:
    """The outcome of a method, from the table as it was given to a solution of the same table.

    Args:
        problem: The table.
        method: The method's name.
        options: What the user chose.
        prepare: Makes the search of a reduced table. Weights and choices of cells are reduced by
            `case.reduction`: `sum`, `largest`, `smallest`.
        clock: The time for all of it.
        attackers: Who attacks; a reader where there are none, and wherever contributors attack.
        merges: Whether equal cells may be merged: not where cells are counted, for instance.
        apart: Cells that stay cells of their own besides those that must, see `EqualCells.of`.
        agreeing: Columns that must be the same for all cells that are merged. Methods that publish
            a value of every cell give the values: where a table misses its relations by a
            tolerance, what is far enough from one of two equal cells may be too near to the other.
        either_side: Whether a cell is protected by one of its levels, so that another one may lie
            beyond its bounds.
        observer: Listens; may stop the search.
        tolerance: How exactly the relations must hold.

    Raises:
        ProblemError: The table contradicts itself.
    """
    refuse_contradictions(problem, tolerance)
    hopeless = [] if either_side else unattainable_levels(problem, tolerance)
    if hopeless:
        return infeasible(method, options, hopeless)

    attackers = list(with_reader(problem, attackers))

    def prepared() -> Search:
        case = Case.of(problem, attackers, merges=merges, apart=apart, agreeing=agreeing)
        search = prepare(case)
        search.case = case
        return search

    return drive(prepared, method, options, observer or Observer(), clock)


def drive(
    prepare: Callable[[], Search],
    method: str,
    options: Options,
    observer: Observer,
    clock: Clock,
) -> Outcome:
    """Run a search, and those that succeed it, from obstacles to the outcome, in time.

    Args:
        prepare: Makes the search. It is given its time like the search itself.
        method: The method's name.
        options: What the user chose.
        observer: Listens; may stop the search.
        clock: The time for all of it.
    """
    observer.on_start(method)
    while True:
        search, outcome = _searched(prepare, method, options, clock)
        following = None if search is None else search.successor(outcome)
        if following is None:
            break
        prepare = following
    observer.on_end(outcome)
    return outcome


def _searched(
    prepare: Callable[[], Search], method: str, options: Options, clock: Clock
) -> tuple[Search | None, Outcome]:
    """One search, and what came of it; None for the search if making it was cut short."""
    search: Search | None = None
    reasons: list[str] = []
    is_interrupted = False
    try:
        with clock:
            search = prepare()
            reasons = search.obstacles()
            if not reasons:
                search.run()
                reasons = search.reasons
    except KeyboardInterrupt:
        is_interrupted = True
        if search is not None:
            search.stop(StopReason.USER)
    if reasons:
        return search, infeasible(method, options, _first_few(reasons), clock.seconds)
    if search is None:
        return None, Outcome(
            status=Status.INTERRUPTED,
            stopped_by=StopReason.USER if is_interrupted else StopReason.TIME,
            report=Report(seconds=clock.seconds),
            method=method,
            algorithm=_algorithm(options),
            seed=options.seed,
        )
    # What follows uses time that was kept for it: why the search ended is asked before.
    ended_by = search.why_stopped()
    result = search.conclude()
    if search.reasons:
        return search, infeasible(method, options, _first_few(search.reasons), clock.seconds)
    return search, _outcome(search, result, search.stop_reason or ended_by, options)


def _outcome(
    search: Search, result: Result | None, ended_by: StopReason, options: Options
) -> Outcome:
    message, exposed = search.excuse() if result is None else (result.message, ())
    if result is not None:
        result = search.expand(result)
    if result is None:
        is_infeasible = ended_by is StopReason.INFEASIBLE
        status = Status.INFEASIBLE if is_infeasible else Status.INTERRUPTED
        report = search.report(None)
    else:
        is_proven = result.may_be_proven and search.gap_of(result.objective) <= options.gap
        status = Status.OPTIMAL if is_proven else Status.FEASIBLE
        if is_proven:
            ended_by = StopReason.GAP
        elif ended_by is StopReason.GAP:
            # What followed the search has cost something.
            ended_by = StopReason.EXHAUSTED
        report = search.report(result.objective, result.published_objective)
    return Outcome(
        status=status,
        stopped_by=ended_by,
        solution=None if result is None else result.solution,
        report=report,
        method=search.method,
        algorithm=_algorithm(options),
        seed=options.seed,
        message=message,
        audit=None if result is None else result.audit,
        exposed=tuple(search.given_cells(exposed)),
        left_out=() if result is None else result.left_out,
    )


def _first_few(reasons: Sequence[str]) -> list[str]:
    """Reasons enough to understand; in a large table there may be thousands."""
    more = len(reasons) - _MOST_REASONS
    return [*reasons[:_MOST_REASONS], *([f"and {more} more"] if more > 0 else [])]


def infeasible(
    method: str, options: Options, reasons: Sequence[str], seconds: float = 0.0
) -> Outcome:
    """The outcome for a table that cannot be protected, with the reasons why."""
    return Outcome(
        status=Status.INFEASIBLE,
        stopped_by=StopReason.INFEASIBLE,
        report=Report(bound=np.inf, seconds=seconds),
        method=method,
        algorithm=_algorithm(options),
        seed=options.seed,
        message="\n".join(reasons),
    )


def _algorithm(options: Options) -> str:
    return str(getattr(options, "algorithm", "auto"))


def audited(
    problem: Problem,
    solution: Solution,
    attackers: Sequence[Attacker],
    *,
    suggested: Deviations | None = None,
    structure: Structure | None = None,
    observer: Observer | None = None,
    tolerance: float | None = None,
) -> Audit:
    """Have a solution audited: its sensitive cells, against these attackers.

    Args:
        problem: The table as it was given.
        solution: What is to be published.
        attackers: Who attacks; a reader where there are none.
        suggested: Deviations that may show cells safe; each is checked before it is used.
        structure: The examined relations, where they are at hand.
        observer: May stop the audit, which then leaves cells unchecked.
        tolerance: How exactly the relations must hold; None where that has been looked at.
    """
    return audit(
        problem,
        solution,
        cells="sensitive",
        exact=False,
        attackers=attackers,
        suggested=suggested,
        structure=structure,
        observer=observer,
        tolerance=tolerance,
    )


def refuted(problem: Problem, what: str, found: Audit) -> TacitError:
    """The error for a search that called something safe that the audit does not."""
    return TacitError(
        f"the search called {what} safe that the audit does not: this is a fault of tacit, please "
        f"report it ({problem.name_cells(found.exposed_cells)})"
    )
