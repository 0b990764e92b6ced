"""Wishes are granted, or refused with cells that stand against them, as brute force confirms."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import Hierarchy, NoReleaseError, Outcome
from tacit.problem import Problem
from tacit.release.wishes import impossible_wishes
from tacit.table import CellStatus, Table
from tests.methods.suppress.tables import BruteForce

ROWS, COLUMNS = Hierarchy.flat(["a", "b"]), Hierarchy.flat(["x", "y", "z"])


@st.composite
def marked_tables(draw: st.DrawFn) -> Table:
    """Small tables with a sensitive cell or two and cells that must be published."""
    values = draw(st.lists(st.integers(1, 30), min_size=6, max_size=6))
    table = Table.from_cube(np.array(values, float).reshape(2, 3), {"r": ROWS, "c": COLUMNS})
    sensitive = draw(st.sets(st.integers(0, 11), min_size=1, max_size=2))
    published = draw(st.sets(st.integers(0, 11), min_size=1, max_size=7)) - sensitive
    status = [
        "sensitive" if cell in sensitive else "publish" if cell in published else "safe"
        for cell in range(12)
    ]
    level = 0.2 * table.value
    return table.replace(status=status, lower_level=level, upper_level=level)


def safest(problem: Problem, published: list[int]) -> bool:
    """Whether the pattern that hides everything but these cells is safe."""
    mask = np.zeros(problem.cell_count, bool)
    mask[published] = True
    return BruteForce(problem.replace(must_publish=mask)).is_safe(~mask)


@settings(max_examples=25)
@given(marked_tables())
def test_what_relations_show_is_impossible(table: Table) -> None:
    """Of large tables, cells that are alone in a relation are named: with them nothing is safe."""
    problem = table.problem()
    wished = np.flatnonzero(problem.must_publish)
    number = {label: cell for cell, label in enumerate(table.labels)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tacit.release.wishes._LARGE", 0)
        told = impossible_wishes(table, problem, [], 20.0)
    if told:
        assert not safest(problem, wished.tolist())
    for reason in told:
        named = reason.partition(" must be published")[0]
        guilty = [number[label] for label in re.findall(r"\((.*?)\)", named)]
        assert not safest(problem, guilty)


@settings(max_examples=25)
@given(marked_tables())
def test_wishes_are_granted_or_refused_with_a_reason(table: Table) -> None:
    """What must be published is; a refusal names wishes that together are too much."""
    problem = table.problem()
    wished = np.flatnonzero(problem.must_publish)
    number = {label: cell for cell, label in enumerate(table.labels)}
    try:
        release = tacit.protect(table, time_limit=20)
    except NoReleaseError as error:
        assert not safest(problem, wished.tolist())
        for reason in error.outcome.message.splitlines():
            match = re.fullmatch(r"(.*) must be published, but where (?:it|they) .*", reason)
            if match is None:
                # Not for a wish to change: exposed with everything suppressed.
                assert not safest(problem, [])
                continue
            guilty = [number[label] for label in re.findall(r"\((.*?)\)", match[1])]
            (exposed,) = re.findall(r"(?:is|are), \((.*?)\), which is sensitive", reason)
            place = problem.sensitive == number[exposed]
            alone = problem.replace(
                sensitive=problem.sensitive[place],
                lower_level=problem.lower_level[place],
                upper_level=problem.upper_level[place],
                sliding_level=problem.sliding_level[place],
            )
            assert set(guilty) <= set(wished.tolist())
            assert not safest(alone, guilty)
            for cell in guilty:
                assert safest(alone, [each for each in guilty if each != cell]), "none is idle"
    else:
        assert not release.published.is_hidden[wished].any()
        assert BruteForce(problem).is_safe(release.published.is_hidden)


@pytest.mark.parametrize("method", ["suppress", "intervals", "combined"])
def test_a_refusal_comes_before_the_search(method: str) -> None:
    """The answer names wish and sensitive cell with its rule, and no time goes into a search."""
    cells = {"r": ["a", "a", "b", "b"], "c": ["x", "y", "x", "y"], "value": [9, 8, 7, 6]}
    table = Table.from_frame(cells, {"r": None, "c": None})
    marks = tacit.Manual(["r=a, c=*: publish unless sensitive", "r=a, c=x: sensitive"])
    judged = table.apply(marks)
    assert judged.status[judged.labels.index("r=a, c=y")] == CellStatus.PUBLISH
    with pytest.raises(NoReleaseError) as caught:
        tacit.protect(judged, method, time_limit=30)
    assert caught.value.outcome.report.iterations == 0
    assert (
        "(r=a, c=Total), (r=a, c=y) must be published, but where they are, (r=a, c=x), which is "
        "sensitive (manual), can be deduced too closely whatever else is suppressed; take back one "
        "of the marks" in str(caught.value)
    )


@pytest.mark.parametrize(("large", "told"), [(3000, "and 3 more"), (20, "and at least 3 more")])
def test_many_refusals_are_counted(monkeypatch: pytest.MonkeyPatch, large: int, told: str) -> None:
    """Five exposed cells are explained, the others counted, as far as a large table shows them."""
    monkeypatch.setattr("tacit.release.wishes._LARGE", large)
    codes = [f"i{number}" for number in range(8)]
    cells = {
        "r": [code for code in codes for _ in range(2)],
        "c": ["x", "y"] * 8,
        "value": list(range(5, 21)),
    }
    table = Table.from_frame(cells, {"r": None, "c": None})
    marks = ["r leaves, c=x: sensitive", "r leaves, c=y: publish", "r leaves: publish"]
    with pytest.raises(NoReleaseError, match=f"{told} sensitive cells"):
        tacit.protect(table.apply(tacit.Manual(marks)), time_limit=30)


@pytest.mark.parametrize("method", [tacit.suppress, tacit.intervals])
def test_reasons_of_a_search_are_counted(method: Callable[..., Outcome]) -> None:
    """A table that cannot be protected at all gets five reasons, not one for each cell."""
    cells = {"i": [f"i{number // 2}" for number in range(16)], "r": ["a", "b"] * 8}
    table = Table.from_frame({**cells, "value": [1.0] * 16}, {"i": None, "r": None})
    problem = table.apply(tacit.Manual(["i leaves, r=a: sensitive"])).problem()
    outcome = method(problem.replace(must_publish=~problem.is_sensitive), time_limit=10)
    assert outcome.status == "infeasible"
    *reasons, last = outcome.message.splitlines()
    assert len(reasons) == 5
    assert all("cannot be protected" in reason for reason in reasons)
    assert last == "and 3 more"
