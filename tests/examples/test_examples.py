"""The printed tables add up, and what the papers say of them is so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import linprog

from tacit import examples
from tacit.errors import InputError
from tacit.examples import Example
from tacit.outcome import Intervals, Values
from tacit.problem import Problem

KEYS = {"000": "CastroVia2016", "002": "KarlssonOlsson2015", "003": "Castro2012"}
"""The papers by the numbers in the names of their examples."""
EXAMPLES = examples.all_examples()
each_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)


def with_facts(fact: str) -> pytest.MarkDecorator:
    """The examples that state a certain fact, one test each."""
    some = [example for example in EXAMPLES if getattr(example, fact)]
    assert some, f"no example has {fact}"
    return pytest.mark.parametrize("example", some, ids=lambda example: example.name)


def attack(
    problem: Problem,
    lower: npt.NDArray[np.float64],
    upper: npt.NDArray[np.float64],
    cell: int,
) -> tuple[float, float]:
    """The ends of what is possible for a cell, by one linear program per side."""
    ends = []
    for sign in (1.0, -1.0):
        cost = np.zeros(problem.cell_count)
        cost[cell] = sign
        found = linprog(
            cost,
            A_eq=problem.relations.toarray(),
            b_eq=problem.rhs,
            bounds=list(zip(lower.tolist(), upper.tolist(), strict=True)),
        )
        if found.status == 3:  # unbounded
            ends.append(-sign * np.inf)
        else:
            assert found.x is not None, found.message
            ends.append(float(found.x[cell]))
    return ends[0], ends[1]


def attack_pattern(
    problem: Problem, suppressed: npt.NDArray[np.bool_], cell: int
) -> tuple[float, float]:
    """The same for an external attacker who sees all cells but the suppressed ones."""
    lower = np.where(suppressed, problem.lower, problem.value)
    upper = np.where(suppressed, problem.upper, problem.value)
    return attack(problem, lower, upper, cell)


def short_label(name: str) -> str:
    """The label `A1` of what a table calls `business=A, location=1`."""
    return "".join(part.split("=")[1] for part in name.split(", "))


def labels_of(problem: Problem) -> list[str]:
    """The labels of all cells, in the short form."""
    assert problem.labels is not None
    return [short_label(name) if "=" in name else name for name in problem.labels]


def relations_by_label(problem: Problem) -> Counter[frozenset[tuple[str, float]]]:
    """Each relation as the cells it names with their coefficients."""
    labels = labels_of(problem)
    return Counter(
        frozenset((labels[cell], float(row[cell])) for cell in np.flatnonzero(row).tolist())
        for row in problem.relations.toarray()
    )


@each_example
def test_adds_up(example: Example) -> None:
    """Every printed table is a sound problem."""
    assert example.problem.violations() == []


@each_example
def test_says_where_it_comes_from(example: Example) -> None:
    """Every example can be asked for by its name and names its paper."""
    assert examples.get(example.name).name == example.name
    assert example.paper.partition(",")[0] == KEYS[example.name.split("-")[0]]
    assert example.citation in examples.PAPERS.values()
    assert example.text.endswith(".")


@with_facts("table")
def test_table_and_problem_agree(example: Example) -> None:
    """The table gives the same problem, but for the order of its cells."""
    assert example.table is not None
    problem, derived = example.problem, example.table.problem()
    place = [labels_of(derived).index(name) for name in labels_of(problem)]
    assert sorted(place) == list(range(derived.cell_count))
    assert relations_by_label(derived) == relations_by_label(problem)
    for name in ("value", "lower", "upper", "weight", "must_publish", "is_sensitive"):
        np.testing.assert_array_equal(getattr(derived, name)[place], getattr(problem, name))
    np.testing.assert_array_equal(derived.singleton[place] >= 0, problem.singleton >= 0)
    names = [labels_of(derived)[cell] for cell in derived.sensitive.tolist()]
    for name in ("lower_level", "upper_level", "sliding_level"):
        found = dict(zip(names, getattr(derived, name).tolist(), strict=True))
        wanted = [found[labels_of(problem)[cell]] for cell in problem.sensitive.tolist()]
        np.testing.assert_array_equal(getattr(problem, name), wanted)


@with_facts("contributions")
def test_tables_hold_counts_and_largest_contributions(example: Example) -> None:
    """Counts and largest contributions of every cell follow from the printed contributions."""
    table = example.table
    assert table is not None
    assert table.count is not None
    assert table.top is not None
    for cell, name in enumerate(table.labels):
        parts = example.contributions[short_label(name)]
        assert table.count[cell] == len(parts)
        assert table.top[cell].tolist() == [*parts, 0, 0][:3]


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    """A wrong name gives an error that lists the right ones."""
    with pytest.raises(InputError, match=r"did you mean '002-figure-2\.1'\?.*003-figure-16"):
        examples.get("002-figur-2.1")


def test_an_unknown_cell_is_answered_with_the_known_ones() -> None:
    """A wrong label gives an error that lists the right ones."""
    with pytest.raises(InputError, match="no cell 'D1'; cells are A1, A2"):
        examples.get("002-figure-2.1").cell("D1")


@with_facts("intervals")
def test_attackers_find_the_printed_intervals(example: Example) -> None:
    """A linear program for each end finds the interval that the paper prints."""
    if example.suppressed is None:
        published = example.published["intervals"]
        assert isinstance(published, Intervals)
        lower, upper = published.lower, published.upper
    else:
        lower = np.where(example.suppressed, example.problem.lower, example.problem.value)
        upper = np.where(example.suppressed, example.problem.upper, example.problem.value)
    for cell, printed in example.intervals.items():
        assert attack(example.problem, lower, upper, cell) == pytest.approx(printed)


@with_facts("deductions")
def test_contributors_find_the_printed_bounds(example: Example) -> None:
    """Who knows that a cell holds at least its own contribution finds the printed bound."""
    problem = example.problem
    assert example.suppressed is not None
    for deduction in example.deductions:
        assert (
            deduction.contribution == example.contributions[label(example, deduction.attacker)][0]
        )
        lower = problem.lower.copy()
        lower[deduction.attacker] = deduction.contribution
        knowing = problem.replace(lower=lower)
        _, upper = attack_pattern(knowing, example.suppressed, deduction.cell)
        assert upper == pytest.approx(deduction.upper)
        position = np.flatnonzero(problem.sensitive == deduction.cell)[0]
        required = problem.value[deduction.cell] + problem.upper_level[position]
        assert required == pytest.approx(deduction.required)


def label(example: Example, cell: int) -> str:
    """The label of a cell."""
    assert example.problem.labels is not None
    return example.problem.labels[cell]


def test_who_gets_too_close() -> None:
    """Of Figures 3.3 to 3.5 only the first is safe from single contributors."""
    too_close = {
        figure: [d.is_too_close for d in examples.get(f"002-figure-{figure}").deductions]
        for figure in ("3.3", "3.4", "3.5")
    }
    assert too_close == {"3.3": [False, False], "3.4": [True, True], "3.5": [True]}


@pytest.mark.parametrize("figure", ["3.3", "3.4", "3.5"])
def test_levels_follow_from_the_rule(figure: str) -> None:
    """The levels of Figures 3.3 to 3.5 are those of (3.3) with p = 10 and q = 100."""
    example = examples.get(f"002-figure-{figure}")
    wanted = []
    for cell in example.problem.sensitive.tolist():
        largest, _, *rest = (*example.contributions[label(example, cell)], 0, 0)
        wanted.append(0.1 * largest - sum(rest))
    np.testing.assert_allclose(example.problem.lower_level, wanted)
    np.testing.assert_allclose(example.problem.upper_level, wanted)


@with_facts("contributions")
def test_contributions_add_up_to_the_cells(example: Example) -> None:
    """The contributions to each cell, totals included, sum to its value."""
    assert example.problem.labels is not None
    sums = [sum(example.contributions[name]) for name in example.problem.labels]
    np.testing.assert_array_equal(sums, example.problem.value)


def test_a_total_has_the_contributions_of_its_parts() -> None:
    """The column total of Example 2.3 holds the contributions that the example lists."""
    contributions = examples.get("002-figure-2.4").contributions
    assert contributions["Total1"] == (280, 120, 80, 40, 15, 10, 5)


def test_rules_find_the_printed_cells() -> None:
    """The rules, taken by their definitions, find what Table 2.1 says."""
    example = examples.get("002-figure-2.4")
    rules: dict[str, Callable[[tuple[float, ...]], bool]] = {
        "minimum frequency 3": lambda c: len(c) < 3,
        "(1, 90)-dominance": lambda c: c[0] > 0.9 * sum(c),
        "(2, 90)-dominance": lambda c: sum(c[:2]) > 0.9 * sum(c),
        "(20, 50)-prior-posterior": lambda c: 50 * sum(c[2:]) < 20 * c[0],
    }
    found = {
        rule: tuple(cell for cell, parts in example.contributions.items() if is_sensitive(parts))
        for rule, is_sensitive in rules.items()
    }
    assert found == example.sensitive_by


@with_facts("paths")
def test_paths_protect_as_far_as_printed(example: Example) -> None:
    """Suppressing exactly the cells of a path moves the interval's ends as printed."""
    cell = int(example.problem.sensitive[0])
    value = example.problem.value[cell]
    for path, (below, above) in example.paths.items():
        suppressed = np.zeros(example.problem.cell_count, bool)
        suppressed[list(path)] = True
        lower, upper = attack_pattern(example.problem, suppressed, cell)
        assert (value - lower, upper - value) == pytest.approx((below, above))


