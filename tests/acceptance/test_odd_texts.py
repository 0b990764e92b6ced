"""Texts that no file can hold are refused where they come in, in words and with their place."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.cli.main import main
from tacit.microdata import occurring_codes

HALF, NUL = "x\ud800", "x\0y"
TABLE = tacit.Table.from_frame({"r": ["a", "c"], "value": [1, 2]}, {"r": None})


def _tabulate(value: str = "v", **columns: list[Any]) -> Any:
    return tacit.tabulate({"r": ["a", "b"], "v": [1, 2], **columns}, {"r": None}, value)


@pytest.mark.parametrize("odd", [HALF, NUL], ids=["half", "NUL"])
@pytest.mark.parametrize(
    ("door", "where"),
    [
        (lambda odd: _tabulate(r=["a", odd]), "column r"),
        (lambda odd: tacit.tabulate({odd: ["a"]}, {odd: None}), "name of a column"),
        (lambda odd: _tabulate(value=odd), "name of a column"),
        (lambda odd: occurring_codes({"r": [odd]}, "r"), "column r"),
        (lambda odd: tacit.Hierarchy.flat(["a", odd]), "code x"),
        (lambda odd: tacit.Hierarchy.flat(["a"], total=odd), "code x"),
        (lambda odd: tacit.Hierarchy.from_nested({"a": [odd]}), "code x"),
        (lambda odd: tacit.Hierarchy.from_parents({"a": odd}), "code x"),
        (lambda odd: tacit.Hierarchy.from_prefixes([odd], [len(odd)]), "code x"),
        (lambda odd: tacit.Hierarchy.from_levels({"l": [odd]}), "code x"),
        (
            lambda odd: tacit.Table.from_frame({"r": ["a", odd], "value": [1, 2]}, {"r": None}),
            "column r, row 1: code x",
        ),
        (
            lambda odd: tacit.Table.from_frame({odd: ["a", "b"], "value": [1, 2]}, {odd: None}),
            "dimension x",
        ),
        (
            lambda odd: tacit.Table.from_cube(np.ones(1), {odd: tacit.Hierarchy.flat(["a"])}),
            "dimension x",
        ),
        (lambda odd: TABLE.apply(tacit.Manual({"r": ["a", odd]})), "column r, row 1: code x"),
        (lambda odd: tacit.recode(TABLE, {"r": {odd: ["a", "c"]}}), "code x"),
        (lambda odd: tacit.Problem(value=[1, 2], labels=["a", odd]), "label of cell 1"),
        (lambda odd: tacit.read_jj(f"{odd}.jj"), "name of the file"),
        (lambda odd: tacit.write_jj(TABLE.problem(), f"{odd}.jj"), "name of the file"),
    ],
)
def test_codes_and_names_are_refused(odd: str, door: Callable[[str], Any], where: str) -> None:
    """Halves of characters and control characters do not get in, and the message can be printed."""
    with pytest.raises(tacit.TacitError, match=where) as caught:
        door(odd)
    told = str(caught.value)
    assert "half of a character" in told if odd == HALF else "control character" in told
    assert told.encode().decode().isprintable()


@pytest.mark.parametrize("kind", [dict, pd.DataFrame])
@pytest.mark.parametrize("column", ["r", "firm", "v"])
def test_records_are_found(kind: type, column: str) -> None:
    """Column and row are named, also for contributors, but the text is not quoted."""
    records: dict[str, list[Any]] = {
        "r": ["a", "b", "c"],
        "firm": ["f", "g", "h"],
        "v": ["1", "2", "3"],
    }
    records[column][1] = "Ash\ud800"
    frame = records if kind is dict else pd.DataFrame(records, dtype=object)
    with pytest.raises(tacit.InputError, match=f"column {column}, row 1: .*half") as caught:
        tacit.tabulate(frame, {"r": None}, "v", contributor="firm")
    assert "Ash" not in str(caught.value)


BAD = b"\x81"
"""Neither UTF-8 nor cp1252, in which files of older programs are read."""
JOB = (
    "[data]\n{data}\n[dimensions]\nr = {{{dimension}}}\n"
    '[[rules]]\nrule = "manual"\nmarks = "m.csv"\n'
)


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("cells.csv", b"r,value\na,1\nb" + BAD + b",2\n", 3),
        ("cells.csv", b"r,value\r\na,1\r\nb" + BAD + b",2\r\n", 3),
        ("h.csv", b"child,parent\na,Total\nb" + BAD + b",Total\n", 3),
        ("h.hrc", b"a\nb" + BAD + b"\n", 2),
        ("m.csv", b"r\nb" + BAD + b"\n", 2),
        ("records.csv", b"r,value\na,1\nb" + BAD + b",2\n", 3),
        ("job.toml", b"# all\n# " + BAD + b"\n", 2),
        ("table.jj", b"0\n1\n0 5" + BAD + b" 1 s 0 9 0 0 0\n0\n", 3),
    ],
)
def test_files_that_are_not_text(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: bytes,
    line: int,
) -> None:
    """Every file that a command reads is named with the line that is not text."""
    monkeypatch.chdir(tmp_path)
    Path("cells.csv").write_text("r,value\na,1\nb,2\n")
    Path("m.csv").write_text("r\na\n")
    data = 'microdata = "records.csv"\nvalue = "value"' if name[0] == "r" else 'table = "cells.csv"'
    dimension = f'file = "{name}"' if name[0] == "h" else ""
    Path("job.toml").write_text(JOB.format(data=data, dimension=dimension))
    Path(name).write_bytes(content)
    assert main(["info", name if name.endswith(".jj") else "job.toml", "--quiet"]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"tacit: {name}:{line}: ")
    if not name.endswith(".jj"):
        assert "not text in UTF-8" in told


def test_control_characters_in_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names of files in a job cannot hold what no file can be called."""
    path = tmp_path / "job.toml"
    for key in ("table", "microdata"):
        path.write_text(JOB.format(data=f'{key} = "a\\u0000.csv"', dimension=""))
        assert main(["info", str(path), "--quiet"]) == 1
        assert f"job.toml:2: data: {key!r}: a\\u0000.csv holds a control" in capsys.readouterr().err


