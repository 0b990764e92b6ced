"""Rules applied to tables: how verdicts are combined, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import InputError, TableError
from tacit.rules import Dominance, Manual, MinFrequency, PPercent, PriorPosterior, ZeroCells
from tacit.table import Bounds, Rule, Table, Verdict
from tests.rules.slow import contribution_lists, table_of

RULES: list[Rule] = [
    MinFrequency(3),
    MinFrequency(2, percent=50, name="very few"),
    Dominance(1, 75),
    PPercent(20),
    PriorPosterior(10, 40, coalition=2),
    ZeroCells(),
]


def levels(table: Table) -> list[list[float]]:
    """Both levels of the sensitive cells."""
    problem = table.problem()
    return [problem.lower_level.tolist(), problem.upper_level.tolist()]


@given(contribution_lists, st.lists(st.sampled_from(RULES), max_size=4, unique=True))
def test_several_rules_are_the_union(cells: list[list[int]], rules: list[Rule]) -> None:
    """A cell is sensitive if any rule says so, at the largest level, for all their reasons."""
    table = table_of(cells)
    judged = table.apply(*rules, least_level=0.5)
    assert judged.reason is not None
    assert judged.lower_level is not None
    assert judged.upper_level is not None
    verdicts = [rule.judge(table) for rule in rules]
    for cell in range(table.cell_count):
        found = [verdict for verdict in verdicts if cell in verdict.cells]
        assert judged.is_sensitive[cell] == bool(found)
        assert judged.reason[cell] == "; ".join(verdict.reason for verdict in found)
        if found:
            lower = max(verdict.lower[verdict.cells == cell][0] for verdict in found)
            upper = max(verdict.upper[verdict.cells == cell][0] for verdict in found)
            if lower + upper == 0:
                lower, upper = min(0.5, table.value[cell]), 0.5
            assert judged.lower_level[cell] == lower
            assert judged.upper_level[cell] == upper


@given(contribution_lists, st.permutations(RULES), st.integers(0, len(RULES)))
def test_order_and_steps_do_not_matter(
    cells: list[list[int]], rules: list[Rule], split: int
) -> None:
    """The same rules in another order, or one after the other, find the same."""
    table = table_of(cells)
    once = table.apply(*RULES, least_level=0.5)
    steps = table.apply(*rules[:split], least_level=0.5).apply(*rules[split:], least_level=0.5)
    assert np.array_equal(once.status, steps.status)
    assert once.reason is not None
    assert steps.reason is not None
    for one, other in zip(once.reason, steps.reason, strict=True):
        assert sorted(one.split("; ")) == sorted(other.split("; "))


@given(contribution_lists, st.sampled_from(["both", "lower", "upper", "sliding"]), st.booleans())
def test_sides(cells: list[list[int]], side: str, by_rule: bool) -> None:
    """Levels count on the side chosen for all rules or for one; sliding is both together."""
    table = table_of(cells)
    both = table.apply(PPercent(20)).problem()
    if by_rule:
        judged = table.apply(PPercent(20, levels=side), levels="both").problem()  # type: ignore[arg-type]
    else:
        judged = table.apply(PPercent(20), levels=side).problem()  # type: ignore[arg-type]
    nothing = np.zeros(len(both.sensitive))
    expected = {
        "both": (both.lower_level, both.upper_level, nothing),
        "lower": (both.lower_level, nothing, nothing),
        "upper": (nothing, both.upper_level, nothing),
        "sliding": (nothing, nothing, both.lower_level + both.upper_level),
    }[side]
    assert np.array_equal(judged.lower_level, expected[0])
    assert np.array_equal(judged.upper_level, expected[1])
    assert np.array_equal(judged.sliding_level, expected[2])


@given(contribution_lists, st.lists(st.sampled_from(RULES), max_size=3))
def test_problems_are_sound(cells: list[list[int]], rules: list[Rule]) -> None:
    """Every sensitive cell asks for something, and nothing that bounds make impossible."""
    problem = table_of(cells).apply(*rules).problem()
    assert problem.violations() == []
    asked = problem.lower_level + problem.upper_level + problem.sliding_level
    assert (asked > 0).all()


def test_a_level_of_nothing_becomes_a_small_one() -> None:
    """A sensitive cell of value zero gets a level of one above, or of what the user says."""
    table = table_of([[0], [7, 8, 9]])
    assert levels(table.apply(MinFrequency(3))) == [[0.0], [1.0]]
    assert levels(table.apply(MinFrequency(3), least_level=0.25)) == [[0.0], [0.25]]


def test_a_small_level_where_values_are_no_whole_numbers() -> None:
    """The small level is a thousandth of the median magnitude of cells that are not zero."""
    table = table_of([[0], [0.5, 0.5, 0.5], [0.25, 0.25, 0.25]])
    assert levels(table.apply(MinFrequency(3))) == [[0.0], [0.0015]]


def test_cells_that_were_sensitive_stay_so() -> None:
    """A sensitive cell from elsewhere keeps its levels, and its reason is that it was given."""
    table = table_of([[5, 4, 3], [2]]).replace(
        status=["safe", "sensitive", "safe"], lower_level=[np.nan, 2, np.nan]
    )
    judged = table.apply(MinFrequency(2))
    assert judged.reason is not None
    assert judged.reason.tolist() == ["", "given", "minimum frequency"]
    assert levels(judged) == [[2.0, 0.2], [0.0, 0.2]]


def test_cells_that_must_be_published() -> None:
    """A sensitive cell that is to be published is an error, unless a person decides so."""
    table = table_of([[5, 4, 3], [2]]).replace(status=["safe", "safe", "publish"])
    with pytest.raises(TableError, match=r"to be published: \(code=c1\); change") as error:
        table.apply(MinFrequency(2))
    assert error.value.cells == ("code=c1",)
    marks = {"code": ["c1"], "status": ["publish"]}
    cleared = table.apply(MinFrequency(2), Manual(marks, override=True))
    assert cleared.status[2] == "publish"


def test_levels_beyond_bounds() -> None:
    """Levels that bounds make impossible are refused with the names of the cells."""
    table = table_of([[50, 40, 30], [20]])
    with pytest.raises(TableError, match=r"beyond the bounds.*\(code=c1\); widen") as error:
        table.apply(PPercent(10), bounds=Bounds(upper_factor=1.05))
    assert error.value.cells == ("code=c1",)
    with pytest.raises(TableError, match="beyond the bounds"):
        table.apply(PPercent(10), bounds=Bounds(lower_factor=0.99))
    judged = table.apply(PPercent(10), bounds=Bounds(upper_factor=1.05), levels="lower")
    assert levels(judged) == [[2.0], [0.0]]


def test_dominance_with_a_low_percentage() -> None:
    """No lower level reaches below zero where nobody takes that for possible anyway."""
    table = table_of([[50, 1]])
    judged = table.apply(Dominance(1, 30)).problem()
    assert judged.lower_level == pytest.approx(judged.value[judged.sensitive])
    assert judged.upper_level == pytest.approx(50 * 100 / 30 - 51)
    with pytest.raises(TableError, match="beyond the bounds"):
        table.apply(Dominance(1, 30), bounds=Bounds(lower=0))
    assert table.apply(Dominance(1, 30), levels="upper", bounds=Bounds(lower=0)).is_sensitive.all()


def test_values_that_bounds_give_away() -> None:
    """A sensitive cell whose value follows from its bounds cannot be protected."""
    table = table_of([[0], [5, 4, 3]])
    bounds = Bounds(lower_factor=0, upper_factor=11)
    with pytest.raises(TableError, match=r"attackers know their value.*code=c0.*widen"):
        table.apply(MinFrequency(2), bounds=bounds)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (MinFrequency, r"write MinFrequency\(\.\.\.\)"),
        ([MinFrequency(3)], "list is not a rule; give rules one after the other"),
        ("p%", "str is not a rule"),
    ],
)
def test_what_is_no_rule(rule: Rule, message: str) -> None:
    """A class, a list or a name in place of a rule is refused."""
    with pytest.raises(InputError, match=message):
        table_of([[5]]).apply(rule)


def test_arguments_that_make_no_sense() -> None:
    """Unknown sides and levels of nothing are refused."""
    table = table_of([[5]])
    with pytest.raises(InputError, match="levels must be one of both, lower, upper, sliding"):
        table.apply(levels="none")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="least_level must be a positive number"):
        table.apply(least_level=0)
    with pytest.raises(InputError, match="least_level must be a positive number"):
        table.apply(least_level="1")  # type: ignore[arg-type]


def test_rules_of_ones_own() -> None:
    """Anything that judges a table is a rule."""

    @dataclass(frozen=True)
    class Odd:
        """Odd values are sensitive."""

        def judge(self, table: Table) -> Verdict:
            """The odd values, protected by one."""
            cells = np.flatnonzero(table.value % 2 == 1)
            one = np.ones(len(cells))
            return Verdict(reason="odd", cells=cells, lower=one, upper=one)

    judged = table_of([[5], [4]]).apply(Odd())
    assert judged.reason is not None
    assert judged.reason.tolist() == ["odd", "odd", ""]


def test_reasons_in_frames() -> None:
    """The working frame has a column of reasons, whatever library it is made with."""
    judged = table_of([[5], [4, 3, 2]]).apply(MinFrequency(2), PPercent(10))
    for backend in ("pandas", "polars", "pyarrow"):
        column = list(judged.to_frame(backend)["reason"])
        assert [str(entry) for entry in column] == ["", "minimum frequency; p%", ""]


def test_reasons_of_linked_tables() -> None:
    """A common cell keeps the reasons of all tables that found it sensitive."""
    table = table_of([[5], [4, 3, 2]])
    one, other = table.apply(MinFrequency(2)), table.apply(PPercent(10), MinFrequency(2))
    linked = one.link(other, table)
    assert linked.reason is not None
    assert linked.reason.tolist() == ["", "minimum frequency; p%", ""]
    assert table.link(table).reason is None
