"""`protect` and what comes out of it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacit
from tacit import examples
from tacit.methods import registry
from tacit.outcome import Report, StopReason
from tacit.problem import Problem
from tacit.release import (
    NoReleaseError,
    Published,
    PublishedStatus,
    Release,
    WorkingPapers,
    protect,
)
from tacit.release.against import named_attackers
from tacit.release.wording import established
from tacit.report import html_report

# Values and contributions of which no digits occur anywhere else.
SECRETS: dict[str, list[Any]] = {
    "industry": ["A", "A", "A", "B", "B", "B", "C", "C", "C"],
    "region": ["N", "S", "W"] * 3,
    "turnover": [81283.0, 70407.0, 60601.0, 90901.0, 50503.0, 47417.0, 30307.0, 38083.0, 29209.0],
    "firms": [2, 9, 9, 9, 9, 9, 9, 9, 9],
    "first": [77171.0, 9001.0, 9002.0, 9003.0, 9004.0, 9005.0, 9006.0, 9007.0, 9008.0],
    "second": [4112.0, 8001.0, 8002.0, 8003.0, 8004.0, 8005.0, 8006.0, 8007.0, 8008.0],
}
RULE_PARAMETER = 17.375


def _table(frame: Any = SECRETS) -> tacit.Table:
    table = tacit.Table.from_frame(
        frame,
        {"industry": None, "region": None},
        value="turnover",
        count="firms",
        top=["first", "second"],
    )
    return table.apply(tacit.MinFrequency(3), tacit.PPercent(RULE_PARAMETER), weight="value")


@pytest.fixture(scope="module")
def release() -> tacit.Release:
    """A release of the table of secrets."""
    return protect(_table(), "suppress", time_limit=20)


def _digits(number: float) -> str:
    return f"{number:.15g}"


def _secrets(release: tacit.Release) -> list[str]:
    """Digits that must not be found in anything that readers see."""
    papers = release.papers
    problem, table = papers.problem, papers.table
    assert table is not None
    assert table.top is not None
    hidden = papers.outcome.suppressed
    levels = [*problem.lower_level, *problem.upper_level]
    numbers = [*problem.value[hidden], *table.top[hidden].ravel(), *levels, RULE_PARAMETER]
    assert len(hidden) >= 4
    return [_digits(number) for number in numbers if np.isfinite(number) and number > 0]


def _leaks(text: str, release: tacit.Release) -> list[str]:
    return [secret for secret in _secrets(release) if secret in text]


def test_what_readers_see(release: tacit.Release) -> None:
    """Codes of all cells, values of those that are published, and how each is published."""
    frame = release.published.to_frame("dict")
    assert list(frame) == ["industry", "region", "value", "status"]
    table, outcome = release.papers.table, release.papers.outcome
    assert table is not None
    hidden = np.zeros(table.cell_count, bool)
    hidden[outcome.suppressed] = True
    np.testing.assert_array_equal(frame["industry"], table.codes("industry"))
    np.testing.assert_array_equal(frame["value"], np.where(hidden, np.nan, table.value))
    np.testing.assert_array_equal(frame["status"] == "suppressed", hidden)
    assert set(frame["status"]) == {"published", "suppressed"}
    assert release.papers.audit.safe
    assert repr(release) == (
        f"Release(suppress, Published(industry x region, 16 cells, {16 - hidden.sum()} with a "
        "value))"
    )


def test_nothing_confidential_is_shown(release: tacit.Release) -> None:
    """No secret is in the publication, however it is taken apart, nor in summary or reprs."""
    shown = [
        release.summary(),
        release.guarantee,
        repr(release),
        repr(release.papers),
        repr(release.published),
        str({name: column.tolist() for name, column in release.published.columns().items()}),
        str(vars(release.published)),
    ]
    for text in shown:
        assert _leaks(text, release) == []
    kept = pickle.dumps(release.published)
    for number in release.papers.problem.value[release.papers.outcome.suppressed].tolist():
        assert np.float64(number).tobytes() not in kept


def test_a_planted_leak_is_found(release: tacit.Release) -> None:
    """The search for secrets finds each of the values that it looks for."""
    table, outcome = release.papers.table, release.papers.outcome
    assert table is not None
    assert _leaks(str(table.to_frame("dict")["value"].tolist()), release)
    assert _leaks(f"the rule was p = {RULE_PARAMETER}", release)
    cell = int(outcome.suppressed[0])
    value = release.published.value.copy()
    value[cell] = table.value[cell]
    published = release.published
    leaking = Published(published.codes, value, None, None, published.status, published.dimensions)
    assert _leaks(str(leaking.columns()["value"].tolist()), release)
    assert np.float64(table.value[cell]).tobytes() in pickle.dumps(leaking)


def test_the_summary_tells_how_and_at_which_loss(release: tacit.Release) -> None:
    """Method, cells and guarantee are there; nothing of the search and of sensitive cells is."""
    told = release.summary()
    rows = dict(line.split(maxsplit=1) for line in told.splitlines())
    assert list(rows) == [
        "table",
        "suppressed",
        "loss",
        "guarantee",
        "made",
        "versions",
    ]
    assert (
        rows["loss"] == f"{release.published.is_hidden.mean():.1%} of the cells have no exact value"
    )
    assert rows["table"] == "industry x region, 16 cells"
    assert rows["suppressed"] == f"{release.published.is_hidden.sum()} of 16 cells"
    assert rows["made"].endswith("method suppress")


def test_the_papers_tell_how_the_search_ended(release: tacit.Release) -> None:
    """Objective, bound, gap, time, seed, sensitive cells and the audit are in their summary."""
    papers = release.papers
    rows = papers.summary_rows()
    report = papers.outcome.report
    assert report.objective is not None
    assert rows["objective"].startswith(f"{_digits(report.objective)}; {report.bound_name} ")
    assert rows["objective"].endswith(f"gap {report.gap:.3%}")
    assert "1 sensitive" in rows["suppressed"]
    assert rows["sensitive"] == "1 of 16 cells"
    assert rows["seconds"].endswith("with algorithm auto")
    assert rows["search"].endswith(", seed 1")
    assert rows["audit"].endswith("against 1 attacker, all verified with evidence")
    assert [line.split()[0] for line in papers.summary().splitlines()] == [
        name.split()[0] for name in rows
    ]


def test_the_gap_does_not_give_sensitive_values_away() -> None:
    """Where weights are values, the gap tells what sensitive cells add up to; readers see none."""
    example = examples.get("002-figure-2.4").table
    assert example is not None
    table = example.apply(tacit.PPercent(10), weight="value")
    release = protect(table, algorithm="hypercube")
    papers = release.papers
    report, problem = papers.outcome.report, papers.problem
    assert report.objective is not None
    assert report.gap is not None
    hidden = problem.value[problem.sensitive].sum()
    assert (1 - report.gap) * report.objective == pytest.approx(hidden)
    for told in (release.summary(), release._repr_html_(), html_report(release)):
        assert f"{100 * report.gap:.3g}" not in told
        assert "proven" not in told


def test_the_guarantee_says_what_does_not_hold(release: tacit.Release) -> None:
    """Against whom it holds comes first, then against whom it does not."""
    assert release.guarantee.startswith("A reader who knows the published cells, all relations")
    assert "does not hold against anyone who knows more" in release.guarantee


def test_limits_of_each_kind_of_publication() -> None:
    """Intervals and changed values have their own limits, and adjusted ones a guarantee."""
    problem = _table().problem()
    intervals = protect(_table(), "intervals", time_limit=20)
    assert "guesses how the ends of intervals were chosen" in intervals.guarantee
    assert "the median interval is" in intervals.summary()
    changed = tacit.Values(_moved(problem))
    found = tacit.audit(problem, changed)
    assert found.safe
    assert established(problem, found).startswith("the published value of every sensitive cell is")
    outcome = tacit.Outcome(status=tacit.Status.FEASIBLE, solution=changed, method="adjust")
    papers = WorkingPapers(_table(), problem, outcome, found)
    release = Release(Published.of(_table(), outcome), papers)
    assert "anyone who learns how values were changed" in release.guarantee
    assert "every cell has a value, which may differ from the true one" in release.summary()


def _moved(problem: Problem) -> Any:
    """A table that adds up, with the sensitive cell far from its true value."""
    cells = [problem.name_cell(cell) for cell in range(problem.cell_count)]
    value = problem.value.copy()
    for row, column, sign in (("A", "N", 1), ("A", "S", -1), ("B", "N", -1), ("B", "S", 1)):
        place = next(
            cell for cell, name in enumerate(cells) if f"industry={row}, region={column}" in name
        )
        value[place] += sign * 30_000
    return value


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_come_back_as_they_came(library: Any) -> None:
    """The publication is a frame of the library that the data came from."""
    release = protect(_table(library.DataFrame(SECRETS)))
    assert isinstance(release.published.to_frame(), library.DataFrame)
    assert "turnover" in release.published.to_frame("dict", value="turnover")


def test_a_dimension_may_be_called_value() -> None:
    """No column takes the place of another one."""
    table = tacit.Table.from_frame({"value": ["a", "b"], "n": [1, 2]}, {"value": None}, value="n")
    assert list(protect(table).published.columns()) == ["value", "cell_value", "status"]


def test_nothing_sensitive_needs_no_guarantee() -> None:
    """A table without sensitive cells is published as it is."""
    table = tacit.Table.from_frame({"sex": ["f", "m"], "value": [1, 2]}, {"sex": None})
    release = protect(table)
    assert release.guarantee == "none is needed: no cell is sensitive."
    assert not np.isnan(release.published.value).any()


def test_a_problem_does_as_well() -> None:
    """Cells of a problem have numbers in place of codes."""
    example = examples.get("003-figure-11")
    release = protect(example.problem)
    assert release.papers.table is None
    assert release.published.codes["cell"].tolist() == [
        str(cell) for cell in range(example.problem.cell_count)
    ]
    assert release.published.dimensions == {}


def test_without_a_safe_outcome_there_is_no_release() -> None:
    """The error says why, and carries the outcome."""
    alone = Problem(
        value=[20, 22, 42],
        relations=[[1, 1, -1]],
        sensitive=[0],
        lower_level=[2],
        upper_level=[2],
        must_publish=[False, True, True],
    )
    with pytest.raises(NoReleaseError, match="no safe outcome exists:\n  cell 0 cannot") as raised:
        protect(alone)
    assert raised.value.outcome.status is tacit.Status.INFEASIBLE
    assert raised.value.problem is alone
    assert raised.value.audit is None


def _method(outcome: tacit.Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `tacit.suppress` return this outcome."""
    monkeypatch.setattr("tacit.methods.suppress.run.suppress", lambda *_, **__: outcome)


