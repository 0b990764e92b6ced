"""Mistakes that people make in job files: each gets one line that says where, what, and what else.

The job and its mistakes are written from the documentation of jobs.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tacit.cli.main import main

JOB = """\
levels = "both"

[data]
microdata = "firms.csv"
value = "turnover"
contributor = "firm"

[dimensions.industry]
lengths = [1, 3]

[dimensions.region]
file = "regions.csv"

[[rules]]
rule = "min-frequency"
minimum = 3

[[rules]]
rule = "p-percent"
p = 10

[bounds]
upper_factor = 11

[weights]
by = "value"

[method]
name = "suppress"
time_limit = 5

[outputs]
published = "published.csv"
"""

FILES = {
    "firms.csv": "firm,industry,region,turnover,staff\na,C10,N,5,1\nb,C11,S,6,1\nc,D20,N,7,1\n",
    "firms.xls": "not for us",
    "headless.csv": "a,C10,N,5731,1\nb,C11,S,6421,1\n",
    "ragged.csv": "firm,industry,region,turnover\na,C10,N,5\nb,C11,S,6,7\n",
    "latin.csv": "firm,industry,region,turnover\na,C10,N,5\nb,C11,S,6\n",
    "regions.csv": "child,parent\nN,Total\nS,Total\n",
    "circle.csv": "child,parent\nN,S\nS,N\n",
    "partial.csv": "child,parent\nN,Total\nE,Total\n",
}

MISTAKES = [
    ('value = "turnover"', 'value = "turnover', "job.toml:5: this is not TOML"),
    ('value = "turnover"', 'value = "a"\nvalue = "b"', "job.toml:6: this is not TOML"),
    ("contributor =", "contributer =", "job.toml:6: data: unknown key 'contributer'; did you mean"),
    ("[outputs]", "[output]", "job.toml:32: unknown key 'output'; did you mean 'outputs'?"),
    ("[data]", "[date]", "job.toml:3: unknown key 'date'; did you mean 'data'?"),
    ('levels = "both"', 'levels = "upward"', "job.toml:1: 'levels' cannot be 'upward'"),
    ('levels = "both"', "levels = 3", "job.toml:1: 'levels' must be a text; it is a whole number"),
    ('microdata = "firms.csv"', "", "data: nothing says what to read"),
    ('"firms.csv"', '"firm.csv"', "firm.csv: the file cannot be read: no such file"),
    ('"firms.csv"', '"firms.xls"', "this is not an Excel workbook"),
    ('"firms.csv"', '"headless.csv"', "does the first line name the columns?"),
    ('"firms.csv"', '"ragged.csv"', "ragged.csv:3: a record of 5 entries"),
    ('"firms.csv"', '"latin.csv"', "latin.csv:2: this is not text in UTF-8"),
    ('value = "turnover"', "value = true", "job.toml:5: data: 'value' must be a text; it is true"),
    ('value = "turnover"', 'value = "income"', "job.toml:5: data: there is no column income"),
    ('value = "turnover"', 'value = "firm"', "job.toml:5: data: records cannot be tabulated: firm"),
    ('"firm"\n', '"firm"\ntop = "2"\n', "job.toml:7: data: 'top' must be a whole number"),
    ('"firm"\n', '"firm"\nunknown = "skip"\n', "job.toml:7: data: 'unknown' cannot be 'skip'"),
    (
        '"firm"\n',
        '"firm"\nkeep_empty = 1\n',
        "job.toml:7: data: 'keep_empty' must be true or false",
    ),
    ('"firm"\n', '"firm"\ntable = "t.csv"\n', "job.toml:7: data: give 'microdata' or 'table'"),
    ('"firm"\n', '"firm"\nmemory_limit = "all"\n', "job.toml:7: data: memory_limit is 'all'"),
    ("dimensions.region", "dimensions.place", "job.toml:11: dimensions: there is no column place"),
    (
        "lengths = [1, 3]",
        "length = [1, 3]",
        "job.toml:9: dimensions.industry: unknown key 'length'",
    ),
    (
        "lengths = [1, 3]",
        "lengths = [3, 1]",
        "job.toml:9: dimensions.industry: 'lengths' must incr",
    ),
    ("lengths = [1, 3]", "lengths = [1, 2]", "job.toml:9: dimensions.industry: codes C10"),
    ('"regions.csv"', '"circle.csv"', "circle.csv: codes lie below themselves"),
    ('"regions.csv"', '"partial.csv"', "job.toml:11: dimensions: records cannot be tabulated"),
    ('"regions.csv"', '"none.csv"', "none.csv: the file cannot be read"),
    (
        '"min-frequency"',
        '"min-frequence"',
        "job.toml:15: rules[0]: there is no rule 'min-frequence'",
    ),
    ('rule = "p-percent"\n', "", "job.toml:18: rules[1]: the key 'rule' is missing"),
    ("p = 10\n", "", "job.toml:18: rules[1]: the key 'p' is missing"),
    ("p = 10\n", 'p = "ten"\n', "job.toml:20: rules[1]: 'p' must be a number; it is a text"),
    ("p = 10\n", "p = 110\n", "job.toml:20: rules[1]: p must be a number above 0 and below 100"),
    (
        "p = 10\n",
        "p = 10\nlevel = 'upper'\n",
        "job.toml:21: rules[1]: unknown key 'level'; did you",
    ),
    ("p = 10\n", "p = 10\nholding = true\n", "the rule 'p%' needs the largest contributions"),
    ('[[rules]]\nrule = "p', '[rules]\nrule = "p', "job.toml:18: this is not TOML"),
    ("upper_factor", "uper_factor", "job.toml:23: bounds: unknown key 'uper_factor'; did you mean"),
    ("= 11", "= 0.5", "job.toml:23: bounds: upper_factor must be a number not below 1"),
    ('by = "value"', 'by = "valu"', "weights: there are no weights 'valu'; did you mean 'value'?"),
    ('"suppress"', '"supress"', "job.toml:29: method: 'name' cannot be 'supress'; did you mean"),
    ("time_limit", "timelimit", "job.toml:30: method: unknown key 'timelimit'; did you mean"),
    ("time_limit = 5", "time_limit = -5", "job.toml:30: method: time_limit must be positive"),
    (
        "time_limit = 5",
        'time_limit = "5 s"',
        "job.toml:30: method: option 'time_limit' must be a number; it is a text",
    ),
    (
        "time_limit = 5",
        'algorithm = "auot"',
        "job.toml:30: method: option 'algorithm' must be one of",
    ),
    ('"published.csv"', '"published.doc"', "job.toml:33: outputs: the name of a published table"),
    ('"published.csv"', '"none/published.csv"', "the directory of this output does not exist"),
    ('"published.csv"', '"firms.csv"', "firms.csv: this output would replace an input"),
    ('"published.csv"', '"regions.csv"', "regions.csv: this output would replace an input"),
    (
        "published =",
        "table =",
        "job.toml:33: outputs: 'table' holds true values: its name must say",
    ),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of the job."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "latin.csv").write_bytes(
        FILES["latin.csv"].replace("C10", "C\u0081").encode("latin1")
    )
    return tmp_path


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_a_mistake_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, message: str
) -> None:
    """Exit code 1, one line with file, line and remedy, no traceback, nothing written."""
    assert old in JOB
    (folder / "job.toml").write_text(JOB.replace(old, new, 1))
    before = {path.name for path in folder.iterdir()}
    assert main(["protect", str(folder / "job.toml"), "--quiet"]) == 1
    printed = capsys.readouterr()
    assert message in printed.err
    (line,) = printed.err.splitlines()
    assert line.startswith("tacit: ")
    assert not re.search(r"5731|6421|Traceback|Error\b", line)
    assert {path.name for path in folder.iterdir()} == before
    assert (folder / "firms.csv").read_text() == FILES["firms.csv"]


def test_without_mistakes_it_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The job of these tests is a good one, but for firms that cannot be hidden."""
    (folder / "job.toml").write_text(JOB)
    assert main(["protect", str(folder / "job.toml"), "--quiet"]) in (0, 2)
    assert "records     3 read" in capsys.readouterr().out


def test_any_option_of_a_method_can_be_typed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--option name=value` reaches options that have no argument."""
    (folder / "job.toml").write_text(JOB)
    job = ["protect", str(folder / "job.toml"), "--quiet"]
    assert main([*job, "--option", "max-suppressed=0"]) == 2
    assert "at most 0 cells" in capsys.readouterr().err
    assert main([*job, "--option", "algorithm=paths"]) in (0, 2, 3)
    assert main([*job, "--option", "algoritm=paths"]) == 1
    assert "did you mean 'algorithm'?" in capsys.readouterr().err
    assert main([*job, "--option", "seed=2", "--seed", "3"]) == 1
    assert "by its own option" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*job, "--option", "seed"])
    assert "NAME=VALUE" in capsys.readouterr().err
