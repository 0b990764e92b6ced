"""`protect`: from a table to a release, audited independently of how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.attack.audit import audit
from tacit.attack.knowledge import Attacker
from tacit.methods.registry import find_method
from tacit.observer import Observer, Unstoppable
from tacit.outcome import Outcome, Status
from tacit.problem import ADDITIVITY_TOLERANCE, Problem
from tacit.release.choices import with_cells
from tacit.release.published import Published
from tacit.release.release import NoReleaseError, Release, WorkingPapers
from tacit.table import Table


def protect(
    table: Table | Problem,
    method: str = "suppress",
    *,
    attackers: Sequence[Attacker] = (),
    observer: Observer | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
    **options: Any,
) -> Release:
    """Make a table publishable, and have it audited independently of how that was done.

    Args:
        table: A table with sensitive cells and their levels, as `Table.apply` marks them. A
            `Problem` does as well.
        method: `suppress`, or another one of `tacit.methods.registry.METHODS`.
        attackers: Who attacks; by default a reader who knows nothing more than the
            publication, the relations and the bounds.
        observer: Listens to bounds and solutions; may stop the search.
        tolerance: How exactly the table must add up (see `Problem.validate`).
        **options: Options of the method, such as `time_limit=60`.

    Returns:
        The release: what readers may see, and apart from it the confidential working papers.

    Raises:
        NoReleaseError: No safe outcome exists, or none was found; its `outcome` says which.
        ProblemError: The table contradicts itself.
        InputError: There is no such method or option.

    >>> import tacit
    >>> table = tacit.examples.get("002-figure-2.4").table.apply(tacit.PPercent(10))
    >>> release = tacit.protect(table, "suppress", time_limit=10)
    >>> release
    Release(suppress, Published(business x location, 9 cells, 5 with a value))
    """
    chosen = find_method(method)
    run = chosen.run()
    problem = table if isinstance(table, Problem) else table.problem()
    options = with_cells(table, chosen.to_publish(options), chosen.cell_choices)
    if attackers:
        options["attackers"] = attackers
    outcome = run(problem, observer=observer, tolerance=tolerance, **options)
    if outcome.solution is None:
        raise NoReleaseError(_why_none(outcome), outcome, problem)
    found = audit(
        problem,
        outcome,
        cells="sensitive",
        exact=False,
        attackers=_audited_attackers(outcome, attackers),
        observer=Unstoppable(observer or Observer()),
        tolerance=tolerance,
    )
    found.check()
    if not found.safe:
        raise NoReleaseError(
            "the audit found cells exposed: "
            f"{problem.name_cells(found.exposed_cells)}; nothing may be published",
            outcome,
            problem,
            found,
        )
    papers = WorkingPapers(table if isinstance(table, Table) else None, problem, outcome, found)
    return Release(Published.of(table, outcome), papers)


def _why_none(outcome: Outcome) -> str:
    if outcome.status is Status.INFEASIBLE:
        reason = outcome.message.replace("\n", "\n  ")
        return f"no safe outcome exists:\n  {reason}"
    told = f"\n  {outcome.message}" if outcome.message else ""
    if outcome.cut_short:
        return f"stopped before any safe outcome was known; allow more time (time_limit){told}"
    return f"ended without a safe outcome{told or '; choose another algorithm'}"


def _audited_attackers(outcome: Outcome, given: Sequence[Attacker]) -> Sequence[Attacker]:
    """Those whom the method was to withstand: options may have added to those given."""
    if outcome.audit is None:
        return given
    return [found.attacker for found in outcome.audit.findings]
