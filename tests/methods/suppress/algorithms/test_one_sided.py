"""`benders` with cuts of one side only, and with few iterations [RojoGonzalez2019]."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tacit.cli.main import main
from tacit.errors import InputError
from tacit.io.jj import write_jj
from tacit.methods.suppress.options import SuppressOptions
from tacit.outcome import Status, StopReason
from tests.methods.suppress.tables import KINDS, Instance, assert_consistent, seeded_instance

SIDES = ["lower", "upper"]


def one_sided(instance: Instance, side: str) -> Instance:
    """The same table without the levels of the other side."""
    nothing = np.zeros(len(instance.problem.sensitive))
    other = "upper_level" if side == "lower" else "lower_level"
    problem = instance.problem.replace(**{other: nothing, "sliding_level": nothing})
    return replace(instance, problem=problem)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_is_that_of_the_relaxation(kind: str, side: str) -> None:
    """Cuts of one side prove what brute force finds with its levels alone; patterns are safe."""
    instance = seeded_instance(kind, 5, most=9)
    relaxed = one_sided(instance, side).brute_force().optimum()
    brute = instance.brute_force()
    whole = brute.optimum()
    outcome = instance.suppress("benders", sides=side, own_cuts=False)
    assert_consistent(outcome, instance.problem, brute)
    if whole is None:
        assert outcome.solution is None
        return
    assert relaxed is not None
    assert outcome.report.objective is not None
    assert outcome.report.objective >= whole - 1e-9 * abs(whole)
    assert outcome.report.bound == pytest.approx(relaxed, rel=1e-7, abs=1e-9)
    if relaxed < whole * (1 - 1e-6):
        assert outcome.status is Status.FEASIBLE


@pytest.mark.parametrize("most", [1, 2])
def test_few_iterations(most: int) -> None:
    """After so many master problems the best safe pattern is returned, and the reason is told."""
    instance = seeded_instance("2-D", 3, most=9)
    outcome = instance.suppress("benders", max_iterations=most, own_cuts=False)
    assert_consistent(outcome, instance.problem, instance.brute_force())
    assert outcome.report.iterations <= most
    assert outcome.solution is not None
    if outcome.status is not Status.OPTIMAL:
        assert outcome.stopped_by is StopReason.ITERATIONS


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"sides": "lower"}, "sides is for algorithm 'benders', not 'auto'"),
        ({"max_iterations": 5}, "max_iterations is for algorithm 'benders'"),
        ({"algorithm": "benders", "max_iterations": 0}, "at least 1"),
        ({"algorithm": "benders", "sides": "left"}, "sides"),
    ],
)
def test_what_is_refused(options: dict[str, object], wrong: str) -> None:
    """Options that would have no effect, and impossible ones."""
    with pytest.raises(InputError, match=wrong):
        SuppressOptions.from_mapping(options)


def test_on_the_command_line(tmp_path: Path) -> None:
    """Both options can be typed."""
    path = tmp_path / "table.jj"
    write_jj(seeded_instance("2-D", 3, most=9).problem, path)
    typed = ["protect", str(path), "--algorithm", "benders", "--out", str(tmp_path / "out.csv")]
    assert main([*typed, "--option", "sides=lower", "--option", "max_iterations=50"]) == 0
