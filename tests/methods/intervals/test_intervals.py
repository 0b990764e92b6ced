"""`tacit.intervals`: choices, worked examples, known optima, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.attack.audit import audit
from tacit.errors import InputError, ProblemError
from tacit.generators import generate_1h2d
from tacit.io.jj import read_jj
from tacit.methods.intervals.run import intervals
from tacit.observer import Observer
from tacit.outcome import Status
from tests.methods.intervals.tables import ALGORITHMS, assert_sound, example, published


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_worked_example(algorithm: str) -> None:
    """The optimum is 42, and sensitive cells get the intervals of [CastroVia2016, section 4.1]."""
    outcome = intervals(example(), algorithm=algorithm)  # type: ignore[arg-type]
    assert_sound(outcome, example())
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == pytest.approx(42.0)
    found = published(outcome)
    assert (found.lower[0], found.upper[0]) == pytest.approx((5, 15))
    assert (found.lower[4], found.upper[4]) == pytest.approx((10, 21))


def test_the_iterations_of_a_worked_example() -> None:
    """Plain Benders starts from the levels, and needs the four cuts that [CastroVia2016] prints."""
    outcome = intervals(example(), algorithm="benders", gap=0.0)
    assert outcome.report.cuts == 4
    assert outcome.report.iterations <= 2


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("name", "weights", "optimum"),
    [
        ("small", "unit", 152.0),
        ("targus", "given", 2142265.7),
        ("targus", "unit", 27935.7),
    ],
)
def test_known_optima(
    shared: Path, name: str, weights: str, optimum: float, algorithm: str
) -> None:
    """Public tables whose optima are known."""
    problem = read_jj(shared / "instances" / f"{name}.jj")
    outcome = intervals(problem, weights=weights, algorithm=algorithm, gap=1e-7)  # type: ignore[arg-type]
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == pytest.approx(optimum, abs=0.05)
    assert outcome.report.bound == pytest.approx(optimum, abs=0.05)
    assert_sound(outcome, problem)


@pytest.mark.parametrize("name", ["table1", "table5", "table3a"])
def test_generated_tables_with_printed_sizes(name: str) -> None:
    """Cuts and monolithic model agree on hierarchical tables of the sizes of [CastroVia2016]."""
    problem = generate_1h2d(name)
    quick = intervals(problem, gap=1e-8)
    assert quick.status is Status.OPTIMAL
    assert_sound(quick, problem)
    if name != "table3a":
        whole = intervals(problem, algorithm="monolithic", gap=1e-8)
        assert quick.report.objective == pytest.approx(whole.report.objective, rel=1e-7)


def test_nothing_sensitive() -> None:
    """Everything is published as it is, at no cost."""
    outcome = intervals(example(sensitive=None, lower_level=None, upper_level=None))
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == 0
    found = published(outcome)
    assert np.array_equal(found.lower, found.upper)


@pytest.mark.parametrize("step", [1.0, 10.0, 0.25])
def test_rounding_goes_outwards(step: float) -> None:
    """Rounded ends are multiples or bounds, contain the exact intervals, and stay safe."""
    problem = generate_1h2d("table1")
    exact = published(intervals(problem))
    outcome = intervals(problem, round_to=step)
    rounded = published(outcome)
    assert (rounded.lower <= exact.lower + 1e-6 * np.abs(exact.lower)).all()
    assert (rounded.upper >= exact.upper - 1e-6 * np.abs(exact.upper)).all()
    opened = rounded.upper > rounded.lower
    for end, bound in ((rounded.lower, problem.lower), (rounded.upper, problem.upper)):
        steps = end[opened] / step
        whole = np.abs(steps - np.rint(steps)) <= 1e-6
        assert (whole | (end == bound)[opened]).all()
    assert outcome.status is Status.OPTIMAL
    assert audit(problem, outcome).safe


def test_an_infeasible_table_says_why() -> None:
    """A sensitive cell whose neighbours must be published is named, with the reason."""
    problem = example(must_publish=[False, True, True, False, False, False])
    outcome = intervals(problem)
    assert outcome.status is Status.INFEASIBLE
    assert "cell 0" in outcome.message
    assert "relation 0" in outcome.message
    assert outcome.report.objective is None


def test_a_sensitive_cell_outside_the_allowed_ones() -> None:
    """A cell that is published cannot be protected, and the message says so."""
    outcome = intervals(example(), allowed=[1, 2, 3, 4, 5])
    assert outcome.status is Status.INFEASIBLE
    assert "cell 0" in outcome.message
    assert "must be published" in outcome.message


def test_levels_beyond_the_bounds() -> None:
    """Levels that no publication can meet are no mistake of the table's, but hopeless."""
    outcome = intervals(example(upper=[12, 40, 40, 40, 40, 60]))
    assert outcome.status is Status.INFEASIBLE
    assert "beyond the bounds" in outcome.message


