"""Which cells are published, and which of them may become intervals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.errors import InputError
from tacit.generators import generate_1h2d
from tacit.io.jj import write_jj
from tacit.methods.intervals.run import intervals
from tacit.outcome import Status
from tacit.problem import Problem
from tests.methods.intervals.tables import example, obvious_optimum, published


def bounded(**changes: Any) -> Problem:
    """The worked example with bounds."""
    return example(**{"upper": 100, **changes})


def test_cells_outside_h_are_known_by_their_bounds_only() -> None:
    """As in [CastroVia2016, (2)]; the optimum is that of its (3)."""
    h = np.array([True, False, True, True, True, False])
    outcome = intervals(bounded(), published=h, gap=1e-8)
    assert outcome.report.objective == pytest.approx(obvious_optimum(bounded(), withheld=~h))
    assert {1, 5} <= set(outcome.left_out)
    by_complement = intervals(bounded(), withheld=[1, 5], gap=1e-8)
    assert by_complement.report.objective == outcome.report.objective


def test_cells_that_must_be_published_are_known_wherever_h_ends() -> None:
    """They are F of [CastroVia2016]: published before, and so part of what everybody knows."""
    problem = bounded(must_publish=[False, False, True, False, False, False])
    outcome = intervals(problem, published=[0, 1, 3, 4, 5])
    found = published(outcome)
    assert (found.lower[2], found.upper[2]) == (25.0, 25.0)
    assert 2 not in outcome.left_out
    with pytest.raises(InputError, match="withheld names cells that must be published: cell 2"):
        intervals(problem, withheld=[2])


def test_allowed_is_about_intervals_and_not_about_h() -> None:
    """What may not become an interval is published as it is."""
    outcome = intervals(bounded(), allowed=[0, 1, 4, 5])
    found = published(outcome)
    assert np.array_equal(found.lower[[2, 3]], bounded().value[[2, 3]])
    assert np.array_equal(found.upper[[2, 3]], bounded().value[[2, 3]])
    assert outcome.left_out == ()


def test_h_twice_is_refused() -> None:
    """The set and its complement are not given together."""
    with pytest.raises(InputError, match="give one"):
        intervals(bounded(), published=[0, 1], withheld=[2])


def test_nobody_is_told_the_bounds_of_a_withheld_cell() -> None:
    """On the road to a release it has no ends at all, and readers see nothing of it."""
    release = tacit.protect(bounded(), "intervals", withheld=[1, 3])
    found = published(release.papers.outcome)
    assert np.isinf(found.lower[[1, 3]]).all()
    assert np.isinf(found.upper[[1, 3]]).all()
    frame = release.published.to_frame("dict")
    assert frame["status"][[1, 3]].tolist() == ["suppressed", "suppressed"]
    assert np.isnan(frame["lower"][[1, 3]]).all()


def test_on_the_command_line(tmp_path: Path) -> None:
    """H as cell numbers, as a job would have it."""
    table, answer = tmp_path / "table.jj", tmp_path / "answer.json"
    write_jj(generate_1h2d("table1"), table)
    n = generate_1h2d("table1").cell_count
    h = [cell for cell in range(n) if cell % 7]
    code = main(
        [
            *("protect", str(table), "--method", "intervals", "--quiet"),
            *("--option", f"published={h}", "--json", str(answer)),
        ]
    )
    assert code == 0
    told = json.loads(answer.read_text())
    ends = {cell: (lower, upper) for cell, lower, upper in told["intervals"]}
    assert all(ends[cell] == (None, None) for cell in range(n) if cell % 7 == 0)
    assert told["published_objective"] >= told["objective"]


def test_codes_without_a_table_are_refused() -> None:
    """A problem knows cells by number only."""
    with pytest.raises(InputError, match="this input has none; give cell numbers"):
        tacit.protect(bounded(), "intervals", published={"region": "Total"})


def regions() -> tacit.Table:
    """Firms of two member states and both together."""
    table = tacit.examples.get("002-figure-2.4").table
    assert table is not None
    return table.apply(tacit.PPercent(10))


def test_cells_by_codes() -> None:
    """Cells with one of the codes of each dimension that is named."""
    table = regions()
    names = [*table.totals]
    code = table.codes(names[0])[-1]
    release = tacit.protect(table, "intervals", withheld={names[0]: [str(code)]}, time_limit=30)
    gone = table.codes(names[0]) == code
    assert (release.published.status[gone] == "suppressed").all()


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        ({"bussiness": "A"}, "withheld: there is no dimension 'bussiness'; did you mean"),
        ({"business": ["A", "Z"]}, "withheld: dimension business has no code Z"),
        ({"business": [None]}, "withheld, dimension business"),
    ],
)
def test_wrong_codes_are_named(codes: dict[str, Any], text: str) -> None:
    """Dimension and code are told."""
    with pytest.raises(InputError, match=text):
        tacit.protect(regions(), "intervals", withheld=codes)


def test_a_cell_that_cannot_be_protected_says_how_it_is_published() -> None:
    """The message names the option that stands in the way."""
    outcome = intervals(bounded(), allowed=[1, 2, 3, 4, 5])
    assert outcome.status is Status.INFEASIBLE
    assert "'allowed' leaves it out" in outcome.message
