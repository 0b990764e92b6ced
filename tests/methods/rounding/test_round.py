"""Controlled rounding against brute force, and what it promises."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings
from scipy.optimize import linprog

import tacit
from tacit import examples
from tacit.attack.audit import audit
from tacit.attack.knowledge import Attacker
from tacit.errors import InputError, ProblemError
from tacit.methods.rounding.algorithms.partition import parts
from tacit.methods.rounding.algorithms.random import unbiased
from tacit.methods.rounding.model import Lattice
from tacit.methods.rounding.options import RoundOptions
from tacit.methods.rounding.run import round as controlled_rounding
from tacit.observer import Observer
from tacit.outcome import Outcome, Status, Values
from tacit.problem import Problem
from tests.attack.tables import structures


def values_of(outcome: Outcome) -> Values:
    """The published values of an outcome that has some."""
    assert isinstance(outcome.solution, Values)
    return outcome.solution


@st.composite
def tables(draw: st.DrawFn) -> Problem:
    """A small table of any kind, with zeros, negative values and sensitive cells."""
    A, sums = draw(structures(("2-D", "1H2D", "3-D", "linked")))
    assert sums is not None
    leaves, n = sums.shape[1], A.shape[1]
    numbers = st.sampled_from([0, 0, 1, 2, 3, 4, 5, 7, 9, 10])
    leaf = np.array(draw(st.lists(numbers, min_size=leaves, max_size=leaves)), float)
    lower: Any = 0.0
    if draw(st.booleans()):
        leaf[0] = -leaf[0] - 1
        lower = -np.inf
    value = sums @ leaf
    # Linked tables divide by three: where cells cancel out, a zero must be one.
    value[np.abs(value) < 1e-9] = 0.0
    sensitive = draw(st.lists(st.integers(0, n - 1), unique=True, max_size=3))
    levels = [
        np.array(
            draw(st.lists(st.integers(0, 4), min_size=len(sensitive), max_size=len(sensitive)))
        )
        for _ in range(3)
    ]
    room = np.minimum(levels[0], value[sensitive]) if lower == 0.0 else levels[0]
    return Problem(
        value=value,
        lower=lower,
        relations=A,
        sensitive=sensitive,
        lower_level=room,
        upper_level=levels[1],
        sliding_level=levels[2] * draw(st.sampled_from([0, 1])),
        weight=np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), float),
        must_publish=(value == 0) & ~np.isin(np.arange(n), sensitive) & draw(st.booleans()),
    )


def deduced(problem: Problem, values: Values, cell: int, side: int) -> float:
    """The end of what a reader can deduce, by a linear program over all that may be."""
    assert values.radius is not None
    ends = zip(
        np.maximum(problem.lower, values.value - values.radius),
        np.minimum(problem.upper, values.value + values.radius),
        strict=True,
    )
    cost = np.zeros(problem.cell_count)
    cost[cell] = -side
    found = linprog(
        cost, A_eq=problem.relations.toarray(), b_eq=problem.rhs, bounds=[*ends], method="highs"
    )
    assert found.x is not None
    return float(found.x[cell])


def is_safe(problem: Problem, values: Values) -> bool:
    """Is every level met by what a reader can deduce?"""
    for cell, low, high, slide in zip(
        problem.sensitive.tolist(),
        problem.lower_level,
        problem.upper_level,
        problem.sliding_level,
        strict=True,
    ):
        least, most = (deduced(problem, values, cell, side) for side in (-1, 1))
        a = problem.value[cell]
        if a - least < low - 1e-6 or most - a < high - 1e-6 or most - least < slide - 1e-6:
            return False
    return True


def brute_force(problem: Problem, base: float, zero_restricted: bool) -> float:
    """The cost of the best safe rounding within one step; inf if there is none."""
    lattice = Lattice(
        problem.replace(sensitive=[]),
        problem.weight,
        RoundOptions(base=base, zero_restricted=zero_restricted),
        1,
    )
    A = problem.relations.toarray()
    # Cells are filled in one after the other; relations that are complete must hold.
    last = [int(np.flatnonzero(row).max()) for row in A]
    partial = [np.zeros(0, np.int64)]
    for cell in range(problem.cell_count):
        choices = range(int(lattice.low[cell]), int(lattice.high[cell]) + 1)
        partial = [np.append(p, k) for p, k in itertools.product(partial, choices)]
        rows = [r for r, end in enumerate(last) if end == cell]
        if rows:
            partial = [p for p in partial if not (A[rows, : cell + 1] @ p).any()]
        assume(len(partial) < 4000)
    for counts in sorted(partial, key=lattice.cost_of):
        if is_safe(problem, lattice.values_of(counts)):
            return lattice.cost_of(counts)
    return np.inf


@settings(max_examples=40, deadline=None)
@given(tables(), st.booleans(), st.sampled_from(["auto", "milp", "partition"]))
def test_the_best_safe_rounding_is_found(
    problem: Problem, zero_restricted: bool, algorithm: Any
) -> None:
    """Cost and existence are those of brute force over all roundings and a reader's program."""
    expected = brute_force(problem, 5, zero_restricted)
    outcome = controlled_rounding(
        problem, 5, zero_restricted=zero_restricted, algorithm=algorithm, gap=0.0
    )
    if np.isinf(expected):
        assert outcome.status is Status.INFEASIBLE
        assert outcome.message
        return
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == pytest.approx(expected)
    assert outcome.report.bound == pytest.approx(expected)
    assert is_safe(problem, values_of(outcome))


