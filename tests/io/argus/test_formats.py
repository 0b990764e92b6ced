"""Each format in its shape, compared with files of tau-ARGUS, and read back."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.io.argus.jj_files import whole_costs
from tacit.io.argus.sheet import Described
from tacit.io.argus.statuses import SUPPRESSED
from tacit.io.argus.written import WriteOptions, write_argus
from tacit.io.jj import read_jj, read_jj_status
from tests.io.argus.releases import (
    CONTRIBUTIONS,
    demonstration,
    released,
    rounded_release,
    small_release,
    small_table,
)
from tests.table.strategies import dimension_sets, finest_cells, frame_of

VAR2 = Described(response="Var2", decimals=2)


def _lines(
    release: tacit.Release,
    path: Path,
    format: int,
    options: str = "",
    *,
    frequency: bool = False,
    described: Described = VAR2,
) -> list[str]:
    chosen = WriteOptions.parsed(options)
    write_argus(release, path, format, chosen, frequency=frequency, described=described)
    return path.read_text().splitlines()


def test_code_value_is_what_tau_argus_writes(shared: Path, tmp_path: Path) -> None:
    """With the same suppressions, the file of the demonstration table is the same line by line."""
    release, expected = demonstration(shared)
    assert _lines(release, tmp_path / "out.txt", 3, "AS+") == expected
    hidden = _lines(release, tmp_path / "out.txt", 3)
    marks = {"1": None, "3": "x", "11": "x", "14": "-"}
    for line, full in zip(hidden, expected, strict=True):
        codes, value, status = full.rsplit(",", 2)
        assert line == f"{codes},{marks[status] or value}"


def test_intermediate_is_what_tau_argus_writes(shared: Path, tmp_path: Path) -> None:
    """Columns, order, statuses and levels of unsafe cells are those of its table file.

    It was written before suppression, with a comma for a point, and five lines were changed
    by hand afterwards. Levels of safe cells mean nothing, and no cost is 0.
    """
    release, _ = demonstration(shared)
    ours = _lines(release, tmp_path / "out.tab", 5, "QU+")
    theirs = (shared / "tables" / "argus" / "pp.tab").read_text().splitlines()
    changed = 0
    for line, other in zip(ours, theirs, strict=True):
        mine, its = line.split("; "), other.replace(",", ".").split(";")
        assert len(mine) == len(its) == 11
        assert mine[:2] == its[:2]
        assert mine[3:5] == its[3:5]
        assert mine[5] == its[5] or (mine[4:6], its[5]) == (["0.00", "1.00"], "0.00")
        changed += mine[2] != its[2] or mine[6:8] != its[6:8]
        assert mine[8] == its[8] or (mine[8], its[8]) == ("M", "S")
        assert its[8] != "U" or mine[9:] == its[9:]
    assert changed <= 8
    described = (tmp_path / "out.rda").read_text().split()
    kinds = (shared / "tables" / "argus" / "pp.rda").read_text().replace("COSTVAR", "COST").split()
    for key in ("<NUMERIC>", "<FREQUENCY>", "<SHADOW>", "<COST>", "<MAXSCORE>", "<STATUS>"):
        assert described.count(key) == kinds.count(key)
    places = [described.index(key) for key in ("<FREQUENCY>", "<SHADOW>", "<COST>", "<STATUS>")]
    assert places == sorted(places)
    regions = (shared / "tables" / "argus" / "tau_testW" / "region2.hrc").read_text()
    written = (tmp_path / "out_Region.hrc").read_text().splitlines()
    assert written == [*(line.rstrip() for line in regions.splitlines()), "99"]


def test_csv_has_rows_and_columns(tmp_path: Path) -> None:
    """The first dimension is in the rows, the second one in the columns."""
    lines = _lines(small_release(), tmp_path / "out.csv", 1, described=Described())
    assert lines == [
        '"","Total","Nr"," 1"," 2","Os"," 4"',
        '"Total",12130,8464,5824,2640,3666,3666',
        '" 2",5163,x,x,x,x,x',
        '" 4",3229,x,x,x,x,x',
        '"10",3738,3738,2523,1215,-,-',
        '"99",-,-,-,-,-,-',
    ]
    rows = list(csv.reader(_lines(small_release(), tmp_path / "out.csv", 1, "AS+HI+FL+QU-")))
    assert rows[0] == ["Size", "Region", "Var2"]
    assert rows[1][:7] == [
        "",
        "Total",
        "Total Status",
        "  Nr",
        "  Nr Status",
        "     1",
        "     1 Status",
    ]
    assert rows[5] == ["  10", "3738.00", "1", "3738.00", "1", "2523.00", "1", "1215.00", "1"] + (
        ["-", "14"] * 2
    )


def test_csv_of_more_and_of_fewer_dimensions(tmp_path: Path) -> None:
    """There is a block for each code of a third dimension, and one column for a single one."""
    cube = tacit.Table.from_cube(
        np.arange(8.0).reshape(2, 2, 2),
        {name: tacit.Hierarchy.flat([f"{name}1", f"{name}2"]) for name in "abc"},
    )
    lines = _lines(released(cube, []), tmp_path / "out.csv", 1, "QU-", described=Described())
    assert lines[:6] == ["c,Total", ",Total,b1,b2", "Total,28,10,18", "a1,6,1,5", "a2,22,9,13", ""]
    assert lines[6:12] == ["c,c1", ",Total,b1,b2", "Total,12,4,8", "a1,2,0,2", "a2,10,4,6", ""]
    assert len(lines) == 3 * 5 + 2
    column = tacit.Table.from_cube([1.0, 2.0], {"a": tacit.Hierarchy.flat(["a1", "a2"])})
    lines = _lines(released(column, []), tmp_path / "out.csv", 1, described=Described())
    assert lines == ['"","value"', '"Total",3', '"a1",1', '"a2",2']


def test_csv_without_empty_rows_and_columns(tmp_path: Path) -> None:
    """Rows and columns in which all cells are empty are left out; other empty cells stay."""
    frame = {"a": ["a1", "a1", "a2"], "b": ["b1", "b2", "b1"], "value": [1, 2, 3]}
    dimensions = {
        "a": tacit.Hierarchy.flat(["a1", "a2", "a3"]),
        "b": tacit.Hierarchy.flat(["b1", "b2", "b3"]),
    }
    release = released(tacit.Table.from_frame(frame, dimensions), [])
    lines = _lines(release, tmp_path / "out.csv", 1, "SE+QU-", described=Described())
    assert lines == [",Total,b1,b2", "Total,6,4,2", "a1,3,1,2", "a2,3,3,-"]


def test_pivot_lists_have_names(tmp_path: Path) -> None:
    """A list for pivot tables is a code-value file below a line of names."""
    release = small_release()
    plain = _lines(release, tmp_path / "out.txt", 3)
    assert _lines(release, tmp_path / "out.csv", 2) == ['"Size","Region","Var2"', *plain]
    assert _lines(release, tmp_path / "out.csv", 2, "FL-") == plain
    named = _lines(release, tmp_path / "out.txt", 3, "FL+AS+")
    assert named[0] == '"Size","Region","Var2","Status"'


def test_changed_values_come_before_true_ones(tmp_path: Path) -> None:
    """With statuses there are the changed value, the true one and the status, in this order."""
    release = rounded_release()
    lines = _lines(release, tmp_path / "out.txt", 3, "AS+AD+FL+", described=Described())
    assert lines[0] == '"Size","Region","value","value_original","value_difference","Status"'
    rows = [line.split(",") for line in lines[1:]]
    for row in rows:
        if row[5] == "14":
            assert row[2:5] == ["-"] * 3
            continue
        changed, true, difference = map(float, row[2:5])
        assert changed % 500 == 0
        assert difference == changed - true
    true_values = {tuple(row[:2]): row[3] for row in rows}
    assert true_values['" 4"', '" 1"'] == str(sum(CONTRIBUTIONS[" 4", " 1"]))
    assert {row[5] for row in rows} == {"1", "3", "14"}


def test_statistics_have_flags(tmp_path: Path) -> None:
    """Value, frequency, flag and the shares of the two largest, by the rule that struck."""
    lines = _lines(small_release(), tmp_path / "out.txt", 4)
    found = {tuple(line.split(",")[:2]): line.split(",")[2:] for line in lines}
    assert found["Total", "Total"] == ["12130.00", "22", "V", "", ""]
    assert found[" 2", " 2"] == ["x", "1", "F", "100.00", ""]
    assert found[" 4", " 1"] == ["x", "2", "F", "76.29", "23.71"]
    assert found[" 2", "Os"] == ["x", "5", "D", "", ""]
    assert found["10", "Os"] == ["-", "0", "-", "", ""]
    lines = _lines(small_release(), tmp_path / "out.txt", 4, "HL+AS+QU+FL+")
    assert lines[0] == (
        '"Size","Size_level","Region","Region_level","Var2","Freq","Flag","Dominance","Second"'
    )
    assert '" 4",1," 1",2,1084.00,2,F,76.29,23.71' in lines


def test_shares_are_those_of_holdings(tmp_path: Path) -> None:
    """Where only a rule for holdings struck, the shares are of their contributions."""
    table = small_table()
    assert table.top is not None
    assert table.count is not None
    largest = np.where(table.count[:, None] > 2, [[0.9, 0.05]], np.nan) * table.value[:, None]
    held = table.replace(holding_top=np.where(np.isnan(largest), table.top, largest))
    held = held.replace(holding_count=table.count)
    rules = tacit.Dominance(1, 99), tacit.Dominance(1, 85, holding=True)
    judged = held.apply(*rules)
    lines = _lines(released(judged, range(1, table.cell_count)), tmp_path / "out.txt", 4)
    assert "10, 1,x,4,B,90.00,5.00" in lines
    assert " 2, 2,x,1,B,100.00," in lines


def _judged(*rules: Any) -> tacit.Release:
    """The small table with all its sensitive cells and their neighbours suppressed."""
    table = small_table().apply(*rules)
    return released(table, range(1, table.cell_count))


@pytest.mark.parametrize(
    ("rules", "flag", "number"),
    [
        ([tacit.MinFrequency(3, percent=10)], "A", "5"),
        ([tacit.Dominance(1, 70)], "B", "3"),
        ([tacit.Dominance(1, 70), tacit.Dominance(2, 95)], "B", "3"),
        ([tacit.Dominance(1, 90), tacit.Dominance(2, 95)], "C", "3"),
        ([tacit.PPercent(10)], "F", "3"),
        ([tacit.PriorPosterior(10, 100)], "F", "3"),
        ([tacit.MinFrequency(3, percent=10), tacit.PPercent(10)], "F", "3"),
        ([tacit.Manual({"Size": [" 4"], "Region": [" 1"]}, percent=10)], "B", "9"),
        (
            [tacit.PPercent(10), tacit.Manual({"Size": [" 4"], "Region": [" 1"]}, percent=10)],
            "B",
            "9",
        ),
    ],
)
def test_the_rule_that_struck(rules: Any, flag: str, number: str, tmp_path: Path) -> None:
    """Of several rules the first one in tau-ARGUS' order counts, and a decision by hand first."""
    release = _judged(*rules)
    (line,) = [
        line
        for line in _lines(release, tmp_path / "out.txt", 4, "QU+")
        if line.startswith('" 4"," 1",')
    ]
    assert line.split(",")[4] == flag
    assert f'" 4"," 1",1084.00,{number}' in _lines(release, tmp_path / "out.txt", 3, "AS+")


