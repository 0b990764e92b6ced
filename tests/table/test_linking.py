"""Linked tables: each cell once, all relations, and contradictions named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import TableError
from tacit.hierarchy import Hierarchy
from tacit.table import Table
from tests.table.strategies import (
    Finest,
    combinations_of,
    dimension_sets,
    finest_cells,
    frame_of,
    hierarchies,
    relations_of,
)

SEX = Hierarchy.flat(["f", "m"])
AGE = Hierarchy.flat(["young", "old"])
NORTH = Hierarchy.from_nested({"N": ["n1", "n2"], "S": None})


def _margin(cells: Finest, dimensions: dict[str, Hierarchy], names: list[str]) -> Finest:
    places = [[*dimensions].index(name) for name in names]
    found: Finest = {}
    for codes, value in cells.items():
        part = tuple(codes[place] for place in places)
        found[part] = found.get(part, 0) + value
    return found


def _identities(table: Table) -> list[frozenset[tuple[str, str]]]:
    names = list(table.totals)
    return [
        frozenset(item for item in zip(names, codes, strict=True) if item[1] != "Total")
        for codes in combinations_of(table)
    ]


def _relation_identities(table: Table) -> list[frozenset[tuple[frozenset[tuple[str, str]], float]]]:
    identity = dict(zip(combinations_of(table), _identities(table), strict=True))
    return [
        frozenset((identity[codes], coefficient) for codes, coefficient in relation.items())
        for relation in relations_of(table)
    ]


@given(st.data())
@settings(max_examples=60)
def test_linking_never_duplicates_a_cell(data: st.DataObject) -> None:
    """Margins of one set of cells link to each cell once; all relations stay, once, and hold."""
    dimensions = data.draw(dimension_sets())
    cells = data.draw(finest_cells(dimensions))
    tables = []
    for _ in range(data.draw(st.integers(2, 3))):
        names = data.draw(st.lists(st.sampled_from([*dimensions]), unique=True, min_size=1))
        own = {name: dimensions[name] for name in names}
        tables.append(Table.from_frame(frame_of(_margin(cells, dimensions, names), own), own))
    linked = tables[0].link(*tables[1:])

    identities = _identities(linked)
    assert len(set(identities)) == linked.cell_count
    assert set(identities) == {cell for table in tables for cell in _identities(table)}
    relations = _relation_identities(linked)
    assert len(set(relations)) == len(relations)
    assert set(relations) == {r for table in tables for r in _relation_identities(table)}
    np.testing.assert_array_equal(linked.relations @ linked.value, 0)

    one_by_one = tables[0]
    for other in tables[1:]:
        one_by_one = one_by_one.link(other)
    assert _identities(one_by_one) == identities
    assert relations_of(one_by_one) == relations_of(linked)
    assert list(one_by_one.labels) == list(linked.labels)


@given(st.data())
@settings(max_examples=40)
def test_hierarchies_over_the_same_codes_may_differ(data: st.DataObject) -> None:
    """Two trees over the same leaves share their leaves and their total, and both hold."""
    leaves = [f"l{k}" for k in range(data.draw(st.integers(2, 6)))]
    values = {leaf: data.draw(st.integers(-9, 9)) for leaf in leaves}
    tables = []
    for name in ("left", "right"):
        groups = {
            leaf: data.draw(st.sampled_from([f"{name}{k}" for k in range(3)])) for leaf in leaves
        }
        tree = Hierarchy.from_parents(groups | dict.fromkeys(groups.values(), "Total"))
        frame = {"x": leaves, "value": [values[leaf] for leaf in leaves]}
        tables.append(Table.from_frame(frame, {"x": tree}))
    linked = tables[0].link(tables[1])
    assert linked.cell_count == sum(t.cell_count for t in tables) - len(leaves) - 1
    np.testing.assert_array_equal(linked.relations @ linked.value, 0)


@given(hierarchies())
def test_a_table_linked_to_itself_is_itself(tree: Hierarchy) -> None:
    """Linking the same table again adds neither cells nor relations."""
    table = Table.from_cube(np.arange(len(tree.leaves)), {"x": tree})
    linked = table.link(table)
    assert linked.cell_count == table.cell_count
    assert relations_of(linked) == relations_of(table)


def test_tables_share_their_margin() -> None:
    """Two tables over different dimensions meet in the margin that both have."""
    one = Table.from_cube([[1, 2], [3, 4]], {"sex": SEX, "age": AGE})
    two = Table.from_cube([[2, 1, 0], [3, 2, 2]], {"sex": SEX, "area": NORTH})
    linked = one.link(two)
    assert linked.cell_count == 9 + 15 - 3
    assert list(linked.totals) == ["sex", "age", "area"]
    assert linked.labels[0] == "sex=Total, age=Total"
    assert linked.labels[9] == "sex=Total, area=N"
    assert linked.codes("age")[9:].tolist() == ["Total"] * 12
    assert repr(linked) == "Table(2 linked tables over sex, age, area, 21 cells, 0 sensitive)"
    linked.problem().validate()


def test_a_total_of_a_part_is_a_cell_of_its_own() -> None:
    """The total over a part of a dimension is not taken for the total of everything."""
    whole = Table.from_cube([5, 6, 7], {"area": NORTH})
    part = Table.from_cube(
        [[1, 2], [4, 4]], {"area": Hierarchy.flat(["n1", "n2"], total="North only"), "sex": SEX}
    )
    with pytest.raises(TableError, match="common cells differs"):
        whole.link(part)
    part = part.replace(value=[11, 4, 7, 5, 2, 3, 6, 2, 4])
    linked = whole.link(part)
    assert linked.cell_count == 5 + 7
    assert "area=North only, sex=Total" in list(linked.labels)
    assert linked.totals == {"area": "Total", "sex": "Total"}
    linked.problem().validate()
    assert part.link(whole, totals={"area": "Total"}).cell_count == linked.cell_count


def test_columns_come_from_whichever_table_has_them() -> None:
    """What only one table knows is kept; where both know, the stricter one wins."""
    one = Table.from_cube([1, 2], {"sex": SEX}, counts=[1, 2], top=[[1.0], [1.5]])
    one = one.replace(
        status=["safe", "secondary", "safe"],
        lower=[0, 0, 0],
        upper=[9, 9, 9],
        upper_level=[np.nan, 1, 1],
        weight=[5, np.nan, 5],
    )
    two = Table.from_cube([[1, 0], [1, 1]], {"sex": SEX, "age": AGE}, top=np.ones((2, 2, 2)))
    shared = [0, 3, 6]
    status = np.full(9, "safe", dtype="<U9")
    status[[3, 8]] = "sensitive"
    two = two.replace(
        status=status,
        lower=np.full(9, 0.5),
        upper=np.full(9, 8.0),
        upper_level=np.full(9, 0.25),
        weight=np.full(9, 2.0),
    )
    linked = one.link(two)
    assert linked.cell_count == 9
    assert linked.status.tolist()[:3] == ["safe", "sensitive", "safe"]
    assert linked.status[8] == "sensitive"
    assert linked.lower is not None
    assert linked.upper is not None
    assert (linked.lower == 0.5).all()
    assert (linked.upper == 8).all()
    columns: list[Any] = [linked.upper_level, linked.weight, linked.count]
    assert columns[0].tolist()[:3] == [0.25, 1, 1]
    assert columns[1].tolist()[:3] == [5, 2, 5]
    assert columns[2].tolist()[:3] == [3, 1, 2]
    assert np.isnan(columns[2][3:]).all()
    assert linked.top is not None
    np.testing.assert_array_equal(linked.top[:3, 0], one.top[:, 0] if one.top is not None else 0)
    assert np.isnan(linked.top[:3, 1]).all()
    assert two.value[shared].tolist() == one.value.tolist()


def test_contradicting_tables_are_refused() -> None:
    """Values, counts and statuses that cannot both be true are named with their cells."""
    one = Table.from_cube([1, 2], {"sex": SEX}, counts=[1, 2])
    with pytest.raises(TableError, match="the value of 1 common cell differs") as caught:
        one.link(one.replace(value=[3, 1, 2.5]))
    assert caught.value.cells == ("sex=m",)
    assert one.link(one.replace(value=[3, 1, 2.5]), tolerance=0.2).value.tolist() == [3, 1, 2]
    with pytest.raises(TableError, match="the count of 2 common"):
        one.link(one.replace(count=[4, 2, 2]))
    sensitive = one.replace(status=["safe", "sensitive", "safe"])
    with pytest.raises(TableError, match="must be published in one table") as caught:
        sensitive.link(one.replace(status=["safe", "publish", "safe"]))
    assert caught.value.cells == ("sex=f",)


def test_a_cell_left_out_has_to_be_empty() -> None:
    """A table that breaks a total down without a cell says that the cell is empty."""
    one = Table.from_cube([1, 2], {"sex": SEX})
    two = Table.from_frame({"sex": ["Total", "f"], "value": [3, 1]}, {"sex": SEX})
    with pytest.raises(TableError, match="left out of the table sex") as caught:
        one.link(two)
    assert caught.value.cells == ("sex=m",)
    zero = Table.from_cube([3, 0], {"sex": SEX})
    none = Table.from_frame({"sex": ["f"], "value": [3]}, {"sex": SEX})
    assert zero.link(none).cell_count == 3


def test_a_coarser_table_leaves_nothing_out() -> None:
    """A table that does not break a total down says nothing about the cells below it."""
    fine = Table.from_cube([1, 2, 3], {"area": NORTH})
    coarse = Table.from_frame({"area": ["Total", "N", "S"], "value": [6, 3, 3]}, {"area": NORTH})
    assert coarse.link(fine).cell_count == 5


def test_totals_have_to_exist() -> None:
    """Totals for a dimension or with a code that nobody has are refused."""
    one = Table.from_cube([1, 2], {"sex": SEX})
    with pytest.raises(TableError, match="totals names colour"):
        one.link(one, totals={"colour": "all"})
    with pytest.raises(TableError, match="no table has the code all"):
        one.link(one, totals={"sex": "all"})
    linked = one.link(one)
    with pytest.raises(TableError, match="linked already"):
        linked.link(one, totals={"sex": "f"})


def test_many_dimensions_can_be_linked() -> None:
    """Tables over different dimensions link even if all their codes have too many combinations."""
    wide = Hierarchy.flat(range(500))
    total = Table.from_frame({"d0": ["1"], "value": [5]}, {"d0": wide})
    others = [Table.from_frame({f"d{k}": ["1"], "value": [5]}, {f"d{k}": wide}) for k in range(12)]
    linked = total.link(*others)
    assert linked.cell_count == 13
    assert linked.relations.shape == (12, 13)


@pytest.fixture(scope="module")
def french(shared: Path) -> dict[str, tuple[pl.DataFrame, dict[str, Hierarchy | None]]]:
    """The French turnover tables with the hierarchies of their dimensions."""
    folder = shared / "tables" / "rtauargus"
    activity = Hierarchy.from_levels(pl.read_csv(folder / "activity_corr_table.csv"))
    regions = pl.read_csv(folder / "nuts23_fr_corr_table.csv")
    nuts = Hierarchy.from_levels(regions)
    east = regions.filter(pl.col("NUTS2").is_in(["FR41", "FR42", "FR43"]))
    dimensions: dict[str, dict[str, Hierarchy | None]] = {
        "act_size": {"ACTIVITY": activity, "SIZE": None},
        "act_cj": {"ACTIVITY": activity, "CJ": None},
        "nuts_size": {"NUTS": nuts, "SIZE": None},
        "nuts_cj": {"NUTS": nuts, "CJ": None},
        "act_nuts_size": {
            "ACTIVITY": activity,
            "NUTS": Hierarchy.from_levels(east, total="Total_EAST"),
            "SIZE": None,
        },
    }
    return {
        name: (pl.read_csv(folder / f"turnover_{name}.csv"), parts)
        for name, parts in dimensions.items()
    }


@pytest.mark.shared
def test_french_turnover_tables_become_one_problem(french: Any) -> None:
    """The four tables of the whole country share margins and add up to the last decimal.

    Their values have four decimals and add up in these; what remains is the rounding of binary
    numbers, far below the default tolerance.
    """
    tables = [
        Table.from_frame(frame, dimensions, value="TOT", count="N_OBS", top=["MAX"])
        for frame, dimensions in [french[n] for n in ("act_size", "act_cj", "nuts_size", "nuts_cj")]
    ]
    linked = tables[0].link(*tables[1:], tolerance=0.0)
    assert linked.cell_count == 1493 < sum(table.cell_count for table in tables)
    assert len(set(combinations_of(linked))) == linked.cell_count
    problem = linked.problem().validate(tolerance=1e-14)
    assert problem.relation_count == 824


@pytest.mark.shared
def test_all_french_tables_become_one_problem(french: Any) -> None:
    """The numbers of firms of all five tables, one of them over the east only, link exactly."""
    tables = [
        Table.from_frame(frame, dimensions, value="N_OBS", count="N_OBS")
        for frame, dimensions in french.values()
    ]
    linked = tables[0].link(*tables[1:], tolerance=0.0)
    assert linked.cell_count == 4609
    assert linked.totals["NUTS"] == "Total"
    problem = linked.problem()
    assert problem.relation_count == 4341
    np.testing.assert_array_equal(problem.residual(), 0)


@pytest.mark.shared
def test_french_turnover_in_the_east_contradicts(french: Any) -> None:
    """The eastern table adds up, but none of its 52 common cells has the turnover of the others."""
    tables = [
        Table.from_frame(french[name][0], french[name][1], value="TOT")
        for name in ("nuts_size", "act_nuts_size")
    ]
    for table in tables:
        table.problem().validate(tolerance=1e-14)
    with pytest.raises(TableError, match="52 common cells") as caught:
        tables[0].link(tables[1])
    assert len(caught.value.cells) == 52
