"""Jobs with linked tables and with several variables."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError
from tacit.jobs import job_problem, read_job, run_job, write_outputs

RECORDS = """\
firm,industry,region,size,turnover,domestic,exports
f1,A1,N,s,120,100,20
f2,A1,N,m,80,70,10
f3,A1,S,s,90,60,30
f4,A2,S,m,70,65,5
f5,A2,S,m,60,50,10
f6,A2,N,s,900,500,400
f7,B1,N,s,31,20,11
f8,B1,S,m,75,70,5
f9,B1,S,s,66,60,6
f10,B1,N,m,58,50,8
"""
JOB = """\
[data]
microdata = "records.csv"
value = "turnover"
contributor = "firm"

[dimensions.industry]
lengths = [1, 2]

[dimensions.region]

[dimensions.size]

[[tables]]
dimensions = ["industry", "region"]

[[tables]]
name = "sizes"
dimensions = ["industry", "size"]
published = "sizes.csv"

[[rules]]
rule = "min-frequency"
minimum = 2

[method]
name = "suppress"
time_limit = 20

[outputs]
json = "result.json"
published = ["{table}.parquet", "all.csv", "all.xlsx"]
report = "report.html"
working_report = "{table}.confidential.html"
table = "{table}.confidential.csv"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with records."""
    (tmp_path / "records.csv").write_text(RECORDS)
    return tmp_path


def _job(folder: Path, *changes: tuple[str, str], text: str = JOB) -> tacit.jobs.Job:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "job.toml").write_text(text)
    return read_job(folder / "job.toml")


def _read(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def _table(job: tacit.jobs.Job) -> tacit.Table:
    found = job_problem(job)
    assert isinstance(found, tacit.Table)
    return found


def test_tables_of_a_job_are_linked_as_in_python(folder: Path) -> None:
    """The problem of a job is the one of its tables, tabulated and linked by hand."""
    industry = tacit.Hierarchy.from_prefixes(["A1", "A2", "B1"], (1, 2))
    one, two = (
        tacit.tabulate(
            folder / "records.csv",
            {"industry": industry, other: None},
            "turnover",
            contributor="firm",
        )
        for other in ("region", "size")
    )
    linked = one.link(two).apply(tacit.MinFrequency(2))
    found = _table(_job(folder))
    assert [grid.name for grid in found.grids] == ["industry-region", "sizes"]
    np.testing.assert_array_equal(found.value, linked.value)
    np.testing.assert_array_equal(found.status, linked.status)
    assert abs(found.relations - linked.relations).sum() == 0
    assert list(found.labels) == list(linked.labels)


def test_each_table_is_written_by_itself(folder: Path) -> None:
    """Files of one table have its dimensions, and a cell of two tables is the same in both."""
    job = _job(folder)
    release = run_job(job)
    write_outputs(job, release)
    written = {path.name for path in folder.iterdir()} - {"records.csv", "job.toml"}
    assert written == {path.name for path in job.outputs.files}
    assert "sizes.parquet" in written
    assert "industry-region.confidential.csv" in written
    rows = _read(folder / "sizes.csv")
    assert list(rows[0]) == ["industry", "size", "turnover", "status"]
    part = release.published.of_table("sizes")
    assert len(rows) == part.cell_count
    shown = [row["turnover"] for row in rows]
    assert [text == "" for text in shown] == part.is_hidden.tolist()
    whole = _read(folder / "all.csv")
    common = {(r["industry"], r["size"]): r["turnover"] for r in whole if r["region"] == "Total"}
    assert common == {(r["industry"], r["size"]): r["turnover"] for r in rows}
    result = json.loads((folder / "result.json").read_text())
    assert result["cells"] == len(whole)
    report = (folder / "report.html").read_text()
    assert "industry-region: Which cells are published" in report
    assert "sizes: Which cells are published" in report
    assert "industry · " not in report


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_random_finished_tables_make_the_problem_of_their_cells(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """Finished tables of a job give each combination of codes once, with the sums of the cube."""
    folder = tmp_path_factory.mktemp("tables")
    cube = np.random.default_rng(seed).integers(0, 9, (2, 3, 2))
    codes = {"a": ["a0", "a1"], "b": ["b0", "b1", "b2"], "c": ["c0", "c1"]}
    axes = {"a": 0, "b": 1, "c": 2}
    text = '[data]\nvalue = "sum"\n' + "".join(f"[dimensions.{name}]\n" for name in codes)
    expected: dict[tuple[str, ...], float] = {}
    for names in (("a", "b"), ("b", "c"), ("c",)):
        sums = cube.sum(axis=tuple(axes[name] for name in codes if name not in names))
        rows = [",".join([*names, "sum"])]
        for place in np.ndindex(sums.shape):
            own = [codes[name][at] for name, at in zip(names, place, strict=True)]
            rows.append(",".join([*own, str(sums[place])]))
        (folder / f"{''.join(names)}.csv").write_text("\n".join(rows))
        text += f'[[tables]]\ntable = "{"".join(names)}.csv"\ndimensions = {list(names)}\n'
        for place in np.ndindex(*(len(codes[name]) + 1 for name in names)):
            key = dict.fromkeys(codes, "Total")
            part = sums
            for name, at in zip(reversed(names), reversed(place), strict=True):
                axis = names.index(name)
                part = part.sum(axis=axis) if at == 0 else part.take(at - 1, axis=axis)
                key[name] = "Total" if at == 0 else codes[name][at - 1]
            expected[tuple(key.values())] = float(part)
    table = _table(_job(folder, text=text))
    found = zip(*(table.codes(name).tolist() for name in codes), strict=True)
    assert dict(zip(found, table.value.tolist(), strict=True)) == expected
    table.problem().validate()


def test_another_hierarchy_over_the_same_codes(folder: Path) -> None:
    """A table may group the codes of a dimension in its own way; both groupings are relations."""
    other = 'hierarchies.industry = {codes = {x = ["A1", "B1"], y = ["A2"]}}\n'
    table = _table(_job(folder, ('dimensions = ["industry", "size"]\n', _DIMENSIONS + other)))
    assert {"x", "y", "A", "B"} <= set(table.codes("industry").tolist())
    table.problem().validate()


_DIMENSIONS = 'dimensions = ["industry", "size"]\n'


def test_a_table_over_a_part_comes_first(folder: Path) -> None:
    """Its total is not taken for the total of everything."""
    east = (
        '[[tables]]\nname = "north"\ndimensions = ["region", "industry"]\nunknown = "drop"\n'
        'hierarchies.region = {codes = ["N"], total = "North"}\n\n'
    )
    table = _table(_job(folder, ("[[tables]]\ndimensions", east + "[[tables]]\ndimensions")))
    assert table.totals["region"] == "Total"
    north = dict(zip(table.labels, table.value.tolist(), strict=True))
    assert north["region=North, industry=Total"] == north["region=N, industry=Total"] == 1189


def test_variables_and_equations_of_a_job(folder: Path) -> None:
    """Each table is made for each variable; equations hold at all of their cells."""
    job = _job(
        folder,
        ("[data]", 'equations = ["turnover = domestic + exports"]\n[data]'),
        ('value = "turnover"', 'value = ["turnover", "domestic", "exports"]'),
        ('published = "sizes.csv"\n', ""),
        ("time_limit = 20", "time_limit = 2"),
        ("minimum = 2", "minimum = 1"),
    )
    assert job.table_names[:2] == ("industry-region-turnover", "industry-region-domestic")
    table = _table(job)
    assert table.variables == ("turnover", "domestic", "exports")
    table.problem().validate()
    only = _table(_job(folder, ("[data]", "[data]")))
    more = table.relations.shape[0] - 3 * only.relations.shape[0]
    assert more == only.cell_count
    release = run_job(job)
    write_outputs(job, release)
    (first, *_) = _read(folder / "industry-region-exports.confidential.csv")
    assert {"industry", "region"} <= first.keys()
    assert not {"variable", "size"} & first.keys()
    assert list(_read(folder / "all.csv")[0])[:2] == ["variable", "industry"]


def test_records_without_contributors_are_the_same_in_all_tables(folder: Path) -> None:
    """A record that is alone in a cell of each of two tables is one attacker."""
    table = _table(_job(folder, ('contributor = "firm"\n', "")))
    assert table.contributors is not None
    who = {
        grid.name: set(table.contributors.who[grid.numbers[-1]].tolist()) - {-1}
        for grid in table.grids
    }
    assert who["industry-region"] & who["sizes"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("name = ", "nmae = "), "tables\\[1\\]: unknown key 'nmae'; did you mean 'name'"),
        (('["industry", "size"]', '["industry", "sise"]'), "there is no dimension 'sise'"),
        (('["industry", "size"]', '["size", "size"]'), "named twice"),
        (('name = "sizes"', 'name = "a/b"'), "stands in names of files"),
        (('name = "sizes"', 'name = "industry-region"'), "two tables are called"),
        (('"sizes.csv"', '"sizes.doc"'), "must end in"),
        (("[data]", 'equations = ["x = y"]\n[data]'), "there is no variable 'x'"),
        (('value = "turnover"', 'jj = "x.jj"'), "a JJ file is one problem"),
        (('dimensions = ["industry", "size"]\n', ""), "which dimensions the table has"),
    ],
)
def test_mistakes_in_tables(folder: Path, change: tuple[str, str], told: str) -> None:
    """They are refused with the line, before any work."""
    with pytest.raises(InputError, match=told) as caught:
        _job(folder, change)
    assert caught.value.line is not None


def test_a_pattern_needs_linked_tables(folder: Path) -> None:
    """The name of no table can stand in place of it."""
    start, _, rest = JOB.partition("[[tables]]")
    rules = rest[rest.index("[[rules]]") :]
    with pytest.raises(InputError, match="this job has one table"):
        _job(folder, text=start + rules)


def test_tables_that_contradict_each_other(folder: Path) -> None:
    """Common cells that differ are named with both tables and by what share they differ."""
    (folder / "one.csv").write_text("region,value\nN,10\nS,20\n")
    (folder / "two.csv").write_text("region,size,value\nN,s,10\nS,s,22\n")
    text = (
        "[data]\n[dimensions.region]\n[dimensions.size]\n"
        '[[tables]]\ntable = "one.csv"\ndimensions = ["region"]\n'
        '[[tables]]\ntable = "two.csv"\ndimensions = ["region", "size"]\n'
    )
    with pytest.raises(InputError) as caught:
        _table(_job(folder, text=text))
    told = str(caught.value)
    assert "2 common cells differs" in told
    assert "(region=S) by 9.1% between region and region-size" in told
    assert "(region=Total) by 6.2% between region and region-size" in told