@with_facts("published")
def test_published_versions_are_possible(example: Example) -> None:
    """Printed values still add up; printed intervals hold the true values."""
    for published in example.published.values():
        if isinstance(published, Values):
            np.testing.assert_array_equal(example.problem.residual(published.value), 0)
        else:
            assert isinstance(published, Intervals)
            assert np.all(published.lower <= example.problem.value)
            assert np.all(published.upper >= example.problem.value)


@pytest.mark.parametrize("name", ["000-section-4.1", "002-figure-3.7"])
def test_published_intervals_protect(name: str) -> None:
    """From the printed intervals the attacker deduces no more than the levels allow."""
    example = examples.get(name)
    problem, published = example.problem, example.published["intervals"]
    assert isinstance(published, Intervals)
    for position, cell in enumerate(problem.sensitive.tolist()):
        lower, upper = attack(problem, published.lower, published.upper, cell)
        assert lower <= problem.value[cell] - problem.lower_level[position] + 1e-9
        assert upper >= problem.value[cell] + problem.upper_level[position] - 1e-9


def test_the_interval_objective_is_the_stated_one() -> None:
    """The widths printed in [CastroVia2016, Section 4.1] sum to its objective."""
    example = examples.get("000-section-4.1")
    published = example.published["intervals"]
    assert isinstance(published, Intervals)
    assert np.sum(published.upper - published.lower) == example.objective == 42


