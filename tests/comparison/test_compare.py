"""Several methods on one table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.comparison import ComparedOutcome, compare
from tacit.errors import InputError, ProblemError, SolverError
from tacit.methods.registry import METHODS, Method
from tacit.observer import Observer
from tacit.outcome import Outcome, Report, Status, Values
from tacit.problem import Problem

EXAMPLE = tacit.examples.get("003-figure-11").problem


def _method(monkeypatch: pytest.MonkeyPatch, name: str, function: Any) -> None:
    """One more method, with the options of `suppress`."""
    options = METHODS["suppress"].options_class
    monkeypatch.setitem(METHODS, name, Method(f"{__name__}:{name}", options))
    monkeypatch.setitem(globals(), name, function)


def test_rows_come_in_the_order_asked_for() -> None:
    """Each method is measured alike, and what it minimises is reported as its own."""
    found = tacit.compare(EXAMPLE, ["intervals", "suppress:hypercube", "suppress"], time_limit=10)
    assert [row.label for row in found.rows] == ["intervals", "suppress:hypercube", "suppress"]
    assert [row.algorithm for row in found.rows] == ["auto", "hypercube", "auto"]
    assert all(row.safe for row in found.rows)
    best = tacit.suppress(EXAMPLE, time_limit=10)
    assert found.rows[2].objective == best.report.objective
    assert found.rows[2].measures is not None
    assert found.rows[2].measures.suppressed == len(best.suppressed)
    assert found.rows[0].measures is not None
    assert found.rows[0].measures.intervals > 0
    assert repr(found) == (
        "Comparison(intervals, suppress:hypercube, suppress; 16 cells, 1 sensitive)"
    )


def test_all_methods_are_the_default() -> None:
    """Whoever names none gets all there are."""
    found = compare(EXAMPLE, time_limit=5)
    assert [row.label for row in found.rows] == list(METHODS)


def test_a_method_that_fails_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row says why, in the text as in the frame."""

    def broken(*_: object, **__: object) -> Outcome:
        raise SolverError("the solver failed; try another one")

    def hopeless(*_: object, **__: object) -> Outcome:
        return Outcome(
            status=Status.INFEASIBLE, message="no room\nnowhere", report=Report(bound=np.inf)
        )

    _method(monkeypatch, "broken", broken)
    _method(monkeypatch, "hopeless", hopeless)
    found = compare(EXAMPLE, ["broken", "hopeless", "suppress"], time_limit=10)
    assert [row.status for row in found.rows] == ["failed", "infeasible", "optimal"]
    assert [row.safe for row in found.rows] == [False, False, True]
    text = found.summary()
    assert "broken: the solver failed; try another one\nhopeless: no room\n  nowhere" in text
    frame = found.to_frame("pandas")
    assert frame["status"].tolist() == ["failed", "infeasible", "optimal"]
    assert np.isnan(frame["loss"][0])
    assert frame["loss"][2] > 0
    assert "least information lost" not in text


def test_what_is_not_safe_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method that claims too much is found out by the audit."""

    def careless(problem: Problem, **_: object) -> Outcome:
        return Outcome(status=Status.OPTIMAL, solution=Values(problem.value), method="careless")

    _method(monkeypatch, "careless", careless)
    found = compare(EXAMPLE, ["careless", "suppress"], time_limit=10)
    assert not found.rows[0].safe
    assert found.rows[0].measures is not None
    assert found.rows[0].measures.exposed == 1.0
    assert "optimal, NOT SAFE" in found.summary()


def test_text_and_html_tell_the_same() -> None:
    """One line per method below the names of the figures; the best are named."""
    found = compare(EXAMPLE, ["suppress", "intervals"], time_limit=10)
    head, *lines = found.summary().splitlines()
    assert head.split() == [
        *("method", "status", "exact", "lost", "width", "deviation", "most"),
        *("sensitive", "least", "gap", "seconds"),
    ]
    assert lines[0].split()[:3] == ["suppress", "optimal", "75.0%"]
    assert "most cells exact: suppress, intervals" in lines
    assert "least information lost: intervals" in lines
    page = found._repr_html_()
    for text in (*head.split(), *lines[0].split(), "most cells exact: suppress"):
        assert f">{text}<" in page or text in page
    assert found.to_frame()["label"].tolist() == ["suppress", "intervals"]


def test_no_cell_is_told() -> None:
    """Neither text nor frame contains the value of any cell."""
    value = EXAMPLE.value * 7919
    problem = EXAMPLE.replace(
        value=value,
        upper=EXAMPLE.upper * 7919,
        lower=EXAMPLE.lower * 7919,
        upper_level=EXAMPLE.upper_level * 7919,
        lower_level=EXAMPLE.lower_level * 7919,
    )
    found = compare(problem, ["suppress", "intervals"], time_limit=10)
    told = found.summary() + found._repr_html_()
    for number in value.tolist():
        assert f"{number:.0f}" not in told


def test_options_by_method() -> None:
    """Options reach the method they are for, and those of one entry only that entry."""
    found = compare(
        EXAMPLE,
        ["suppress", "suppress:paths", "intervals"],
        time_limit=5,
        options={"suppress": {"max_suppressed": 0}, "suppress:paths": {"max_suppressed": 9}},
    )
    assert [row.safe for row in found.rows] == [False, True, True]
    assert "at most 0 cells" in found.rows[0].message


@pytest.mark.parametrize(
    ("methods", "options", "message"),
    [
        ([], {}, "there are no methods to compare"),
        (["suppress", "suppress"], {}, "'suppress' is named twice"),
        (["supress"], {}, "did you mean 'suppress'"),
        (["suppress:hypercub"], {}, "suppress:hypercub: option 'algorithm' must be one of"),
        (["suppress"], {"suppress": {"colour": 1}}, "suppress: unknown option 'colour'"),
        (["suppress"], {"intervals": {}}, "options for 'intervals', which is not compared"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    methods: list[str], options: dict[str, dict[str, Any]], message: str
) -> None:
    """Before anything runs."""
    with pytest.raises(InputError, match=message):
        compare(EXAMPLE, methods, options=options)


def test_a_wrong_table_is_refused() -> None:
    """A table that contradicts itself is no matter of methods."""
    value = EXAMPLE.value.copy()
    value[0] += 1
    with pytest.raises(ProblemError, match="do not add up"):
        compare(EXAMPLE.replace(value=value))


def test_tables_can_be_compared_too() -> None:
    """A table with rules applied does as well as a problem."""
    table = tacit.examples.get("002-figure-2.4").table
    assert table is not None
    found = compare(table.apply(tacit.PPercent(10)), ["suppress"], time_limit=5)
    assert found.rows[0].safe
    assert found.cells == 9


def test_an_observer_stops_and_is_told_who_runs() -> None:
    """Tasks carry the method's name; methods after a stop do not run."""
    tasks: list[tuple[str, int | None]] = []

    class Listener(Observer):
        stopping = False

        def on_start(self, task: str, *, total: int | None = None) -> None:
            tasks.append((task, total))

        def on_solution(self, _seconds: float, _objective: float) -> None:
            self.stopping = True

        def should_stop(self) -> bool:
            return self.stopping

    found = compare(EXAMPLE, ["suppress", "intervals"], time_limit=5, observer=Listener())
    assert tasks == [("suppress (1 of 2)", None), ("suppress (1 of 2): measuring", 8)]
    assert found.rows[0].safe
    assert found.rows[1] == ComparedOutcome(label="intervals", method="intervals", status="not run")
