"""What attackers know beforehand, and how much information a cell represents."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import InputError, TableError, recode, tabulate
from tacit.rules import MinFrequency, SmallCounts
from tacit.table import Bounds, Table, Weighting
from tests.rules.slow import signed_lists, table_of


@given(signed_lists, st.floats(0, 1), st.floats(1, 20), st.floats(1, 3))
def test_factors_by_their_definition(
    cells: list[list[int]], near: float, far: float, total: float
) -> None:
    """Bounds are multiples of a cell's value and of the largest one; the tightest counts."""
    table = table_of(cells)
    bounds = Bounds(lower_factor=near, upper_factor=far, total_factor=total)
    judged = table.apply(bounds=bounds)
    largest = total * max(abs(value) for value in table.value.tolist())
    assert judged.lower is not None
    assert judged.upper is not None
    for cell, value in enumerate(table.value.tolist()):
        ends = sorted((near * value, far * value))
        assert judged.lower[cell] == max(ends[0], -largest)
        assert judged.upper[cell] == min(ends[1], largest)
    assert not [fault for fault in judged.problem().violations() if fault.condition == "bounds"]


def test_bounds_for_each_cell() -> None:
    """Bounds of single cells, of all, and of the table itself meet; the tightest counts."""
    table = table_of([[5], [4]]).replace(upper=[np.nan, 6, np.nan])
    judged = table.apply(bounds=Bounds(lower=1, upper=[20, 30, np.nan]))
    assert judged.lower is not None
    assert judged.lower.tolist() == [1.0, 1.0, 1.0]
    assert judged.problem().upper.tolist() == [20.0, 6.0, math.inf]


def test_one_side_only() -> None:
    """A side that is not given stays as it is."""
    problem = table_of([[5], [4]]).apply(bounds=Bounds(upper_factor=2)).problem()
    assert problem.lower.tolist() == [0.0, 0.0, 0.0]
    assert problem.upper.tolist() == [18.0, 10.0, 8.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lower_factor": 1.5}, "lower_factor must be a number between 0 and 1"),
        ({"lower_factor": "0"}, "lower_factor must be a number"),
        ({"upper_factor": 0.5}, "upper_factor must be a number not below 1"),
        ({"upper_factor": math.inf}, "upper_factor must be a number"),
        ({"total_factor": 0}, "total_factor must be a number not below 1"),
    ],
)
def test_factors_that_make_no_sense(arguments: dict[str, float], message: str) -> None:
    """Factors that exclude the value itself are refused."""
    with pytest.raises(InputError, match=message):
        Bounds(**arguments)


def test_bounds_that_do_not_fit() -> None:
    """Bounds for another number of cells, or that are no numbers, are refused."""
    table = table_of([[5], [4]])
    with pytest.raises(TableError, match=r"upper of the bounds has shape \(2,\).*3 cells"):
        table.apply(bounds=Bounds(upper=[1, 2]))
    with pytest.raises(InputError, match="bounds must be Bounds"):
        table.apply(bounds={"upper_factor": 2})  # type: ignore[arg-type]
    with pytest.raises(TableError, match="lower of the bounds contains something"):
        table.apply(bounds=Bounds(lower="zero"))  # type: ignore[arg-type]


@given(signed_lists, st.sampled_from([0.0, 0.5, 1.0, 2.0]))
def test_weights_by_their_definition(cells: list[list[int]], power: float) -> None:
    """Weights are a power of the magnitude, or the logarithm, of at least something."""
    weights = table_of(cells).apply(weight=Weighting("value", power)).weight
    values = [sum(sum(parts) for parts in cells), *[sum(parts) for parts in cells]]
    assert weights is not None
    for weight, value in zip(weights.tolist(), values, strict=True):
        size = abs(value) or 1
        assert weight == pytest.approx(size**power if power else math.log(1 + size))
        assert weight > 0


def test_columns_that_weights_come_from() -> None:
    """Weights are taken from any column, or given for each cell."""
    table = table_of([[5], [4, 3]]).replace(weight=[9, np.nan, 4], shadow=[3, 2, 1])

    def weights(by: object, power: float = 1.0) -> list[float]:
        return table.apply(weight=Weighting(by, power)).problem().weight.tolist()  # type: ignore[arg-type,no-any-return]

    assert weights("unit") == [1, 1, 1]
    assert weights("count") == [3, 1, 2]
    assert weights("shadow") == [3, 2, 1]
    assert weights("weight", 0.5) == [3, 5, 2], "the value where no weight is given"
    assert weights([5, 6, 7]) == [5, 6, 7]
    assert table.apply(MinFrequency(2), weight="count").weight is not None
    assert table.apply(MinFrequency(2)).weight is not None


@given(signed_lists)
def test_a_cell_weighs_its_value_unless_said(cells: list[list[int]]) -> None:
    """Where no weight is given, it is the magnitude of the value, and 1 where that is zero."""
    table = table_of(cells).replace(count=None, top=None)
    values = [sum(sum(parts) for parts in cells), *[sum(parts) for parts in cells]]
    assert table.apply().problem().weight.tolist() == [abs(value) or 1 for value in values]
    kept = table.apply(weight="unit").apply(bounds=Bounds(upper_factor=9))
    assert kept.problem().weight.tolist() == [1] * len(values)


def test_every_cell_of_a_table_of_counts_weighs_one() -> None:
    """Values that count records, contributors or respondents do not say what a cell is worth."""
    records = {"region": ["N", "N", "N", "S"], "firm": ["a", "a", "b", "c"], "size": [3, 1, 1, 2]}
    by = {"region": None}

    def weights(table: Table) -> list[float]:
        return table.problem().weight.tolist()  # type: ignore[no-any-return]

    records_per_region = tabulate(records, by, contributor="firm")
    assert records_per_region.value.tolist() == [4, 3, 1]
    assert weights(records_per_region) == [1, 1, 1]
    assert weights(recode(records_per_region, {"region": {"all": ["N", "S"]}})) == [1, 1]
    assert weights(records_per_region.link(records_per_region)) == [1, 1, 1]
    assert weights(tabulate(records, by, "size")) == [7, 5, 2]
    cells = {"region": ["N", "S"], "value": [5, 2], "count": [5, 2]}
    assert weights(Table.from_frame(cells, by, count="count")) == [1, 1, 1]
    assert weights(Table.from_frame(cells, by)) == [7, 5, 2]
    assert weights(Table.from_frame(cells, by).apply(SmallCounts(3))) == [1, 1, 1]


def test_weights_that_do_not_fit() -> None:
    """Unknown columns, columns that are not there and wrong numbers are refused."""
    table = table_of([[5], [4]])
    with pytest.raises(InputError, match="no weights 'vlaue'; did you mean 'value'"):
        table.apply(weight="vlaue")
    with pytest.raises(TableError, match="has no shadow to take weights from; it has value, count"):
        table.apply(weight="shadow")
    with pytest.raises(TableError, match=r"shape \(2,\); give one number for each of 3 cells"):
        table.apply(weight=Weighting([1, 2]))
    with pytest.raises(TableError, match="not a number"):
        table.apply(weight=Weighting(["a", "b", "c"]))  # type: ignore[list-item]
    with pytest.raises(TableError, match=r"shape \(\); give one number for each"):
        table.apply(weight=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="power must be a number"):
        Weighting("value", power=-1)
    with pytest.raises(TableError, match="a weight is infinite"):
        Table.from_frame({"x": ["a"], "value": [1e200]}, {"x": None}).apply(
            weight=Weighting("value", power=2)
        )
