"""`protect`: from a table to a release, audited independently of how it was made.

All releases are made here. Methods have their result audited (`attack.audit`, which shares no
state with the search). That audit counts here if it is about this very table, publication and
attackers, and its evidence is verified in numpy before anything is called safe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from tacit.attack.audit import Audit, audit
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.clock import Clock
from tacit.errors import InputError
from tacit.methods.engine.driver import infeasible
from tacit.methods.recoding.levels import LevelSuggestions, suggest_levels
from tacit.methods.registry import DEFAULT_METHOD, find_method
from tacit.observer import Observer, Unstoppable
from tacit.outcome import Outcome, Solution, Status, Values
from tacit.problem import ADDITIVITY_TOLERANCE, Problem
from tacit.release import wishes
from tacit.release.against import (
    Against,
    asked_for,
    insiders_asked_for,
)
from tacit.release.choices import with_cells
from tacit.release.published import Published
from tacit.release.release import NoReleaseError, Release, WorkingPapers
from tacit.release.sums import left_known, protect_sums, time_limit_of
from tacit.rules.sums import SensitiveSum
from tacit.table import Table
from tacit.table.insiders import Choice, check_choice

MOST_HINTS = 3
"""More levels to leave out are not named in a message."""
LEVELS = ("lower_level", "upper_level", "sliding_level")


def protect(
    table: Table | Problem,
    method: str = DEFAULT_METHOD,
    *,
    attackers: Sequence[Attacker] = (),
    insiders: Choice | None = None,
    coalition: int = 1,
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
            publication, the relations and the bounds. Others take the reader's place only with
            `insiders="none"`: whoever is kept from contributors is kept from readers.
        insiders: Which contributors attack besides, each knowing its own figures: `singletons`,
            who are alone in a cell (the default where the table knows the number of
            contributors); `contributors`, all whom it knows; `none`. A problem brings its own.
        coalition: How many insiders may pool what they know.
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
    problem = faced(table, options, insiders, coalition)
    options = with_cells(table, chosen.to_publish(options), chosen.cell_choices)
    kinds: tuple[Against, ...] = ()
    if isinstance(table, Table) and not _asks_for_singletons(options):
        kinds = insiders_asked_for(table, insiders or "singletons", coalition)
    if attackers:
        # Where contributors are asked for, whether or not there are any, readers are faced, too.
        if (kinds or problem.insiders is not None) and not any(a.is_reader for a in attackers):
            attackers = (*attackers, Attacker.external())
        options["attackers"] = attackers
    search = partial(run, observer=observer, tolerance=tolerance)
    clock = Clock(time_limit_of(options))
    refused: list[str] = []
    if isinstance(table, Table) and method in wishes.METHODS:
        refused = wishes.impossible_wishes(
            table, problem, attackers, clock.limit, observer, tolerance
        )
    if refused:
        outcome = infeasible(method, chosen.options()(), refused, clock.seconds)
    else:
        outcome = search(problem, **options)
    if outcome.solution is None:
        # A wish is taken back more easily than a table is recoded.
        recodes = suggest_levels(table) if isinstance(table, Table) and not refused else None
        why = f"{_why_none(outcome)}{recoding_hint(recodes)}"
        raise NoReleaseError(why, outcome, problem, recodes=recodes)
    known: list[SensitiveSum] = []
    if isinstance(table, Table):
        if _asks_for_singletons(options) or attackers or isinstance(outcome.solution, Values):
            known = left_known(table, problem, outcome.solution, outcome.left_out)
        else:
            outcome, known = protect_sums(search, table, problem, outcome, options, clock)
    found = _verified(problem, outcome, attackers, observer, tolerance)
    outcome = replace(outcome, audit=found)
    if not found.safe:
        raise NoReleaseError(
            f"{_why_unsafe(problem, found)}; nothing may be published",
            outcome,
            problem,
            found,
        )
    papers = WorkingPapers(
        table if isinstance(table, Table) else None, problem, outcome, found, tuple(known)
    )
    against = asked_for(method, options, attackers, kinds)
    return Release(Published.of(table, outcome, against=against), papers)


def faced(
    source: Table | Problem,
    options: Mapping[str, Any],
    insiders: str | None = None,
    coalition: int = 1,
) -> Problem:
    """What algorithms see of a table, with the insiders that it is protected against.

    Args:
        source: The table or problem.
        options: Options of the method; `singletons` follows papers in place of insiders.
        insiders: Which contributors attack; None leaves it at the default.
        coalition: How many of them may pool what they know.

    Raises:
        InputError: Insiders that the source cannot have, or both insiders and `singletons`.
    """
    check_insiders(options, insiders, coalition)
    if _asks_for_singletons(options):
        insiders = "none"
    if isinstance(source, Table):
        return source.problem(
            cast("Choice", "singletons" if insiders is None else insiders), coalition
        )
    if insiders == "none":
        return source.with_insiders(None)
    if insiders is not None or coalition > 1:
        raise InputError(
            "insiders are found in a table that knows its contributors, which this input is not (a "
            "JJ file or a problem); leave out insiders and coalition"
        )
    return source


def check_insiders(options: Mapping[str, Any], insiders: str | None, coalition: int) -> None:
    """Refuse insiders that there cannot be, whatever the table is; arguments as of `faced`."""
    check_choice("singletons" if insiders is None else insiders, coalition)
    if coalition > 1 and insiders == "none":
        raise InputError("coalition says how many insiders work together, but insiders is none")
    if _asks_for_singletons(options) and (insiders not in (None, "none") or coalition > 1):
        raise InputError(
            "insiders and singletons both say what contributors know; leave out singletons, which "
            "follows the papers, or say insiders = none"
        )


def _asks_for_singletons(options: Mapping[str, Any]) -> bool:
    return str(options.get("singletons", "ignore")) != "ignore"


def _why_none(outcome: Outcome) -> str:
    if outcome.status is Status.INFEASIBLE:
        reason = outcome.message.replace("\n", "\n  ")
        return f"no safe outcome exists:\n  {reason}"
    told = f"\n  {outcome.message}" if outcome.message else ""
    if outcome.cut_short:
        return f"stopped before any safe outcome was known; allow more time (time_limit){told}"
    return f"ended without a safe outcome{told or '; choose another algorithm'}"


def recoding_hint(recodes: LevelSuggestions | None) -> str:
    """Which levels to leave out, in a line without figures: logs are kept and handed on."""
    if recodes is None or not len(recodes):
        return ""
    named = ", ".join(
        f"{choice.named} by [recode] {choice.dimension} = {choice.level}"
        for choice in recodes.choices[:MOST_HINTS]
    )
    return f"\n  fewer cells are sensitive without {named}"


def _why_unsafe(problem: Problem, found: Audit) -> str:
    if found.exposures:
        return f"the audit found cells exposed: {problem.name_cells(found.exposed_cells)}"
    if found.unchecked:
        return f"the audit has no verdict on {problem.name_cells(found.unchecked)}"
    return "\n".join(fault.message for fault in found.faults)


def _verified(
    problem: Problem,
    outcome: Outcome,
    attackers: Sequence[Attacker],
    observer: Observer | None,
    tolerance: float,
) -> Audit:
    """The method's own audit if it is about what is to be published, otherwise a new one."""
    assert outcome.solution is not None
    found: Audit | None = outcome.audit
    if found is None or not is_about(problem, outcome.solution, found, attackers):
        found = audit(
            problem,
            outcome,
            cells="sensitive",
            exact=False,
            attackers=attackers,
            observer=Unstoppable(observer or Observer()),
            tolerance=tolerance,
        )
    found.check()
    return found


def is_about(
    problem: Problem, solution: Solution, found: Audit, attackers: Sequence[Attacker]
) -> bool:
    """Whether an audit is about this table, this publication and these attackers."""
    audited = found.problem
    # Weights are for methods; everything else is what protection means.
    arrays = ("value", "lower", "upper", "rhs", "sensitive", *LEVELS)
    told = Knowledge.of(problem, solution)
    faced = [each.attacker for each in found.findings]
    values = solution.value if isinstance(solution, Values) else None
    judged = found.adjusted or found.rounded
    return (
        all(np.array_equal(getattr(problem, name), getattr(audited, name)) for name in arrays)
        and problem.insiders is audited.insiders
        and (problem.insiders is None or found.insiders is not None)
        and problem.relations.shape == audited.relations.shape
        and abs(problem.relations - audited.relations).sum() == 0
        and np.array_equal(told.up, found.knowledge.up)
        and np.array_equal(told.down, found.knowledge.down)
        and (values is None or (judged is not None and np.array_equal(values, judged.value)))
        and all(attacker in faced for attacker in attackers)
    )
