"""Sums that everybody knows are protected on the way to a release, or else reported."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import tacit
from tacit.clock import Clock, TimeUpError
from tacit.outcome import Intervals, Outcome, Status, StopReason, Suppression
from tacit.release.sums import left_known, protect_sums, with_sums
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


def range_of_sum(problem: tacit.Problem, solution: Any, cells: list[int]) -> tuple[float, float]:
    """The least and the most that cells may add up to, as far as readers can tell."""
    objective = np.zeros(problem.cell_count)
    objective[cells] = 1.0
    lower = np.maximum(solution.lower, problem.lower)
    upper = np.minimum(solution.upper, problem.upper)
    ends = []
    for sign in (1.0, -1.0):
        found = linprog(
            sign * objective,
            A_eq=problem.relations.toarray(),
            b_eq=problem.rhs,
            bounds=list(zip(lower.tolist(), upper.tolist(), strict=True)),
        )
        ends.append(np.inf if found.fun is None else sign * found.fun)
    return ends[0], ends[1]


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


@pytest.mark.parametrize("method", ["intervals", "combined"])
def test_intervals_protect_sums(method: str) -> None:
    """The sum of two cells is as uncertain as its rule asks for, found by linear programs."""
    table = two_cells()
    alone = getattr(tacit, method)(table.problem("singletons"), time_limit=20)
    low, high = range_of_sum(table.problem(), alone.solution, [1, 2])
    assert (low, high) == pytest.approx((1005, 1005))
    assert [each.cells.tolist() for each in left_known(table, table.problem(), alone.solution)] == [
        [1, 2]
    ]
    release = tacit.protect(table, method, round_to="exact", time_limit=20)
    assert not release.papers.sums
    assert release.papers.audit.safe
    solution = release.papers.outcome.solution
    assert isinstance(solution, Intervals)
    assert len(solution.lower) == table.cell_count
    low, high = range_of_sum(table.problem(), solution, [1, 2])
    # The levels of the sum are those of a cell of 1005 with firms of 1000, 3 and 2.
    assert high >= 1103 - 1e-6
    assert low <= 907 + 1e-6


@pytest.mark.parametrize("method", ["intervals", "combined"])
def test_intervals_that_cannot_protect_a_sum_report_it(method: str) -> None:
    """Where no other cell may become an interval the sum is told to the publisher alone."""
    table = two_cells()
    status = table.status.copy()
    status[[0, 3]] = "publish"
    release = tacit.protect(table.replace(status=status), method, time_limit=20)
    assert [each.cells.tolist() for each in release.papers.sums] == [[1, 2]]
    assert "sum of" not in release.summary()


@pytest.mark.parametrize("method", ["intervals", "combined"])
@pytest.mark.parametrize("seed", range(4))
def test_random_tables_leave_no_sum_known(method: str, seed: int) -> None:
    """Sums that rules find sensitive are uncertain to readers, found by linear programs."""
    generator = np.random.default_rng(seed)
    count = 26
    records = {
        "r": generator.choice(["a", "b", "c"], count),
        "s": generator.choice(["x", "y", "z"], count),
        "firm": generator.integers(0, 7, count),
        "v": np.round(generator.lognormal(4, 1.5, count)) + 1,
    }
    table = tacit.tabulate(records, {"r": None, "s": None}, "v", contributor="firm")
    table = table.apply(tacit.PPercent(15))
    release = tacit.protect(table, method, round_to="exact", time_limit=20)
    solution = release.papers.outcome.solution
    assert isinstance(solution, Intervals)
    assert not release.papers.sums
    problem = table.problem()
    hidden = solution.lower < solution.upper
    codes = {name: table.codes(name).tolist() for name in ("r", "s")}
    inside = [
        np.all(
            [
                (records[name] == codes[name][cell]) | (codes[name][cell] == "Total")
                for name in codes
            ],
            axis=0,
        )
        for cell in range(table.cell_count)
    ]
    looked_at = 0
    for relation in problem.relations.toarray():
        parts = [cell for cell in np.flatnonzero(relation > 0) if table.value[cell] > 0]
        mine = [int(cell) for cell in parts if hidden[cell]]
        for size in range(2, len(mine) + 1):
            for chosen in combinations(mine, size):
                here = np.any([inside[cell] for cell in chosen], axis=0)
                by_firm = np.bincount(records["firm"][here], records["v"][here])
                total, *largest = (float(by_firm.sum()), *np.sort(by_firm)[::-1][:2], 0.0)
                level = 1.15 * largest[0] + largest[1] - total
                if level <= 0 or size == len(parts):
                    continue
                looked_at += 1
                _, high = range_of_sum(problem, solution, list(chosen))
                assert high >= total + level * (1 - 1e-6)
    assert looked_at


def narrow_third() -> tacit.Table:
    """A firm with nearly all of two cells, and a third cell that needs a narrow interval."""
    rows = [("a", "big", 600.0), ("a", "g", 3.0), ("b", "big", 400.0), ("b", "h", 2.0)]
    rows += [("c", "i", 1000.0), ("c", "j", 900.0), ("c", "k", 60.0)]
    place, firm, value = zip(*rows, strict=True)
    records = {"r": place, "firm": firm, "v": value}
    table = tacit.tabulate(records, {"r": None}, "v", contributor="firm")
    return table.apply(tacit.PPercent(10))


def around(table: tacit.Table, third: float) -> Intervals:
    """Wide intervals for two cells, and one of some width for the third."""
    slack = np.array([0.0, 300.0, 300.0, third])
    return Intervals(table.value - slack, table.value + slack)


def test_a_narrow_interval_gives_the_sum_of_the_others_away() -> None:
    """Two cells of which one firm has nearly all are known to within the width of the third."""
    table = narrow_third()
    problem = table.problem("singletons")
    # The level of the sum of a and b is 98.
    (known,) = left_known(table, problem, around(table, 60))
    assert known.label(table) == "(r=a), (r=b): p%, closely"
    assert not left_known(table, problem, around(table, 100))
    alone = tacit.intervals(problem, time_limit=20)
    assert left_known(table, problem, alone.solution)
    release = tacit.protect(table, "intervals", round_to="exact", time_limit=20)
    assert not release.papers.sums
    solution = release.papers.outcome.solution
    assert isinstance(solution, Intervals)
    low, high = range_of_sum(problem, solution, [1, 2])
    assert high >= 1103 - 1e-6
    assert low <= 907 + 1e-6


def test_sums_that_time_is_too_short_for_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum counts as known where nobody could find out how closely it is."""

    def slow(*_arguments: Any) -> None:
        raise TimeUpError

    table = narrow_third()
    monkeypatch.setattr("tacit.release.sums.Attack", slow)
    (unsure,) = left_known(table, table.problem(), around(table, 100), seconds=0.0)
    assert unsure.cells.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("intervals", {"published": [0, 1, 2, 3]}),
        ("intervals", {"withheld": [3]}),
        ("intervals", {"allowed": [True, True, True, False]}),
        ("intervals", {"weights": ("unit", np.array([1.0, 2.0, 3.0, 4.0]))}),
        ("combined", {"width_weights": "unit", "weights": "value", "max_suppressed": 3}),
        ("combined", {"min_width": np.array([0.0, 10.0, 10.0, 10.0])}),
        ("combined", {"min_width": "5%"}),
    ],
)
def test_options_of_intervals_hold_for_the_cells_of_the_table(
    method: str, options: dict[str, Any]
) -> None:
    """Choices of cells, weights and widths are about the table, not about added sums."""
    release = tacit.protect(two_cells(), method, time_limit=20, **options)
    outcome = release.papers.outcome
    assert not release.papers.sums
    assert isinstance(outcome.solution, Intervals)
    assert len(outcome.solution.lower) == 4
    assert all(cell < 4 for cell in outcome.left_out)
    if "allowed" in options:
        assert outcome.solution.lower[3] == outcome.solution.upper[3] == 900
    if "withheld" in options:
        assert 3 in outcome.left_out
    if "max_suppressed" in options:
        assert len(outcome.suppressed) == 3


def test_adjusted_and_rounded_values_leave_no_exact_sum() -> None:
    """Methods that change every value have no sums to tell."""
    assert not tacit.protect(two_cells(), "adjust", time_limit=20).papers.sums
    assert not tacit.protect(two_cells(), "round", base=200, time_limit=20).papers.sums


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
