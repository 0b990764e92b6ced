"""Tables of several variables with equations between them, against problems built by hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError, TableError
from tacit.explanation import find_cell
from tacit.table.equations import Equation

CODES = {"region": ("N", "S"), "sex": ("f", "m")}


@st.composite
def domestic_and_exports(draw: st.DrawFn) -> dict[str, list[int]]:
    """Two variables at the finest cells, with zeros among them."""
    cells = st.lists(st.integers(0, 9), min_size=4, max_size=4)
    return {"domestic": draw(cells), "exports": draw(cells)}


def _table(values: list[int], left_out: bool) -> tacit.Table:
    codes = list(product(*CODES.values()))
    rows = [(code, value) for code, value in zip(codes, values, strict=True)]
    # Cells without any are left out, which says that they are empty.
    kept = [row for row in rows if row[1] or not left_out] or rows[:1]
    frame = {
        "region": [code[0] for code, _ in kept],
        "sex": [code[1] for code, _ in kept],
        "value": [value for _, value in kept],
    }
    hierarchies = {name: tacit.Hierarchy.flat(codes) for name, codes in CODES.items()}
    return tacit.Table.from_frame(frame, hierarchies, cells="finest")


@settings(max_examples=60)
@given(domestic_and_exports(), st.booleans())
def test_equations_are_relations_at_every_combination_of_codes(
    given: dict[str, list[int]], left_out: bool
) -> None:
    """The relations are those of each variable and one for each place, as plain Python has them."""
    total = [sum(pair) for pair in zip(*given.values(), strict=True)]
    tables = {"turnover": _table(total, left_out)}
    tables |= {name: _table(values, left_out) for name, values in given.items()}
    table = tacit.Table.of_variables(tables, ["turnover = domestic + exports"])
    keys = table.cell_keys()
    codes = zip(*(column.tolist() for column in keys.values()), strict=True)
    number = {key: cell for cell, key in enumerate(codes)}
    assert len(number) == table.cell_count == sum(each.cell_count for each in tables.values())
    expected = set()
    for variable in tables:
        for region in ("Total", *CODES["region"]):
            parts = [(variable, region, sex) for sex in CODES["sex"]]
            expected.add(_row(number, (variable, region, "Total"), parts))
        for sex in ("Total", *CODES["sex"]):
            parts = [(variable, region, sex) for region in CODES["region"]]
            expected.add(_row(number, (variable, "Total", sex), parts))
    for region, sex in product(*(("Total", *codes) for codes in CODES.values())):
        parts = [(variable, region, sex) for variable in given]
        expected.add(_row(number, ("turnover", region, sex), parts))
    found = set()
    A = table.relations
    for row in range(A.shape[0]):
        inside = slice(A.indptr[row], A.indptr[row + 1])
        pairs = zip(A.indices[inside].tolist(), A.data[inside].tolist(), strict=True)
        found.add(frozenset(pairs))
    assert found - {frozenset()} == expected - {frozenset()}
    table.problem().validate()


def _row(
    number: dict[tuple[str, ...], int],
    total: tuple[str, ...],
    parts: Sequence[tuple[str, ...]],
) -> frozenset[tuple[int, float]]:
    """A relation without the cells that are left out; nothing where no part is there."""
    cells = [(number[part], 1.0) for part in parts if part in number]
    above = [(number[total], -1.0)] if total in number else []
    alone = total[0] == parts[0][0] and not cells
    return frozenset() if alone else frozenset([*above, *cells])


@settings(max_examples=30)
@given(domestic_and_exports())
def test_each_variable_is_judged_by_itself(given: dict[str, list[int]]) -> None:
    """Rules, levels, bounds and weights are as for tables that are judged before."""
    tables = {name: _table(values, False).replace(count=None) for name, values in given.items()}
    rules = (tacit.MinFrequency(4),)
    counted = {name: each.replace(count=np.abs(each.value)) for name, each in tables.items()}
    bounds = tacit.Bounds(total_factor=3)
    after = tacit.Table.of_variables(counted).apply(*rules, bounds=bounds, weight="value")
    before = tacit.Table.of_variables(
        {name: each.apply(*rules, bounds=bounds, weight="value") for name, each in counted.items()}
    )
    for name in ("status", "reason", "upper", "upper_level", "lower_level", "weight"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name), name)
    assert [v.cells.tolist() for v in after.verdicts] == [v.cells.tolist() for v in before.verdicts]


def test_an_equation_gives_a_suppressed_variable_away() -> None:
    """What is safe for each variable alone is not safe with the equation, and is made so."""
    tables = {
        "turnover": _table([90, 20, 30, 40], False),
        "domestic": _table([50, 15, 20, 30], False),
        "exports": _table([40, 5, 10, 10], False),
    }
    marks = tacit.Manual({"region": ["N"], "sex": ["f"]}, percent=20)
    tables["exports"] = tables["exports"].apply(marks)
    alone = tacit.protect(tables["exports"], time_limit=10).published.is_hidden
    table = tacit.Table.of_variables(tables, ["turnover = domestic + exports"])
    hidden = np.zeros(table.cell_count, bool)
    hidden[table.variable == 2] = alone
    found = tacit.audit(table.problem(), tacit.Suppression(hidden))
    assert not found.safe
    release = tacit.protect(table, time_limit=10)
    assert release.published.of_table(2).is_hidden.any()
    assert release.published.is_hidden[table.variable != 2].any()


def test_a_contributor_is_one_attacker_in_all_variables() -> None:
    """A firm that is alone in a cell of one variable knows its own figures of the others, too."""
    records = {
        "firm": ["a", "b", "c", "d"],
        "region": ["N", "S", "S", "S"],
        "turnover": [9, 5, 6, 7],
        "domestic": [6, 1, 2, 3],
        "exports": [3, 4, 4, 4],
    }
    tables = tacit.tabulate(
        records, {"region": None}, ["turnover", "domestic", "exports"], contributor="firm"
    )
    table = tacit.Table.of_variables(tables, ["turnover = domestic + exports"])
    insiders = table.apply(tacit.MinFrequency(2)).problem("singletons").insiders
    assert insiders is not None
    assert len(insiders) == 1
    alone = {table.labels[cell] for cell in insiders.cells[insiders.alone].tolist()}
    assert alone == {f"{name}: region=N" for name in tables}
    # Where nobody is named, the equation says that it is the same one.
    nameless = table.replace(contributors=None).apply(tacit.MinFrequency(2)).problem("singletons")
    assert nameless.insiders is not None
    assert len(nameless.insiders) == 1


def test_a_negative_variable_leaves_others_as_they_are() -> None:
    """Attackers know of each variable by itself whether it can be negative."""
    tables = {"profit": _table([-4, 3, 2, 1], False), "costs": _table([5, 2, 2, 2], False)}
    problem = tacit.Table.of_variables(tables).problem()
    assert problem.lower.tolist() == [-np.inf] * 9 + [0.0] * 9


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("turnover = domestic + exports", "turnover = domestic + exports"),
        ("turnover - costs = profit", "turnover = costs + profit"),
        ("a + b = c + d", "a + b = c + d"),
        ("net-sales of firms = gross", "net-sales of firms = gross"),
    ],
)
def test_equations_as_people_write_them(text: str, read: str) -> None:
    """One variable as the sum of others, where it can be written so."""
    assert str(Equation.parsed(text)) == read


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("turnover", "is not an equation"),
        ("a = b = c", "is not an equation"),
        ("a = b + + c", "a variable is missing"),
        ("a = b + a", "names a twice"),
        ("a = ", "a variable is missing"),
        ("x = domestic", "there is no variable 'x'"),
    ],
)
def test_equations_that_cannot_be_read(text: str, told: str) -> None:
    """Each says what is wrong with it."""
    tables = {"domestic": _table([1, 2, 3, 4], False)}
    with pytest.raises(InputError, match=told):
        tacit.Table.of_variables(tables, [text])


def test_a_dimension_cannot_be_called_variable() -> None:
    """Its codes would stand in the column that tells variables apart."""
    table = tacit.Table.from_frame({"variable": ["a"], "value": [1]}, {"variable": None})
    with pytest.raises(TableError, match="rename it"):
        tacit.Table.of_variables({"a": table, "b": table})


def test_a_cell_of_several_variables_is_named_with_its_variable() -> None:
    """As in messages, or as a code; without it nobody knows which cell is meant."""
    tables = {name: _table([1, 2, 3, 4], False) for name in ("domestic", "exports")}
    table = tacit.Table.of_variables(tables)
    cell = find_cell(table, {"variable": "exports", "region": "N", "sex": "f"})
    assert table.labels[cell] == "exports: region=N, sex=f"
    assert find_cell(table, "variable=exports, region=N, sex=f") == cell
    assert find_cell(table, table.labels[cell]) == cell
    with pytest.raises(InputError, match="name one as well, such as variable=domestic"):
        find_cell(table, "region=N")
    with pytest.raises(InputError, match="there is no variable 'exprots'; did you mean 'exports'"):
        find_cell(table, "variable=exprots, region=N")


def test_merges_are_suggested_for_single_tables() -> None:
    """Linked tables are refused rather than looked at in part."""
    tables = {name: _table([1, 2, 3, 4], False) for name in ("domestic", "exports")}
    with pytest.raises(InputError, match="one table at a time"):
        tacit.suggest_recodes(tacit.Table.of_variables(tables), tacit.MinFrequency(3))


def test_relations_of_several_variables_are_named_with_them() -> None:
    """Within a variable with its name, between variables by their names."""
    tables = {name: _table([1, 2, 3, 4], False) for name in ("domestic", "exports")}
    tables["turnover"] = _table([2, 4, 6, 8], False)
    table = tacit.Table.of_variables(tables, ["turnover = domestic + exports"])
    problem = table.problem()
    names = {problem.name_relation(row) for row in range(problem.relation_count)}
    assert "exports at region=N: Total = f + m" in names
    assert "region=N, sex=f: turnover = domestic + exports" in names
    assert len(names) == problem.relation_count
