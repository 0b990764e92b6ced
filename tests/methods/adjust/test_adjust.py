"""What users see of adjustment: figures of the paper, options, faults, interruptions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit import examples
from tacit.cli.main import main
from tacit.errors import InputError, ProblemError
from tacit.methods.adjust.model import faults
from tacit.methods.adjust.run import adjust
from tacit.methods.adjust.totals import heights
from tacit.observer import Observer
from tacit.outcome import Status
from tacit.problem import Problem
from tests.methods.adjust.tables import assert_sound, published, random_problem

FIGURE_16 = examples.get("003-figure-16")


@pytest.mark.parametrize(("sense", "name"), [(-1, "lower"), (1, "upper")])
def test_figure_16(sense: int, name: str) -> None:
    """For either sense the printed table costs as much as the closest one, and is safe."""
    problem = FIGURE_16.problem
    outcome = adjust(problem, senses=[sense])
    assert_sound(outcome, problem)
    printed = FIGURE_16.published[f"adjusted, {name} sense"].value  # type: ignore[union-attr]
    assert outcome.report.objective == np.abs(printed - problem.value).sum() == 20
    cell = FIGURE_16.cell("M2P3")
    assert np.sign(published(outcome)[cell] - problem.value[cell]) == sense
    assert tacit.audit(problem, tacit.Values(printed)).safe


def test_figure_9_needs_no_change() -> None:
    """A table without sensitive cells is published as it is."""
    problem = examples.get("003-figure-9").problem
    outcome = adjust(problem)
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == 0
    assert (published(outcome) == problem.value).all()


def test_figure_10_changes_more_than_needed() -> None:
    """Rounded to base 5, the table has more changes than adjustment of one sensitive cell."""
    example = examples.get("003-figure-10")
    problem = example.problem.replace(
        sensitive=[6], lower_level=[2.0], upper_level=[2.0], weight=np.ones(16)
    )
    outcome = adjust(problem, integer=True)
    assert_sound(outcome, problem)
    rounded = example.published["rounded to 5"].value  # type: ignore[union-attr]
    assert outcome.report.objective == 8
    assert outcome.report.objective < np.abs(rounded - problem.value).sum()


def test_totals_are_found_and_preferred() -> None:
    """With totals dear enough, only the finest cells move."""
    problem = FIGURE_16.problem
    height = heights(problem.relations)
    assert height.max() == 2
    outcome = adjust(problem, prefer_totals=100.0)
    assert_sound(outcome, problem)
    moved = published(outcome) != problem.value
    assert moved.sum() == 4
    assert (height[moved] == 0).all()


def test_weights_by_name() -> None:
    """Weights are as given, 1, the value or its inverse."""
    problem = random_problem(1, "2d").replace(weight=np.full(16, 3.0))
    size = np.where(problem.value == 0, 1.0, np.abs(problem.value))
    for name, weight in (("given", 3.0), ("unit", 1.0), ("value", size), ("inverse", 1 / size)):
        outcome = adjust(problem, weights=name)
        moved = np.abs(published(outcome) - problem.value)
        assert outcome.report.objective == pytest.approx((weight * moved).sum())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prefer_totals": 0.0}, "prefer_totals"),
        ({"norm": "l2", "integer": True}, "integer"),
        ({"limits": -1.0}, "limits"),
        ({"limits": {"x": 1.0}}, "numbers"),
        ({"keep": [99]}, "no cell 99"),
        ({"senses": [1, 1]}, "senses"),
        ({"senses": [2]}, "senses"),
        ({"weights": "odd"}, "weights"),
        ({"solver": "scip"}, "milp"),
        ({"block": 1}, "block"),
        ({"attackers": ()}, "unknown option"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    """What cannot be meant is refused with a reason."""
    with pytest.raises(InputError, match=message):
        adjust(FIGURE_16.problem, **options)


def test_a_table_that_contradicts_itself_is_refused() -> None:
    """Cells that do not add up are no table."""
    with pytest.raises(ProblemError, match="add up"):
        adjust(FIGURE_16.problem.replace(value=FIGURE_16.problem.value + np.arange(16)))


def test_hopeless_cells_are_named() -> None:
    """A cell whose company keeps its value cannot be protected, and is named."""
    problem = FIGURE_16.problem
    row = np.flatnonzero(problem.relations.toarray()[0] != 0)
    cell = int(problem.sensitive[0])
    column = [c for c in range(16) if c % 4 == cell % 4 and c != cell]
    outcome = adjust(problem, keep=column)
    assert row.size
    assert outcome.status is Status.INFEASIBLE
    assert problem.name_cell(cell) in outcome.message


def test_cells_in_each_others_way_are_named() -> None:
    """Two cells that must make up for each other, but cannot: one of them is named."""
    problem = Problem(
        value=[10, 10, 10, 30],
        relations=[[1, 1, 1, -1]],
        sensitive=[0, 1, 2],
        lower_level=[4, 4, 4],
        upper_level=[4, 4, 4],
        upper=[15, 15, 15, 30],
        lower=[5, 5, 5, 30],
    )
    outcome = adjust(problem)
    assert outcome.status is Status.INFEASIBLE
    assert "without protecting" in outcome.message or "cannot be protected" in outcome.message


def test_senses_towards_a_side_without_a_level_are_refused() -> None:
    """A cell that is protected on one side only cannot be sent to the other."""
    problem = FIGURE_16.problem.replace(sensitive=[6], lower_level=[0], upper_level=[5])
    with pytest.raises(InputError, match="no protection level"):
        adjust(problem, senses=[-1])
    assert_sound(adjust(problem, senses=[1]), problem)


def test_a_cell_without_any_level_may_stay() -> None:
    """Nothing is asked for, so nothing changes."""
    problem = FIGURE_16.problem.replace(sensitive=[6], lower_level=[0], upper_level=[0])
    outcome = adjust(problem)
    assert outcome.report.objective == 0
    assert (published(outcome) == problem.value).all()


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_whole_tables_stay_whole(norm: Any) -> None:
    """Levels with decimals leave none in a table of whole numbers, unless they are wanted."""
    problem = random_problem(4, "3d", sensitive=4)
    problem = problem.replace(
        lower_level=problem.lower_level + 0.3, upper_level=problem.upper_level + 0.7
    )
    outcome = adjust(problem, norm=norm, time_limit=20)
    assert_sound(outcome, problem)
    x = published(outcome)
    assert (x == np.rint(x)).all()
    assert outcome.message == ""
    loose = adjust(problem, norm=norm, integer=False, time_limit=20)
    assert_sound(loose, problem)
    assert (published(loose) != np.rint(published(loose))).any()
    assert loose.report.objective is not None
    assert outcome.report.objective is not None
    assert loose.report.objective < outcome.report.objective


def test_decimals_are_announced_where_whole_numbers_are_impossible() -> None:
    """A level that fits its room but for its decimals is met with decimals, and said so."""
    problem = Problem(
        value=[10, 10, 20],
        relations=[[1, 1, -1]],
        sensitive=[0],
        lower=[8.5, 0, 20],
        upper=[11.5, 20, 20],
        lower_level=[1.2],
        upper_level=[1.2],
    )
    outcome = adjust(problem)
    assert_sound(outcome, problem)
    assert "decimals" in outcome.message
    assert adjust(problem, integer=True).status is Status.INFEASIBLE


def test_integer_is_for_whole_tables() -> None:
    """Whole numbers cannot be asked of a table that has decimals."""
    problem = FIGURE_16.problem
    with pytest.raises(InputError, match="decimals"):
        adjust(problem.replace(value=problem.value / 8, upper=np.full(16, np.inf)), integer=True)


class _Impatient(Observer):
    """Stops at the first table."""

    def __init__(self) -> None:
        self.has_one = False
        self.ended = False

    def on_solution(self, seconds: float, objective: float) -> None:  # noqa: ARG002  Observer's
        """Enough."""
        self.has_one = True

    def should_stop(self) -> bool:
        """As soon as there is a table."""
        return self.has_one

    def on_end(self, outcome: object = None) -> None:  # noqa: ARG002  Observer's
        """Over."""
        self.ended = True


@pytest.mark.parametrize("algorithm", ["auto", "milp", "benders", "descent"])
def test_stopped_runs_return_a_safe_table(shared: Path, algorithm: Any) -> None:
    """A run that is stopped early hands back what it has, with what is proven of it."""
    problem = tacit.read_jj(shared / "instances" / "hier13x7x7d.jj")
    observer = _Impatient()
    outcome = adjust(problem, algorithm=algorithm, observer=observer, time_limit=30)
    assert outcome.status is Status.FEASIBLE
    assert outcome.stopped_by == "user"
    assert observer.ended
    assert_sound(outcome, problem)


class _Interrupting(_Impatient):
    def should_stop(self) -> bool:
        """Press Ctrl-C."""
        if self.has_one:
            raise KeyboardInterrupt
        return False


def test_interrupts_return_a_safe_table(shared: Path) -> None:
    """Ctrl-C is an end like any other."""
    problem = tacit.read_jj(shared / "instances" / "table7.jj")
    outcome = adjust(problem, observer=_Interrupting(), time_limit=30)
    assert outcome.stopped_by == "user"
    assert_sound(outcome, problem)


def test_same_seed_same_table(shared: Path) -> None:
    """Nothing depends on chance, nor on the clock unless it cuts in."""
    problem = tacit.read_jj(shared / "instances" / "targus.jj")
    first, second = (adjust(problem, seed=4) for _ in range(2))
    assert (published(first) == published(second)).all()


@pytest.mark.parametrize(
    ("name", "weights", "optimum"),
    [
        ("targus", "unit", 13970.02),
        ("targus", "inverse", 4.393833),
        ("table7", "unit", 95848.0),
        ("table7", "inverse", 20.388156),
    ],
)
def test_known_optima(shared: Path, name: str, weights: Any, optimum: float) -> None:
    """Optima that two solvers agree on by model (18) as printed."""
    problem = tacit.read_jj(shared / "instances" / f"{name}.jj")
    outcome = adjust(problem, weights=weights, time_limit=60)
    assert_sound(outcome, problem)
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == pytest.approx(optimum, rel=1e-4)


def test_squares_for_given_senses(shared: Path) -> None:
    """With all senses given, least squares come with their proof."""
    problem = tacit.read_jj(shared / "instances" / "targus.jj")
    start = published(adjust(problem, weights="unit"))
    senses = np.sign(start - problem.value)[problem.sensitive].astype(int)
    outcome = adjust(problem, norm="l2", weights="unit", senses=senses)
    assert outcome.status is Status.OPTIMAL
    assert_sound(outcome, problem)
    cost = ((published(outcome) - problem.value) ** 2).sum()
    assert outcome.report.objective == pytest.approx(cost)
    assert cost <= ((start - problem.value) ** 2).sum()


def test_the_check_finds_every_kind_of_fault() -> None:
    """The check outside the solver sees what a solver could get wrong."""
    problem = FIGURE_16.problem
    good = FIGURE_16.published["adjusted, lower sense"].value  # type: ignore[union-attr]
    nothing, endless = np.zeros(16, bool), np.full(16, np.inf)

    def found(values: Any, **changes: Any) -> str:
        arguments = {"kept": nothing, "most": endless, "integer": False, **changes}
        return " ".join(faults(problem, values, **arguments))

    assert found(good) == ""
    assert "too close" in found(problem.value)
    assert "do not add up" in found(good + np.eye(16)[0])
    assert "keep its value" in found(good, kept=~nothing)
    assert "its limit" in found(good, most=np.full(16, 1.0))
    half = good.copy()
    half[[0, 1]] += [0.5, -0.5]
    assert "not an integer" in found(half, integer=True)
    assert "outside" in found(good - 60.0)


def test_command_line(tmp_path: Path, shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command writes every value, and the objective of the contract."""
    path = shared / "instances" / "small.jj"
    out = tmp_path / "out.json"
    arguments = ["protect", str(path), "--method", "adjust", "--weights", "unit", "--quiet"]
    assert main([*arguments, "--option", "keep=[3]", "--json", str(out)]) == 0
    capsys.readouterr()
    result = json.loads(out.read_text())
    problem = tacit.read_jj(path)
    values = np.array(result["values"])
    assert result["method"] == "adjust"
    assert result["objective"] == pytest.approx(np.abs(values - problem.value).sum())
    assert values[3] == problem.value[3]
    assert result["audit"]["safe"]


def test_release_of_an_adjusted_table() -> None:
    """A release publishes the adjusted values."""
    release = tacit.protect(FIGURE_16.problem, "adjust")
    assert release.papers.outcome.method == "adjust"
    assert (release.published.value == published(release.papers.outcome)).all()