@with_facts("loss")
def test_losses_by_several_definitions(example: Example) -> None:
    """In Example 3.6 number and sum of the suppressed cells are the same, widths 8 and 104."""
    hidden = example.suppressed
    assert hidden is not None
    ends = [
        attack_pattern(example.problem, hidden, cell) for cell in np.flatnonzero(hidden).tolist()
    ]
    found = {
        "number": hidden.sum(),
        "sum": example.problem.value[hidden].sum(),
        "widths": sum(upper - lower for lower, upper in ends),
    }
    assert found == pytest.approx(dict(example.loss))
    assert found["widths"] == {"a": 8, "b": 104}[example.name[-1]]


@pytest.mark.parametrize("sense", [-1, 1])
def test_adjusted_values_keep_their_distance(sense: int) -> None:
    """In Figure 16 the sensitive cell moves by exactly its level, in the sense named."""
    example = examples.get("003-figure-16")
    name = "adjusted, lower sense" if sense < 0 else "adjusted, upper sense"
    published = example.published[name]
    assert isinstance(published, Values)
    cell = example.problem.sensitive[0]
    assert published.value[cell] - example.problem.value[cell] == sense * 5


def test_rounded_values_are_multiples_next_to_the_truth() -> None:
    """In Figure 10 cells round to a neighbouring multiple of 5, all but the grand total."""
    example = examples.get("003-figure-10")
    published = example.published["rounded to 5"]
    assert isinstance(published, Values)
    assert np.all(published.value % 5 == 0)
    away = np.abs(published.value - example.problem.value) >= 5
    assert [label(example, cell) for cell in np.flatnonzero(away).tolist()] == ["TOTALTOTAL"]


def test_recoding_merges_two_columns() -> None:
    """Figure 9 is Figure 1 with professions P2 and P3 added up."""
    persons = examples.get("003-figure-1").problem.value.reshape(4, 6)
    merged = np.column_stack([persons[:, 0], persons[:, 1] + persons[:, 2], persons[:, 3:]])
    np.testing.assert_array_equal(examples.get("003-figure-9").problem.value, merged.ravel())


def test_relations_of_a_linked_table_are_those_of_the_paper() -> None:
    """Figure 2.3 has the relations of Example 2.2, each common cell and relation once."""
    problem = examples.get("002-figure-2.3").problem
    rows = ["A", "Aa", "Ab", "B", "Ba", "Bb", "Bc", "Total"]
    columns = ["1", "2", "Total"]
    wanted = [([f"{row}1", f"{row}2"], f"{row}Total") for row in rows]
    for column in columns:
        wanted.append(([f"A{column}", f"B{column}"], f"Total{column}"))
        wanted.append(([f"Aa{column}", f"Ab{column}"], f"A{column}"))
        wanted.append(([f"Ba{column}", f"Bb{column}", f"Bc{column}"], f"B{column}"))
    wanted += [([f"{row}I", f"{row}II"], f"{row}Total") for row in ("A", "B", "Total")]
    wanted += [([f"A{column}", f"B{column}"], f"Total{column}") for column in ("I", "II")]
    expected = Counter(
        frozenset([*((part, 1.0) for part in parts), (total, -1.0)]) for parts, total in wanted
    )
    assert relations_by_label(problem) == expected
    assert problem.cell_count == 30


def test_one_person_stands_alone() -> None:
    """In Figures 1 and 2 the sensitive cell is the one that counts a single person."""
    counts = examples.get("003-figure-1").problem.value
    for name in ("003-figure-1", "003-figure-2"):
        problem = examples.get(name).problem
        assert problem.sensitive.tolist() == np.flatnonzero(counts == 1).tolist()
        assert np.flatnonzero(problem.singleton >= 0).tolist() == problem.sensitive.tolist()