def test_stopped_too_early_there_is_no_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is called safe that is not known to be."""
    _method(tacit.Outcome(status=tacit.Status.INTERRUPTED, stopped_by=StopReason.TIME), monkeypatch)
    with pytest.raises(NoReleaseError, match="stopped before any safe outcome was known"):
        protect(_table())


def test_more_time_is_advised_only_where_it_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method that came to its end without a safe outcome is not to be given more time."""
    said = "choose algorithm auto"
    ended = tacit.Outcome(
        status=tacit.Status.INTERRUPTED, stopped_by=StopReason.HEURISTIC, message=said
    )
    _method(ended, monkeypatch)
    with pytest.raises(NoReleaseError, match=f"ended without a safe outcome\n  {said}"):
        tacit.protect(_table())


@pytest.mark.parametrize("method", ["adjust", "round"])
def test_working_papers_sum_up_what_was_changed(method: str) -> None:
    """Changes at each level are those of a loop over the cells; other methods have none."""
    options: dict[str, Any] = {"base": 50000} if method == "round" else {}
    papers = tacit.protect(_table(), method, **options).papers
    found = papers.perturbation()
    table, solution = papers.table, papers.outcome.solution
    assert table is not None
    assert isinstance(solution, tacit.Values)
    assert {change.dimension for change in found} == set(table.dimensions)
    for change in found:
        hierarchy = table.dimensions[change.dimension]
        codes = table.codes(change.dimension).tolist()
        here = [
            i for i, c in enumerate(codes) if hierarchy.level[hierarchy.index(c)] == change.level
        ]
        share = [abs(solution.value[i] / table.value[i] - 1) for i in here if table.value[i]]
        assert change.cells == len(here)
        assert change.mean_relative == pytest.approx(np.mean(share))
        assert change.max_relative == pytest.approx(max(share))


