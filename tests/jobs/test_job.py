"""What a job file says, and the errors of one that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tacit
from tacit.errors import InputError
from tacit.jobs import job_problem, read_job
from tacit.jobs.job import CellFile, JJFile, Microdata
from tacit.jobs.lines import key_lines
from tacit.methods.registry import METHODS

from .conftest import JOB

Changed = Callable[..., Path]


def test_a_job_is_read(folder: Path) -> None:
    """Everything that is written arrives, and paths are relative to the file."""
    job = read_job(folder / "job.toml")
    assert isinstance(job.data, Microdata)
    assert job.data.source == [str(folder / "records.csv")]
    assert job.data.arguments == {"value": "turnover", "contributor": "firm"}
    assert list(job.dimensions) == ["industry", "region"]
    assert job.rules == (tacit.MinFrequency(3), tacit.PPercent(10))
    assert (job.method, job.options) == ("suppress", {"time_limit": 20})
    assert job.outputs.published == (folder / "published.csv",)
    assert job.outputs.json == folder / "result.json"
    assert job.outputs.table is None
    assert job.value_name == "turnover"
    assert job.inputs == (folder / "job.toml", folder / "records.csv")


def test_all_that_can_be_said(tmp_path: Path) -> None:
    """Levels, bounds, weights, holdings, a database and every output are understood."""
    (tmp_path / "job.toml").write_text(
        """