@settings(max_examples=40, deadline=None)
@given(
    tables(),
    st.sampled_from([1.0, 2.0, 3.0, 2.5, 10.0]),
    st.integers(1, 3),
    st.booleans(),
)
def test_what_a_rounding_promises(
    problem: Problem, base: float, steps: int, zero_restricted: bool
) -> None:
    """It is additive, of multiples of the base, within the steps, and safe by its own audit."""
    outcome = controlled_rounding(
        problem, base, steps=steps, zero_restricted=zero_restricted, most_steps=steps + 2
    )
    if outcome.solution is None:
        assert outcome.status is Status.INFEASIBLE
        return
    values = values_of(outcome)
    x, counts = values.value, values.value / base
    assert np.abs(problem.residual(x)).max(initial=0.0) < 1e-9
    assert np.allclose(counts, np.round(counts))
    far = np.abs(x - problem.value).max(initial=0.0)
    assert far <= (steps + 2) * base
    if not outcome.message:
        assert far <= steps * base
    assert values.radius is not None
    assert (np.abs(x - problem.value) <= values.radius).all()
    multiple = problem.value % base == 0
    if zero_restricted:
        assert (x == problem.value)[multiple].all()
    assert (x == problem.value)[multiple & problem.must_publish].all()
    if (problem.lower >= 0).all():
        assert (x >= 0).all()
    assert audit(problem, outcome).safe
    assert outcome.report.objective == pytest.approx(
        float(problem.weight @ np.abs(x - problem.value))
    )


def test_the_table_of_paper_003() -> None:
    """Figure 10 moves its total by more than one step; there is a rounding within one."""
    example = examples.get("003-figure-10")
    printed = example.published["rounded to 5"]
    assert isinstance(printed, Values)
    outcome = controlled_rounding(example.problem, 5, gap=0.0)
    assert np.abs(printed.value - example.problem.value).sum() == 30
    assert outcome.report.objective == 20
    assert audit(example.problem, Values(printed.value, np.array(10.0))).safe
    with pytest.raises(ProblemError, match="TOTALTOTAL"):
        audit(example.problem, Values(printed.value, np.array(5.0)))


TABLE = Problem(
    value=[7, 8, 15, 12, 3, 15, 19, 11, 30],
    relations=[
        [1, 1, -1, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 1, -1, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 1, 1, -1],
        [1, 0, 0, 1, 0, 0, -1, 0, 0],
        [0, 1, 0, 0, 1, 0, 0, -1, 0],
        [0, 0, 1, 0, 0, 1, 0, 0, -1],
    ],
)


