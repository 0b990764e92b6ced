"""`tacit generate`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.cli.main import main
from tacit.io.jj import read_jj


def test_the_table_is_written_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file holds a sound table of the requested structure, and the output says which."""
    out = tmp_path / "table.jj"
    assert main(["generate", "2d", "--structure", "4-5-10", "--seed", "7", "--out", str(out)]) == 0
    problem = read_jj(out).validate()
    assert problem.cell_count == 5 * 6
    text = capsys.readouterr().out
    assert f"wrote {out}: 30 cells" in text
    assert "seed 7" in text


def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    """Seeds decide, and nothing else."""
    names = [tmp_path / f"{number}.jj" for number in range(3)]
    for out, seed in zip(names, ("1", "1", "2"), strict=True):
        options = ["--structure", "3-3-3", "--seed", seed, "--out", str(out)]
        assert main(["generate", "3d", *options]) == 0
    first, same, other = (out.read_bytes() for out in names)
    assert first == same != other


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["4d", "--out", "{}/a.jj"], "no kind of table is called '4d'"),
        (["2d", "--structure", "x", "--out", "{}/a.jj"], "'x' is not the structure"),
        (["2d", "--out", "{}/a.csv"], "must end in .jj or .jj.gz"),
        (["2d", "--out", "{}/nowhere/a.jj"], "the directory of this output does not exist"),
    ],
)
def test_what_cannot_be_generated_gets_a_message(
    tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong kind, structure or output is reported, and no file is left behind."""
    assert main(["generate", *(part.format(tmp_path) for part in arguments)]) == 1
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
