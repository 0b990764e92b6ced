"""Plans: each job ends as it would alone, one failure stops nobody, and only changes run again."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.cli.main import main
from tacit.errors import InputError
from tacit.jobs import Job, make_plan, read_job, read_plan, run_job, run_plan, write_outputs
from tacit.jobs.plans import Ending, Entry, JobResult, PlanListener, PlanResult, is_plan
from tests.jobs.conftest import JOB, RECORDS

NAMES = ("a", "b", "c")


def _job(name: str, *changes: tuple[str, str]) -> str:
    text = JOB.replace('"records.csv"', '"../records.csv"')
    text = text.replace("published.csv", f"{name}.csv").replace("result.json", f"{name}.json")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


METHODS = {
    "a": (),
    "b": (('name = "suppress"', 'name = "round"\nbase = 200'),),
    "c": (('name = "suppress"', 'name = "intervals"'),),
}


@pytest.fixture
def plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three jobs about the same records, which is the current one."""
    (tmp_path / "records.csv").write_text(RECORDS)
    (tmp_path / "jobs").mkdir()
    for name in NAMES:
        (tmp_path / "jobs" / f"{name}.toml").write_text(_job(name, *METHODS[name]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


class _Names(PlanListener):
    """Notes which jobs begin and how they end, and stops after some."""

    def __init__(self, stop_after: int | None = None):
        self.begun: list[str] = []
        self.ended: list[tuple[str, str]] = []
        self.ran: list[str] = []
        self._stop_after = stop_after

    def on_begin(self, entry: Entry) -> None:
        self.begun.append(entry.name)

    def on_end(self, entry: Entry, result: JobResult) -> None:
        self.ended.append((entry.name, result.ending.value))
        if not result.unchanged:
            self.ran.append(entry.name)

    def should_stop(self) -> bool:
        return self._stop_after is not None and len(self.ended) >= self._stop_after


def _ran(**arguments: Any) -> list[str]:
    listener = _Names()
    run_plan("jobs/*.toml", listener=listener, **arguments)
    return listener.ran


def _content(folder: Path) -> dict[str, Any]:
    """What is published, as bytes, and results without what a clock says."""
    found: dict[str, Any] = {}
    for path in sorted(folder.glob("**/*")):
        if path.suffix == ".csv" and path.name != "records.csv":
            found[path.name] = path.read_bytes()
        elif path.suffix == ".json" and "state" not in path.name:
            members = json.loads(path.read_text())
            found[path.name] = {
                key: members[key] for key in members if key not in ("seconds", "trace", "input")
            }
    return found


@pytest.mark.parametrize("side_by_side", [1, 2])
def test_each_job_ends_as_it_would_alone(plans: Path, side_by_side: int) -> None:
    """Published files are the same bytes, and results the same figures, as of single jobs."""
    for name in NAMES:
        job = read_job(plans / "jobs" / f"{name}.toml")
        write_outputs(job, run_job(job))
    alone = _content(plans)
    assert len(alone) == 6
    for path in (plans / "jobs").glob("*.[cj]s*"):
        path.unlink()
    found = run_plan("jobs/*.toml", jobs=side_by_side)
    assert [result.ending for result in found] == [Ending.DONE] * 3
    assert _content(plans) == alone


@settings(max_examples=3)
@given(st.lists(st.integers(1, 900), min_size=8, max_size=8), st.integers(1, 5))
def test_plans_of_random_tables(values: list[int], least: int) -> None:
    """Whatever the values and rules, a plan publishes what each of its jobs does alone."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [f"f{k},{'AB'[k % 2]}{k % 4 // 2},{'NS'[k // 4]},{v}" for k, v in enumerate(values)]
        (folder / "records.csv").write_text("\n".join(["firm,industry,region,turnover", *rows]))
        (folder / "jobs").mkdir()
        paths = []
        for job in ("a", "b"):
            paths.append(folder / "jobs" / f"{job}.toml")
            changes = [("minimum = 3", f"minimum = {least}")] if job == "a" else []
            paths[-1].write_text(_job(job, *changes))
        alone = []
        for path in paths:
            single = read_job(path)
            try:
                write_outputs(single, run_job(single))
                alone.append(Ending.DONE)
            except tacit.NoReleaseError:
                alone.append(Ending.NO_SAFE_OUTCOME)
        expected = {key: found for key, found in _content(folder).items() if key.endswith("csv")}
        plan = make_plan(paths, state=None)
        assert [result.ending for result in run_plan(plan, again=True)] == alone
        found = {key: each for key, each in _content(folder).items() if key.endswith("csv")}
        assert found == expected


def test_only_what_changed_runs_again(plans: Path) -> None:
    """Its file, its data, an option or a missing output make a job run again, and nothing else."""
    assert _ran() == [*NAMES]
    assert _ran() == []
    assert _ran(again=True) == [*NAMES]
    job = plans / "jobs" / "b.toml"
    job.write_text(job.read_text().replace("base = 200", "base = 300"))
    assert _ran() == ["b"]
    (plans / "jobs" / "c.csv").unlink()
    assert _ran() == ["c"]
    (plans / "jobs" / "a.csv").write_text("somebody changed it")
    assert _ran() == ["a"]
    assert _ran(time_limit=19) == [*NAMES]
    assert _ran(time_limit=19) == []
    records = plans / "records.csv"
    records.write_text(records.read_text().replace("900", "901"))
    assert _ran(time_limit=19) == [*NAMES]
    (plans / "tacit.state.confidential.json").write_text("{}")
    assert _ran(time_limit=19) == [*NAMES]


READS_MANY = """\
[data]
microdata = "records.txt"
layout = "layout.rda"
value = "turnover"
contributor = "firm"

[dimensions.industry]
file = "industries.csv"

[dimensions.region]
file = "regions.hrc"
labels = "names.csv"

[[tables]]
dimensions = ["industry", "region"]

[[tables]]
name = "coast"
dimensions = ["region"]
hierarchies.region = {file = "coast.csv"}

[[rules]]
rule = "min-frequency"
minimum = 2

[[rules]]
rule = "manual"
marks = "marks.csv"

[previous]
table = ["last.csv", "last-coast.csv"]

[method]
time_limit = 20

[outputs]
published = "many {table}.csv"
"""
READ = {
    "records.txt": "a A N  9\nb A N  7\nc A S  8\nd A S  5\ne B N  4\nf B N  6\ng B S  7\nh B S  9",
    "layout.rda": "firm 1 1\nindustry 3 1\n<RECODEABLE>\nregion 5 1\n<RECODEABLE>\n"
    "turnover 6 3\n<NUMERIC>\n",
    "industries.csv": "child,parent\nA,Total\nB,Total\n",
    "regions.hrc": "N\nS\n",
    "names.csv": "code,label\nN,North\nS,South\n",
    "coast.csv": "child,parent\nN,sea\nS,sea\nsea,Total\n",
    "marks.csv": "industry,region,status\nA,N,sensitive\n",
    "last.csv": "industry,region,value\nA,N,\nA,S,\nB,N,\nB,S,\n",
    "last-coast.csv": "region,value\nsea,56\n",
}


@pytest.mark.parametrize("file", ["many.toml", *READ])
def test_every_file_that_is_read_makes_a_job_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    """Records, layout, hierarchies, labels, marks, the last publications: each counts."""
    monkeypatch.chdir(tmp_path)
    for name, text in {**READ, "many.toml": READS_MANY}.items():
        (tmp_path / name).write_text(text)
    assert {path.name for path in read_job("many.toml").inputs} == {"many.toml", *READ}

    def ran() -> list[str]:
        listener = _Names()
        result = run_plan("many.toml", listener=listener)
        assert [each.ending for each in result] == [Ending.DONE]
        return listener.ran

    assert ran() == ["many"]
    assert ran() == []
    with (tmp_path / file).open("a") as stream:
        stream.write("\n")
    assert ran() == ["many"]


def test_fingerprints_are_the_same_in_every_process(plans: Path) -> None:
    """A job of linked tables, too, has nothing in it that changes from process to process."""
    tables = "".join(f"[[tables]]\ndimensions = {names}\n" for names in (["industry"], ["region"]))
    rule = '[[rules]]\nrule = "min'
    (plans / "jobs" / "a.toml").write_text(_job("a", (rule, f"{tables}\n{rule}")))
    code = (
        "from tacit.jobs import read_job\n"
        "from tacit.jobs.plans.state import fingerprint\n"
        "print(*[fingerprint(read_job(f'jobs/{name}.toml'), 1e-9) for name in 'abc'])\n"
    )
    told = set()
    for seed in ("1", "2", "4"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        told.add(subprocess.check_output([sys.executable, "-c", code], env=environment, text=True))
    assert len(told) == 1
    assert len(set(told.pop().split())) == 3


def test_unchanged_results_are_told_again(plans: Path) -> None:
    """The summary of jobs that did not run is that of their last run."""
    first, second = run_plan("jobs/*.toml"), run_plan("jobs/*.toml")
    assert all(result.unchanged for result in second)
    assert [r.published for r in first] == [r.published for r in second]
    assert [r.working for r in first] == [r.working for r in second]
    assert first.summary(confidential=False) == second.summary(confidential=False)
    assert (plans / "tacit.state.confidential.json").stat().st_mode & 0o077 == 0


def test_failed_jobs_run_again(plans: Path) -> None:
    """A job that failed is tried again, although nothing has changed."""
    job = plans / "jobs" / "b.toml"
    job.write_text(job.read_text().replace("base = 200", "base = 1.5"))
    assert _ran() == [*NAMES]
    assert _ran() == ["b"]


def test_a_plan_file(plans: Path) -> None:
    """A file lists jobs, options for all of them, files for each and summaries."""
    (plans / "plan.toml").write_text(
        'jobs = ["jobs/*.toml", "jobs/a.toml", "plan*.toml"]\n'
        'summary = ["all.txt", "all.confidential.csv", "all.html", "all.confidential.html"]\n'
        'out_dir = "out"\ninsiders = "none"\n'
        "[method]\ntime_limit = 18\n"
        '[outputs]\npublished = "{name}-also.csv"\nmarks = "c"\n'
    )
    plan = read_plan(plans / "plan.toml")
    assert [entry.name for entry in plan.entries] == [*NAMES]
    job = plan.job(plan.entries[1])
    assert (job.method, job.options["time_limit"], job.options["base"]) == ("round", 18, 200)
    assert job.insiders == "none"
    found = run_plan(plans / "plan.toml")
    assert found.worst is Ending.DONE
    assert sorted(path.name for path in (plans / "out" / "c").iterdir()) == ["c.csv", "c.json"]
    assert ",c," in (plans / "a-also.csv").read_text()
    assert not (plans / "jobs" / "a.csv").exists()
    assert (plans / "plan.state.confidential.json").exists()
    with open(plans / "all.confidential.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["job"] for row in rows] == [*NAMES]
    assert rows[0]["files"] == "a.csv, a-also.csv, a.json"
    assert [*rows[0]][-1].startswith("confidential")
    assert float(rows[0]["objective"]) > 0
    assert "<!-- " in (plans / "all.confidential.html").read_text().splitlines()[0]


def test_public_summaries_are_about_what_is_published(plans: Path) -> None:
    """Tables that differ in hidden values only have the same public summary, byte for byte."""
    summaries = []
    for value in ("900", "905"):
        records = RECORDS.replace("f6,,A2,N,900,0", f"f6,,A2,N,{value},0")
        (plans / "records.csv").write_text(records)
        run_plan(
            make_plan(
                ["jobs/a.toml"],
                summary=tuple(plans / name for name in ("s.txt", "s.csv", "s.html")),
            ),
            again=True,
        )
        texts = [(plans / name).read_text() for name in ("s.txt", "s.csv", "s.html")]
        for word in ("objective", "gap", "sensitive", "seconds", ".json", "905"):
            assert not any(word in text for text in texts[:2])
        summaries.append(texts)
    assert summaries[0] == summaries[1]


def test_stopping_keeps_what_is_finished(plans: Path) -> None:
    """No job begins after a stop; those that ended have their files, and the rest is told."""
    listener = _Names(stop_after=1)
    found = run_plan("jobs/*.toml", listener=listener)
    assert listener.begun == ["a"]
    assert [result.ending for result in found] == [Ending.DONE, Ending.STOPPED, Ending.STOPPED]
    assert "not begun" in found[2].message
    assert (plans / "jobs" / "a.csv").exists()
    assert not (plans / "jobs" / "b.csv").exists()
    assert _ran() == ["b", "c"]


def test_an_interrupted_job_runs_again(plans: Path) -> None:
    """One that was asked to stop has its files, if it had a safe solution, and is not done."""

    class Impatient(_Names):
        def should_stop(self) -> bool:
            return bool(self.begun)

    found = run_plan(["jobs/a.toml"], listener=Impatient())
    assert found[0].cut_short or found[0].ending is Ending.STOPPED
    assert (plans / "jobs" / "a.csv").exists() == (found[0].ending is Ending.DONE)
    assert _ran() == [*NAMES]


def _dies_in_its_process(job: Job, entry: Entry) -> Job:
    if entry.name == "b" and multiprocessing.parent_process() is not None:
        os._exit(9)
    return job


def test_a_lost_process_costs_one_job(plans: Path) -> None:
    """Where a process is killed, its job has failed and the others go on."""
    plan = make_plan("jobs/*.toml").replace(change=_dies_in_its_process)
    found = run_plan(plan, jobs=2)
    assert [result.ending for result in found] == [Ending.DONE, Ending.STOPPED, Ending.DONE]
    assert "its process has ended, perhaps for lack of memory" in found[1].message
    assert (plans / "jobs" / "c.csv").exists()


def _fails_inside(job: Job, entry: Entry) -> Job:
    if entry.name == "b":
        raise RuntimeError("oh")
    return job


@pytest.mark.usefixtures("plans")
def test_an_error_in_tacit_itself_stops_nobody() -> None:
    """An unexpected error is told without a traceback, and the other jobs run."""
    plan = make_plan("jobs/*.toml").replace(change=_fails_inside)
    with pytest.raises(RuntimeError):
        plan.job(plan.entries[1])
    found = run_plan(plan)
    assert [result.ending for result in found] == [Ending.DONE, Ending.STOPPED, Ending.DONE]
    assert "an error in tacit itself (RuntimeError: oh)" in found[1].message


def test_results_come_back_from_the_state(tmp_path: Path) -> None:
    """A result is the same after it was written and read."""
    result = JobResult(
        name="a",
        path=tmp_path / "a.toml",
        ending=Ending.EXPOSED,
        message="wrong",
        working={"gap": 0.5},
        files=(tmp_path / "a.csv",),
        cut_short=True,
    )
    assert JobResult.from_json(json.loads(json.dumps(result.to_json()))) == result
    assert PlanResult((result,)).worst.code == 4


def test_names_tell_jobs_apart(plans: Path) -> None:
    """Jobs of the same name in different folders are named with their folders, each once."""
    (plans / "more").mkdir()
    (plans / "more" / "a.toml").write_text(_job("a"))
    (plans / "table.jj.gz").write_bytes(b"")
    plan = make_plan(["jobs/a.toml", "more/a.toml", "./jobs/../jobs/a.toml", "table.jj.gz"])
    assert [entry.name for entry in plan.entries] == ["jobs/a", "more/a", "table"]
    assert plan.entries[0].file_name == "jobs-a"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("jobs = []", "plan.toml:1: 'jobs' is an empty list"),
        ('jobs = "none/*.toml"', "plan.toml:1: no file matches"),
        ('jobs = "plan.toml"', "plan.toml:1: there are no jobs"),
        ('jobs = "jobs/*.toml"\nparalel = 2', "plan.toml:2: unknown key 'paralel'; did you mean"),
        ('jobs = "jobs/*.toml"\nparallel = 0', "plan.toml:2: 'parallel' is how many"),
        ('jobs = "jobs/*.toml"\nsummary = "all.doc"', "plan.toml:2: .*must end in one of .txt"),
        ('jobs = "jobs/*.toml"\nstate = "s.json"', "plan.toml:2: .*must contain 'confidential'"),
        ('jobs = "jobs/*.toml"\n[outputs]\njson = "a.json"', "put {name} into the name"),
        ('jobs = "jobs/*.toml"\n[method]\ntime = 3', "plan.toml:3: method: unknown key 'time'"),
        ('jobs = "jobs/*.toml"\nmethod = "supress"', "plan.toml:2: .*suppress"),
        ('jobs = ["jobs/*.toml", "other.toml"]', "other.toml: this is a plan, which cannot be"),
    ],
)
def test_plans_that_are_wrong(plans: Path, text: str, message: str) -> None:
    """What is wrong with a plan is named with its line, before any work."""
    (plans / "other.toml").write_text('jobs = "jobs/a.toml"')
    (plans / "plan.toml").write_text(text)
    assert is_plan(plans / "plan.toml")
    with pytest.raises(InputError, match=message):
        read_plan(plans / "plan.toml")


def test_jobs_must_not_meet(plans: Path) -> None:
    """Two jobs that write the same file, or one that reads what another writes, are refused."""
    (plans / "jobs" / "b.toml").write_text(_job("a"))
    with pytest.raises(InputError, match=r"a\.csv: a and b would both write this file"):
        run_plan("jobs/*.toml")
    reader = _job("b", ('microdata = "../records.csv"', 'microdata = "a.csv"'))
    (plans / "jobs" / "b.toml").write_text(reader)
    with pytest.raises(InputError, match="b reads what a writes"):
        run_plan("jobs/*.toml")
    (plans / "jobs" / "b.toml").write_text(_job("b"))
    plan = make_plan("jobs/*.toml", summary=(plans / "jobs" / "a.csv",))
    with pytest.raises(InputError, match="named for two outputs"):
        run_plan(plan)
    assert not (plans / "jobs" / "a.csv").exists()


def _protect(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["protect", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_one_failure_among_three_on_the_command_line(
    plans: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others are done, the message names the line, and the code is that of the failure."""
    job = plans / "jobs" / "b.toml"
    job.write_text(job.read_text().replace("minimum = 3", "minimum = true"))
    code, out, err = _protect(capsys, "jobs/*.toml", "--summary", "all.confidential.txt")
    assert code == 1
    assert out.splitlines()[0] == "3 tables: 2 done, 1 wrong input"
    assert [line.split()[:2] for line in out.splitlines()[2:5]] == [
        ["a", "done"],
        ["b", "wrong"],
        ["c", "done"],
    ]
    assert "b.toml:13: rules[0]: 'minimum' must be a number" in err
    written = (plans / "all.confidential.txt").read_text()
    assert written.startswith("confidential")
    assert "'minimum' must be a number" in written
    code, out, _ = _protect(capsys, "jobs/a.toml", "jobs/c.toml", "--quiet")
    assert (code, out.splitlines()[0]) == (0, "2 tables: 2 unchanged")


def test_the_code_is_the_worst(plans: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A job that is impossible is worse than one that cannot be read."""
    job = plans / "jobs" / "c.toml"
    job.write_text(_job("c", ("time_limit = 20", "time_limit = 20\nmax_suppressed = 1")))
    (plans / "jobs" / "b.toml").write_text("nothing")
    code, out, err = _protect(capsys, "jobs/*.toml", "--quiet")
    assert code == 2
    assert out.splitlines()[0] == "3 tables: 1 done, 1 wrong input, 1 no safe outcome"
    assert "c.toml: no safe outcome exists" in err
    assert json.loads((plans / "jobs" / "c.json").read_text())["status"] == "infeasible"
    assert not (plans / "jobs" / "c.csv").exists()


def test_files_for_each_input(plans: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """{name} in the name of an output stands for that of each input; options are for all."""
    command = ["jobs/a.toml", "jobs/b.toml", "--quiet", "--time-limit", "15"]
    code, _, _ = _protect(capsys, *command, "--out", "{name}.html", "--out-dir", "out")
    assert code == 0
    assert {path.name for path in plans.glob("*.html")} == {"a.html", "b.html"}
    assert (plans / "out" / "a" / "a.csv").exists()
    code, _, err = _protect(capsys, *command, "--out", "one.html")
    assert (code, "put {name} into its name" in err) == (1, True)
    code, _, err = _protect(capsys, *command, "--out", "{name}.txt")
    assert (code, "cells by number are written for one input only" in err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["jobs/a.toml", "--again"], "--again is for several inputs or a plan"),
        (["jobs/a.toml", "--summary", "s.txt"], "--summary is for several inputs or a plan"),
        (["jobs/b.toml", "--jobs", "2"], "jobs"),
        (["none/*.toml"], "no file matches none/*.toml"),
        (["jobs/*.toml", "--summary", "s.doc"], "the name of a summary must end in"),
        (["jobs/*.toml", "--state", "s.json"], "must contain 'confidential'"),
    ],
)
@pytest.mark.usefixtures("plans")
def test_what_cannot_be_typed(
    capsys: pytest.CaptureFixture[str], arguments: Sequence[str], message: str
) -> None:
    """Options without effect and wrong names are refused before any work."""
    code, _, err = _protect(capsys, *arguments)
    assert code == 1
    assert message in err


@pytest.mark.usefixtures("plans")
def test_lines_carry_the_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal every line says which table it is about."""
    _, _, err = _protect(capsys, "jobs/a.toml", "jobs/c.toml")
    assert [line.partition(":")[0] for line in err.splitlines()] == ["a", "c"]
