"""Batch files translated into jobs do the same."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from tacit.errors import InputError
from tacit.jobs import job_problem, read_job, run_job
from tacit.jobs.argus import translate_argus
from tacit.table import Table
from tests.jobs.argus.small_jobs import Heard, Office


def _as_translated(office: Office, *lines: str, **how: str) -> tuple[Table, Table]:
    """The table of a batch file, and that of the job it becomes."""
    heard = Heard()
    batch = office.batch(*lines, **how)
    (job,) = translate_argus(batch, office.folder / "job.toml", listener=heard)
    made = job_problem(read_job(job))
    assert isinstance(made, Table)
    return heard.tables[1], made


def _assert_same(one: Table, other: Table) -> None:
    for name in one.dimensions:
        codes = [code.strip() for code in one.codes(name)]
        assert codes == [code.strip() for code in other.codes(name)]
    assert np.allclose(one.value, other.value)
    assert np.array_equal(one.is_sensitive, other.is_sensitive)
    assert np.array_equal(one.status == "publish", other.status == "publish")
    for name in ("lower_level", "upper_level", "weight"):
        assert np.allclose(getattr(one, name), getattr(other, name), equal_nan=True)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"rules": "P(20,60,2)|NK(2,80)|FREQ(5,10)|ZERO(3)|MIS(1)|MAN(5)"},
        {"rules": "NK(0,0)|NK(0,0)|NK(1,70)|FREQ(0,0)|FREQ(4,20)"},
        {"rules": "FREQ(9,10)|WGT(1)"},
        {"rules": "REQ(5,5,0,10)"},
        {"rules": "REQ(5,20,0,10)"},
        {"tables": '"nace""region"|"turnover"|"staff"|"staff",0.5'},
        {"tables": '"nace""size"|<freq>||-2', "rules": "FREQ(9,10)"},
    ],
)
def test_tables_rules_and_weights_are_the_same(office: Office, how: dict[str, str]) -> None:
    """Whatever the batch file says of a table, the job says too."""
    _assert_same(*_as_translated(office, "<SUPPRESS> OPT(1,1)", **how))


def test_recodes_and_decisions_are_the_same(office: Office) -> None:
    """Merged codes become [recode], decisions a file with marks."""
    (office.folder / "size.grc").write_text("9: 1 - 3\n")
    (office.folder / "a.hst").write_text("No,9,u\nSo,4,p\n99,Total,s\n10,5,m\n")
    batch, job = _as_translated(
        office,
        "<RECODE> 1,size,size.grc",
        '<APRIORI> "a.hst",1,","',
        "<SUPPRESS> OPT(1,1)",
        rules="FREQ(9,20)|MAN(10)",
    )
    _assert_same(batch, job)


def test_jobs_protect_and_write(office: Office) -> None:
    """Method, minutes, insiders and outputs; everything confidential is for its owner alone."""
    batch = office.batch("<SUPPRESS> MOD(1,2,0,0,0)", '<WRITETABLE> (1,1,,"x\\region.txt")')
    (path,) = translate_argus(batch, office.folder / "t.toml")
    job = read_job(path)
    assert (job.method, job.insiders, job.options) == ("suppress", "none", {"time_limit": 120.0})
    assert [file.name for file in job.outputs.published] == ["region.csv"]
    assert run_job(job, time_limit=2).papers.audit.safe
    for file in (path, office.folder / "t-records.confidential.parquet"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_finished_tables_become_cell_files(tmp_path: Path) -> None:
    """Values, statuses and levels of a table come along."""
    (tmp_path / "t.rda").write_text(
        '<SEPARATOR> ","\na\n <RECODEABLE>\nb\n <RECODEABLE>\nv\n <NUMERIC>\ns\n <STATUS>\n'
    )
    cells = {("1", "x"): 10, ("1", "y"): 20, ("2", "x"): 30, ("2", "y"): 40}
    rows = [f"{a},{b},{v},{'U' if v == 10 else 'S'}" for (a, b), v in cells.items()]
    (tmp_path / "t.tab").write_text("\n".join(rows))
    (tmp_path / "t.arb").write_text(
        '<OPENTABLEDATA> t.tab\n<OPENMETADATA> t.rda\n<SPECIFYTABLE> "a""b"|"v"||\n'
        "<SAFETYRULE> MAN(20)\n<READTABLE> 1\n<SUPPRESS> OPT(1,1)\n"
    )
    heard = Heard()
    (path,) = translate_argus(tmp_path / "t.arb", tmp_path / "j.toml", listener=heard)
    made = job_problem(read_job(path))
    assert isinstance(made, Table)
    _assert_same(heard.tables[1], made)


def test_several_tables_become_several_jobs(office: Office) -> None:
    """Each <SUPPRESS> is a job, with its number."""
    batch = office.batch(
        "<SUPPRESS> OPT(1,1)",
        "<SUPPRESS> GH(2,50)",
        tables='"region""size"|"turnover"|| & "nace""size"|"turnover"||',
    )
    heard = Heard()
    found = translate_argus(batch, office.folder / "j.toml", listener=heard)
    assert [path.name for path in found] == ["j-1.toml", "j-2.toml"]
    assert [next(iter(read_job(path).dimensions)) for path in found] == ["region", "nace"]
    assert any("is not translated" in note for note in heard.notes)


@pytest.mark.parametrize(
    ("lines", "tables", "told"),
    [
        ([], '"size"|"turnover"', "no <SUPPRESS> to translate"),
        (['<WRITETABLE> (1,1,,"x")'], '"size"|"turnover"', "no <SUPPRESS> before"),
        (["<SUPPRESS> OPT(1,1)"], '"size"|"turnover"||"staff"', "costs of its own"),
    ],
)
def test_what_a_job_cannot_say_is_refused(
    office: Office, lines: list[str], tables: str, told: str
) -> None:
    """Nothing is left out in silence."""
    with pytest.raises(InputError, match=told):
        translate_argus(office.batch(*lines, tables=tables), office.folder / "j.toml")
    assert not (office.folder / "j.toml").exists()


_LINKED = '"region""size"|"turnover"|| & "nace""size"|"turnover"||'


@pytest.mark.parametrize(
    ("tables", "rules", "variables"),
    [
        (_LINKED, "P(10,1)|FREQ(3,20)", 1),
        (_LINKED, "FREQ(9,10)|ZERO(3)|MIS(1)", 1),
        ('"region""size"|"turnover"|| & "region""size"|"staff"||', "P(10,1)|MIS(1)", 2),
    ],
)
def test_linked_tables_become_one_job(
    office: Office, tables: str, rules: str, variables: int
) -> None:
    """Its tables, linked, are those of the batch file, and each is published by itself."""
    lines = ("<SUPPRESS> MOD(0,1)", '<WRITETABLE> (2,1,,"second.txt")')
    batch = office.batch(*lines, tables=tables, rules=rules)
    (path,) = translate_argus(batch, office.folder / "linked.toml", listener=Heard())
    job = read_job(path)
    assert job.table_names == ("table-1", "table-2")
    assert [file.name for file in job.outputs.files] == ["second.csv"]
    made = job_problem(job)
    assert isinstance(made, Table)
    assert len(made.variables) == variables
    (release,) = office.run(*lines, tables=tables, rules=rules)
    assert release.papers.table is not None
    _assert_same(release.papers.table, made)
    assert made.relations.shape == release.papers.problem.relations.shape
    assert run_job(job, time_limit=2).papers.audit.safe


def test_linked_tables_that_differ_in_what_a_job_says_once(office: Office) -> None:
    """Rules are for all tables of a job."""
    batch = office.batch("<SUPPRESS> MOD(0,1)", tables=_LINKED)
    text = batch.read_text()
    first = text.index("<SAFETYRULE>")
    assert text.index("<SAFETYRULE>", first + 1) > 0
    second = text.index("<SAFETYRULE>", first + 1)
    batch.write_text(text[:second] + text[second:].replace("P(10,1)", "P(20,1)", 1))
    with pytest.raises(InputError, match="tables 1 and 2 are linked and differ in their rules"):
        translate_argus(batch, office.folder / "j.toml")


def test_jobs_have_their_ending(office: Office) -> None:
    """The name of a job ends in .toml, in a folder that is there."""
    for name in ("j.txt", "absent/j.toml"):
        with pytest.raises(InputError):
            translate_argus(office.batch("<SUPPRESS> OPT(1,1)"), office.folder / name)