def test_other_methods_change_nothing(release: tacit.Release) -> None:
    """Where cells are suppressed there are no changes to sum up."""
    with pytest.raises(tacit.InputError, match="method suppress does not change values"):
        release.papers.perturbation()


def test_a_method_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a method calls safe is audited, and is no release where the audit disagrees."""
    problem = _table().problem()
    bare = tacit.Outcome(
        status=tacit.Status.OPTIMAL, solution=tacit.Suppression(problem.is_sensitive)
    )
    _method(bare, monkeypatch)
    with pytest.raises(NoReleaseError, match="the audit found cells exposed") as raised:
        protect(_table())
    assert raised.value.audit is not None
    assert raised.value.audit.exposed_cells == problem.sensitive.tolist()
    assert _digits(SECRETS["turnover"][0]) not in str(raised.value)


def test_singletons_are_among_the_attackers() -> None:
    """Whom the method is to withstand, the audit lets attack."""
    frame = {**SECRETS, "firms": [1, 9, 9, 9, 9, 9, 9, 9, 9]}
    release = protect(_table(frame), singletons="respondents")
    names = [found.attacker.name for found in release.papers.audit.findings]
    assert names[0] == "external"
    assert len(names) == 2
    assert "bounds nor any contributor who is alone in a cell can deduce" in release.guarantee
    assert release.papers.summary_rows()["attackers"] == (
        "a reader; 1 contributor who is alone in a cell"
    )


@pytest.mark.parametrize(
    ("singletons", "told"),
    [
        ("respondents", "nor any contributor who is alone in a cell can"),
        ("global", "nor all contributors who are alone in a cell together can"),
    ],
)
def test_readers_do_not_learn_whether_anybody_is_alone(singletons: str, told: str) -> None:
    """The guarantee follows from the options: it names neither cells nor numbers."""
    alone = protect(_table({**SECRETS, "firms": [1] + [9] * 8}), singletons=singletons)
    nobody = protect(_table(), singletons=singletons)
    assert told in alone.guarantee
    assert alone.guarantee == nobody.guarantee
    assert alone.papers.summary_rows() != nobody.papers.summary_rows()


def test_cells_that_ask_for_no_room_are_counted_for_the_papers_alone() -> None:
    """How many sensitive cells have levels of 0 is a number of sensitive cells."""
    table = _table()
    bare = table.replace(lower_level=None, upper_level=None, sliding_level=None)
    release = protect(bare)
    assert release.papers.summary_rows()["no levels"] == "1 of 1 sensitive cells ask for none"
    assert release.guarantee == protect(table).guarantee


def test_attackers_are_passed_on() -> None:
    """An attacker of one's own is withstood and audited."""
    attacker = tacit.Attacker.respondent({5: 1000.0}, name="the neighbour")
    release = protect(_table(), attackers=[tacit.Attacker.external(), attacker])
    assert "nor any other attacker whom the publisher considered can" in release.guarantee
    assert "neighbour" not in release.summary()
    assert release.papers.summary_rows()["attackers"] == "a reader; the neighbour"
    only = protect(_table(), attackers=[attacker], insiders="none")
    assert only.guarantee.startswith("No attacker whom the publisher considered can deduce any")