def test_statuses_that_are_decided(tmp_path: Path) -> None:
    """Marks by hand, and statuses that came with the table, have numbers of their own."""
    marks = {
        "Size": ["10", "10", " 2", " 4"],
        "Region": [" 1", " 2", " 1", " 4"],
        "status": ["safe", "publish", "secondary", "sensitive"],
    }
    table = small_table().apply(tacit.Manual(marks, percent=10))
    release = tacit.protect(table, time_limit=20)
    found = {
        line.rsplit(",", 2)[0]: line.rsplit(",", 1)[1]
        for line in _lines(release, tmp_path / "out.txt", 3, "AS+")
    }
    assert found['"10"," 2"'] == "10"
    # Who wants a cell suppressed wants nobody to compute it.
    assert found['" 2"," 1"'] == "9"
    assert found['" 4"," 4"'] == "9"
    only = small_table().apply(
        tacit.Manual({"Size": ["10"], "Region": [" 1"], "status": ["safe"]}), tacit.PPercent(15)
    )
    lines = _lines(tacit.protect(only, time_limit=20), tmp_path / "out.txt", 3, "AS+")
    assert '"10"," 1",2523.00,2' in lines or '"10"," 1",2523.00,11' in lines
    status = np.full(table.cell_count, "safe", dtype="<U9")
    given = [*table.labels].index("Size= 4, Region= 4")
    status[given] = "sensitive"
    raw = small_table().replace(status=status, lower_level=None, upper_level=None)
    lines = _lines(released(raw, [given]), tmp_path / "out.txt", 3, "AS+")
    assert '" 4"," 4",865.00,9' in lines


