"""Messages about mistakes have one style and never contain a secret."""

from __future__ import annotations

import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tacit.cli.main import main
from tacit.cli.progress import Silence
from tacit.io.cells import write_columns

from .mistakes import DOCUMENT, FILES, MISTAKES, SECRETS, Mistake, listed


def _snapshot(folder: Path) -> dict[str, bytes | None]:
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


def _exit_code(arguments: list[str]) -> int | str | None:
    try:
        return main(arguments)
    except SystemExit as ended:
        return ended.code


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_what_is_printed(
    mistake: Mistake,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The whole message is as in the documents, the exit code tells, and nothing is written."""
    mistake.arrange(tmp_path)
    monkeypatch.chdir(tmp_path)
    # On a slow machine progress would show in between.
    monkeypatch.setattr("tacit.cli.progress.PlainLines", Silence)
    before = _snapshot(tmp_path)
    code = _exit_code(shlex.split(mistake.command))
    printed = capsys.readouterr()
    assert printed.err == mistake.printed
    assert code == mistake.code
    if code == 1:
        assert _snapshot(tmp_path) == before
    else:
        written = _snapshot(tmp_path).keys() - before.keys()
        assert written <= ({"published.csv"} if code == 0 else {"result.json"})


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_messages_have_one_style(mistake: Mistake) -> None:
    """Each begins alike, continues indented, and tells neither secrets nor of Python."""
    told = re.sub(r"(?m)^note: .*\n", "", mistake.printed)
    if mistake.code:
        first, *more = told.splitlines()
        assert re.match(r"tacit: [^A-Z]|tacit: INPUT", first)
        assert all(line.startswith("  ") for line in more)
        assert not first.endswith(".")
    assert not re.search(r"Traceback|Error\b|Exception|None\b", mistake.printed)
    assert not re.search(rf"\b({'|'.join(SECRETS)})\b", mistake.printed)


def test_mistakes_are_many_and_differ() -> None:
    """There are far more than thirty, and no two have the same name."""
    assert len({mistake.title for mistake in MISTAKES}) == len(MISTAKES) >= 60


def test_the_document_lists_them_all() -> None:
    """`python -m tests.cli.mistakes` would change nothing in `docs/errors.md`."""
    _, heading, rest = DOCUMENT.read_text().partition("\n## ")
    assert heading[1:] + rest == listed()


def test_without_mistakes_all_is_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that the mistakes start from are good ones."""
    Mistake("", "", "", "").arrange(tmp_path)
    monkeypatch.chdir(tmp_path)
    for command in (
        "info table.jj",
        "protect table.jj",
        "protect job.toml",
        "protect cells.toml",
        "audit table.jj hidden.txt",
    ):
        assert main([*command.split(), "--quiet"]) == 0


def test_a_column_that_a_parquet_file_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Columns are named as for a CSV file, and so is what there is."""
    Mistake("", "", "", "", edits={"job.toml": ("firms.csv", "firms.parquet")}).arrange(tmp_path)
    monkeypatch.chdir(tmp_path)
    columns = {"firm": np.array(["a"]), "region": np.array(["N"]), "size": np.array(["large"])}
    write_columns(columns, Path("firms.parquet"))
    assert main(["protect", "job.toml", "--quiet"]) == 1
    assert capsys.readouterr().err == (
        "tacit: job.toml:3: data: there is no column turnover; the columns are firm, region, size\n"
    )


def _run(
    folder: Path, *arguments: str, most_bytes: int | None = None, out: str | None = None
) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        if most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    command = [sys.executable, "-m", "tacit", *arguments]
    with open(out or "/dev/null", "w") as stream:
        return subprocess.run(
            command,
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            cwd=folder,
            preexec_fn=limit,
        )


@pytest.mark.skipif(sys.platform != "linux", reason="limits and devices of Linux")
def test_a_disk_that_is_full_in_the_middle(tmp_path: Path) -> None:
    """What does not fit leaves the old file as it was, and no remains of the new one."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "result.json").write_text("the old result")
    before = _snapshot(tmp_path)
    # Slow machines would show progress.
    command = ("protect", "table.jj", "--json", "result.json", "--quiet")
    found = _run(tmp_path, *command, most_bytes=200)
    assert found.stderr == (
        "tacit: result.json: the file cannot be written: file too large; write it elsewhere\n"
    )
    assert found.returncode == 1
    assert _snapshot(tmp_path) == before


@pytest.mark.skipif(sys.platform != "linux", reason="limits and devices of Linux")
def test_standard_output_that_cannot_be_written(tmp_path: Path) -> None:
    """A full disk behind `>` is reported like any other."""
    (tmp_path / "table.jj").write_text(FILES["table.jj"])
    found = _run(tmp_path, "info", "table.jj", out="/dev/full")
    assert found.stderr == (
        "tacit: standard output: it cannot be read or written: no space left on device\n"
    )
    assert found.returncode == 1


def test_memory_that_does_not_suffice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Too large a table ends in a line, not in a traceback."""
    (tmp_path / "table.jj").write_text(FILES["table.jj"])

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("tacit.jobs.run.read_jj", fail)
    assert main(["info", str(tmp_path / "table.jj")]) == 3
    assert capsys.readouterr().err.startswith("tacit: there is not enough memory; ")