def test_readers_know_that_multiples_would_have_kept_their_value() -> None:
    """In a table of whole numbers the ends of a zero-restricted radius cannot be the truth."""
    free = values_of(controlled_rounding(TABLE, 5))
    kept = values_of(controlled_rounding(TABLE, 5, zero_restricted=True))
    assert free.radius is not None
    assert kept.radius is not None
    assert set(free.radius.tolist()) == {5.0}
    assert set(kept.radius.tolist()) == {4.0}
    halves = values_of(controlled_rounding(TABLE.replace(value=TABLE.value / 2), 5))
    assert halves.radius is not None
    assert set(halves.radius.tolist()) == {5.0}


def test_levels_decide_which_multiple_is_published() -> None:
    """7 could become 5 or 10; a level of 4 upwards leaves only 10, of 4 on both sides neither."""
    upwards = TABLE.replace(sensitive=[0], upper_level=[4])
    assert values_of(controlled_rounding(upwards, 5)).value[0] == 10
    both = TABLE.replace(sensitive=[0], upper_level=[4], lower_level=[4])
    outcome = controlled_rounding(both, 5)
    assert outcome.status is Status.INFEASIBLE
    assert "cell 0; take a larger base, such as base=10, or more steps" in outcome.message
    assert controlled_rounding(both, 10).status is Status.OPTIMAL
    further = controlled_rounding(both, 5, most_steps=2)
    assert further.status is Status.OPTIMAL
    assert "within 2 steps" in further.message


def test_messages_tell_neither_values_nor_levels() -> None:
    """What cannot be protected is named without its figures."""
    problem = TABLE.replace(
        value=TABLE.value * 1009, sensitive=[0], upper_level=[4013], lower_level=[4013]
    )
    message = controlled_rounding(problem, 5000).message
    assert message
    assert not any(figure in message for figure in ("7063", "4013", "8026"))


def test_a_cell_that_keeps_its_value_cannot_be_sensitive_to_it() -> None:
    """Zero-restriction gives a sensitive multiple away, unless its levels ask for less."""
    problem = TABLE.replace(sensitive=[2], upper_level=[4], lower_level=[4])
    assert controlled_rounding(problem, 5, zero_restricted=True).status is Status.OPTIMAL
    wider = TABLE.replace(sensitive=[2], upper_level=[5], lower_level=[5])
    assert controlled_rounding(wider, 5, zero_restricted=True).status is Status.INFEASIBLE


def test_attackers_who_know_more_are_withstood() -> None:
    """A respondent who knows one cell of a row must not learn the other one of it."""
    problem = TABLE.replace(
        sensitive=[0], upper_level=[3], lower_level=[3], upper=TABLE.value + 9.0
    )
    insider = Attacker(name="insider", known=(1, 3), own=frozenset({1, 3}))
    outcome = controlled_rounding(problem, 5, attackers=[insider], most_steps=6)
    assert outcome.solution is not None
    assert audit(problem, outcome, attackers=[insider]).safe


