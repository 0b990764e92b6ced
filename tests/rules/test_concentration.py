"""Dominance, p% and prior-posterior against attackers who try all possibilities."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import InputError, TableError
from tacit.rules import Dominance, PPercent, PriorPosterior
from tacit.table import Table
from tests.rules.slow import (
    contribution_lists,
    dominant_share,
    is_estimated,
    is_estimated_at,
    percentages,
    signed_lists,
    table_of,
    with_total,
)

pairs = st.tuples(percentages, st.integers(2, 100)).filter(lambda pair: pair[0] < pair[1])


@given(contribution_lists, pairs, st.integers(1, 3), st.integers(4, 6))
def test_prior_posterior_is_what_attackers_can_do(
    cells: list[list[int]], pair: tuple[int, int], coalition: int, width: int
) -> None:
    """A cell is sensitive exactly if some coalition estimates some contribution too closely."""
    judged = table_of(cells, width).apply(PriorPosterior(*pair, coalition=coalition))
    expected = [is_estimated(parts, *pair, coalition) for parts in with_total(cells)]
    assert judged.is_sensitive.tolist() == expected


@given(contribution_lists, pairs, st.integers(1, 2))
def test_levels_are_the_least_that_protect(
    cells: list[list[int]], pair: tuple[int, int], coalition: int
) -> None:
    """At the level (3.3) nobody estimates too closely any more, a little below somebody does."""
    judged = table_of(cells).apply(PriorPosterior(*pair, coalition=coalition))
    assert judged.upper_level is not None
    for cell, parts in enumerate(with_total(cells)):
        if not judged.is_sensitive[cell]:
            continue
        level = Fraction(float(judged.upper_level[cell])).limit_denominator(100)
        assert not is_estimated_at(parts, *pair, coalition, level)
        assert is_estimated_at(parts, *pair, coalition, level - Fraction(1, 200))


@given(contribution_lists, percentages, st.integers(1, 3))
def test_p_percent_is_prior_posterior_with_100(
    cells: list[list[int]], p: int, coalition: int
) -> None:
    """The p% rule is the prior-posterior rule of attackers who know no more than the sign."""
    table = table_of(cells)
    one = table.apply(PPercent(p, coalition=coalition))
    other = table.apply(PriorPosterior(p, 100, coalition=coalition))
    assert np.array_equal(one.is_sensitive, other.is_sensitive)
    assert np.array_equal(one.lower_level, other.lower_level, equal_nan=True)  # type: ignore[arg-type]


@given(contribution_lists, st.integers(1, 4), percentages)
def test_dominance_by_its_definition(cells: list[list[int]], n: int, k: int) -> None:
    """A cell is sensitive if the n largest have more than k%, and just not at its level."""
    judged = table_of(cells).apply(Dominance(n, k), levels="upper")
    assert judged.upper_level is not None
    for cell, parts in enumerate(with_total(cells)):
        share = dominant_share(parts, n)
        assert judged.is_sensitive[cell] == (share > Fraction(k, 100))
        if judged.is_sensitive[cell]:
            reached = sum(parts) + float(judged.upper_level[cell])
            assert float(share) * sum(parts) / reached == pytest.approx(k / 100)


@given(contribution_lists, percentages, percentages, st.integers(1, 2))
def test_a_larger_p_finds_more(cells: list[list[int]], one: int, two: int, coalition: int) -> None:
    """Cells that are sensitive for a small p are so for a larger one, with larger levels."""
    small, large = sorted((one, two))
    table = table_of(cells)
    less = table.apply(PPercent(small, coalition=coalition))
    more = table.apply(PPercent(large, coalition=coalition))
    bigger = table.apply(PPercent(small, coalition=coalition + 1))
    for stricter in (more, bigger):
        assert not (less.is_sensitive & ~stricter.is_sensitive).any()
        assert (less.problem().upper_level <= stricter.upper_level[less.is_sensitive]).all()  # type: ignore[index]


@given(contribution_lists, st.integers(1, 3), percentages, percentages)
def test_a_smaller_k_finds_more(cells: list[list[int]], n: int, one: int, two: int) -> None:
    """Whoever dominates with a large percentage dominates with a smaller one."""
    small, large = sorted((one, two))
    table = table_of(cells)
    more = table.apply(Dominance(n, small), levels="upper").is_sensitive
    less = table.apply(Dominance(n, large), levels="upper").is_sensitive
    assert not (less & ~more).any()


weighted_lists = st.lists(
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=3), min_size=1, max_size=3
)


def weighted_table(cells: list[list[tuple[int, float]]], width: int = 6) -> Table:
    """A table of cells to which contributions with sampling weights belong."""
    ordered = [sorted(parts, reverse=True) for parts in cells]
    frame: dict[str, list[object]] = {
        "code": [f"c{number}" for number in range(len(cells))],
        "value": [sum(amount * weight for amount, weight in parts) for parts in ordered],
        "count": [len(parts) for parts in ordered],
    }
    for rank in range(width):
        entries = [parts[rank] if rank < len(parts) else (None, None) for parts in ordered]
        frame[f"top{rank}"] = [amount for amount, _ in entries]
        frame[f"weight{rank}"] = [weight for _, weight in entries]
    names = range(width)
    return Table.from_frame(
        frame,
        {"code": None},
        count="count",
        top=[f"top{rank}" for rank in names],
        top_weight=[f"weight{rank}" for rank in names],
    )


@given(weighted_lists, percentages, st.integers(1, 2))
def test_sampling_weights_stand_for_copies(
    cells: list[list[tuple[int, float]]], p: int, coalition: int
) -> None:
    """A contribution of weight w is judged as w contributors of that size, by both rules."""
    copies = [[amount for amount, weight in parts for _ in range(int(weight))] for parts in cells]
    for rule in (PPercent(p, coalition=coalition), Dominance(coalition + 1, p, levels="upper")):
        weighted = weighted_table(cells).apply(rule)
        # More contributions than a table knows do not matter: it knows all that can be needed.
        plain = table_of(copies, width=4).apply(rule)
        assert np.array_equal(weighted.is_sensitive, plain.is_sensitive)
        assert np.allclose(weighted.upper_level, plain.upper_level, equal_nan=True)  # type: ignore[arg-type]


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(1, 12)), min_size=1, max_size=5),
    percentages,
    st.integers(1, 2),
)
def test_fractions_of_copies(parts: list[tuple[int, int]], p: int, coalition: int) -> None:
    """Weights in quarters are judged piece by piece: four pieces of a quarter are one."""
    judged = weighted_table([[(amount, quarters / 4) for amount, quarters in parts]]).apply(
        PPercent(p, coalition=coalition)
    )
    pieces = sorted((a for a, quarters in parts for _ in range(quarters)), reverse=True)
    largest = Fraction(sum(pieces[:4]), 4)
    rest = Fraction(sum(pieces[4 * (coalition + 1) :]), 4)
    level = Fraction(p, 100) * largest - rest
    assert judged.is_sensitive[1] == (level > 0)
    if level > 0:
        assert judged.upper_level is not None
        assert judged.upper_level[1] == pytest.approx(float(level))


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(1, 6)), min_size=1, max_size=6),
    percentages,
)
def test_light_contributions_beyond_those_known(parts: list[tuple[int, int]], p: int) -> None:
    """Where weights below 1 leave too few among those known, no cell is safe by mistake."""
    cell = [(amount, quarters / 4) for amount, quarters in parts]
    everything = weighted_table([cell]).apply(PPercent(p))
    known = weighted_table([cell], width=2).apply(PPercent(p))
    assert not (everything.is_sensitive & ~known.is_sensitive).any()
    assert (everything.problem().upper_level <= known.upper_level[everything.is_sensitive]).all()  # type: ignore[index]


def test_contributions_above_the_total() -> None:
    """Known contributions above the total leave nothing that could hide them."""
    table = table_of([[50, 40, 30, 20], [9, 8, 7]], width=2).replace(count=None)
    assert not table.apply(PPercent(10)).is_sensitive.any()
    value = np.array([table.value[0], 60, table.value[2]])
    assert table.replace(value=value).apply(PPercent(10)).is_sensitive.tolist() == [
        False,
        True,
        False,
    ]


@given(signed_lists, percentages, st.integers(1, 2))
def test_negative_contributions_count_by_magnitude(
    cells: list[list[int]], p: int, coalition: int
) -> None:
    """Where everybody is known, the rule judges magnitudes."""
    judged = table_of(cells).apply(PPercent(p, coalition=coalition), levels="sliding")
    expected = [
        is_estimated([abs(part) for part in parts], p, 100, coalition)
        for parts in with_total(cells)
    ]
    assert judged.is_sensitive.tolist() == expected


@given(signed_lists, percentages, st.integers(2, 4))
def test_unknown_magnitudes_hide_nobody(cells: list[list[int]], p: int, width: int) -> None:
    """Where only the largest are known, no cell is safe that is not safe by all magnitudes."""
    judged = table_of(cells, width).apply(PPercent(p), levels="sliding")
    for cell, parts in enumerate(with_total(cells)):
        if is_estimated([abs(part) for part in parts], p, 100, 1):
            assert judged.is_sensitive[cell]


@given(contribution_lists, percentages, st.integers(1, 9))
def test_shadow_is_judged_and_its_level_carried_over(
    cells: list[list[int]], p: int, factor: int
) -> None:
    """With a response of k times the shadow, levels are k times those of the shadow."""
    plain = table_of(cells).apply(PPercent(p))
    table = table_of(cells)
    shadowed = table.replace(shadow=table.value, value=factor * table.value).apply(PPercent(p))
    assert np.array_equal(plain.is_sensitive, shadowed.is_sensitive)
    assert np.allclose(
        factor * plain.problem().upper_level, shadowed.problem().upper_level, rtol=1e-12
    )


def test_holdings_are_judged_instead() -> None:
    """Two firms of one holding do not hide each other."""
    table = table_of([[30, 30, 30, 20]])
    assert not table.apply(PPercent(10)).is_sensitive.any()
    grouped = table.replace(holding_count=[2, 2], holding_top=[[90, 20], [90, 20]])
    judged = grouped.apply(PPercent(10, holding=True), Dominance(1, 80, holding=True))
    assert judged.is_sensitive.all()
    assert judged.reason is not None
    assert judged.reason[0] == "p%; dominance"
    assert judged.problem().upper_level.tolist() == [9.0, 9.0]


def test_empty_cells_are_not_sensitive() -> None:
    """Nobody can be estimated where nobody contributes, nor where all contribute nothing."""
    table = table_of([[], [0, 0], [9]])
    judged = table.apply(PPercent(10), Dominance(1, 50, levels="upper"))
    assert judged.is_sensitive.tolist() == [True, False, False, True]
    assert judged.status[1] == "empty"


def test_more_contributors_than_are_known() -> None:
    """A rule that needs more of the largest contributions than there are names the cells."""
    table = table_of([[5, 4, 3], [2]], width=2)
    with pytest.raises(TableError, match=r"'p%' needs more.*code=c0.*tabulate with more") as error:
        table.apply(PPercent(10, coalition=2))
    assert error.value.cells == ("code=Total", "code=c0")


def test_contributions_that_are_missing() -> None:
    """Contributions left out of the frame are noticed, with and without counts."""
    table = table_of([[5, 4, 3], [2]], width=2)
    gap = np.array(table.top)
    gap[1, 1] = np.nan
    for count in (table.count, None):
        with pytest.raises(TableError, match=r"code=c0\); complete top"):
            table.replace(top=gap, count=count).apply(PPercent(10))


def test_contributions_that_do_not_add_up() -> None:
    """A value that its contributions do not explain is refused: weights were forgotten."""
    table = table_of([[50, 40], [20]])
    with pytest.raises(TableError, match=r"do not add up.*code=c1.*top_weight"):
        table.replace(value=[310, 90, 220]).apply(PPercent(10))


def test_rounded_contributions_are_taken_as_they_are() -> None:
    """Rounding of values and contributions to whole numbers is no fault."""
    table = table_of([[5, 4], [2]]).replace(value=[12, 10, 2])
    assert table.apply(PPercent(10)).is_sensitive.tolist() == [False, True, True]


def test_tables_without_contributions() -> None:
    """A table that knows nobody's contribution says what is missing."""
    table = Table.from_frame({"sex": ["f", "m"], "value": [1, 2]}, {"sex": None})
    with pytest.raises(
        TableError, match=r"'dominance' needs the largest contributions.*by contributor.*top"
    ):
        table.apply(Dominance(1, 90))
    with pytest.raises(TableError, match=r"by holding; .*holding_top"):
        table.apply(PPercent(10, holding=True))


def test_negative_sampling_weights() -> None:
    """A negative sampling weight is refused."""
    with pytest.raises(TableError, match="sampling weight is negative"):
        weighted_table([[(5, -1.0)]]).apply(PPercent(10))


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (PPercent, (0,), "p must be a number above 0 and below 100"),
        (PPercent, ("10",), "p must be a number"),
        (PPercent, (True,), "p must be a number"),
        (PPercent, (float("nan"),), "p must be a number"),
        (PPercent, (10, 0), "coalition must be a whole number of at least 1"),
        (PPercent, (10, 1.5), "coalition must be a whole number"),
        (PPercent, (10, 1, "yes"), "holding must be true or false"),
        (PriorPosterior, (50, 20), "p must be below q"),
        (PriorPosterior, (5, float("inf")), "q must be a number above 0"),
        (Dominance, (0, 90), "n must be a whole number of at least 1"),
        (Dominance, (1, 100), "k must be a number above 0 and below 100"),
    ],
)
def test_parameters_that_make_no_sense(
    kind: type[PPercent], arguments: tuple[float, ...], message: str
) -> None:
    """Parameters out of range are refused when a rule is made, without being repeated."""
    with pytest.raises(InputError, match=message):
        kind(*arguments)  # type: ignore[arg-type]
