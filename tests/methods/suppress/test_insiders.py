"""Suppression against contributors, held against linear models with each one's figures fixed."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tacit
from tacit.attack.audit import audit
from tacit.hierarchy import Hierarchy
from tacit.methods.suppress.options import Algorithm
from tacit.methods.suppress.run import suppress
from tacit.outcome import Status
from tacit.table import Table
from tests.attack.contributors import KINDS, RULES, Contributed, contributed

ALGORITHMS: list[Algorithm] = [
    *("auto", "branch-and-cut", "benders", "stabilized"),
    *("monolithic", "paths", "hypercube", "modular"),
]


def withheld(made: Contributed, pattern: list[int]) -> Contributed:
    """The same table with another pattern."""
    hidden = np.zeros(made.problem.cell_count, bool)
    hidden[pattern] = True
    return replace(made, hidden=hidden)


def everything(made: Contributed) -> list[int]:
    """All cells that may be suppressed."""
    return np.flatnonzero(~made.problem.must_publish).tolist()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(KINDS),
    rule=st.sampled_from(RULES),
    coalition=st.sampled_from([1, 1, 2]),
)
def test_patterns_withstand_every_contributor(
    algorithm: Algorithm, seed: int, kind: str, rule: str, coalition: int
) -> None:
    """What is called safe is safe by brute force, and infeasible only what nothing protects."""
    made = contributed(seed, kind, rule, coalition=coalition, everyone=False)
    outcome = suppress(made.problem, algorithm=algorithm, time_limit=20.0)
    if outcome.status is Status.INFEASIBLE:
        assert withheld(made, everything(made)).exposed()
        return
    assert outcome.solution is not None
    assert not withheld(made, outcome.suppressed.tolist()).exposed()
    alone = suppress(made.problem.replace(insiders=None), algorithm="auto", time_limit=20.0)
    if alone.status is Status.OPTIMAL:
        assert outcome.report.objective is not None
        assert outcome.report.objective >= alone.report.bound * (1 - 1e-9)


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(("2-D", "chain")))
def test_the_lightest_pattern_is_found(seed: int, kind: str) -> None:
    """On small tables the optimum is that of all patterns one by one."""
    made = contributed(seed, kind, "p%", coalition=1, everyone=False)
    problem = made.problem
    free = np.setdiff1d(everything(made), problem.sensitive).tolist()
    assume(0 < len(free) <= 7)
    outcome = suppress(problem, gap=0.0, time_limit=20.0)
    weights = [
        float(problem.weight[[*problem.sensitive, *more]].sum())
        for count in range(len(free) + 1)
        for more in itertools.combinations(free, count)
        if not withheld(made, [*problem.sensitive.tolist(), *more]).exposed()
    ]
    if not weights:
        assert outcome.status is Status.INFEASIBLE
        return
    assert outcome.status is Status.OPTIMAL
    assert outcome.report.objective == pytest.approx(min(weights))


def firms(cells: dict[tuple[str, str], list[float]], rows: Hierarchy) -> Table:
    """A table of firms, each of which is in one of the finest cells."""
    place: list[str] = []
    product: list[str] = []
    value: list[float] = []
    for (row, column), amounts in cells.items():
        for amount in amounts:
            place.append(row)
            product.append(column)
            value.append(amount)
    firm = [f"F{number}" for number in range(len(value))]
    data = {"place": place, "product": product, "value": value, "firm": firm}
    return tacit.tabulate(data, {"place": rows, "product": None}, "value", contributor="firm")


def test_a_total_with_one_occupied_part_can_be_protected() -> None:
    """The firm that is alone in both knows one thing, not two, and others are protected from it."""
    rows = Hierarchy.from_nested({"N": ["N1", "N2"], "S": ["S1", "S2"]})
    table = firms(
        {
            ("N1", "a"): [50.0],
            ("N1", "b"): [20.0, 18.0, 25.0],
            ("S1", "a"): [30.0, 28.0, 20.0],
            ("S1", "b"): [40.0, 35.0, 31.0],
            ("S2", "a"): [12.0, 14.0, 15.0],
            ("S2", "b"): [22.0, 21.0, 19.0],
        },
        rows,
    ).apply(tacit.PPercent(10))
    problem = table.problem("singletons")
    assert problem.insiders is not None
    outcome = suppress(problem)
    assert outcome.status is Status.OPTIMAL
    assert outcome.audit is not None
    assert outcome.audit.safe


def test_single_firms_of_different_size_can_be_protected() -> None:
    """Firms of 200 and 3 alone in two parts of a row, minimum frequency 3."""
    table = firms(
        {
            ("N", "a"): [200.0],
            ("N", "b"): [3.0],
            ("N", "c"): [40.0, 30.0, 20.0, 50.0],
            ("S", "a"): [60.0, 55.0, 30.0],
            ("S", "b"): [45.0, 33.0, 31.0],
            ("S", "c"): [38.0, 37.0, 36.0],
        },
        Hierarchy.flat(["N", "S"]),
    ).apply(tacit.MinFrequency(3, percent=10))
    outcome = suppress(table.problem("singletons"))
    assert outcome.status is Status.OPTIMAL
    assert outcome.audit is not None
    assert outcome.audit.safe


def two_single_firms() -> Table:
    """Firms of 50 and 40 are each alone in two cells of the row N; other cells have three each."""
    return firms(
        {
            ("N", "a"): [50.0],
            ("N", "b"): [40.0],
            ("N", "c"): [30.0, 29.0, 28.0],
            ("S", "a"): [20.0, 21.0, 22.0],
            ("S", "b"): [25.0, 24.0, 23.0],
            ("S", "c"): [38.0, 37.0, 36.0],
            ("W", "a"): [35.0, 34.0, 33.0],
            ("W", "b"): [38.0, 37.0, 36.0],
            ("W", "c"): [48.0, 47.0, 46.0],
        },
        Hierarchy.flat(["N", "S", "W"]),
    ).apply(tacit.PPercent(10))


def test_two_single_firms_in_a_row_are_not_left_alone() -> None:
    """Each would compute the other: readers do not mind, by default a third cell goes."""
    table = two_single_firms()
    readers = table.problem(insiders="none")
    alone = suppress(readers)
    assert len(alone.suppressed) == 4
    found = audit(table.problem("singletons"), alone)
    assert not found.safe
    assert found.exposed_cells == readers.sensitive.tolist()
    outcome = suppress(table.problem("singletons"))
    assert outcome.status is Status.OPTIMAL
    assert len(outcome.suppressed) > 4
    assert audit(table.problem("singletons"), outcome).safe


def test_why_nothing_protects_is_told_with_labels_and_ways_out() -> None:
    """Where all else of the row must be published, the message says who knows what."""
    table = two_single_firms()
    elsewhere = ~np.isin(table.codes("product"), ["a", "b"])
    problem = table.problem("singletons").replace(
        must_publish=(table.codes("place") == "N") & elsewhere
    )
    outcome = suppress(problem)
    assert outcome.status is Status.INFEASIBLE
    first = outcome.message.splitlines()[0]
    assert "cell place=N, product=a cannot be protected" in first
    assert "contributor alone in cell place=N, product=b" in first
    assert "is known to it" in first
    assert "insiders" in first
    assert suppress(problem.replace(insiders=None)).status is Status.OPTIMAL


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(2))
def test_readers_are_faced_wherever_contributors_are(algorithm: Algorithm, seed: int) -> None:
    """An attacker who has nothing to learn does not take the reader's place."""
    generator = np.random.default_rng(seed)
    records = {
        "r": generator.choice(list("abcd"), 30),
        "s": generator.choice(list("xyz"), 30),
        "firm": generator.integers(0, 18, 30),
        "v": generator.integers(1, 1000, 30),
    }
    table = tacit.tabulate(records, {"r": None, "s": None}, "v", contributor="firm")
    problem = table.apply(tacit.PPercent(15)).problem("singletons")
    assert problem.insiders is not None
    cells = problem.sensitive.tolist()
    knowing = tacit.Attacker(name="knowing", known=tuple(cells), own=frozenset(cells))
    outcome = suppress(problem, attackers=[knowing], algorithm=algorithm, time_limit=20)
    assert audit(problem, outcome).safe
    assert outcome.audit is not None
    assert [found.attacker.name for found in outcome.audit.findings] == ["knowing", "external"]