def three_dimensional(shape: tuple[int, ...], seed: int = 1) -> Problem:
    """A table of small counts over flat dimensions."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(3.0, shape)
    codes = [tacit.Hierarchy.flat([f"{d}{i}" for i in range(m)]) for d, m in enumerate(shape)]
    dimensions = {f"d{number}": code for number, code in enumerate(codes)}
    return tacit.Table.from_cube(counts, dimensions).problem()


def test_parts_hold_every_cell_once_and_totals_first() -> None:
    """The parts of a three-dimensional table are its slices, that of the totals first."""
    problem = three_dimensional((3, 4, 6))
    found = parts(problem)
    assert sorted(np.concatenate(found).tolist()) == [*range(problem.cell_count)]
    assert 0 in found[0]
    assert [len(part) for part in found] == [20] * 7


@pytest.mark.parametrize("zero_restricted", [False, True])
def test_partition_comes_close_to_the_optimum(zero_restricted: bool) -> None:
    """Slice by slice the rounding is within some per cent of the proven bound."""
    problem = three_dimensional((6, 6, 7))
    outcome = controlled_rounding(
        problem,
        3,
        algorithm="partition",
        zero_restricted=zero_restricted,
        most_steps=2,
        time_limit=5,
        gap=0.1,
    )
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.gap is not None
    assert outcome.report.gap <= 0.1


def test_flow_refuses_what_is_no_network() -> None:
    """A three-dimensional table is none, and the message says what to choose."""
    with pytest.raises(InputError, match="not a network; choose algorithm auto"):
        controlled_rounding(three_dimensional((2, 2, 2)), 3, algorithm="flow")


def test_random_rounding_is_unbiased() -> None:
    """The mean over many seeds comes close to the true table, and multiples stay."""
    lattice = Lattice(TABLE, TABLE.weight, RoundOptions(algorithm="random"), 1)
    draws = 5.0 * np.array([unbiased(lattice, seed) for seed in range(2000)])
    # Five times the largest standard deviation of such a mean.
    assert np.abs(draws.mean(axis=0) - TABLE.value).max() < 5 * 2.5 / np.sqrt(2000)
    assert (draws[:, [2, 5, 8]] == TABLE.value[[2, 5, 8]]).all()
    assert set(np.unique(draws[:, 0]).tolist()) == {5.0, 10.0}


def test_random_rounding_says_that_it_does_not_add_up() -> None:
    """It is feasible at best, without proof, and its message and audit tell of the sums."""
    outcome = controlled_rounding(TABLE, 5, algorithm="random", seed=3)
    assert outcome.status is Status.FEASIBLE
    assert outcome.stopped_by == "heuristic"
    assert "do not add up" in outcome.message
    assert outcome.audit is not None
    assert [fault.condition for fault in outcome.audit.faults] == ["additivity"]


def test_random_rounding_that_exposes_a_cell_is_not_handed_over() -> None:
    """Levels that chance does not meet leave no solution, and the cell is named."""
    problem = TABLE.replace(sensitive=[0], upper_level=[4], lower_level=[4])
    outcome = controlled_rounding(problem, 5, algorithm="random", seed=1)
    assert outcome.solution is None
    assert outcome.exposed == (0,)


def test_random_rounding_draws_its_seed_in_secret() -> None:
    """Without a seed each run has another one, which is large and repeats the run."""
    problem = three_dimensional((4, 4, 4))
    drawn = [controlled_rounding(problem, 3, algorithm="random") for _ in range(3)]
    assert len({outcome.seed for outcome in drawn}) == 3
    assert min(outcome.seed for outcome in drawn) > 2**64
    assert not (values_of(drawn[0]).value == values_of(drawn[1]).value).all()
    again = controlled_rounding(problem, 3, algorithm="random", seed=drawn[0].seed)
    assert (values_of(again).value == values_of(drawn[0]).value).all()
    assert again.seed == drawn[0].seed


@pytest.mark.parametrize("algorithm", ["auto", "flow", "milp", "partition"])
def test_other_algorithms_are_not_random(algorithm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the algorithm that is called so rounds at random; others repeat without a seed."""

    def called(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("tacit.methods.rounding.algorithms.random.unbiased", called)
    monkeypatch.setattr("tacit.methods.rounding.run.secrets.randbits", called)
    found = [controlled_rounding(TABLE, 5, algorithm=algorithm) for _ in range(2)]
    assert [outcome.seed for outcome in found] == [1, 1]
    assert (values_of(found[0]).value == values_of(found[1]).value).all()


def test_the_same_seed_gives_the_same_rounding() -> None:
    """Ties are broken in the same way every time."""
    problem = three_dimensional((4, 4, 4))
    found = [
        values_of(controlled_rounding(problem, 3, algorithm="milp", seed=7)).value for _ in range(2)
    ]
    assert (found[0] == found[1]).all()


@pytest.mark.parametrize("algorithm", ["milp", "partition"])
def test_ctrl_c_is_no_accident(algorithm: Any) -> None:
    """What is known when the user interrupts is audited and returned."""

    class Interrupting(Observer):
        def on_solution(self, *_: float) -> None:
            raise KeyboardInterrupt

    outcome = controlled_rounding(
        three_dimensional((5, 5, 5)), 3, algorithm=algorithm, observer=Interrupting()
    )
    assert outcome.stopped_by in ("user", "gap")
    assert outcome.solution is None or audit(three_dimensional((5, 5, 5)), outcome).safe


@pytest.mark.parametrize("base", [0.1, 0.7, 0.05, 1e-7, 2.5, 3.0])
def test_multiples_are_the_numbers_that_one_would_write(base: float) -> None:
    """Published values have no more digits than a multiple of the base has in decimals."""
    value = np.array([50.83, 7.29, 0.14, 1234.561])
    lattice = Lattice(Problem(value=value), np.ones(4), RoundOptions(base=base), 1)
    found = lattice.values_of(lattice.floor + 1).value.tolist()
    written = [float(Decimal(repr(base)) * (count + 1)) for count in lattice.floor.tolist()]
    assert found == written


def test_bases_that_decimals_cannot_hold_are_multiplied_as_they_are() -> None:
    """Where numbers are too large to be exact, a multiple is what floating-point numbers say."""
    problem = Problem(value=[1e9])
    lattice = Lattice(problem, np.ones(1), RoundOptions(base=1 / 3), 1)
    counts = lattice.floor + 1
    assert lattice.values_of(counts).value.tolist() == (counts * (1 / 3)).tolist()


def test_right_hand_sides_must_be_multiples() -> None:
    """A sum that is fixed and no multiple of the base has no rounding; the relation is named."""
    problem = Problem(value=[3, 4], relations=[[1, 1]], rhs=[7])
    outcome = controlled_rounding(problem, 5)
    assert outcome.status is Status.INFEASIBLE
    assert "relation 0" in outcome.message


@pytest.mark.parametrize(
    "options",
    [
        {"base": 0},
        {"base": float("nan")},
        {"steps": 0},
        {"steps": 2, "most_steps": 1},
        {"algorithm": "random", "steps": 2},
        {"algorithm": "random", "seed": -1},
        {"algorithm": "best"},
        {"bases": 5},
        {"weights": "gold"},
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    """Each with a message of its own, before anything is computed."""
    with pytest.raises(InputError):
        controlled_rounding(TABLE, **options)


def test_negative_weights_are_refused() -> None:
    """A distance that pays would have no end."""
    with pytest.raises(ProblemError, match="the weight is negative: cell 1"):
        controlled_rounding(TABLE, weights=[1, -1, *[1] * 7])


def test_a_table_without_cells_or_relations() -> None:
    """Nothing to do is done at once, and cells without relations go to the nearest multiple."""
    assert controlled_rounding(Problem(value=[])).status is Status.OPTIMAL
    lonely = controlled_rounding(Problem(value=[7.0, 8.0]), 5)
    assert values_of(lonely).value.tolist() == [5, 10]


def test_zero_restricted_rounding_may_not_exist_in_three_dimensions() -> None:
    """The outcome says so; here even more steps do not help, but letting multiples move does."""
    counts = [
        [[1, 0, 0], [1, 1, 1], [0, 1, 0]],
        [[0, 1, 0], [0, 1, 1], [0, 0, 0]],
        [[1, 0, 1], [0, 0, 1], [1, 0, 0]],
    ]
    dimensions = {d: tacit.Hierarchy.flat([f"{d}{i}" for i in range(3)]) for d in "abc"}
    problem = tacit.Table.from_cube(counts, dimensions).problem()
    outcome = controlled_rounding(problem, 2, zero_restricted=True)
    assert outcome.status is Status.INFEASIBLE
    assert "adds up; let multiples move (zero_restricted), or allow more" in outcome.message
    further = controlled_rounding(problem, 2, zero_restricted=True, most_steps=3)
    assert "no rounding within 3 steps of 2" in further.message
    assert controlled_rounding(problem, 2).status is Status.OPTIMAL
