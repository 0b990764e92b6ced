"""Releases of the tables that a linked release consists of."""

from __future__ import annotations

from dataclasses import replace

from tacit.attack.audit import audit
from tacit.observer import Observer, Unstoppable
from tacit.outcome import Intervals, Solution, Suppression, Values
from tacit.problem import Integers
from tacit.release.published import Published
from tacit.release.release import NoReleaseError, Release, WorkingPapers
from tacit.table import Table
from tacit.table.insiders import Choice


def part_of(release: Release, table: Table, cells: Integers, insiders: Choice = "none") -> Release:
    """The part of a linked release that is about one table, audited as such.

    Whoever sees one of the tables knows less than who sees all, so what is safe together is safe
    apart; it is verified nevertheless.

    Args:
        release: The release of all tables.
        table: The table, with statuses and levels as in the linked one.
        cells: The numbers of its cells in the linked table.
        insiders: Which contributors attack.

    Raises:
        NoReleaseError: The audit found cells exposed.
    """
    whole = release.papers
    assert whole.outcome.solution is not None
    outcome = replace(
        whole.outcome, solution=_restricted(whole.outcome.solution, cells), audit=None
    )
    problem = table.problem(insiders)
    found = audit(
        problem,
        outcome,
        cells="sensitive",
        exact=False,
        observer=Unstoppable(Observer()),
    )
    found.check()
    outcome = replace(outcome, audit=found)
    if not found.safe:
        raise NoReleaseError(
            f"the audit found cells exposed: {problem.name_cells(found.exposed_cells)}; nothing "
            "may be published",
            outcome,
            problem,
            found,
        )
    published = Published.of(table, outcome, against=release.published.against)
    return Release(published, WorkingPapers(table, problem, outcome, found))


def _restricted(solution: Solution, cells: Integers) -> Solution:
    if isinstance(solution, Suppression):
        return Suppression(solution.suppressed[cells])
    if isinstance(solution, Intervals):
        return Intervals(solution.lower[cells], solution.upper[cells])
    radius = None if solution.radius is None else solution.radius[cells]
    return Values(solution.value[cells], radius)
