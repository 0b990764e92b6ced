"""Finished tables: totals, statuses, levels, costs, recodes, and what does not add up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tacit.errors import InputError
from tacit.jobs.argus import run_argus
from tacit.release import Release
from tacit.table import CellStatus, Table
from tests.jobs.argus.small_jobs import Heard

METADATA = """\
<SEPARATOR> ";"
area
  <RECODEABLE>
  <TOTCODE> "T"
  <HIERCODELIST> "area.hrc"
kind "9"
  <RECODEABLE>
value
  <NUMERIC>
  <DECIMALS> 1
n
  <FREQUENCY>
cost
  <NUMERIC> <COST>
top
  <MAXSCORE>
next
  <MAXSCORE>
status
  <STATUS>
low
  <NUMERIC> <LOWERPL>
high
  <NUMERIC> <UPPERPL>
"""
CELLS = [
    ("A", "a1", "x", 10.0, 3), ("A", "a1", "y", 20.0, 4), ("A", "a2", "x", 30.0, 5),
    ("A", "a2", "y", 40.0, 6), ("B", "b1", "x", 50.0, 7), ("B", "b1", "y", 60.0, 8),
]  # fmt: skip


def _rows(statuses: dict[tuple[str, str], str], *, totals: bool = True) -> list[str]:
    sums: dict[tuple[str, str], list[float]] = {}
    for area, code, kind, value, count in CELLS:
        for above in ("T", area, code):
            for whole in ("Total", kind):
                entry = sums.setdefault((above, whole), [0.0, 0.0])
                entry[0] += value
                entry[1] += count
    finest = {(code, kind) for _, code, kind, _, _ in CELLS}
    return [
        f"{code};{kind};{value:.1f};{count:.0f};{2 * value:.1f};{value / 2};{value / 4};"
        f"{statuses.get((code, kind), 'S')};1;2"
        for (code, kind), (value, count) in sums.items()
        if totals or (code, kind) in finest
    ]


def _run(
    folder: Path,
    rows: list[str],
    *lines: str,
    metadata: str = METADATA,
    read: str = "",
    table: str = '"area""kind"|"value"||',
    rules: str = "MAN(10)",
) -> tuple[dict[int, Table], list[Release]]:
    (folder / "t.tab").write_text("\n".join(rows))
    (folder / "t.rda").write_text(metadata)
    (folder / "area.hrc").write_text("A\n@a1\n@a2\nB\n@b1\n")
    batch = [
        "<OPENTABLEDATA> t.tab", "<OPENMETADATA> t.rda", f"<SPECIFYTABLE> {table}",
        f"<SAFETYRULE> {rules}", f"<READTABLE> {read}", *lines,
    ]  # fmt: skip
    (folder / "t.arb").write_text("\n".join(batch))
    heard = Heard()
    releases = run_argus(folder / "t.arb", time_limit=2, listener=heard)
    return heard.tables, releases


def _cell(table: Table, area: str, kind: str) -> int:
    chosen = (table.codes("area") == area) & (table.codes("kind") == kind)
    return int(np.flatnonzero(chosen)[0])


def test_statuses_levels_and_costs_are_those_of_the_file(tmp_path: Path) -> None:
    """Letters say what is sensitive or published; levels and costs have columns of their own."""
    tables, releases = _run(
        tmp_path, _rows({("a1", "x"): "U", ("B", "y"): "P"}), "<SUPPRESS> OPT(1,1)"
    )
    table = tables[1]
    cell = _cell(table, "a1", "x")
    assert np.flatnonzero(table.is_sensitive).tolist() == [cell]
    assert table.lower_level is not None
    assert table.upper_level is not None
    assert (table.lower_level[cell], table.upper_level[cell]) == (1, 2)
    assert table.status[_cell(table, "B", "y")] == CellStatus.PUBLISH
    assert table.weight is not None
    assert table.weight[cell] == 20
    assert releases[0].papers.audit.safe


def test_levels_are_a_percentage_where_the_file_has_none(tmp_path: Path) -> None:
    """MAN says how many percent."""
    metadata = METADATA.replace(" <LOWERPL>", "").replace(" <UPPERPL>", "")
    tables, _ = _run(tmp_path, _rows({("a1", "x"): "u"}), metadata=metadata, rules="MAN(30)")
    assert tables[1].upper_level is not None
    assert np.isclose(np.nanmax(tables[1].upper_level), 3.0)


def test_totals_are_computed_if_asked_for(tmp_path: Path) -> None:
    """READTABLE 1 adds up finest cells; with T totals keep the status that they have."""
    whole, _ = _run(tmp_path, _rows({}))
    parts, _ = _run(tmp_path, _rows({}, totals=False), read="1")
    assert np.array_equal(whole[1].value, parts[1].value)
    assert np.array_equal(np.asarray(whole[1].count), np.asarray(parts[1].count))
    rows = _rows({("A", "Total"): "U", ("a1", "y"): "U"})
    for read, sensitive in (("1", 1), ("1T", 2)):
        tables, _ = _run(tmp_path, rows, read=read)
        assert np.count_nonzero(tables[1].is_sensitive) == sensitive


def test_totals_that_are_missing_or_wrong_are_refused(tmp_path: Path) -> None:
    """The message says how to have them computed, and names cells."""
    with pytest.raises(InputError, match="<READTABLE> 1 computes totals"):
        _run(tmp_path, _rows({}, totals=False))
    wrong = [row.replace("A;Total;100.0", "A;Total;101.0") for row in _rows({})]
    with pytest.raises(InputError, match=r"area=A: Total = x \+ y") as caught:
        _run(tmp_path, wrong)
    assert "t.arb:5" in str(caught.value)


def test_tables_that_do_not_add_up_are_protected_if_asked_for(tmp_path: Path) -> None:
    """READTABLE 2 takes totals as they are, such as rounded ones."""
    wrong = [row.replace("A;Total;100.0", "A;Total;101.0") for row in _rows({("a1", "x"): "U"})]
    tables, releases = _run(tmp_path, wrong, "<SUPPRESS> OPT(1,1)", read="2")
    assert tables[1].value[_cell(tables[1], "A", "Total")] == 101
    assert releases[0].papers.audit.safe


def test_rules_judge_tables_without_statuses(tmp_path: Path) -> None:
    """Counts and largest contributions are all that rules need."""
    metadata = METADATA.replace("  <STATUS>\n", "")
    tables, _ = _run(tmp_path, _rows({}), metadata=metadata, rules="FREQ(5,10)|NK(1,60)")
    table = tables[1]
    assert table.count is not None
    assert table.is_sensitive.tolist() == (table.count < 5).tolist()


def test_tables_over_some_of_the_variables(tmp_path: Path) -> None:
    """The others are at their totals; without totals there is no such table."""
    tables, _ = _run(tmp_path, _rows({}), table='"kind"|"value"||-1')
    assert tables[1].value.tolist() == [210.0, 90.0, 120.0, 0.0][: len(tables[1].value)]
    with pytest.raises(InputError, match="which the table leaves out"):
        _run(tmp_path, _rows({}, totals=False), table='"kind"|"value"||', read="1")


def test_recoded_tables_count_the_worst_case(tmp_path: Path) -> None:
    """A table does not tell who contributes to several cells; statuses cannot be merged."""
    metadata = METADATA.replace("  <STATUS>\n", "")
    (tmp_path / "kind.grc").write_text("z: x,y\n")
    tables, _ = _run(tmp_path, _rows({}), "<RECODE> 1,kind,kind.grc", metadata=metadata)
    assert tables[1].dimensions["kind"].codes == ("Total", "z", "9")
    with pytest.raises(InputError, match="cannot be recoded"):
        _run(tmp_path, _rows({}), "<RECODE> 1,kind,kind.grc")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("a1;x;10.0", "a9;x;10.0", "code a9 is not in its hierarchy"),
        ("20.0;5.0;2.5;S", "20.0;5.0;2.5;Q", "status Q is unknown"),
        ("a1;x;10.0", "a1;x;1o.0", "is not a number"),
        ("20.0;5.0;2.5;S", "20.0;5.0;2.5;E", "is empty by its status"),
    ],
)
def test_wrong_cells_are_refused_with_their_line(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    """The message names the file of the table and the line in it."""
    rows = _rows({})
    line = next(number for number, row in enumerate(rows, start=1) if old in row)
    changed = [row.replace(old, new) for row in rows]
    with pytest.raises(InputError, match=told) as caught:
        _run(tmp_path, changed)
    assert f"t.tab:{line}" in str(caught.value)


def test_cells_suppressed_before_stay_so(tmp_path: Path) -> None:
    """The letter M is a cell that protects others."""
    tables, releases = _run(tmp_path, _rows({("a2", "y"): "M"}), "<SUPPRESS> OPT(1,1)")
    assert releases[0].published.is_hidden[_cell(tables[1], "a2", "y")]


def test_totals_of_nothing_do_no_harm(tmp_path: Path) -> None:
    """A total without finest cells is left out, and no other cell gets its status."""
    rows = [row for row in _rows({("B", "Total"): "U"}) if not row.startswith("b1;")]
    tables, _ = _run(tmp_path, rows, read="1T")
    assert not tables[1].is_sensitive.any()
    assert tables[1].value[0] == 100