def test_messages_tell_no_secrets() -> None:
    """Values and levels of the cells do not appear in explanations."""
    problem = example(
        value=[1031, 1549, 2580, 2027, 1783, 3810],
        must_publish=[False, True, True, False, False, False],
        lower_level=[517, 719],
        upper_level=[523, 419],
    )
    message = intervals(problem).message
    assert not [secret for secret in ("1031", "1549", "2580", "517", "523") if secret in message]


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"weights": "cheap"}, "weights must be"),
        ({"weights": ("unit", "cheap")}, "weights must be"),
        ({"allowed": [7]}, "no cell 7"),
        ({"allowed": [True, False]}, "needs 6 entries"),
        ({"withheld": [0.5]}, "cell numbers or a mask"),
        ({"round_to": 0.0}, "round_to"),
        ({"round_to": float("nan")}, "round_to"),
        ({"time_limit": 0.0}, "time_limit"),
        ({"algorithm": "magic"}, "algorithm"),
        ({"colour": "blue"}, "unknown option"),
    ],
)
def test_wrong_choices_are_refused(choices: dict[str, Any], words: str) -> None:
    """A wrong choice is named, and what to do about it."""
    with pytest.raises(InputError, match=words):
        intervals(example(), **choices)


def test_wrong_tables_are_refused() -> None:
    """A table that does not add up, and negative weights."""
    with pytest.raises(ProblemError, match="add up"):
        intervals(example(value=[10, 15, 26, 20, 17, 37]))
    with pytest.raises(ProblemError, match="negative"):
        intervals(example(), weights=[1, 1, 1, -1, 1, 1])
    with pytest.raises(ProblemError, match="6 entries"):
        intervals(example(), weights=([1.0, 2.0], "unit"))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_hardly_any_time(algorithm: str) -> None:
    """A run that is cut short at once returns safe intervals and a true bound."""
    problem = generate_1h2d("table4")
    outcome = intervals(problem, algorithm=algorithm, time_limit=1e-3)  # type: ignore[arg-type]
    assert outcome.status is Status.FEASIBLE
    assert outcome.stopped_by == "time"
    assert_sound(outcome, problem)
    best = intervals(problem).report
    assert best.objective is not None
    assert outcome.report.bound <= best.objective


class _Impatient(Observer):
    """Stops, or breaks, once so many bounds have been heard."""

    def __init__(self, most: int, *, breaks: bool):
        self.bounds: list[float] = []
        self.solutions: list[float] = []
        self._most = most
        self._breaks = breaks

    def on_bound(self, _seconds: float, bound: float) -> None:
        self.bounds.append(bound)
        if self._breaks and len(self.bounds) == self._most:
            raise KeyboardInterrupt

    def on_solution(self, _seconds: float, objective: float) -> None:
        self.solutions.append(objective)

    def should_stop(self) -> bool:
        return not self._breaks and len(self.bounds) >= self._most


@pytest.mark.parametrize("breaks", [False, True])
def test_stopped_by_the_user(breaks: bool) -> None:
    """Ctrl-C and an observer that has had enough end the run with what is known."""
    problem = generate_1h2d("table4")
    listener = _Impatient(3, breaks=breaks)
    outcome = intervals(problem, observer=listener)
    assert outcome.status is Status.FEASIBLE
    assert outcome.stopped_by == "user"
    assert_sound(outcome, problem)
    assert listener.bounds == sorted(listener.bounds)
    assert listener.solutions


def test_the_same_seed_gives_the_same_intervals() -> None:
    """Two runs do not differ in a single digit."""
    problem = generate_1h2d("table5")
    one, two = published(intervals(problem)), published(intervals(problem))
    assert np.array_equal(one.lower, two.lower)
    assert np.array_equal(one.upper, two.upper)


def test_more_freedom_never_costs_more() -> None:
    """A larger set of cells that may become intervals cannot be worse."""
    problem = generate_1h2d("table5")
    rng = np.random.default_rng(3)
    allowed = rng.random(problem.cell_count) < 0.9
    allowed[problem.sensitive] = True
    some = intervals(problem, allowed=allowed, gap=1e-8)
    everything = intervals(problem, gap=1e-8)
    assert everything.report.objective is not None
    if some.report.objective is not None:
        assert everything.report.objective <= some.report.objective * (1 + 1e-7)


def test_a_withheld_cell_is_published_as_its_bounds() -> None:
    """Nobody pays for it, and it protects like a very wide interval."""
    problem = example(upper=np.full(6, 100.0))
    outcome = intervals(problem, withheld=[1, 3])
    found = published(outcome)
    assert (found.lower[1], found.upper[1]) == (0.0, 100.0)
    assert outcome.report.objective == pytest.approx(21.0)
    assert outcome.audit is not None
    assert outcome.audit.safe
