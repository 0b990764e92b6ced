"""The last publication of a table as a guide for the next one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tacit
from tacit import Hierarchy, InputError, NoReleaseError, Previous, TableError
from tacit.release import Published
from tacit.table import Table

REGIONS = {"region": None}
minimise: Any = linprog
"""Its stubs know no bounds as an array."""


@pytest.fixture
def table() -> Table:
    """Three regions, one of them new."""
    frame = {"region": ["N", "S", "W"], "value": [3.0, 4.0, 5.0]}
    return Table.from_frame(frame, REGIONS)


LAST = {"region": ["Total", "N", "S", "E"], "value": [11.0, None, 4.0, 5.0]}


def weights(table: Table, previous: Previous) -> list[float]:
    """What cells cost."""
    return table.apply(previous).problem().weight.tolist()  # type: ignore[no-any-return]


def test_cells_that_had_no_value_cost_less(table: Table) -> None:
    """Cells are found by their codes; new ones and those that were published cost as before."""
    assert weights(table, Previous(LAST, keep=0.5)) == [12, 1.5, 4, 5]
    assert weights(table, Previous(pd.DataFrame(LAST), keep=0)) == [12, 0, 4, 5]
    judged = table.apply(Previous(LAST, keep=0.5), tacit.Manual(["region=N: sensitive"]))
    assert judged.problem().weight.tolist() == [12, 3, 4, 5], "every pattern pays for these"


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json", ".xlsx"])
def test_files_of_all_kinds(table: Table, tmp_path: Path, suffix: str) -> None:
    """Files of all kinds hold the same rows; a status says more than a value."""
    path = tmp_path / f"last{suffix}"
    frame = pd.DataFrame({"region": ["Total", "N", "S"], "turnover": [11.0, np.nan, 9.0]})
    frame["status"] = ["published", "suppressed", "suppressed"]
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    elif suffix == ".parquet":
        frame.to_parquet(path)
    elif suffix == ".xlsx":
        frame.to_excel(path, index=False, engine="xlsxwriter")
    else:
        path.write_text(frame.to_json(orient="records"))
    previous = Previous(path, keep=0.5, value="turnover")
    assert weights(table, previous) == [12, 1.5, 2, 5]


CUBE = np.array([[3.0, 8.0, 4.0], [6.0, 5.0, 9.0], [7.0, 2.0, 5.0]])


def small_cube(change: float = 0.0) -> Table:
    """Two dimensions, with some sensitive cells."""
    hierarchies = {"r": Hierarchy.flat(["N", "S", "W"]), "s": Hierarchy.flat(["x", "y", "z"])}
    table = Table.from_cube(CUBE + change, hierarchies)
    return table.apply(tacit.Manual(["r=N, s=x: sensitive"]))


@pytest.mark.parametrize("form", ["list.csv", "pivot.xlsx", "list.xlsx", "1.csv", "3.txt"])
def test_what_was_published_in_other_forms(tmp_path: Path, form: str) -> None:
    """Tables with codes across the columns and the files of tau-ARGUS say the same as lists."""
    release = tacit.protect(small_cube(), time_limit=20)
    hidden = release.published.is_hidden
    path = tmp_path / form
    if form == "list.csv":
        release.published.to_csv(path)
    elif form.endswith(".xlsx"):
        release.published.to_excel(path, layout="pivot" if form == "pivot.xlsx" else "list")
    else:
        tacit.write_argus(release, path, int(form[0]), "AS+" if form == "3.txt" else "")
    now = small_cube(1.0)
    found = now.apply(Previous(path, keep=0.5)).problem().weight / now.problem().weight
    assert found.tolist() == np.where(hidden & ~now.is_sensitive, 0.5, 1.0).tolist()


def test_linked_tables_in_one_workbook(tmp_path: Path) -> None:
    """A sheet for each table, as tacit writes them."""
    regions, sizes = Hierarchy.flat(["N", "S"]), Hierarchy.flat(["1", "2", "3"])
    kinds = Hierarchy.flat(["a", "b"])
    one = Table.from_cube([[3.0, 4.0, 9.0], [5.0, 6.0, 8.0]], {"region": regions, "size": sizes})
    two = Table.from_cube([[9.0, 7.0], [8.0, 11.0]], {"region": regions, "kind": kinds})
    linked = one.named("by size").link(two.named("by kind"))
    judged = linked.apply(tacit.Manual(["region=N, size=1: sensitive"]))
    release = tacit.protect(judged, time_limit=20)
    release.published.to_excel(tmp_path / "last.xlsx")
    previous = Previous(tmp_path / "last.xlsx", keep=0.5, unchanged="none")
    found = judged.apply(previous).problem().weight / judged.problem().weight
    expected = np.where(release.published.is_hidden & ~judged.is_sensitive, 0.5, 1.0)
    assert found.tolist() == expected.tolist()


def test_several_variables_in_one_workbook(tmp_path: Path) -> None:
    """Each variable is compared with its own sheet; a table of one of them tells nothing."""
    regions = {"region": Hierarchy.flat(["N", "S", "W"])}
    values = {"sold": [9.0, 7.0, 8.0], "home": [6.0, 4.0, 5.0], "abroad": [3.0, 3.0, 3.0]}
    tables = {name: Table.from_cube(own, regions).named(name) for name, own in values.items()}
    table = Table.of_variables(tables)
    hidden = np.isin(table.labels, ["home: region=N", "home: region=S", "abroad: region=W"])
    outcome = tacit.suppress(table.problem(), time_limit=5)
    outcome = replace(outcome, solution=tacit.Suppression(hidden))
    Published.of(table, outcome).to_excel(tmp_path / "last.xlsx")
    previous = Previous(tmp_path / "last.xlsx", keep=0.5, unchanged="none")
    found = table.apply(previous).problem().weight / table.problem().weight
    assert hidden.sum() == 3
    assert found.tolist() == np.where(hidden, 0.5, 1.0).tolist()
    Published.of(table, outcome).of_table("home").to_excel(tmp_path / "home.xlsx")
    with pytest.raises(InputError, match=r"home.xlsx: .* no sheet|no column"):
        table.apply(Previous(tmp_path / "home.xlsx"))


def test_results_of_tacit_with_cell_numbers(table: Table, tmp_path: Path) -> None:
    """JSON of `tacit protect` names cells by number, which counts for a table of the same cells."""
    path = tmp_path / "last.json"
    path.write_text(json.dumps({"cells": 4, "suppressed": [1, 2]}))
    assert weights(table, Previous(path, keep=0.5)) == [12, 1.5, 2, 5]
    path.write_text(json.dumps({"cells": 5, "suppressed": [1, 2]}))
    with pytest.raises(InputError, match="the solution is for another table"):
        weights(table, Previous(path))


def test_linked_tables_that_were_published_apart() -> None:
    """Each file has its own dimensions; what it does not have is at its total."""
    by_region = Table.from_frame({"region": ["N", "S"], "value": [3.0, 4.0]}, REGIONS)
    by_size = Table.from_frame({"size": ["1", "2"], "value": [2.0, 5.0]}, {"size": None})
    linked = by_region.link(by_size)
    last = [
        {"region": ["Total", "N", "S"], "value": [7.0, None, None]},
        {"size": ["Total", "1", "2"], "value": [7.0, None, 5.0]},
    ]
    expected = {"region=N": 1.5, "region=S": 2.0, "size=1": 1.0, "size=2": 5.0, "region=Total": 7.0}
    found = dict(zip(linked.labels, weights(linked, Previous(last, keep=0.5)), strict=True))
    assert found == expected
    assert linked.apply(Previous(last)).problem().must_publish.sum() == 2


def test_releases_follow_each_other(table: Table) -> None:
    """A release is taken as it is; marks such as x or : stand for cells without a value."""
    judged = table.apply(tacit.Manual(["region=N: sensitive"]))
    release = tacit.protect(judged, time_limit=60)
    hidden = release.published.is_hidden
    expected = np.where(hidden & ~judged.is_sensitive, 0.5, 1.0) * table.value
    again = judged.apply(Previous(release, keep=0.5, unchanged="none"))
    assert again.problem().weight.tolist() == expected.tolist()
    marked = {"region": ["Total", "N", "S"], "value": ["11", "x", ":"]}
    assert weights(table, Previous(marked, keep=0.5)) == [12, 1.5, 2, 5]
    second = tacit.protect(again, time_limit=60)
    assert second.papers.changes is not None
    assert second.papers.changes.kept == hidden.sum()
    assert "previous" in second.papers.summary()
    assert "previous" not in second.summary(), "confidential"


def test_unchanged_cells_are_published_again(table: Table) -> None:
    """What was published with the same value protects nobody, as readers may have both tables."""

    def published(previous: Previous, *rules: Any) -> list[bool]:
        return table.apply(previous, *rules).problem().must_publish.tolist()  # type: ignore[no-any-return]

    assert published(Previous(LAST)) == [False, False, True, False]
    assert published(Previous(LAST, unchanged="none")) == [False] * 4
    sensitive = tacit.Manual(["region=S: sensitive"])
    assert published(Previous(LAST), sensitive) == [False] * 4, "may be a coincidence"
    assert published(Previous(LAST, unchanged=["region=S"])) == [False, False, True, False]
    with pytest.raises(TableError, match=r"to be published, but are sensitive: \(region=S\)"):
        published(Previous(LAST, unchanged=["region=S"]), sensitive)
    assert published(Previous(LAST, must_stay=True)) == [True, False, True, False]
    with pytest.raises(TableError, match=r"published with another value: \(region=Total\)"):
        published(Previous(LAST, unchanged=["*"]))


def test_sums_that_the_last_publication_tells() -> None:
    """N + S was known last time, so S and W must not leave N + S + W as all that is known."""
    names = ["N", "S", "W", "E"]
    table = Table.from_frame({"region": names, "value": [3.0, 4.0, 5.0, 9.0]}, REGIONS)
    last = {"region": ["Total", *names], "value": [20.0, None, None, 6.0, 7.0]}
    same = Previous(last, unchanged=["region=N", "region=S"])
    judged = table.apply(same, tacit.Manual(["region=W: sensitive"]))
    problem = judged.problem()
    extra = problem.relations.toarray()[judged.relations.shape[0] :]
    assert extra.tolist() == [[0, 1, 1, 0, 0]]
    assert problem.rhs[-1] == 7
    hidden = tacit.protect(judged, time_limit=60).published.is_hidden
    assert hidden[[0, 4]].any(), "N and S alone would give W away"
    assert judged.relations.shape[0] == 1, "tables know their own relations only"


@st.composite
def two_quarters(draw: st.DrawFn) -> tuple[Table, dict[str, Any], np.ndarray[Any, Any]]:
    """A table, what was published of a former one, and which cells are unchanged."""
    values = st.lists(st.integers(2, 20), min_size=6, max_size=6)
    now, then = np.array(draw(values), float), np.array(draw(values), float)
    same = np.array(draw(st.lists(st.booleans(), min_size=6, max_size=6)))
    then = np.where(same, now, then)
    dimensions = {"r": Hierarchy.flat(["a", "b"]), "c": Hierarchy.flat(["x", "y", "z"])}
    first, second = (Table.from_cube(v.reshape(2, 3), dimensions) for v in (then, now))
    rule = tacit.Manual(
        [f"r={draw(st.sampled_from('ab'))}, c={draw(st.sampled_from('xyz'))}: sensitive"]
    )
    old = tacit.protect(first.apply(rule, tacit.Manual(["*: factor 1"])), time_limit=60)
    columns = {name: first.codes(name).tolist() for name in first.totals}
    shown = np.where(old.published.is_hidden, np.nan, first.value)
    columns["value"] = [None if value != value else float(value) for value in shown]
    cell = draw(st.integers(0, 11))
    judged = second.apply(tacit.Manual([f"{second.labels[cell]}: sensitive"], percent=20))
    return judged, columns, np.isclose(first.value, second.value)


@settings(max_examples=20)
@given(two_quarters())
def test_whoever_subtracts_one_publication_from_the_other_learns_nothing(
    quarters: tuple[Table, dict[str, Any], np.ndarray[Any, Any]],
) -> None:
    """Linear programs over this table and the sums of the last, joined at unchanged cells."""
    table, last, same = quarters
    hidden_then = np.array([value is None for value in last["value"]])
    declared = [table.labels[cell] for cell in np.flatnonzero(same & hidden_then).tolist()]
    cell = int(table.problem().sensitive[0])
    try:
        judged = table.apply(Previous(last, unchanged=declared or "equal"))
        release = tacit.protect(judged, time_limit=60)
    except NoReleaseError:
        return
    hidden = release.published.is_hidden
    A = table.relations.toarray()
    n = table.cell_count
    then = np.array([np.nan if value is None else value for value in last["value"]])
    # One vector: this quarter, then the cells of the last one whose sums only they fix.
    joined = np.flatnonzero(same & hidden_then)
    rows = [np.hstack([A, np.zeros_like(A)])]
    # Relations of the last quarter in which nothing is open but unchanged cells.
    told = [row for row in A if not (hidden_then & ~same)[row != 0].any()]
    rows += [np.hstack([np.zeros(n), row])[None] for row in told]
    for number in joined.tolist():
        tie = np.zeros((1, 2 * n))
        tie[0, [number, n + number]] = 1, -1
        rows.append(tie)
    limits = [
        (0.0 if hidden[c] else table.value[c], None if hidden[c] else table.value[c])
        for c in range(n)
    ]
    limits += [
        (0.0 if hidden_then[c] else then[c], None if hidden_then[c] else then[c]) for c in range(n)
    ]
    # Published then and unchanged: readers of both know it.
    for c in np.flatnonzero(same & ~hidden_then).tolist():
        if c != cell:
            limits[c] = (table.value[c], table.value[c])
    matrix = np.vstack(rows)
    ends = []
    for side in (1, -1):
        cost = np.zeros(2 * n)
        cost[cell] = side
        found = minimise(cost, A_eq=matrix, b_eq=np.zeros(len(matrix)), bounds=limits)
        ends.append(-np.inf * side if found.status == 3 else found.x[cell])
    problem = table.problem()
    assert ends[0] <= table.value[cell] - problem.lower_level[0] + 1e-6
    assert ends[1] >= table.value[cell] + problem.upper_level[0] - 1e-6


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ({"regoin": ["N"], "value": [1]}, "there is no column region, which tells the cells apart"),
        ({"region": ["N"]}, "neither a column value nor a column status"),
        ({"region": ["X"], "value": [1]}, "none of its cells is in the table"),
        ({"region": ["N", "N"], "value": [1, 2]}, r"the cell \(region=N\) is there twice"),
        ({"region": ["N"], "value": ["5 kg"]}, "column value: this is not a number"),
        ({"region": ["N"], "status": ["gone"]}, "the status is not known"),
    ],
)
def test_publications_that_cannot_be_used(table: Table, last: Any, message: str) -> None:
    """What is wrong with a former publication is said."""
    with pytest.raises(InputError, match=message):
        table.apply(Previous(last))


def test_options_out_of_range(tmp_path: Path) -> None:
    """Shares beyond one, unknown words, no table; a file names its line."""
    with pytest.raises(InputError, match="keep must be a number between 0 and 1"):
        Previous(LAST, keep=2)
    with pytest.raises(InputError, match="unchanged cannot be 'eqal'; did you mean 'equal'"):
        Previous(LAST, unchanged="eqal")
    with pytest.raises(InputError, match="needs the table that was published last"):
        Previous(None)
    path = tmp_path / "last.csv"
    path.write_text("region,value\nTotal,12\nN,7 kg\n")
    frame = {"region": ["N", "S"], "value": [3.0, 4.0]}
    with pytest.raises(InputError, match=r"last\.csv:3: column value: this is not a number"):
        Table.from_frame(frame, REGIONS).apply(Previous(path))