levels = "upper"
least_level = 2
insiders = "contributors"
coalition = 2
weights = {by = "count", power = 0.5}
[data]
database = "firms.duckdb"
query = "SELECT * FROM firms"
holding = "group"
weight = "w"
shadow = "tax"
request = "asked"
top = 3
unknown = "drop"
missing = "drop"
unreadable = "refuse"
memory_limit = "1GB"
temp_directory = "."
engine = "duckdb"
[dimensions]
region = {}
[bounds]
upper_factor = 2
[outputs]
published = ["a.csv", "b.parquet", "c.csv.gz"]
table = "t.confidential.parquet"
evidence = "e.confidential.json"
"""
    )
    job = read_job(tmp_path / "job.toml")
    assert isinstance(job.data, Microdata)
    assert job.data.source == (str(tmp_path / "firms.duckdb"), "SELECT * FROM firms")
    assert job.data.arguments["top"] == 3
    assert job.data.arguments["unknown"] == "drop"
    assert job.value_name == "records"
    assert (job.levels, job.least_level) == ("upper", 2.0)
    assert (job.insiders, job.coalition) == ("contributors", 2)
    assert job.bounds is not None
    assert job.bounds.upper_factor == 2
    assert job.weights is not None
    assert (job.weights.by, job.weights.power) == ("count", 0.5)
    assert (job.method, job.options) == ("suppress", {})
    assert [path.name for path in job.outputs.files] == [
        "a.csv",
        "b.parquet",
        "c.csv.gz",
        "t.confidential.parquet",
        "e.confidential.json",
    ]


def test_other_kinds_of_data(tmp_path: Path) -> None:
    """A finished table names its columns, a JJ file needs none, and a method may be named alone."""
    (tmp_path / "cells.toml").write_text(
        'method = "suppress"\n[data]\ntable = "cells.csv"\ncount = "n"\ntop = "largest"\n'
        'cells = "all"\n[dimensions.region]\n'
    )
    job = read_job(tmp_path / "cells.toml")
    assert isinstance(job.data, CellFile)
    assert job.data.columns == {"value": "value", "count": "n", "top": ["largest"], "cells": "all"}
    assert job.value_name == "value"
    assert job.inputs[1] == tmp_path / "cells.csv"
    (tmp_path / "jj.toml").write_text('[data]\njj = "table.jj"\n')
    job = read_job(tmp_path / "jj.toml")
    assert job.data == JJFile(tmp_path / "table.jj")
    assert job.value_name == "value"


def test_microdata_may_be_named_elsewhere(changed: Changed) -> None:
    """What the command line names counts instead of what the job does."""
    for path in (changed(), changed(('microdata = "records.csv"\n', ""))):
        job = read_job(path, microdata="other.parquet")
        assert isinstance(job.data, Microdata)
        assert job.data.source == ["other.parquet"]


WRONG = [
    # The text replaced, what replaces it, the line, and what is said.
    ("[data]", "[dat]", 1, "unknown key 'dat'; did you mean 'data'?"),
    ("[data]", "top = 2\n[data]", 1, "unknown key 'top'; known are data, dimensions"),
    ("contributor", "contributer", 4, "data: unknown key 'contributer'; did you mean 'contributor"),
    ('"turnover"', "7", 3, "data: 'value' must be a text; it is a whole number"),
    ('"turnover"', '""', 3, "data: 'value' must not be empty"),
    ('"turnover"', "1979-05-27", 3, "it is a date or time"),
    ('"records.csv"', "[]", 2, "data: 'microdata' is an empty list"),
    ('"records.csv"', '[\n"a.csv",\n7]', 4, "data: 'microdata' must be a list of texts"),
    ('microdata = "records.csv"\n', "", 1, "nothing says what to read; name it with one of"),
    ('microdata = "records.csv"', 'jj = "a.jj"', 3, "unknown key 'value'; known are jj"),
    ('"turnover"', '"turnover"\nquery = "x"', 4, "'query' needs a 'database'"),
    ('"records.csv"', '"a.csv"\ndatabase = "b"', 3, "give 'microdata' or 'database', not both"),
    ('microdata = "records.csv"', 'database = "b"', 2, "a database needs a 'query'"),
    ('"turnover"', '"turnover"\ntop = true', 4, "'top' must be a whole number; it is true or"),
    (
        '"turnover"',
        '"turnover"\nunknown = "drp"',
        4,
        "'unknown' cannot be 'drp'; did you mean",
    ),
    ('"turnover"', '"turnover"\nengine = "sql"', 4, "known are auto, duckdb, spark"),
    ("lengths = [1, 2]", "length = [1, 2]", 7, "dimensions.industry: unknown key 'length'; did"),
    ("lengths = [1, 2]", "lengths = [2, 1]", 7, "'lengths' must increase"),
    ("lengths = [1, 2]", "lengths = [1, 2.5]", 7, "'lengths' must be whole numbers"),
    ("[dimensions.region]", "[dimensions]\nregion = 3", 10, "'region' must be a table; it is a"),
    ("minimum = 3", "minimum = '3'", 13, "rules[0]: 'minimum' must be a number"),
    ("minimum = 3", "", 11, "rules[0]: the key 'minimum' is missing"),
    ("minimum = 3", "minimum = -1", 13, "minimum must be"),
    ("p = 10", "p = 10\ncolition = 2", 18, "rules[1]: unknown key 'colition'; did you mean 'coal"),
    ("p = 10", "p = 110", 17, "p must be a number above 0 and below 100"),
    ('"p-percent"', '"p-percnt"', 16, "there is no rule 'p-percnt'; did you mean 'p-percent'?"),
    ("[method]", "[[method]]", 19, "'method' must be a table; it is a list"),
    ('name = "suppress"', 'name = "supress"', 20, "'name' cannot be 'supress'; did you mean 'supp"),
    ('name = "suppress"', 'name = "wizardry"', 20, f"known are {', '.join(METHODS)}"),
    (
        "time_limit = 20",
        "time_limt = 20",
        21,
        "method: unknown key 'time_limt'; did you",
    ),
    ("time_limit = 20", "time_limit = '20'", 21, "'time_limit' must be a number; it is a text"),
    ("time_limit = 20", "time_limit = -1", 21, "time_limit must be positive"),
    ("time_limit = 20", "jobs = 0", 21, "jobs must be at least 1"),
    ("time_limit = 20", "gap = 0\nalgorithm = 'x'", 22, "'algorithm' must be one of 'auto'"),
    ("[outputs]", '[outputs]\nimages = "a"', 24, "outputs: unknown key 'images'; known are publis"),
    ("[outputs]", '[outputs]\nreport = "a"', 24, "outputs: the name must end in .html"),
    ("[outputs]", '[outputs]\nworking_report = "a.html"', 24, "as in a.confidential.html"),
    ('"published.csv"', '"published.xls"', 24, "must end in .csv, .csv.gz, .parquet"),
    ("json =", "table =", 25, "the name must end in .csv"),
    ("json =", "evidence =", 25, "its name must say so, as in result.confidential.json"),
    ("[outputs]", "[bounds]\nuper_factor = 2\n[outputs]", 24, "did you mean 'upper_factor'?"),
    ("[outputs]", "[bounds]\nupper_factor = 0.5\n[outputs]", 24, "upper_factor must be a number"),
    ("[outputs]", '[weights]\nby = "valu"\n[outputs]', 24, "did you mean 'value'?"),
    ("[data]", 'weights = "valu"\n[data]', 1, "did you mean 'value'?"),
    ("[data]", "weights = 3\n[data]", 1, "'weights' must be a text or a table"),
    (
        "[data]",
        'insiders = "singleton"\n[data]',
        1,
        "'insiders' cannot be 'singleton'; did you mean 'singletons'?",
    ),
    ("[data]", "coalition = 0\n[data]", 1, "'coalition' must be a whole number of at least 1"),
    (
        "[data]",
        'insiders = "none"\ncoalition = 2\n[data]',
        2,
        "'coalition' has no effect where insiders is none",
    ),
    ("[data]", 'levels = "uper"\n[data]', 1, "'levels' cannot be 'uper'; did you mean 'upper'?"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), WRONG)
def test_what_is_wrong_is_named_with_its_line(
    changed: Changed, old: str, new: str, line: int, message: str
) -> None:
    """Unknown keys, wrong types and wrong choices are refused where they stand."""
    path = changed((old, new))
    with pytest.raises(InputError) as raised:
        read_job(path)
    assert message in str(raised.value)
    assert (raised.value.path, raised.value.line) == (path, line)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("[data]", "[dat]", ("dat",)),
        ('"turnover"', "7", ("data", "value")),
        ('"records.csv"', '["a.csv", 7]', ("data", "microdata", 1)),
        ("lengths = [1, 2]", "lengths = [2, 1]", ("dimensions", "industry", "lengths")),
        ("p = 10", "p = 110", ("rules", 1, "p")),
        ("p = 10", "p = 10\ncolition = 2", ("rules", 1, "colition")),
        ("p = 10", "p = 10\nname = 'p; q'", ("rules", 1, "name")),
        ('"p-percent"', '"p-percnt"', ("rules", 1, "rule")),
        ("time_limit = 20", "time_limit = -1", ("method", "time_limit")),
        ("time_limit = 20", "radius = [0.5, 0]", ("method", "radius")),
        ("[outputs]", "[bounds]\nupper_factor = 0.5\n[outputs]", ("bounds", "upper_factor")),
        ("[outputs]", '[weights]\nby = "valu"\n[outputs]', ("weights", "by")),
        ("[data]", 'weights = "valu"\n[data]', ("weights",)),
        ("[outputs]", '[outputs]\nflags = "sdmz"', ("outputs", "flags")),
        ("[outputs]", '[outputs]\nlayout = "pivot"', ("outputs", "layout")),
    ],
)
def test_errors_carry_the_path_of_the_key(
    changed: Changed, old: str, new: str, key: tuple[str | int, ...]
) -> None:
    """Whoever catches an error learns from it which entry of the job to change."""
    path = changed((old, new))
    with pytest.raises(InputError) as raised:
        read_job(path)
    assert raised.value.key == key
    assert raised.value.line == key_lines(path.read_text())[key]


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('"turnover"', '"turnovr"', ("data", "value")),
        ('"firm"', '"frim"', ("data", "contributor")),
        ("dimensions.region", "dimensions.regin", ("dimensions", "regin")),
        ('"records.csv"', '["records.csv", "job.toml"]', ("data", "microdata", 1)),
        ('"turnover"', '"turnover"\nmemory_limit = "much"', ("data", "memory_limit")),
        ("[method]", "[recode.region]\nX = ['N', 'Q']\n[method]", ("recode", "region", "X")),
        # A dimension has the same name, but it is the value that is not a number.
        ('"turnover"', '"region"', ("data", "value")),
    ],
)
def test_errors_of_the_data_carry_the_path_of_the_key(
    changed: Changed, old: str, new: str, key: tuple[str | int, ...]
) -> None:
    """Arguments of functions are found again as entries of the job."""
    with pytest.raises(InputError) as raised:
        job_problem(read_job(changed((old, new))))
    assert raised.value.key == key


def test_rules_are_tables(tmp_path: Path) -> None:
    """The error about a list of something else says how rules are written."""
    (tmp_path / "job.toml").write_text('rules = [\n3]\n[data]\ntable = "t.csv"\n[dimensions.a]\n')
    with pytest.raises(InputError, match=r"job.toml:2: 'rules' must be tables: write \[\[rules"):
        read_job(tmp_path / "job.toml")


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"[data\n", 1, "this is not TOML"),
        (b"a = 1\nb = \n", 2, "this is not TOML: invalid value"),
        (b"a = [1,\n2", 2, "this is not TOML"),
        (b"a = 1\n\na = 2\n", 3, "this is not TOML"),
        (b"\xff\xfe", 1, "this is not text in UTF-8"),
        (b"a = " + b"[" * 100_000, None, "this is not TOML"),
        (b"", None, "there is no [data]"),
    ],
)
def test_what_is_no_job_is_refused(
    tmp_path: Path, content: bytes, line: int | None, message: str
) -> None:
    """Faults of TOML itself are reported with their line, too."""
    path = tmp_path / "job.toml"
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        read_job(path)
    assert message in str(raised.value)
    assert raised.value.line == line


def test_a_missing_job_is_named(tmp_path: Path) -> None:
    """A file that is not there is an error about that file."""
    with pytest.raises(InputError, match=r"none\.toml: the file cannot be read: no such file"):
        read_job(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "key", ["rules", "bounds", "weights", "dimensions", "levels", "insiders", "coalition"]
)
def test_a_jj_file_says_all_about_its_cells(tmp_path: Path, key: str) -> None:
    """Rules and the like would have no effect, so they are refused."""
    lines = {
        "rules": '[[rules]]\nrule = "p-percent"\np = 10',
        "bounds": "[bounds]\nupper_factor = 2",
        "weights": "[weights]\nby = 'value'",
        "dimensions": "[dimensions.region]",
        "levels": "levels = 'upper'",
        "insiders": "insiders = 'none'",
        "coalition": "coalition = 2",
    }
    (tmp_path / "job.toml").write_text(f"{lines[key]}\n")
    text = (tmp_path / "job.toml").read_text()
    jj = '[data]\njj = "table.jj"\n'
    (tmp_path / "job.toml").write_text(text + jj)
    with pytest.raises(InputError, match=f"leave out '{key}'") as raised:
        read_job(tmp_path / "job.toml")
    assert raised.value.line == 1


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('"turnover"', '"turnovr"', 3, "data: there is no column turnovr; the columns are firm"),
        ('"firm"', '"frim"', 4, "there is no column frim"),
        ("dimensions.region", "dimensions.regin", 9, "dimensions: there is no column regin"),
        ('"records.csv"', '"job.toml"', 2, "job.toml has none of the endings"),
        ("lengths = [1, 2]", 'codes = ["A1", "B1"]', 6, "industry: unknown code in 5 records (A2)"),
        ("lengths = [1, 2]", "lengths = [1, 3]", 7, "have none of the lengths (1, 3)"),
        ('"turnover"', '"group"', 3, "group: missing in"),
    ],
)
def test_data_that_do_not_fit_are_blamed_on_a_line(
    changed: Changed, old: str, new: str, line: int, message: str
) -> None:
    """Faults that only the data show are reported at the line that names the column."""
    path = changed((old, new))
    with pytest.raises(InputError) as raised:
        job_problem(read_job(path))
    assert message in str(raised.value)
    assert (raised.value.path, raised.value.line) == (path, line)


def test_the_example_of_these_tests_is_sound(folder: Path) -> None:
    """The job that is made wrong above is right as it stands."""
    table = job_problem(read_job(folder / "job.toml"))
    assert isinstance(table, tacit.Table)
    assert (folder / "job.toml").read_text() == JOB
    assert [table.labels[cell] for cell in table.problem().sensitive] == ["industry=A2, region=N"]