def test_unknown_methods_are_refused() -> None:
    """The error lists the methods there are, or the nearest."""
    with pytest.raises(tacit.InputError, match="did you mean 'suppress'"):
        protect(_table(), "supress")
    with pytest.raises(tacit.InputError, match=f"known are {', '.join(registry.METHODS)}"):
        protect(_table(), "wizardry")
    with pytest.raises(tacit.InputError, match="unknown option 'time_limt'"):
        protect(_table(), time_limt=3)


def _published(solution: tacit.Suppression | tacit.Intervals | tacit.Values) -> Published:
    problem = Problem(value=[20, 22, 42], upper=100, relations=[[1, 1, -1]], sensitive=[0])
    outcome = tacit.Outcome(
        status=tacit.Status.FEASIBLE, solution=solution, report=Report(objective=1.0)
    )
    return Published.of(problem, outcome)


def test_intervals_as_readers_see_them() -> None:
    """Ends where there is an interval, nothing where it tells no more than everybody knew."""
    published = _published(tacit.Intervals(np.array([15.0, 0, 42]), np.array([25.0, np.inf, 42])))
    assert published.status.tolist() == ["interval", "suppressed", "published"]
    np.testing.assert_array_equal(published.value, [np.nan, np.nan, 42])
    np.testing.assert_array_equal(published.columns()["lower"], [15, np.nan, 42])
    np.testing.assert_array_equal(published.columns()["upper"], [25, np.nan, 42])


def test_adjusted_values_as_readers_see_them() -> None:
    """Every cell has a value, and nothing tells which were changed."""
    published = _published(tacit.Values(np.array([21.0, 21, 42])))
    assert published.value.tolist() == [21, 21, 42]
    assert set(published.status) == {PublishedStatus.VALUE.value}


def test_nothing_is_guaranteed_without_an_audit() -> None:
    """Only an audit that found a pattern safe can guarantee anything."""
    problem = examples.get("003-figure-11").problem
    assert established(problem, None).startswith("none: ")
    exposed = tacit.audit(problem, problem.is_sensitive)
    assert established(problem, exposed).startswith("none: ")
    bare = tacit.Outcome(
        status=tacit.Status.FEASIBLE, solution=tacit.Suppression(problem.is_sensitive)
    )
    papers = WorkingPapers(None, problem, bare, exposed)
    assert Release(Published.of(problem, bare), papers).guarantee.startswith("none: ")


def test_attackers_of_an_audit_in_words() -> None:
    """Working papers count contributors who are alone, and name some of the attackers given."""
    example = examples.get("003-figure-11")
    assert example.suppressed is not None
    hidden = np.flatnonzero(example.suppressed).tolist()
    others = [
        tacit.Attacker.respondent({cell: 1.0}, name=f"firm {number}")
        for number, cell in enumerate([*hidden, hidden[0]])
    ]
    alone = [
        tacit.Attacker(known=(cell,), own=frozenset([cell])) for cell in hidden if cell != hidden[0]
    ]
    together = tacit.Attacker(colluding=(hidden[1], hidden[2]))
    found = tacit.audit(example.problem, example.suppressed, attackers=[*others, together, *alone])
    assert named_attackers(found) == (
        f"{len(alone)} contributors who are each alone in a cell; all contributors who are alone "
        f"in a cell together, who know 2 cells; firm 0, firm 1, firm 2 and {len(others) - 3} more"
    )
