"""Sums that everybody knows are protected on the way to a release, or else reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.clock import Clock
from tacit.outcome import Outcome, Status, StopReason, Suppression
from tacit.release.sums import protect_sums, with_sums
from tacit.rules.sums import sensitive_sums
from tests.rules.sums import hidden_cells, two_cells


def alone_in_both() -> tacit.Table:
    """One firm alone in two of four cells; the others have many firms."""
    rows = [("a", "big", 600.0), ("b", "big", 400.0)]
    rows += [(place, f"{place}{number}", 100.0) for place in "cd" for number in range(9)]
    place, firm, value = zip(*rows, strict=True)
    records = {"r": place, "firm": firm, "v": value}
    table: tacit.Table = tacit.tabulate(records, {"r": None}, "v", contributor="firm")
    return table.apply(tacit.PPercent(10))


def test_a_known_sum_is_protected() -> None:
    """The sum of two cells that one firm dominates is hidden by suppressing another cell."""
    table = two_cells()
    outcome = tacit.suppress(table.problem("singletons"), time_limit=20)
    assert [table.labels[cell] for cell in outcome.suppressed] == ["r=a", "r=b"]
    release = tacit.protect(table, "suppress", time_limit=20)
    hidden = [table.labels[cell] for cell in release.papers.outcome.suppressed]
    assert len(hidden) == 3
    assert not release.papers.sums
    assert release.papers.audit.safe
    assert release.papers.audit.problem.cell_count == table.cell_count
    assert "known sums" not in release.papers.summary_rows()


def test_a_sum_that_cannot_be_protected_is_reported() -> None:
    """Where no other cell may be suppressed the release says so to the publisher alone."""
    table = two_cells()
    status = table.status.copy()
    for cell, label in enumerate(table.labels):
        if label in ("r=Total", "r=c"):
            status[cell] = "publish"
    table = table.replace(status=status)
    release = tacit.protect(table, "suppress", time_limit=20)
    (known,) = release.papers.sums
    assert known.cells.tolist() == [1, 2]
    told = release.papers.summary_rows()["known sums"]
    assert told == (
        "1 sum of hidden cells is known to everybody, though rules find it sensitive: "
        "(r=a), (r=b): p%"
    )
    for text in (release.summary(), release.guarantee, str(release.published.columns())):
        assert "sum of" not in text


def test_tables_without_names_are_reported_only() -> None:
    """The worst case of a finished table suppresses nothing more."""
    named = two_cells()
    table = named.replace(contributors=None)
    release = tacit.protect(table, "suppress", time_limit=20)
    assert len(release.papers.outcome.suppressed) == 2
    assert [each.is_exact for each in release.papers.sums] == [False]


def test_other_methods_report() -> None:
    """Intervals that leave a sensitive sum known say so."""
    release = tacit.protect(two_cells(), "intervals", time_limit=20)
    assert len(release.papers.sums) == 1
    adjusted = tacit.protect(two_cells(), "adjust", time_limit=20)
    assert not adjusted.papers.sums


def test_sums_are_cells_that_cost_nothing() -> None:
    """An added cell adds up, is sensitive with the levels of the sum, and has no weight."""
    table = two_cells()
    sums = sensitive_sums(table, hidden_cells(table, ("a",), ("b",)))
    problem = with_sums(table.problem("contributors"), sums).validate()
    assert problem.cell_count == table.cell_count + 1
    assert problem.value[-1] == 1005
    assert problem.weight[-1] == 0
    assert problem.sensitive.tolist() == [1, 2, 4]
    assert problem.upper_level[-1] == pytest.approx(98)
    assert problem.labels is not None
    assert problem.labels[4] == "sum of cell r=a, cell r=b"
    assert problem.labels[3:] == ["r=c", "sum of cell r=a, cell r=b"]
    insiders = problem.insiders
    assert insiders is not None
    mine = np.flatnonzero(insiders.cells == 4)
    found = dict(zip(insiders.amount[mine].tolist(), insiders.own.upper[mine], strict=True))
    # Against the firm of 3 it is 3 + 1100 - 1005, against that of 2 2 + 1100 - 1005; the firm of
    # 1000 knows 5 for the others: 1000 + 3.3 - 1005 is below nothing.
    assert found == pytest.approx({3: 98, 2: 97, 1000: 0})
    assert insiders.outside.upper[-1] == pytest.approx(95)


def test_whoever_is_alone_in_all_cells_knows_their_sum() -> None:
    """A firm that is alone in both cells is asked for nothing about their sum."""
    table = alone_in_both()
    sums = sensitive_sums(table, hidden_cells(table, ("a",), ("b",)))
    insiders = with_sums(table.problem("singletons"), sums).insiders
    assert insiders is not None
    place = insiders.cells.tolist().index(table.cell_count)
    assert insiders.alone[place]
    assert insiders.amount[place] == 1000
    assert insiders.own.upper[place] == insiders.own.lower[place] == 0


def test_options_follow_the_added_cells() -> None:
    """A limit on suppressed cells and weights hold for the cells of the table."""
    table = two_cells()
    release = tacit.protect(table, "suppress", max_suppressed=3, weights="unit", time_limit=20)
    assert len(release.papers.outcome.suppressed) == 3
    assert release.papers.outcome.report.objective == 3
    release = tacit.protect(table, "suppress", max_suppressed=2, time_limit=20)
    assert len(release.papers.sums) == 1


def test_no_round_begins_without_time() -> None:
    """Where the search took all the time, sums are reported and nothing is searched again."""
    table = two_cells()
    problem = table.problem("singletons")
    suppressed = Suppression(hidden_cells(table, ("a",), ("b",)))
    calls: list[Any] = []

    def run(problem: Any, **options: Any) -> Outcome:
        calls.append((problem, options))
        return Outcome(status=Status.INTERRUPTED)

    found = Outcome(status=Status.FEASIBLE, solution=suppressed)
    spent = Clock(60.0, reserve=58.0)
    outcome, known = protect_sums(run, table, problem, found, {}, spent)
    assert (outcome, len(known), len(calls)) == (found, 1, 0)
    stopped = Outcome(status=Status.FEASIBLE, stopped_by=StopReason.USER, solution=suppressed)
    outcome, known = protect_sums(run, table, problem, stopped, {}, Clock(60.0))
    assert (outcome, len(known), len(calls)) == (stopped, 1, 0)
    outcome, known = protect_sums(run, table, problem, found, {}, Clock(60.0))
    assert (outcome, len(known), len(calls)) == (found, 1, 1)
