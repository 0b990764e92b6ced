"""`tacit.combined`: choices, examples, interrupts, the command line, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.attack.audit import audit
from tacit.cli.main import main
from tacit.errors import InputError, ProblemError
from tacit.generators import generate_1h2d, generate_table, random_hierarchy
from tacit.io.jj import write_jj
from tacit.methods.combined.run import combined
from tacit.observer import Observer
from tacit.outcome import Status
from tacit.problem import Problem
from tests.methods.combined.tables import (
    ALGORITHMS,
    assert_sound,
    obvious_optimum,
    price,
    published,
)
from tests.methods.intervals.tables import example


def hierarchical(seed: int = 6) -> Problem:
    """A small table with two dimensions, one of them hierarchical in two levels."""
    return generate_table({"a": random_hierarchy(8, depth=2), "b": 5}, seed=seed).problem()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_worked_example(algorithm: str) -> None:
    """The intervals of least width cost 42, and four cells suffice for them."""
    outcome = combined(example(), algorithm=algorithm)  # type: ignore[arg-type]
    assert_sound(outcome, example())
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == pytest.approx(46.0)
    assert len(outcome.suppressed) == 4
    assert set(example().sensitive) <= set(outcome.suppressed.tolist())


@pytest.mark.parametrize("seed", [2, 6])
def test_algorithm_4_3_ends_on_a_small_table(seed: int) -> None:
    """Of 32 cells with sliding levels `benders` proves the optimum, which the whole model has."""
    problem = generate_table({"a": 7, "b": 3}, seed=seed).problem()
    nothing = np.zeros(len(problem.sensitive))
    sliding = problem.lower_level + problem.upper_level
    problem = problem.replace(lower_level=nothing, upper_level=nothing, sliding_level=sliding)
    ones = np.ones(problem.cell_count)
    outcome = combined(problem, algorithm="benders", weights="unit", width_weights="unit")
    assert_sound(outcome, problem)
    assert outcome.status is Status.OPTIMAL
    expected = obvious_optimum(problem, weight=ones, width_weight=ones)
    assert outcome.report.objective == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("weights", ["unit", "value"])
@pytest.mark.parametrize("width_weights", ["unit", "value"])
def test_the_four_weightings(weights: str, width_weights: str) -> None:
    """Ones or values for either part: what is paid is what is reported."""
    problem = hierarchical()
    outcome = combined(problem, weights=weights, width_weights=width_weights)
    assert_sound(outcome, problem)
    assert outcome.status is Status.OPTIMAL
    size = np.where(problem.value == 0, 1.0, np.abs(problem.value))
    kinds = {"unit": np.ones(problem.cell_count), "value": size}
    paid = price(outcome, problem, kinds[weights], kinds[width_weights])
    assert outcome.report.objective == pytest.approx(paid, rel=1e-9)


def test_dear_cells_are_few_and_dear_widths_are_narrow() -> None:
    """The heavier one part weighs, the better it comes off."""
    problem = hierarchical()
    few = combined(problem, weights=np.full(problem.cell_count, 1e6), width_weights="unit")
    narrow = combined(problem, weights=np.full(problem.cell_count, 1e-3), width_weights="unit")
    assert len(few.suppressed) <= len(narrow.suppressed)
    widths = [
        float((published(each).upper - published(each).lower).sum()) for each in (few, narrow)
    ]
    assert widths[0] >= widths[1]


def test_least_widths_and_shares() -> None:
    """Every interval is as wide as asked, or as its bounds."""
    problem = hierarchical()
    for given, least in (("20%", 0.2 * np.abs(problem.value)), (75.0, 75.0)):
        outcome = combined(problem, weights="unit", width_weights="unit", min_width=given)
        assert_sound(outcome, problem)
        found = published(outcome)
        wide = np.minimum(least, problem.upper - problem.lower)
        opened = outcome.suppressed
        assert ((found.upper - found.lower)[opened] >= wide[opened] * (1 - 1e-9)).all()


def test_rounding_goes_outwards() -> None:
    """Rounded ends are multiples or bounds, and the outcome stays safe."""
    problem = hierarchical()
    outcome = combined(problem, weights="unit", width_weights="unit", round_to=10.0)
    assert_sound(outcome, problem)
    found, opened = published(outcome), outcome.suppressed
    for end, bound in ((found.lower, problem.lower), (found.upper, problem.upper)):
        steps = end[opened] / 10.0
        assert ((np.abs(steps - np.rint(steps)) <= 1e-6) | (end == bound)[opened]).all()


def test_too_few_cells_are_refused_with_the_reason() -> None:
    """A limit below the sensitive cells, and one that leaves none for its neighbours."""
    outcome = combined(example(), max_suppressed=1)
    assert outcome.status is Status.INFEASIBLE
    assert "at most 1 cells" in outcome.message
    outcome = combined(example(), max_suppressed=3)
    assert outcome.status is Status.INFEASIBLE
    assert "number of suppressed cells" in outcome.message


def test_an_infeasible_table_says_why() -> None:
    """A sensitive cell whose neighbours must be published is named, with the reason."""
    problem = example(must_publish=[False, True, True, False, False, False])
    outcome = combined(problem)
    assert outcome.status is Status.INFEASIBLE
    assert "cell 0" in outcome.message


def test_nothing_sensitive() -> None:
    """Everything is published as it is, at no cost."""
    outcome = combined(example(sensitive=None, lower_level=None, upper_level=None))
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == 0
    assert len(outcome.suppressed) == 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_hardly_any_time(algorithm: str) -> None:
    """A run that is cut short at once returns a safe solution and a true bound."""
    problem = generate_1h2d("table1")
    outcome = combined(problem, algorithm=algorithm, time_limit=1e-3)  # type: ignore[arg-type]
    assert outcome.status is Status.FEASIBLE
    assert outcome.stopped_by == "time"
    assert_sound(outcome, problem)


class _Impatient(Observer):
    """Stops, or breaks, once so much has been heard."""

    def __init__(self, most: int, *, breaks: bool):
        self._left = most
        self._breaks = breaks

    def on_bound(self, seconds: float, bound: float) -> None:  # noqa: ARG002 Observer
        self._left -= 1
        if self._left < 0 and self._breaks:
            raise KeyboardInterrupt

    def should_stop(self) -> bool:
        return self._left < 0 and not self._breaks


@pytest.mark.parametrize("breaks", [True, False])
@pytest.mark.parametrize("most", [0, 3, 8])
def test_interrupts_leave_something_safe(most: int, breaks: bool) -> None:
    """Whoever stops a run, politely or with Ctrl-C, gets the best safe solution so far."""
    problem = hierarchical()
    outcome = combined(problem, gap=0.0, observer=_Impatient(most, breaks=breaks))
    assert_sound(outcome, problem)
    assert outcome.status in (Status.FEASIBLE, Status.OPTIMAL)
    best = combined(problem).report.objective
    assert best is not None
    assert outcome.report.bound <= best * (1 + 1e-6)


def test_the_same_seed_gives_the_same_solution() -> None:
    """Two runs agree in every end."""
    first, second = (combined(hierarchical(), weights="unit") for _ in range(2))
    assert np.array_equal(published(first).lower, published(second).lower)
    assert np.array_equal(published(first).upper, published(second).upper)


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"weights": "cheap"}, "weights must be"),
        ({"width_weights": "cheap"}, "width_weights must be"),
        ({"max_suppressed": -1}, "max_suppressed"),
        ({"max_suppressed": 2.5}, "max_suppressed"),
        ({"min_width": -1.0}, "min_width"),
        ({"min_width": "wide"}, "min_width"),
        ({"min_width": "-5%"}, "min_width"),
        ({"min_width": [1.0, 2.0]}, "needs 6 entries"),
        ({"min_width": float("nan")}, "min_width"),
        ({"round_to": 0.0}, "round_to"),
        ({"time_limit": 0.0}, "time_limit"),
        ({"algorithm": "magic"}, "algorithm"),
        ({"colour": "blue"}, "unknown option"),
    ],
)
def test_wrong_choices_are_refused(choices: dict[str, Any], words: str) -> None:
    """A wrong choice is named, and what to do about it."""
    with pytest.raises(InputError, match=words):
        combined(example(), **choices)


def test_wrong_tables_are_refused() -> None:
    """A table that does not add up, and negative weights."""
    with pytest.raises(ProblemError, match="add up"):
        combined(example(value=[10, 15, 26, 20, 17, 37]))
    with pytest.raises(ProblemError, match="negative"):
        combined(example(), weights=[1, 1, 1, -1, 1, 1])
    with pytest.raises(ProblemError, match="negative"):
        combined(example(), width_weights=[1, 1, 1, -1, 1, 1])


def test_the_compact_model_has_its_limits() -> None:
    """A table that is too large for the yardstick is refused, with what to do."""
    with pytest.raises(InputError, match="choose algorithm 'auto'"):
        combined(generate_1h2d("40-50-10"), algorithm="monolithic")


def test_on_the_command_line(tmp_path: Path) -> None:
    """Options are understood, and the JSON holds suppressed cells and intervals."""
    # A JJ file does not say who contributes.
    problem = hierarchical().with_insiders(None)
    table, result = tmp_path / "table.jj", tmp_path / "result.json"
    write_jj(problem, table)
    arguments = ["protect", str(table), "--method", "combined", "--weights", "unit", "--quiet"]
    arguments += ["--option", "width_weights=unit", "--option", "min_width=5%"]
    assert main([*arguments, "--json", str(result)]) == 0
    found = json.loads(result.read_text())
    assert found["method"] == "combined"
    assert found["audit"]["safe"]
    assert found["suppressed"] == [entry[0] for entry in found["intervals"]]
    assert set(problem.sensitive.tolist()) <= set(found["suppressed"])
    solution = tacit.read_solution(result, problem)
    assert audit(problem, solution).safe
    width = sum(upper - lower for _, lower, upper in found["intervals"])
    assert found["published_objective"] == pytest.approx(len(found["suppressed"]) + width)
    assert found["bound"] <= found["objective"] < found["published_objective"]


def test_a_wrong_option_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An option that the method does not know ends with exit code 1 and its nearest name."""
    table = tmp_path / "table.jj"
    write_jj(hierarchical(), table)
    arguments = ["protect", str(table), "--method", "combined", "--option", "min_widht=3"]
    assert main(arguments) == 1
    assert "min_width" in capsys.readouterr().err