class _Withheld:
    """A decision that a cell is to be suppressed, although it is not sensitive."""

    def judge(self, table: tacit.Table) -> tacit.Verdict:
        cells = np.array([[*table.labels].index("Size=10, Region= 1")])
        level = np.full(1, 0.5)
        return tacit.Verdict(reason=SUPPRESSED, cells=cells, lower=level, upper=level)


def test_cells_that_are_to_be_suppressed(tmp_path: Path) -> None:
    """They are secondary by hand in each format, unless a rule finds them unsafe as well."""
    release = _judged(_Withheld())
    assert '"10"," 1",2523.00,12' in _lines(release, tmp_path / "out.txt", 3, "AS+")
    assert "10, 1,x,4,D,," in _lines(release, tmp_path / "out.txt", 4)
    assert any("; M; 0.50; " in line for line in _lines(release, tmp_path / "out.tab", 5))
    release = _judged(_Withheld(), tacit.MinFrequency(5, percent=1))
    assert '"10"," 1",2523.00,5' in _lines(release, tmp_path / "out.txt", 3, "AS+")


@settings(max_examples=40)
@given(st.data())
def test_random_tables_are_read_back(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    """Codes, values and statuses of formats 3, 5 and 6 are those of the table, cell by cell."""
    dimensions = data.draw(dimension_sets())
    cells = data.draw(finest_cells(dimensions))
    table = tacit.Table.from_frame(frame_of(cells, dimensions), dimensions)
    number = data.draw(st.lists(st.integers(0, table.cell_count - 1), unique=True, max_size=5))
    status = np.full(table.cell_count, "safe", dtype="<U9")
    status[number] = "sensitive"
    upper = np.where(status == "sensitive", 1.25, np.nan)
    # Nobody asks for less than zero where nothing is negative.
    lower = upper if (table.value < 0).any() else np.minimum(upper, table.value)
    table = table.replace(status=status, lower_level=lower, upper_level=upper)
    others = data.draw(st.lists(st.integers(0, table.cell_count - 1), unique=True, max_size=5))
    release = released(table, {*number, *others})
    folder = tmp_path_factory.mktemp("random")
    names = [*dimensions]
    codes = zip(*(table.codes(name).tolist() for name in names), strict=True)
    place = {pair: cell for cell, pair in enumerate(codes)}
    every = [*itertools.product(*(hierarchy.codes for hierarchy in dimensions.values()))]

    rows = list(csv.reader(_lines(release, folder / "out.txt", 3, "AS+", described=Described())))
    assert [tuple(row[:-2]) for row in rows] == every
    hidden = release.published.is_hidden
    for pair, row in zip(every, rows, strict=True):
        if pair not in place:
            assert row[-2:] == ["-", "14"]
            continue
        cell = place[pair]
        assert float(row[-2]) == table.value[cell]
        kind = "9" if cell in number else "11" if hidden[cell] else "1"
        assert row[-1] == kind
    kept = list(csv.reader(_lines(release, folder / "out.txt", 3, "SE+")))
    assert [tuple(row[:-1]) for row in kept] == [pair for pair in every if pair in place]
    assert [row[-1] == "x" for row in kept] == [
        bool(hidden[place[tuple(row[:-1])]]) for row in kept
    ]

    entries = [line.split("; ") for line in _lines(release, folder / "out.tab", 5)]
    letters = {"9": "U", "11": "M", "1": "S", "14": "E"}
    for row, other in zip(entries, rows, strict=True):
        assert row[: len(names)] == other[: len(names)]
        assert float(row[len(names)]) == (0 if other[-2] == "-" else float(other[-2]))
        assert row[-3] == letters[other[-1]]
        assert float(row[-1]) == (1.25 if other[-1] == "9" else 0)
        assert float(row[-2]) == (lower[place[tuple(other[:-2])]] if other[-1] == "9" else 0)

    for options in ("", "SE+", "TR+", "SE+TR+"):
        _lines(release, folder / "out.jj", 6, options)
        read = read_jj(folder / "out.jj")
        read.validate()
        assert (read.lower <= read.value).all()
        assert (read.upper >= read.value).all()
    _lines(release, folder / "out.jj", 6)
    problem, letter = read_jj(folder / "out.jj"), read_jj_status(folder / "out.jj")
    assert problem.value.tolist() == [0 if row[-2] == "-" else float(row[-2]) for row in rows]
    kinds = {"9": "u", "11": "m", "1": "s", "14": "z"}
    assert letter.tolist() == [kinds[row[-1]] for row in rows]
    assert problem.upper_level.tolist() == [1.25] * len(number)


def test_jj_without_empty_cells_is_the_table(tmp_path: Path) -> None:
    """Values, relations, statuses and levels are read back as methods saw them."""
    release = small_release()
    _lines(release, tmp_path / "out.jj", 6, "SE+")
    read, problem = read_jj(tmp_path / "out.jj"), release.papers.problem
    assert np.array_equal(read.value, problem.value)
    assert abs(read.relations - problem.relations).sum() == 0
    assert np.array_equal(read.sensitive, problem.sensitive)
    assert np.array_equal(read.upper_level, problem.upper_level)
    assert np.array_equal(
        read_jj_status(tmp_path / "out.jj") == "m",
        release.published.is_hidden & ~problem.is_sensitive,
    )
    assert read.upper.max() == 1.5 * problem.value.max()


def test_jj_has_frequencies_beside_it(tmp_path: Path) -> None:
    """One line per cell with contributors and holdings, the former twice without holdings."""
    release = small_release()
    paths = write_argus(
        release, tmp_path / "out.jj", 6, WriteOptions.parsed("SE+"), frequency=False
    )
    assert [path.name for path in paths] == ["out.jj", "out.frq"]
    table = release.papers.table
    assert table is not None
    assert table.count is not None
    expected = [f"{count:.0f} {count:.0f}" for count in table.count.tolist()]
    assert paths[1].read_text().splitlines() == expected
    held = table.replace(holding_count=np.ones(table.cell_count))
    write_argus(
        released(held, np.flatnonzero(release.published.is_hidden).tolist()),
        tmp_path / "out.jj",
        6,
        WriteOptions.parsed("SE+TR+"),
        frequency=False,
    )
    lines = paths[1].read_text().splitlines()
    assert len(lines) == read_jj(tmp_path / "out.jj").cell_count == 19
    assert lines[0] == "22 1"


def test_jj_without_trivial_levels_asks_for_the_same(tmp_path: Path) -> None:
    """A code that is alone below another one is left out, and what it needs is kept."""
    release = small_release()
    _lines(release, tmp_path / "out.jj", 6)
    whole, status = read_jj(tmp_path / "out.jj"), read_jj_status(tmp_path / "out.jj")
    _lines(release, tmp_path / "out.jj", 6, "TR+")
    less, letters = read_jj(tmp_path / "out.jj"), read_jj_status(tmp_path / "out.jj")
    assert (whole.cell_count, less.cell_count) == (30, 25)
    kept = [cell for cell in range(30) if cell % 6 != 5]
    assert np.array_equal(less.value, whole.value[kept])
    assert letters.tolist() == status[kept].tolist()
    assert len(np.unique(less.relations.toarray(), axis=0)) == less.relation_count


def test_costs_become_whole_numbers() -> None:
    """Whole costs stay as they are; others are scaled to 20,000 at most and 1 at least."""
    assert whole_costs(np.array([1.0, 7.0, 1e6])).tolist() == [1, 7, 1e6]
    assert whole_costs(np.array([0.0, 2.5, 10.0])).tolist() == [1, 5000, 20000]
    assert whole_costs(np.array([1e-9, 1.5])).tolist() == [1, 20000]


def test_frequency_tables(tmp_path: Path) -> None:
    """Frequencies have no decimals, no column of frequencies, no shadow and no contributions."""
    frame = {"a": ["a1", "a2"], "value": [1.0, 4.0]}
    table = tacit.Table.from_frame(frame, {"a": None}).apply(tacit.SmallCounts(2))
    release = released(table, [1, 2])
    given: dict[str, Any] = {"frequency": True, "described": Described(response="n")}
    assert _lines(release, tmp_path / "out.txt", 3, "AS+", **given) == [
        '"Total",5,1',
        '"a1",1,5',
        '"a2",4,11',
    ]
    assert _lines(release, tmp_path / "out.tab", 5, **given)[1].split("; ")[:4] == [
        *("a1", "1", "1", "U")
    ]
    assert _lines(release, tmp_path / "out.txt", 4, **given)[1] == "a1,x,1,A"
    assert _lines(release, tmp_path / "out.jj", 6, **given)
    assert (tmp_path / "out.frq").read_text().splitlines() == ["5 5", "1 1", "4 4"]


def test_audited_intermediate_files(tmp_path: Path) -> None:
    """Both ends of what readers can deduce are added, published values for both."""
    release = small_release()
    lines = _lines(release, tmp_path / "out.tab", 5, "AR+")
    rows = [line.split("; ") for line in lines]
    audit = tacit.audit(release.papers.problem, release.papers.outcome, insiders=False)
    found = audit.findings[0]
    table = release.papers.table
    assert table is not None
    ends = dict(zip(found.cells.tolist(), zip(found.lower, found.upper, strict=True), strict=True))
    names = zip(table.codes("Size"), table.codes("Region"), strict=True)
    cells = {(f'"{size}"', f'"{region}"'): cell for cell, (size, region) in enumerate(names)}
    for row in rows:
        low, high, exact, width = map(float, row[-4:])
        cell = cells.get((row[0], row[1]))
        value = float(row[2])
        expected = (value, value) if cell is None else ends.get(cell, (value, value))
        assert [low, high] == pytest.approx(expected, abs=0.005)
        assert exact == 1
        assert value == 0 or width == pytest.approx(100 * (high - low) / value, abs=0.01)
    assert any(float(row[-4]) < float(row[2]) < float(row[-3]) for row in rows)
    assert (tmp_path / "out.rda").read_text().count("<NUMERIC>") == 9


def test_names_in_intermediate_files(tmp_path: Path) -> None:
    """Columns get other names than dimensions, and lead strings begin no code."""
    hierarchy = tacit.Hierarchy.from_nested({"@A": ["@A1", "#2"], "B": None})
    frame = {"Status": ["@A1", "#2", "B"], "Freq": ["x", "x", "y"], "value": [1, 2, 3]}
    table = tacit.Table.from_frame(frame, {"Status": hierarchy, "Freq": None})
    paths = write_argus(
        released(table, []), tmp_path / "out.tab", 5, WriteOptions(), frequency=False
    )
    assert [path.name for path in paths] == ["out.tab", "out.rda", "out_Status.hrc"]
    metadata = (tmp_path / "out.rda").read_text().splitlines()
    assert "Status" in metadata
    assert "Status_" in metadata
    assert '  <HIERLEADSTRING> "~"' in metadata
    assert (tmp_path / "out_Status.hrc").read_text().splitlines() == ["@A", "~@A1", "~#2", "B"]


@pytest.mark.parametrize(("name", "format"), [("out.rda", 5), ("OUT.RDA", 5), ("out.frq", 6)])
def test_files_beside_must_not_be_the_file(name: str, format: int, tmp_path: Path) -> None:
    """A name that one of the files beside would get is refused before anything is written."""
    with pytest.raises(tacit.InputError, match=r"name|called"):
        write_argus(small_release(), tmp_path / name, format, WriteOptions(), frequency=False)
    assert not [*tmp_path.iterdir()]
