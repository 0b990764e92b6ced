"""The audit against printed results, brute force and bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from tacit import examples
from tacit.attack.audit import Audit, audit
from tacit.attack.engines import LinearEngine
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.errors import InputError, ProblemError, TacitError
from tacit.io.jj import read_jj
from tacit.observer import Observer
from tacit.outcome import Intervals, Outcome, Status, Suppression, Values
from tacit.problem import Problem
from tests.attack.tables import (
    Published,
    agree,
    brute_force,
    crossed,
    flat,
    magnitude,
    published_tables,
)


def exposed(found: Audit) -> set[tuple[int, str]]:
    """The exposed cells with the level that is missed."""
    return {(exposure.cell, exposure.level) for exposure in found.exposures}


def expected_exposures(published: Published, intervals: Intervals | None = None) -> set[Any]:
    """Exposed cells and levels as brute force finds them."""
    p, slack = published.problem, published.tolerance
    lower, upper = brute_force(published, p.sensitive, intervals=intervals)
    a = p.value[p.sensitive]
    missed = {
        "lower": a - lower < p.lower_level - slack,
        "upper": upper - a < p.upper_level - slack,
        "sliding": upper - lower < p.sliding_level - slack,
    }
    return {
        (int(cell), level) for level, bad in missed.items() for cell in p.sensitive[bad].tolist()
    }


@pytest.mark.parametrize("name", [n for n in examples.names() if examples.get(n).intervals])
def test_printed_intervals_are_found(name: str) -> None:
    """The attack intervals printed in the papers come out to the digit."""
    example = examples.get(name)
    solution = example.suppressed
    found = audit(
        example.problem,
        example.published["intervals"] if solution is None else solution,
        cells=sorted(example.intervals),
    )
    result = found.findings[0]
    for cell, (lower, upper) in example.intervals.items():
        at = result.cells.tolist().index(cell)
        assert result.lower[at] == pytest.approx(lower, abs=1e-9)
        assert result.upper[at] == pytest.approx(upper, abs=1e-9)
        assert result.exact[at]
    found.check()


def test_the_papers_named_in_the_examples_are_all_covered() -> None:
    """[CastroVia2016, 4.1], [KarlssonOlsson2015, 3.5] and [Castro2012, 4] print intervals."""
    with_intervals = {name for name in examples.names() if examples.get(name).intervals}
    assert {"000-section-4.1", "002-figure-3.6", "003-figure-11"} <= with_intervals


def test_intervals_of_paper_000_meet_the_levels_exactly() -> None:
    """The published intervals of Section 4.1 are safe, and any narrower one is not."""
    example = examples.get("000-section-4.1")
    published = example.published["intervals"]
    assert isinstance(published, Intervals)
    found = audit(example.problem, published)
    assert found.safe
    assert found.checked == 10
    assert found.hidden.tolist() == [True, False, True, True, True, True]
    found.check()
    for cell in np.flatnonzero(found.hidden):
        upper = published.upper.copy()
        if upper[cell] == example.problem.value[cell]:
            continue
        upper[cell] -= 0.5
        assert not audit(example.problem, Intervals(published.lower, upper)).safe


def test_partial_suppression_of_paper_002_is_safe() -> None:
    """The intervals of Figure 3.7 leave A1 exactly what its levels ask for."""
    example = examples.get("002-figure-3.7")
    found = audit(example.problem, example.published["intervals"], cells="sensitive")
    assert found.safe
    result = found.findings[0]
    assert (result.lower[0], result.upper[0]) == pytest.approx((240, 274))


PRINTED_IN_PAPER_001 = {
    # instance: (printed pattern, counted from 1; what an attacker misses by, counted from 0)
    "small": (
        (1, 3, 5, 9, 10, 23, 24, 25, 26),
        {(0, "lower"), (0, "upper"), (8, "lower"), (23, "lower")},
    ),
    "example_2D": (
        (3, 16, 22, 27, 28, 30),
        {(cell, level) for cell in (15, 21, 26, 29) for level in ("lower", "upper")},
    ),
    "targus": (
        (19, 20, 21, 24, 25, 27, 38, 39, 42, 45, 51, 52, 99, 124, 133),
        {(cell, level) for cell in (18, 23, 24, 26, 50, 51, 132) for level in ("lower", "upper")},
    ),
}


@pytest.mark.parametrize("name", sorted(PRINTED_IN_PAPER_001))
def test_patterns_of_paper_001_are_unsafe(name: str, shared: Path) -> None:
    """The three patterns printed in [RojoGonzalez2019] expose these cells."""
    pattern, expected = PRINTED_IN_PAPER_001[name]
    problem = read_jj(shared / "instances" / f"{name}.jj")
    suppressed = np.array(pattern) - 1
    assert np.isin(problem.sensitive, suppressed).all()
    hidden = np.zeros(problem.cell_count, bool)
    hidden[suppressed] = True
    assert expected_exposures(Published(problem, hidden, 1.0)) == expected
    for exact in (True, False):
        found = audit(problem, suppressed, exact=exact)
        assert not found.safe
        assert exposed(found) == expected
        assert found.exposed_cells == sorted({cell for cell, _ in expected})
        found.check()
        assert {exposure.name for exposure in found.exposures} == {
            f"cell {cell}" for cell, _ in expected
        }
        assert found.exposures[0].name in found.summary()


@settings(max_examples=100)
@given(published=published_tables())
def test_exposures_agree_with_brute_force(published: Published) -> None:
    """Lower, upper and sliding levels are judged as brute force judges them."""
    p = published.problem
    found = audit(p, published.hidden)
    expected = expected_exposures(published)
    assert exposed(found) == expected
    assert found.safe == (not expected)
    assert found.unchecked == ()
    found.check()
    assert all(0 <= exposure.share < 1 for exposure in found.exposures)
    if p.sensitive.size:
        assert set(p.sensitive.tolist()) <= set(found.findings[0].cells.tolist())


@settings(max_examples=100)
@given(published=published_tables())
def test_quick_audit_agrees_with_exact_audit(published: Published) -> None:
    """Stopping at the levels exposes the same cells at the same levels."""
    exact = audit(published.problem, published.hidden, cells="sensitive")
    quick = audit(published.problem, published.hidden, cells="sensitive", exact=False)
    assert quick.safe == exact.safe
    assert exposed(quick) == exposed(exact)
    quick.check()


@settings(max_examples=60)
@given(data=st.data())
def test_interval_publication_agrees_with_brute_force(data: st.DataObject) -> None:
    """Exposure under published intervals is judged as brute force judges it."""
    published = data.draw(published_tables(units=(1.0,)))
    p = published.problem
    n = p.cell_count
    widths = data.draw(st.lists(st.integers(0, 5), min_size=2 * n, max_size=2 * n))
    intervals = Intervals(p.value - widths[:n], p.value + widths[n:])
    found = audit(p, intervals)
    assert exposed(found) == expected_exposures(published, intervals)


@pytest.mark.parametrize("exact", [True, False])
def test_a_level_far_above_all_finite_bounds_is_met_by_an_unbounded_cell(exact: bool) -> None:
    """A cell that can rise for ever meets every upper level, however large."""
    problem = Problem(
        value=[3, 4, 7],
        relations=[[1, 1, -1]],
        sensitive=[0],
        lower_level=[1],
        upper_level=[100],
    )
    found = audit(problem, np.array([0, 2]), exact=exact)
    assert found.exposures == ()
    assert found.safe
    found.check()


def test_sliding_levels_need_width_not_position() -> None:
    """An interval of width 6 meets a sliding level of 6 wherever the value lies in it."""
    problem = Problem(
        value=[0, 6, 6],
        relations=[[1, 1, -1]],
        sensitive=[0, 1],
        sliding_level=[6, 6.5],
    )
    found = audit(problem, np.array([0, 1]))
    assert exposed(found) == {(1, "sliding")}
    assert found.exposures[0].share == pytest.approx(6 / 6.5)


def test_shares_tell_how_much_of_a_level_is_there() -> None:
    """Of a level of 8 below, an attacker who comes as near as 2 leaves a quarter."""
    problem = Problem(
        value=[10, 20, 30],
        lower=[8, 0, 0],
        relations=[[1, 1, -1]],
        sensitive=[0],
        lower_level=[8],
        labels=["north", "south", "both"],
    )
    (exposure,) = audit(problem, np.array([0, 1])).exposures
    assert (exposure.cell, exposure.name, exposure.level) == (0, "cell north", "lower")
    assert exposure.share == pytest.approx(0.25)
    assert exposure.attacker == "external"


def test_a_published_sensitive_cell_is_exposed() -> None:
    """Publishing a sensitive cell as it is leaves nothing of its levels."""
    problem = Problem(
        value=[1, 2, 3], relations=[[1, 1, -1]], sensitive=[0], upper_level=[1], lower_level=[1]
    )
    for cells in ("sensitive", "suppressed", "all", [2]):
        found = audit(problem, np.array([1, 2]), cells=cells)
        assert exposed(found) == {(0, "lower"), (0, "upper")}
        assert {exposure.share for exposure in found.exposures} == {0.0}


def test_cells_that_can_be_computed_are_named() -> None:
    """A single suppressed cell of a row is exactly disclosed; narrow ones are told apart."""
    A, sums = crossed([flat(2), flat(2)])
    problem = Problem(value=sums @ np.array([5.0, 6, 7, 8]), relations=A)
    found = audit(problem, np.array([4]))
    assert found.exactly_disclosed == [4]
    wide = audit(problem, np.array([4, 5, 7, 8]))
    assert wide.exactly_disclosed == []


def test_the_choice_of_cells_is_honoured() -> None:
    """`all`, `suppressed`, `sensitive` and numbers look at those cells and the sensitive ones."""
    example = examples.get("003-figure-11")
    assert example.suppressed is not None
    p, hidden = example.problem, example.suppressed
    sensitive = set(p.sensitive.tolist())

    def looked_at(cells: Any) -> set[int]:
        return set(audit(p, hidden, cells=cells).findings[0].cells.tolist())

    assert looked_at("all") == set(range(p.cell_count))
    assert looked_at("suppressed") == set(np.flatnonzero(hidden).tolist())
    assert looked_at("sensitive") == sensitive
    assert looked_at([0, 1]) == {0, 1} | sensitive


@pytest.mark.parametrize("backend", [None, "pandas", "polars", "pyarrow"])
def test_frames_hold_the_intervals(backend: Any) -> None:
    """Every backend gets the same rows."""
    example = examples.get("002-figure-3.6")
    assert example.suppressed is not None
    frame = audit(example.problem, example.suppressed).to_frame(backend)
    columns = {name: list(frame[name]) for name in ("cell", "lower", "upper")}
    if backend == "pyarrow":
        columns = {name: [entry.as_py() for entry in column] for name, column in columns.items()}
    rows = {int(cell): (lower, upper) for cell, lower, upper in zip(*columns.values(), strict=True)}
    assert rows == dict(example.intervals)


def test_every_form_of_a_suppression_gives_the_same_answer() -> None:
    """A mask, cell numbers, a Suppression and an Outcome are the same publication."""
    example = examples.get("003-figure-11")
    assert example.suppressed is not None
    mask = np.array(example.suppressed)
    numbers = np.flatnonzero(mask)
    forms: list[Any] = [
        mask,
        numbers,
        numbers.tolist(),
        Suppression(mask),
        Outcome(status=Status.OPTIMAL, solution=Suppression(mask)),
        Intervals(
            np.where(mask, example.problem.lower, example.problem.value),
            np.where(mask, example.problem.upper, example.problem.value),
        ),
    ]
    for form in forms:
        found = audit(example.problem, form)
        assert found.findings[0].cells.tolist() == numbers.tolist()
        assert found.findings[0].lower[-1] == 20.0
        assert found.findings[0].upper[-1] == 68.0


def test_an_empty_suppression_hides_nothing() -> None:
    """With everything published, every level above zero is missed and nothing is disclosed."""
    example = examples.get("003-figure-11")
    found = audit(example.problem, np.zeros(0, np.int64))
    assert found.exposed_cells == example.problem.sensitive.tolist()
    assert found.exactly_disclosed == []
    assert not found.hidden.any()


TABLE = Problem(value=[3, 4, 7], relations=[[1, 1, -1]], sensitive=[0])


@pytest.mark.parametrize(
    "solution",
    [
        np.array([True, False]),
        np.array([True] * 4),
        np.array([0, 3]),
        np.array([-1]),
        [0, 99],
        Suppression(np.array([True])),
        Intervals(np.zeros(2), np.ones(2)),
        Intervals(np.zeros(4), np.full(4, 9.0)),
        Values(np.array([3.0, 4.0])),
        Outcome(status=Status.INFEASIBLE),
    ],
)
def test_solutions_that_do_not_fit_are_refused(solution: Any) -> None:
    """A wrong length, unknown cells and outcomes without a suppression are refused."""
    with pytest.raises(InputError):
        audit(TABLE, solution)


@pytest.mark.parametrize("cells", [[3], [-1], "secret", np.array([0, 17])])
def test_unknown_choices_of_cells_are_refused(cells: Any) -> None:
    """Cells that do not exist cannot be looked at."""
    with pytest.raises(InputError):
        audit(TABLE, np.array([0, 1]), cells=cells)


@pytest.mark.parametrize(
    "problem",
    [
        Problem(value=[3, 4, 8], relations=[[1, 1, -1]]),
        Problem(value=[3, 4, 7], relations=[[1, 1, -1], [1, 1, -1]], rhs=[0, 1]),
        Problem(value=[3, 4, 7], relations=[[0, 0, 0]], rhs=[1]),
        Problem(value=[3, 4, 7], relations=[[1, 1, -1]], lower=[0, 0, 7.5]),
        Problem(value=[3, 4, 7], relations=[[1, 1, -1]], upper=[2, 9, 9]),
        Problem(value=[3, 4, 7], relations=[[1, 1, -1]], lower=[5, 0, 0], upper=[1, 9, 9]),
        Problem(value=[3e12, 4e12, 7e12 + 1e6], relations=[[1, 1, -1]]),
    ],
)
def test_contradictions_are_refused(problem: Problem) -> None:
    """Tables that do not add up or leave their bounds have no interval to deduce."""
    for solution in (np.array([0, 1]), np.array([0]), np.array([0, 1, 2])):
        with pytest.raises(ProblemError):
            audit(problem, solution)


@pytest.mark.parametrize("moved", [(3.5, 9.0), (0.0, 2.5), (9.0, 1.0)])
def test_intervals_that_miss_the_value_are_refused(moved: tuple[float, float]) -> None:
    """A published interval must contain what it stands for."""
    lower, upper = TABLE.value.copy(), TABLE.value.copy()
    lower[0], upper[0] = moved
    with pytest.raises(ProblemError) as caught:
        audit(TABLE, Intervals(lower, upper))
    assert caught.value.cells == (0,)


@settings(max_examples=60)
@given(data=st.data())
def test_random_contradictions_are_refused(data: st.DataObject) -> None:
    """A right-hand side that is off by one is noticed, whatever is published."""
    published = data.draw(published_tables(units=(1.0,)))
    p = published.problem
    if p.relation_count == 0:
        return
    rhs = p.rhs.copy()
    rhs[data.draw(st.integers(0, len(rhs) - 1))] += data.draw(st.sampled_from([-1.0, 1.0]))
    with pytest.raises(ProblemError):
        audit(p.replace(rhs=rhs), published.hidden)


def test_rounded_tables_are_taken_with_a_larger_tolerance() -> None:
    """A table rounded cell by cell is refused first and audited when rounding is allowed for."""
    problem = Problem(value=[333.3, 333.3, 666.7], relations=[[1, 1, -1]])
    with pytest.raises(ProblemError):
        audit(problem, np.array([0, 1]))
    found = audit(problem, np.array([0, 1]), tolerance=1e-3)
    assert found.findings[0].lower == pytest.approx([0, 0], abs=0.5)
    assert found.findings[0].upper == pytest.approx([666.7, 666.7], abs=0.5)


class Stopper(Observer):
    """Stops after so many reports of progress and remembers what it was told."""

    def __init__(self, after: int):
        self.after = after
        self.told: list[tuple[str, Any]] = []

    def on_start(self, task: str, *, total: int | None = None) -> None:
        """Remember the task."""
        assert task
        self.told.append(("start", total))

    def on_progress(self, done: int, total: int) -> None:
        """Remember the progress."""
        self.told.append(("progress", (done, total)))

    def on_end(self, outcome: Outcome | None = None) -> None:
        """Remember the end."""
        self.told.append(("end", outcome))

    def should_stop(self) -> bool:
        """Whether enough was told."""
        return sum(kind == "progress" for kind, _ in self.told) >= self.after


def cube() -> Problem:
    """A table whose audit takes several steps, with every second cell sensitive."""
    A, sums = crossed([flat(4), flat(5), flat(5)])
    value = sums @ np.random.default_rng(1).integers(5, 50, sums.shape[1]).astype(float)
    sensitive = np.arange(0, len(value), 2)
    level = np.full(len(sensitive), 0.5)
    return Problem(
        value=value,
        upper=2 * value,
        relations=A,
        sensitive=sensitive,
        lower_level=level,
        upper_level=level,
    )


def test_progress_is_reported_from_start_to_end() -> None:
    """An observer hears the start, rising progress up to the total, and the end."""
    problem = cube()
    listener = Stopper(after=10**6)
    found = audit(problem, np.ones(problem.cell_count, bool), observer=listener, exact=False)
    assert found.safe
    kinds = [kind for kind, _ in listener.told]
    assert kinds[0] == "start"
    assert kinds[-1] == "end"
    steps = [told for kind, told in listener.told if kind == "progress"]
    assert steps == sorted(steps)
    assert steps[-1][0] == steps[-1][1] == listener.told[0][1]


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_stopped_audit_is_not_safe(after: int) -> None:
    """What was not looked at is listed, and nothing is called safe."""
    problem = cube()
    found = audit(problem, np.ones(problem.cell_count, bool), observer=Stopper(after))
    assert not found.safe
    assert found.unchecked
    assert set(found.unchecked) <= set(problem.sensitive.tolist())
    assert found.exposures == ()
    found.check()
    assert "not safe" in found.summary().lower() or "stopped" in found.summary().lower()
    if after == 0:
        assert found.checked < 2 * problem.cell_count


def test_a_stopped_audit_lists_all_cells_not_checked_against_every_attacker() -> None:
    """If only the second attacker is cut short, its cells are unchecked too."""
    problem = cube()
    attackers = [Attacker.external(), Attacker(name="second", known=(1,))]
    hidden = np.ones(problem.cell_count, bool)
    full = Stopper(after=10**6)
    audit(problem, hidden, attackers=attackers[:1], observer=full)
    steps = sum(kind == "progress" for kind, _ in full.told)
    found = audit(problem, hidden, attackers=attackers, observer=Stopper(after=steps))
    assert not found.safe
    assert found.unchecked


SECRETS = ("31415", "27182", "58598", "16180", "14142", "17320")


def secretive(**changes: Any) -> Problem:
    """A table with values, levels and bounds that would be recognised anywhere."""
    given: dict[str, Any] = {
        "value": [31415.25, 27182.75, 58598.0],
        "relations": [[1, 1, -1]],
        "sensitive": [0],
        "lower_level": [16180.5],
        "upper_level": [14142.5],
        "labels": ["north", "south", "both"],
    }
    return Problem(**{**given, **changes})


def assert_discreet(text: str) -> None:
    """No distinctive number occurs, with or without separators."""
    plain = text.replace(",", "").replace("_", "").replace(" ", "")
    assert not [secret for secret in SECRETS if secret in plain]


@pytest.mark.parametrize("suppressed", [[0], [0, 1], [1], [0, 1, 2], []])
def test_summaries_tell_no_secrets(suppressed: list[int]) -> None:
    """Summary and representation name cells, but neither values nor levels."""
    attackers = [
        Attacker.external(),
        Attacker.respondent({1: 17320.5}, name="the large one"),
        Attacker.respondent({1: 27182.75}, alone=[1], name="the only one"),
    ]
    found = audit(secretive(), np.array(suppressed, np.int64), attackers=attackers)
    assert_discreet(found.summary())
    assert_discreet(repr(found))
    assert_discreet(str(found))
    for exposure in found.exposures:
        assert_discreet(str(exposure))


@pytest.mark.parametrize(
    ("problem", "solution", "attackers"),
    [
        (secretive(value=[31415.25, 27182.75, 58598.5]), np.array([0]), []),
        (secretive(upper=[17320.5, 9e9, 9e9]), np.array([0]), []),
        (secretive(lower=[0, 31415.5, 0]), np.array([0]), []),
        (secretive(), Intervals(np.full(3, 14142.5), np.full(3, 16180.5)), []),
        (secretive(), np.array([7]), []),
        (secretive(), np.array([0, 1]), [Attacker.respondent({1: 58598.0})]),
        (secretive(), np.array([0, 1]), [Attacker(at_most={0: 17320.5})]),
        (secretive(), np.array([0, 1]), [Attacker(known=(17,))]),
    ],
)
def test_errors_tell_no_secrets(problem: Problem, solution: Any, attackers: Any) -> None:
    """Error messages name cells, but neither values nor bounds nor levels."""
    with pytest.raises(TacitError) as caught:
        audit(problem, solution, attackers=attackers)
    assert_discreet(str(caught.value))
    assert_discreet(repr(caught.value))


def test_an_audit_of_nothing_is_safe() -> None:
    """A table without sensitive cells has nothing to expose."""
    found = audit(Problem(value=[1, 2, 3], relations=[[1, 1, -1]]), np.array([0, 1]))
    assert found.safe
    assert agree(found.findings[0].upper, np.array([3.0, 3.0]), 1e-9)
    assert magnitude(found.problem) == 3.0


def test_ends_that_differ_in_the_last_digit_are_the_value() -> None:
    """Rounding of an end opens no capacity, and the audit of such intervals answers."""
    problem = Problem(
        value=[2740.1, 1000.2, 3740.3, 500.0, 4240.3],
        relations=[[1, 1, -1, 0, 0], [0, 0, 1, 1, -1]],
        sensitive=[0],
        upper_level=[10],
        upper=[9000] * 5,
    )
    upper = np.nextafter(problem.value, np.inf)
    upper[[0, 2]] += 100.0
    upper[4] += 100.0
    known = Knowledge.of(problem, Intervals(problem.value, upper))
    assert np.flatnonzero(known.up).tolist() == [0, 2, 4]
    assert audit(problem, Intervals(problem.value, upper)).safe


def test_a_last_digit_in_the_wrong_direction_exposes_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A cell that is not sensitive and cannot move is not said to miss a level of nothing."""
    problem = Problem(
        value=[3, 4, 5, 12, 15],
        upper=50,
        relations=[[1, 1, 1, -1, 0], [2, 1, 1, 0, -1]],
        sensitive=[1],
        upper_level=[1],
        lower_level=[1],
    )
    solve = LinearEngine._solve

    def solved(self: LinearEngine, cell: int, side: int, *rest: Any) -> Any:
        x, g, proven = solve(self, cell, side, *rest)
        x[cell] = -1e-17 * side if abs(x[cell]) < 1e-9 else x[cell]
        return x, g, proven

    monkeypatch.setattr(LinearEngine, "_solve", solved)
    wide = np.array([2.0, 2.0, 2.0, 0.0, 0.0])
    found = audit(problem, Intervals(problem.value - wide, problem.value + wide))
    assert found.safe
    assert found.exactly_disclosed == [0]
    found.check()
