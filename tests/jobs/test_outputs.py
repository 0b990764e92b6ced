"""How the published table of a job is written."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.cli.main import main
from tacit.errors import InputError
from tacit.jobs import read_job

Changed = Callable[..., Path]


def _changed(changed: Changed, *lines: str) -> Path:
    return changed(('published = "published.csv"', "\n".join(lines)))


def test_one_choice_for_several_files(changed: Changed, capsys: pytest.CaptureFixture[str]) -> None:
    """Each file gets what its format has a place for."""
    path = _changed(
        changed,
        'published = ["p.csv", "p.xlsx", "p.html", "p.parquet", "p.jj"]',
        'marks = {primary = "c", secondary = "s"}',
        'flags = "sdmx"',
        'title = "Turnover"',
        "tell_primary = true",
    )
    assert main(["protect", str(path), "--quiet"]) == 0
    told = capsys.readouterr().out
    for name in ("p.csv", "p.xlsx", "p.html", "p.parquet", "p.jj"):
        assert str(path.parent / name) in told
    text = (path.parent / "p.csv").read_text()
    assert text.startswith("industry,region,turnover,CONF_STATUS,OBS_STATUS\n")
    assert ",c,C,Q\n" in text
    assert ",s,D,Q\n" in text
    assert "<h1>Turnover</h1>" in (path.parent / "p.html").read_text()
    assert " u " in (path.parent / "p.jj").read_text()


def test_what_is_typed_counts_more(changed: Changed) -> None:
    """Marks of the command line take the place of those of the job."""
    path = _changed(changed, 'published = "p.csv"', 'marks = "x"')
    assert main(["protect", str(path), "--quiet", "--marks", ":c", "--flags", "none"]) == 0
    text = (path.parent / "p.csv").read_text()
    assert text.startswith("industry,region,turnover\n")
    assert ",:c\n" in text
    assert ",x\n" not in text


def test_a_confidential_jj_file_beside_the_published_table(
    changed: Changed, capsys: pytest.CaptureFixture[str]
) -> None:
    """True values are written where the name says so, and a note says it again."""
    path = _changed(changed, 'published = "p.csv"')
    out = path.parent / "pattern.confidential.jj"
    assert main(["protect", str(path), "--quiet", "--out", str(out)]) == 0
    assert "it is confidential" in capsys.readouterr().err
    assert " u " in out.read_text()


def test_confidential_files_are_for_their_owner(changed: Changed) -> None:
    """Every confidential output is for its owner alone, and keeps the mode it is given."""
    public = ["p.csv", "p.xlsx", "p.html", "p.parquet", "p.jj", "p.csv.gz", "r.html"]
    secret = ["result.json", "t.confidential.csv", "e.confidential.json", "w.confidential.html"]
    path = _changed(
        changed,
        f"published = {public[:-1]}",
        'report = "r.html"',
        'table = "t.confidential.csv"',
        'evidence = "e.confidential.json"',
        'working_report = "w.confidential.html"',
    )
    out = path.parent / "o.confidential.jj"
    folder, told = path.parent, ["protect", str(path), "--quiet", "--out", str(out)]
    before = os.umask(0o002)
    try:
        assert main(told) == 0
        assert {stat.S_IMODE((folder / name).stat().st_mode) for name in public} == {0o664}
        files = [out, *(folder / name for name in secret)]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        for file in files:
            file.chmod(0o640)
        (folder / "p.csv").chmod(0o600)
        assert main(told) == 0
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o640}
        assert stat.S_IMODE((folder / "p.csv").stat().st_mode) == 0o600
        for command in (["info"], ["compare", "--methods", "suppress"]):
            told_json = folder / f"{command[0]}.json"
            assert main([*command, str(path), "--json", str(told_json), "--quiet"]) == 0
            assert stat.S_IMODE(told_json.stat().st_mode) == 0o600
    finally:
        os.umask(before)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['published = "p.xls"'], "must end in .csv, .csv.gz, .parquet, .xlsx, .html, .jj"),
        (['published = "p.csv"', 'flags = "smdx"'], "flags cannot be 'smdx'; did you mean 'sdmx'"),
        (['published = "p.csv"', 'title = "T"'], "no published file has a place for title"),
        (['published = "p.csv"', "marks = {a = 1}"], "two texts under 'primary' and 'secondary'"),
        (['published = "p.csv"', 'marks = {primary = "c", secondary = "s"}'], "tell_primary"),
        (['published = "p.csv"', "tell_primary = 1"], "'tell_primary' must be"),
        (['published = "p.csv"', "marc = 1"], "did you mean 'marks'"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_work(
    changed: Changed, lines: list[str], message: str
) -> None:
    """The error names the line."""
    path = _changed(changed, *lines)
    with pytest.raises(InputError) as raised:
        read_job(path)
    assert message in str(raised.value)
    assert raised.value.line is not None


@pytest.mark.parametrize("name", ["p.xlsx", "tables/p.xlsx"])
def test_a_workbook_without_its_library_is_refused_when_the_job_is_read(
    name: str,
    changed: Changed,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No work is done for a file that could not be written; the error names line and remedy."""
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    written = f'published = ["p.csv", "{name}"]'
    path = _changed(changed, 'title = "T"', written)
    line = path.read_text().splitlines().index(written) + 1
    with pytest.raises(InputError, match=r"p.xlsx: .* pip install 'tacit\[excel\]'") as caught:
        read_job(path)
    assert (caught.value.path, caught.value.line) == (path, line)
    assert main(["protect", str(path)]) == 1
    told = capsys.readouterr()
    assert "pip install 'tacit[excel]'" in told.err
    assert "tabulating" not in told.err + told.out
    assert not (path.parent / "p.csv").exists()


def test_a_typed_workbook_without_its_library_is_refused(
    changed: Changed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is typed is looked at before any work as well."""
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    path = _changed(changed, 'published = "p.csv"')
    out = path.parent / "typed.xlsx"
    assert main(["protect", str(path), "--out", str(out)]) == 1
    told = capsys.readouterr().err
    assert "typed.xlsx: files published for Excel need xlsxwriter" in told
    assert "pip install 'tacit[excel]'" in told
    assert not (path.parent / "p.csv").exists()