def test_arguments_that_are_not_text(tmp_path: Path) -> None:
    """What is typed in another encoding is refused before anything is done."""
    for words in ([b"info", b"caf\xe9.jj"], [b"protect", b"a.jj", b"--out", b"caf\xe9.csv"]):
        command = [os.fsencode(sys.executable), b"-m", b"tacit", *words]
        ended = subprocess.run(command, capture_output=True, cwd=tmp_path, check=False)
        assert ended.returncode == 1
        assert b"argument" in ended.stderr
        assert b"half of a character" in ended.stderr
        assert b"Traceback" not in ended.stderr


@pytest.mark.parametrize("ending", ["csv", "html", "xlsx"])
def test_titles_that_cannot_be_written(tmp_path: Path, ending: str) -> None:
    """A title or name from Python that no file can hold leaves no file behind."""
    published = tacit.protect(TABLE).published
    path = tmp_path / f"out.{ending}"
    write: dict[str, Callable[[], Any]] = {
        "csv": lambda: published.to_csv(path, value=HALF),
        "html": lambda: published.to_html(path, title=HALF),
        "xlsx": lambda: published.to_excel(path, title=HALF),
    }
    with pytest.raises(tacit.InputError, match=r"cannot be written.*half of a character"):
        write[ending]()
    assert not list(tmp_path.iterdir())


def test_other_texts_are_codes() -> None:
    """Letters of any language, emoji, tabs and line ends stay what they are."""
    codes = ["Zürich", "東京", "שלום", "\U0001f600", "a\tb", "a\nb", "a\u00a0b", "\u200fא"]
    table = tacit.tabulate({"r": codes, "v": [1] * len(codes)}, {"r": None}, "v")
    assert set(table.codes("r").tolist()) == {"Total", *codes}
