"""Jobs through the command line, from CSV to a published table."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.jobs import job_problem, read_job
from tacit.release import Published

# Amounts of which no digits occur anywhere else.
RECORDS = """\
firm,industry,region,turnover
f01,A,N,71711
f02,A,N,3343
f03,A,S,20201
f04,A,S,19501
f05,A,S,18803
f06,A,W,21227
f07,A,W,23029
f08,A,W,24809
f09,B,N,26261
f10,B,N,27127
f11,B,N,28411
f12,B,S,29531
f13,B,S,30671
f14,B,S,31771
f15,B,W,32831
f16,B,W,33967
f17,B,W,35027
f18,C,N,36151
f19,C,N,37253
f20,C,N,38303
f21,C,S,39409
f22,C,S,40519
f23,C,S,41627
f24,C,W,42737
f25,C,W,43853
f26,C,W,44959
"""
JOB = """\
weights = "value"

[data]
microdata = "records.csv"
value = "turnover"
contributor = "firm"

[dimensions]
industry = {}
region = {}

[[rules]]
rule = "p-percent"
p = 13.375

[method]
time_limit = 20

[outputs]
published = ["published.csv", "published.parquet", "published.csv.gz"]
json = "result.json"
table = "table.confidential.csv"
evidence = "evidence.confidential.json"
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A job with its microdata."""
    (tmp_path / "records.csv").write_text(RECORDS)
    (tmp_path / "job.toml").write_text(JOB)
    return tmp_path / "job.toml"


def _true_table(job: Path) -> tacit.Table:
    table = job_problem(read_job(job))
    assert isinstance(table, tacit.Table)
    return table


def _protect(*arguments: str | Path) -> int:
    return main(["protect", *map(str, arguments), "--quiet"])


def test_from_csv_to_an_audited_publication(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One command writes all that the job asks for, and the audit command confirms it."""
    assert _protect(job) == 0
    told = capsys.readouterr()
    assert told.err == ""
    lines = told.out.splitlines()
    assert lines[0] == str(job)
    assert lines[1] == "  records     26 read"
    assert lines[2] == "  table       16 cells, 8 relations, 1 sensitive"
    assert "  guarantee   a reader who knows the published cells" in told.out
    for file in read_job(job).outputs.files:
        assert f"  wrote       {file}" in told.out
        assert file.is_file()
    folder = job.parent
    rows = list(csv.DictReader((folder / "published.csv").read_text().splitlines()))
    assert list(rows[0]) == ["industry", "region", "turnover", "status"]
    result = json.loads((folder / "result.json").read_text())
    assert result["input"] == str(job)
    assert result["audit"]["safe"] is True
    hidden = [cell for cell, row in enumerate(rows) if row["status"] == "suppressed"]
    assert hidden == result["suppressed"]
    table = _true_table(job)
    assert table.problem().sensitive.tolist() == [5]
    for cell, row in enumerate(rows):
        assert row["turnover"] == ("" if cell in hidden else f"{table.value[cell]:.0f}")
    with duckdb.connect() as duck:
        parquet = duck.read_parquet(str(folder / "published.parquet")).fetchall()
    assert [(*row[:2], row[2] is None, row[3]) for row in parquet] == [
        (row["industry"], row["region"], row["turnover"] == "", row["status"]) for row in rows
    ]
    evidence = folder / "evidence.confidential.json"
    assert main(["audit", str(job), str(folder / "result.json")]) == 0
    checked = [str(job), str(folder / "result.json"), "--check-evidence", str(evidence)]
    assert main(["audit", *checked]) == 0
    assert main(["info", str(job)]) == 0


def _secrets(job: Path, suppressed: list[int]) -> list[str]:
    """Digits that readers must not find: true values, contributions, levels, parameters."""
    table = _true_table(job)
    assert table.top is not None
    problem = table.problem()
    numbers = [
        *table.value[suppressed],
        *table.top[suppressed].ravel(),
        *problem.upper_level,
        13.375,
    ]
    return [f"{number:.15g}" for number in numbers if not np.isnan(number)]


