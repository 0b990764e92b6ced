"""`tacit argus`: what it prints, what it writes, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.cli.exits import ExitCode
from tacit.cli.main import main
from tests.jobs.argus.small_jobs import Office


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """A folder with records, metadata and hierarchies."""
    return Office(tmp_path)


def _argus(batch: Path, *options: str) -> int:
    return main(["argus", str(batch), "--quiet", "--time-limit", "2", *options])


def test_a_batch_file_runs(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    """Records, tables, outcome and files are told; nothing is written elsewhere."""
    out = office.folder / "out"
    out.mkdir()
    batch = office.batch(
        "<SUPPRESS> OPT(1,5)", '<WRITETABLE> (1,1,,"V:\\r.csv")', "<GOINTERACTIVE>"
    )
    assert _argus(batch, "--out-dir", str(out)) == ExitCode.DONE
    told = capsys.readouterr()
    assert "records     400 read" in told.out
    assert "table 1: region x size | turnover" in told.out
    assert "table 1 protected" in told.out
    assert f"wrote {out / 'r.csv'}" in told.out
    assert "note: <GOINTERACTIVE> is passed over" in told.err
    assert "V:\\r.csv is written as" in told.err


def test_silence_is_kept(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    """<SILENT> leaves nothing but errors."""
    batch = office.batch("<SUPPRESS> OPT(1,5)", '<WRITETABLE> (1,1,,"V:\\r.csv")')
    batch.write_text(f"<SILENT>\n{batch.read_text()}")
    assert _argus(batch) == ExitCode.DONE
    assert capsys.readouterr() == ("", "")
    batch.write_text("<SILENT>\n<READMICRODATA>\n")
    assert _argus(batch) == ExitCode.WRONG_INPUT
    assert f"tacit: {batch}:2:" in capsys.readouterr().err


def test_linked_tables_are_told_as_one(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    """MOD(0) protects all tables together."""
    tables = '"region""size"|"turnover"|| & "nace""size"|"turnover"||'
    assert _argus(office.batch("<SUPPRESS> MOD(0,5)", tables=tables)) == ExitCode.DONE
    assert "table 1 and 2 protected, linked as one problem" in capsys.readouterr().out


def test_wrong_input_ends_with_its_line(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    """One message names file and line, without a traceback."""
    assert _argus(office.batch("<SUPPRESS> CKM(1)")) == ExitCode.WRONG_INPUT
    told = capsys.readouterr().err
    assert "job.arb:6: CKM" in told
    assert "Traceback" not in told
    assert _argus(office.folder / "absent.arb") == ExitCode.WRONG_INPUT
    assert "absent.arb" in capsys.readouterr().err


def test_a_table_without_protection_is_not_written(office: Office) -> None:
    """Sensitive cells alone could be computed: nothing is written and the exit code is not 0."""
    batch = office.batch('<WRITETABLE> (1,3,,"r.txt")')
    assert _argus(batch) == ExitCode.WRONG_INPUT
    assert not (office.folder / "r.txt").exists()


def test_a_table_that_cannot_be_protected(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where everything else must be published, no safe outcome exists."""
    cells = [f"{region},{size},p" for region in ("", "No", "So") for size in ("", *"123456")]
    (office.folder / "a.hst").write_text("\n".join(cells) + "\nNo,1,s\nNo,1,u\n")
    batch = office.batch(
        '<APRIORI> "a.hst",1,",",1,0',
        "<SUPPRESS> OPT(1,5)",
        '<WRITETABLE> (1,3,,"r.txt")',
        tables='"region""size"|"turnover"||',
        rules="MAN(10)",
    )
    (office.folder / "region.hrc").write_text("No\nSo\n")
    text = (office.folder / "firms.asc").read_text()
    records = [
        line[:4] + ("No" if number % 2 else "So") + line[6:]
        for number, line in enumerate(text.splitlines())
    ]
    (office.folder / "firms.asc").write_text("\n".join(records))
    assert _argus(batch) == ExitCode.NO_SAFE_OUTCOME
    assert "no safe outcome exists" in capsys.readouterr().err
    assert not (office.folder / "r.txt").exists()


def test_batch_files_are_translated(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    """--to-job writes a job that `tacit protect` runs."""
    batch = office.batch("<SUPPRESS> OPT(1,5)", '<WRITETABLE> (1,1,,"r.csv")')
    job = office.folder / "job.toml"
    assert main(["argus", str(batch), "--quiet", "--to-job", str(job)]) == ExitCode.DONE
    assert f"wrote {job}" in capsys.readouterr().out
    assert main(["protect", str(job), "--quiet", "--time-limit", "2"]) == ExitCode.DONE
    assert (office.folder / "r.csv").is_file()
    assert _argus(batch, "--to-job", str(job)) == ExitCode.WRONG_INPUT
    assert "--time-limit has no effect with --to-job" in capsys.readouterr().err
