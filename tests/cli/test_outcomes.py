"""Outcomes in words."""

from __future__ import annotations

import tacit
from tacit import examples
from tacit.cli.outcomes import guarantee, summary

EXAMPLE = examples.get("003-figure-11")
assert EXAMPLE.suppressed is not None
SUPPRESSED = EXAMPLE.suppressed


def test_nothing_is_guaranteed_without_an_audit() -> None:
    """Only an audit that found a pattern safe can guarantee anything."""
    solution = tacit.Suppression(EXAMPLE.problem.is_sensitive)
    outcome = tacit.Outcome(status=tacit.Status.FEASIBLE, solution=solution)
    assert guarantee(outcome, EXAMPLE.problem).startswith("none: ")
    audited = tacit.Outcome(
        status=tacit.Status.FEASIBLE,
        solution=solution,
        audit=tacit.audit(EXAMPLE.problem, solution),
    )
    assert guarantee(audited, EXAMPLE.problem).startswith("none: ")


def test_many_attackers_are_not_all_named() -> None:
    """The sentence stays short; who else was considered is counted."""
    attackers = [
        tacit.Attacker.respondent({}, alone=(), name=f"respondent {number}") for number in range(5)
    ]
    found = tacit.audit(EXAMPLE.problem, SUPPRESSED, attackers=attackers)
    outcome = tacit.Outcome(
        status=tacit.Status.FEASIBLE, solution=tacit.Suppression(SUPPRESSED), audit=found
    )
    told = guarantee(outcome, EXAMPLE.problem)
    assert told.startswith(
        "respondent 0, respondent 1, respondent 2 and 2 more (each knowing its own) cannot deduce"
    )


def test_why_a_search_ended_is_told() -> None:
    """A known reason is a phrase, an unknown one is told as it is, and none is said twice."""
    for reason, line in (
        ("time", "status      feasible: the time limit was reached"),
        ("hail", "status      feasible: hail"),
    ):
        outcome = tacit.Outcome(
            status=tacit.Status.FEASIBLE,
            stopped_by=reason,
            solution=tacit.Suppression(SUPPRESSED),
        )
        assert summary(outcome, EXAMPLE.problem)[0] == line
    hopeless = tacit.Outcome(status=tacit.Status.INFEASIBLE, stopped_by="infeasible")
    assert summary(hopeless, EXAMPLE.problem)[0] == "status      infeasible"