def _leaks(content: bytes, secrets: list[str]) -> list[str]:
    """Secrets that are in a file, as text or as the bytes of a number."""
    return [
        secret
        for secret in secrets
        if secret.encode() in content or np.float64(secret).tobytes() in content
    ]


def _readable(path: Path) -> bytes:
    """The content of a file as its readers get at it, uncompressed."""
    if path.suffix == ".parquet":
        with duckdb.connect() as duck:
            rows = duck.read_parquet(str(path)).fetchall()
        return path.read_bytes() + repr(rows).encode()
    if path.suffix == ".gz":
        import gzip

        return gzip.decompress(path.read_bytes())
    return path.read_bytes()


def test_no_secret_is_in_any_published_file(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """True values of suppressed cells are in none of the bytes that readers get."""
    assert _protect(job) == 0
    told = capsys.readouterr().out
    suppressed = json.loads((job.parent / "result.json").read_text())["suppressed"]
    secrets = _secrets(job, suppressed)
    assert len(suppressed) >= 4
    for path in read_job(job).outputs.published:
        assert _leaks(_readable(path), secrets) == []
    assert _leaks(told.replace(str(job), "").encode(), secrets) == []
    assert _leaks((job.parent / "table.confidential.csv").read_bytes(), secrets) == secrets[:-1]


def test_a_planted_leak_is_caught(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A publication that forgets to leave one value out is found in each kind of file."""
    honest = Published.of

    def leaking(source: tacit.Table, outcome: tacit.Outcome, **told: Any) -> Published:
        published = honest(source, outcome, **told)
        cell = int(outcome.suppressed[0])
        value = published.value.copy()
        value[cell] = source.value[cell]
        return Published(published.codes, value, None, None, published.status, published.dimensions)

    monkeypatch.setattr(Published, "of", leaking)
    assert _protect(job) == 0
    suppressed = json.loads((job.parent / "result.json").read_text())["suppressed"]
    secrets = _secrets(job, suppressed)
    for path in read_job(job).outputs.published:
        assert _leaks(_readable(path), secrets) == secrets[:1]


def test_confidential_files_say_so_in_their_first_line(job: Path) -> None:
    """The first line of each of them says that it is confidential."""
    assert _protect(job) == 0
    for name in ("table.confidential.csv", "evidence.confidential.json"):
        with open(job.parent / name) as stream:
            assert "confidential" in stream.readline()


def test_what_is_typed_counts_more(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Options and outputs of the command line take the place of those of the job."""
    out, result = job.parent / "own.csv", job.parent / "own.json"
    typed = ["--algorithm", "paths", "--seed", "5", "--weights", "unit"]
    assert _protect(job, *typed, "--out", out, "--json", result) == 0
    members = json.loads(result.read_text())
    assert (members["algorithm"], members["seed"]) == ("paths", 5)
    assert members["objective"] == len(members["suppressed"])
    assert not (job.parent / "result.json").exists()
    assert out.read_bytes() == (job.parent / "published.csv").read_bytes()
    assert f"wrote       {out}" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["own.txt", "own.jj"])
def test_a_pattern_can_be_written_too(job: Path, name: str) -> None:
    """The numbers of suppressed cells, or the table as a JJ file, as for any other input."""
    assert _protect(job, "--out", job.parent / name) == 0
    assert main(["audit", str(job), str(job.parent / name)]) == 0


def test_another_method_can_be_typed(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Intervals are published with their ends, and the audit command confirms them."""
    assert _protect(job, "--method", "intervals", "--time-limit", "20") == 0
    assert "intervals   " in capsys.readouterr().out
    rows = list(csv.DictReader((job.parent / "published.csv").read_text().splitlines()))
    assert list(rows[0]) == ["industry", "region", "turnover", "lower", "upper", "status"]
    value = _true_table(job).value
    for cell, row in enumerate(rows):
        if row["status"] == "interval":
            assert row["turnover"] == ""
            assert float(row["lower"]) <= value[cell] <= float(row["upper"])
        else:
            assert row["turnover"] == row["lower"] == row["upper"] == f"{value[cell]:.0f}"
    assert main(["audit", str(job), str(job.parent / "result.json")]) == 0
    assert _protect(job, "--method", "intervals", "--out", job.parent / "a.txt") == 1
    assert "does not say what method intervals publishes" in capsys.readouterr().err
    assert _protect(job, "--method", "intervals", "--algorithm", "paths") == 1
    assert "'algorithm' must be one of" in capsys.readouterr().err


def test_the_same_job_twice_is_the_same(job: Path) -> None:
    """The publication is the same to the byte."""
    written = []
    for _ in range(2):
        assert _protect(job) == 0
        written.append([path.read_bytes() for path in read_job(job).outputs.published])
    assert written[0] == written[1]


def test_singletons_are_known_from_contributors(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table made of microdata says which cells have a single respondent."""
    records = (job.parent / "records.csv").read_text()
    (job.parent / "records.csv").write_text(records.replace("f02,A,N,3343\n", ""))
    assert _protect(job, "--singletons", "respondents") == 0
    assert "neither a reader who knows" in capsys.readouterr().out


def test_dropped_records_are_told(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """How many is in the summary, why on standard error."""
    text = JOB.replace("region = {}", 'region = {codes = ["N", "S"]}')
    job.write_text(text.replace('contributor = "firm"', 'contributor = "firm"\nunknown = "drop"'))
    assert _protect(job) == 0
    told = capsys.readouterr()
    assert "records     26 read, 9 dropped" in told.out
    assert told.err == (
        f"note: region: unknown code in 9 records (W) in {job.with_name('records.csv')} lines 7, "
        "8, 9, 16, 17 and 4 more; dropped\n"
    )


def test_a_job_without_sensitive_cells_is_noted(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job without rules is told that everything is published."""
    job.write_text(JOB.replace('[[rules]]\nrule = "p-percent"\np = 13.375\n', ""))
    assert _protect(job) == 0
    told = capsys.readouterr()
    assert told.err == "note: no cell is sensitive, everything will be published\n"
    assert "none is needed" in told.out


def test_no_safe_pattern_is_code_2(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON tells it, nothing else is written, and the reason is printed."""
    assert _protect(job, "--max-suppressed", "1") == 2
    told = capsys.readouterr()
    assert "no safe pattern exists" in told.err
    assert "published.csv" in told.err
    assert "were not written" in told.err
    assert json.loads((job.parent / "result.json").read_text())["status"] == "infeasible"
    names = {path.name for path in job.parent.iterdir()}
    assert names == {"job.toml", "records.csv", "result.json"}


def test_stopped_before_any_pattern_is_code_3(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is published that is not known to be safe."""
    interrupted = tacit.Outcome(status=tacit.Status.INTERRUPTED, stopped_by=tacit.StopReason.TIME)
    monkeypatch.setattr("tacit.methods.suppress.run.suppress", lambda *_, **__: interrupted)
    assert _protect(job) == 3
    assert not (job.parent / "published.csv").exists()


def test_exposed_cells_are_code_4(
    job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A method that is wrong does not get past the audit."""
    bare = tacit.Outcome(
        status=tacit.Status.OPTIMAL,
        solution=tacit.Suppression(_true_table(job).problem().is_sensitive),
    )
    monkeypatch.setattr("tacit.methods.suppress.run.suppress", lambda *_, **__: bare)
    assert _protect(job) == 4
    assert "the audit found cells exposed: cell industry=A, region=N" in capsys.readouterr().err
    assert not (job.parent / "published.csv").exists()


def test_errors_name_file_line_and_nearest_key(job: Path) -> None:
    """A process prints one line, no traceback, and ends with code 1."""
    job.write_text(JOB.replace("contributor", "contributer"))
    command = [sys.executable, "-m", "tacit", "protect", str(job)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr == (
        f"tacit: {job}:6: data: unknown key 'contributer'; did you mean 'contributor'?\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"result.json"', '"records.csv"', "this output would replace an input"),
        ('"result.json"', '"published.csv"', "named for two outputs"),
        ('"result.json"', '"no/result.json"', "the directory of this output does not exist"),
        ('"records.csv"', '"missing.csv"', "missing.csv"),
        (
            "p = 13.375",
            "p = 13.375\nholding = true",
            "the rule 'p%' needs the largest contributions",
        ),
    ],
)
def test_what_cannot_be_is_told_in_one_line(
    job: Path, old: str, new: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outputs that cannot be and data that are not there end in a message with the job's name."""
    job.write_text(JOB.replace(old, new, 1))
    assert _protect(job) == 1
    told = capsys.readouterr()
    assert message in told.err
    assert len(told.err.splitlines()) == 1
    assert "13.375" not in told.err


def test_ctrl_c_while_tabulating_stops_at_once(
    job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table that is half made is of no use."""

    def interrupted(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("tacit.jobs.sources.tabulate", interrupted)
    assert _protect(job) == 130
    assert capsys.readouterr().err == "tacit: stopped\n"


@pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
def test_tabulate_writes_a_table_that_a_job_can_read(
    job: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tabulated first and protected later is the same as at once."""
    assert _protect(job) == 0
    once = (job.parent / "published.csv").read_bytes()
    capsys.readouterr()
    out, records = job.parent / name, job.parent / "records.csv"
    command = ["tabulate", str(records), "--config", str(job), "--out", str(out), "--quiet"]
    assert main(command) == 0
    told = capsys.readouterr()
    assert told.err == f"note: {out} contains true values; it is confidential\n"
    assert "records     26 read" in told.out
    assert "table       industry (4) x region (4), 16 cells" in told.out
    later = JOB.replace('microdata = "records.csv"', f'table = "{name}"')
    later = later.replace('value = "turnover"\n', 'count = "count"\ntop = ["top_1", "top_2"]\n')
    job.write_text(later.replace('contributor = "firm"\n', ""))
    assert _protect(job) == 0
    twice = (job.parent / "published.csv").read_bytes()
    assert twice == once.replace(b"turnover", b"value")


def test_tabulate_writes_linked_tables_apart(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file for each table, as a job with finished tables reads them: it protects the same."""
    names = (["industry", "region"], ["industry"])
    tables = "".join(f"[[tables]]\ndimensions = {each}\n" for each in names)
    whole = JOB.partition("[outputs]")[0] + '[outputs]\npublished = "{table}.csv"\n'
    rule = "[[rules]]\n"
    job.write_text(whole.replace(rule, tables + rule))
    assert _protect(job) == 0
    once = [(job.parent / name).read_bytes() for name in ("industry-region.csv", "industry.csv")]
    out, records = job.parent / "{table}.confidential.csv", job.parent / "records.csv"
    command = ["tabulate", str(records), "--config", str(job), "--out", str(out), "--quiet"]
    capsys.readouterr()
    assert main(command) == 0
    told = capsys.readouterr()
    assert "linked      16 cells" in told.out
    assert "contain true values; they are confidential" in told.err
    again = "".join(
        f'[[tables]]\ntable = "{"-".join(each)}.confidential.csv"\ndimensions = {each}\n'
        for each in names
    )
    later = whole.replace(rule, again + rule)
    later = later.replace('microdata = "records.csv"', 'value = "value"')
    later = later.replace('value = "turnover"\n', 'count = "count"\ntop = ["top_1", "top_2"]\n')
    job.write_text(later.replace('contributor = "firm"\n', ""))
    assert _protect(job) == 0
    twice = [(job.parent / name).read_bytes() for name in ("industry-region.csv", "industry.csv")]
    assert twice == [content.replace(b"turnover", b"value") for content in once]
    job.write_text(JOB)
    assert main(command) == 1
    assert "{table} stands for the name of each of several linked tables" in capsys.readouterr().err


def test_tabulate_refuses_what_cannot_be(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Outputs of an unknown kind and missing microdata are reported in one line."""
    start = ["tabulate", str(job.parent / "records.csv"), "--config", str(job), "--out"]
    assert main([*start, str(job.parent / "table.xls")]) == 1
    assert "must end in .csv, .csv.gz, .parquet" in capsys.readouterr().err
    assert main([*start, str(job.parent / "records.csv")]) == 1
    assert "would replace an input" in capsys.readouterr().err
    start[1] = str(job.parent / "none.csv")
    assert main([*start, str(job.parent / "table.csv")]) == 1
    assert "none.csv" in capsys.readouterr().err
    assert not (job.parent / "table.csv").exists()
