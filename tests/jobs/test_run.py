"""Jobs from data to outputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pytest

import tacit
from tacit.errors import InputError
from tacit.io.cells import CONFIDENTIAL, read_columns
from tacit.jobs import Outputs, job_problem, job_table, read_job, run_job, write_outputs
from tacit.microdata import TabulationReport
from tacit.outcome import Values
from tacit.problem import Problem
from tacit.release import Release
from tacit.table import Table

Changed = Callable[..., Path]


def _table(path: Path) -> tacit.Table:
    table = job_problem(read_job(path))
    assert isinstance(table, tacit.Table)
    return table


def _release(path: Path) -> Release:
    job = read_job(path)
    return run_job(job)


def _same(left: tacit.Table, right: tacit.Table) -> None:
    assert left.labels[:] == right.labels[:]
    for name in ("value", "count", "top", "status", "lower_level", "upper_level"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))


def test_a_job_does_what_python_does(folder: Path) -> None:
    """The table of a job is that of the same calls in Python."""
    by_hand = tacit.tabulate(
        folder / "records.csv",
        {"industry": tacit.Hierarchy.from_prefixes(["A1", "A2", "B1"], (1, 2)), "region": None},
        "turnover",
        contributor="firm",
    ).apply(tacit.MinFrequency(3), tacit.PPercent(10))
    _same(_table(folder / "job.toml"), by_hand)


def test_sources_of_microdata_are_alike(folder: Path, changed: Changed) -> None:
    """Parquet, a pattern of files and a database give the same table as CSV."""
    expected = _table(folder / "job.toml")
    with duckdb.connect(str(folder / "firms.duckdb")) as duck:
        records = f"read_csv('{folder / 'records.csv'}', all_varchar = true)"
        duck.execute(f"CREATE TABLE firms AS SELECT * FROM {records}")
        duck.execute(f"COPY firms TO '{folder / 'records.parquet'}'")
        duck.execute(f"COPY (FROM firms LIMIT 9) TO '{folder / 'part1.csv'}' (HEADER)")
        duck.execute(f"COPY (FROM firms OFFSET 9) TO '{folder / 'part2.csv'}' (HEADER)")
    for source in (
        'microdata = "records.parquet"',
        'microdata = "part*.csv"',
        'microdata = ["part1.csv", "part2.csv"]',
        'database = "firms.duckdb"\nquery = "firms"',
        'database = "firms.duckdb"\nquery = "SELECT * FROM firms"',
    ):
        _same(_table(changed(('microdata = "records.csv"', source))), expected)


def test_names_of_microdata_are_taken_literally(folder: Path, tmp_path: Path) -> None:
    """Neither a folder nor a file is a pattern where it exists, and inputs are what is read."""
    expected = _table(folder / "job.toml")
    odd = tmp_path / "year[1]=*"
    odd.mkdir()
    job, records = (folder / "job.toml").read_text(), (folder / "records.csv").read_text()
    for name, told in (("records[1].csv", "records[1].csv"), ("part-1.csv", "part-*.csv")):
        (odd / name).write_text(records)
        (odd / "job.toml").write_text(job.replace('"records.csv"', f'"{told}"'))
        (odd / "records1.csv").write_text("firm\n")
        _same(_table(odd / "job.toml"), expected)
        assert read_job(odd / "job.toml").inputs == (odd / "job.toml", odd / name)


def test_everything_said_of_the_table_counts(changed: Changed) -> None:
    """Holdings, levels, bounds and weights reach the problem."""
    path = changed(
        ("[data]", 'levels = "upper"\nweights = "count"\n[data]'),
        ('contributor = "firm"', 'contributor = "firm"\nholding = "group"'),
        ("p = 10", "p = 10\nholding = true"),
        ("[method]", "[bounds]\nupper_factor = 3\n[method]"),
    )
    table = _table(path)
    problem = table.problem()
    assert table.holding_count is not None
    assert (problem.lower_level == 0).all()
    assert (problem.upper_level > 0).all()
    np.testing.assert_array_equal(problem.upper, 3 * problem.value)
    np.testing.assert_array_equal(problem.weight, table.count)


def test_dropped_records_are_reported(changed: Changed) -> None:
    """Who tabulates a part of the records learns how many were left out, and why."""
    reports: list[TabulationReport] = []
    path = changed(
        ("lengths = [1, 2]", 'codes = ["A1", "B1"]'),
        ('contributor = "firm"', 'contributor = "firm"\nunknown = "drop"'),
    )
    job_problem(read_job(path), report=reports.append)
    (report,) = reports
    assert (report.records, report.tabulated) == (17, {"turnover": 12})
    assert "A2" in str(report.findings[0])


@pytest.mark.parametrize("name", ["cells.confidential.csv", "cells.confidential.parquet"])
def test_a_finished_table_is_as_good_as_microdata(folder: Path, name: str) -> None:
    """A table that was written with all its columns is read back and protected alike."""
    release = _release(folder / "job.toml")
    write_outputs(read_job(folder / "job.toml"), release, Outputs(table=folder / name))
    written = read_columns(folder / name)
    assert CONFIDENTIAL in written
    assert "secondary" in written["status"]
    (folder / "second.toml").write_text(
        f'[data]\ntable = "{name}"\ncount = "count"\ntop = ["top_1", "top_2"]\n'
        "[dimensions.industry]\nlengths = [1, 2]\n[dimensions.region]\n"
        '[[rules]]\nrule = "min-frequency"\nminimum = 3\n[[rules]]\nrule = "p-percent"\np = 10\n'
    )
    _same(_table(folder / "second.toml"), _table(folder / "job.toml"))


def test_a_column_that_a_table_lacks_is_named(tmp_path: Path) -> None:
    """A missing dimension and a missing value are reported at their lines."""
    (tmp_path / "cells.csv").write_text("region,value\nN,1\nS,2\n")
    for data, dimension, where, message in (
        ("", "regin", "job.toml:3: dimensions.regin: ", "there is no column regin"),
        ('\nvalue = "val"', "region", "job.toml:3: data: ", "there is no column val"),
    ):
        (tmp_path / "job.toml").write_text(
            f'[data]\ntable = "cells.csv"{data}\n[dimensions.{dimension}]\n'
        )
        with pytest.raises(InputError) as raised:
            job_problem(read_job(tmp_path / "job.toml"))
        assert str(raised.value).startswith(str(tmp_path / where))
        assert message in str(raised.value)


def test_a_jj_file_is_a_problem(tmp_path: Path) -> None:
    """Its cells are numbered in the publication, and it has no table to write."""
    problem = tacit.examples.get("003-figure-11").problem
    tacit.write_jj(problem, tmp_path / "table.jj")
    (tmp_path / "job.toml").write_text(
        '[data]\njj = "table.jj"\n[outputs]\npublished = "published.csv"\n'
    )
    job = read_job(tmp_path / "job.toml")
    source = job_problem(job)
    assert isinstance(source, Problem)
    release = run_job(job)
    write_outputs(job, release)
    lines = (tmp_path / "published.csv").read_text().splitlines()
    assert lines[0] == "cell,value,status"
    assert len(lines) == problem.cell_count + 1
    with pytest.raises(InputError, match="a JJ file has no table to write"):
        write_outputs(job, release, Outputs(table=tmp_path / "table.confidential.csv"))


def test_as_many_of_the_largest_are_kept_as_rules_need(changed: Changed) -> None:
    """Without `top` a job keeps what the most demanding of its rules looks at."""
    path = changed(('rule = "p-percent"\np = 10', 'rule = "dominance"\nn = 5\nk = 75'))
    table = job_problem(read_job(path))
    assert isinstance(table, Table)
    assert table.top is not None
    assert table.top.shape[1] == 5


def test_rules_that_cannot_judge_are_told_with_the_job(changed: Changed) -> None:
    """What a rule misses in the table is an error at its line of the job."""
    path = changed(
        ('rule = "p-percent"\np = 10', 'rule = "dominance"\nn = 5\nk = 75'),
        ("[data]", "[data]\ntop = 3"),
    )
    with pytest.raises(
        InputError, match=r"job\.toml:16: the rule 'dominance' needs more"
    ) as caught:
        job_problem(read_job(path))
    assert caught.value.key == ("rules", 1)
    path = changed(('rule = "p-percent"\np = 10', 'rule = "manual"\nmarks = "marks.csv"'))
    with pytest.raises(InputError, match=r"marks\.csv: cannot be read"):
        job_problem(read_job(path))


def test_a_table_that_contradicts_itself_is_told_with_the_job(tmp_path: Path) -> None:
    """Totals that are not the sum of their parts are refused, unless rounding is allowed for."""
    (tmp_path / "cells.csv").write_text("region,value\nTotal,4\nN,1\nS,2\n")
    (tmp_path / "job.toml").write_text('[data]\ntable = "cells.csv"\n[dimensions.region]\n')
    job = read_job(tmp_path / "job.toml")
    with pytest.raises(InputError, match=r"job\.toml: the cells do not add up"):
        run_job(job)
    assert run_job(job, tolerance=0.5).published.cell_count == 3


def test_the_same_job_gives_the_same_files(folder: Path, tmp_path: Path) -> None:
    """Every output is the same in the next run, but for the time that it took."""
    written = []
    for run in ("first", "second"):
        (tmp_path / run).mkdir()
        outputs = Outputs(
            published=(tmp_path / run / "p.csv", tmp_path / run / "p.parquet"),
            table=tmp_path / run / "t.confidential.csv",
            evidence=tmp_path / run / "e.confidential.json",
            json=tmp_path / run / "r.json",
        )
        write_outputs(read_job(folder / "job.toml"), _release(folder / "job.toml"), outputs)
        result = json.loads((tmp_path / run / "r.json").read_text())
        for key in ("seconds", "trace"):
            result.pop(key)
        assert outputs.json is not None
        files = [path for path in outputs.files if path != outputs.json]
        written.append(([path.read_bytes() for path in files], result))
    assert written[0] == written[1]


def test_options_of_the_moment_count_more(folder: Path) -> None:
    """Arguments take precedence over the job."""
    job = read_job(folder / "job.toml")
    release = run_job(job, algorithm="paths", seed=7)
    outcome = release.papers.outcome
    assert (outcome.algorithm, outcome.seed) == ("paths", 7)


def test_the_table_of_a_job_is_not_judged_yet(folder: Path) -> None:
    """Rules come after tabulation."""
    table = job_table(read_job(folder / "job.toml"))
    assert not table.is_sensitive.any()


def test_cells_of_intervals_are_named_by_codes(changed: Changed) -> None:
    """A job names the cells that are withheld, or H itself, as its table knows them."""
    named = 'name = "intervals"\nwithheld = {industry = "A1"}'
    release = _release(changed(('name = "suppress"', named)))
    gone = release.published.codes["industry"] == "A1"
    assert gone.any()
    assert (release.published.status[gone] == "suppressed").all()
    wrong = changed(('name = "suppress"', named.replace("A1", "A7")))
    with pytest.raises(InputError, match=r"job\.toml: withheld: dimension industry has no code A7"):
        _release(wrong)


def test_bounds_on_quality_are_named_by_codes(changed: Changed) -> None:
    """A job bounds sums of deviations over cells as its table knows them."""
    named = 'name = "adjust"\nquality = [{cells = {industry = "A1"}, absolute = 0, name = "A1"}]'
    release = _release(changed(('name = "suppress"', named)))
    problem, outcome = release.papers.problem, release.papers.outcome
    assert isinstance(outcome.solution, Values)
    own = release.published.codes["industry"] == "A1"
    assert own.any()
    assert (outcome.solution.value[own] == problem.value[own]).all()
    wrong = changed(('name = "suppress"', named.replace('"A1"}', '"A7"}')))
    with pytest.raises(InputError, match=r"quality 1: dimension industry has no code A7"):
        _release(wrong)
    negative = changed(('name = "suppress"', named.replace("absolute = 0", "absolute = -1")))
    with pytest.raises(InputError, match=r"job\.toml.*absolute must be a number"):
        read_job(negative)


def test_ends_of_a_job_are_round(changed: Changed) -> None:
    """Unless the job says otherwise, no end of an interval is as the search found it."""
    plain = _release(changed(('name = "suppress"', 'name = "intervals"')))
    exact = _release(changed(('name = "suppress"', 'name = "intervals"\nround_to = "exact"')))
    coarse = _release(changed(('name = "suppress"', 'name = "intervals"\nround_to = 700')))
    widths = []
    for release in (exact, plain, coarse):
        lower, upper = release.published.lower, release.published.upper
        assert lower is not None
        assert upper is not None
        widths.append(float(np.nansum(upper - lower)))
    assert widths[0] < widths[1] < widths[2]
