"""Names of files that another machine gave."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.errors import InputError
from tacit.io.argus.paths import Folders, read_argus_text


@pytest.fixture
def told() -> list[str]:
    """What users are told."""
    return []


@pytest.fixture
def folders(tmp_path: Path, told: list[str]) -> Folders:
    """A folder with data in several places."""
    for name in (
        "home/Data.ASC",
        "home/sub/inner.hrc",
        "home/other/twice.hrc",
        "home/sub/twice.hrc",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (tmp_path / "out").mkdir()
    return Folders(tmp_path / "home", tmp_path / "out", told.append)


@pytest.mark.parametrize(
    "name",
    [
        "Data.ASC",
        "data.asc",
        r"V:\a\data.asc",
        r"\\server\a\DATA.asc",
        "/no/where/data.asc",
        "V:data.asc",
    ],
)
def test_files_are_found_by_their_names(folders: Folders, told: list[str], name: str) -> None:
    """Whatever folder and case, the file beside the batch file is taken, and that is said."""
    found = folders.find(name, path=Path("job.arb"), line=3)
    assert found == folders.home / "Data.ASC"
    assert bool(told) == (name != "Data.ASC")


def test_a_file_at_its_place_wins_over_one_of_its_name(folders: Folders, told: list[str]) -> None:
    """What a path names beside the batch file is not looked for by its name elsewhere."""
    near = folders.home / "other"
    found = folders.find("sub/twice.hrc", path=Path("job.arb"), line=3, near=near)
    assert found == folders.home / "sub" / "twice.hrc"
    assert not told


def test_files_below_are_found_if_there_is_one(folders: Folders, told: list[str]) -> None:
    """A file in a folder beside the batch file does, unless there are two."""
    where = {"path": Path("job.arb"), "line": 3}
    assert folders.find("INNER.hrc", **where).name == "inner.hrc"  # type: ignore[arg-type]
    assert folders.find(r"SUB\inner.hrc", **where).name == "inner.hrc"  # type: ignore[arg-type]
    assert told
    with pytest.raises(InputError, match="more than one of that name"):
        folders.find("twice.hrc", **where)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["absent.asc", "", "x" * 5000, "a\0b", ".."])
def test_files_that_are_not_there_are_refused(folders: Folders, name: str) -> None:
    """The message names the line that asks for the file."""
    with pytest.raises(InputError) as caught:
        folders.find(name, path=Path("job.arb"), line=3)
    assert caught.value.line == 3


@pytest.mark.parametrize("name", [r"V:\a\o.txt", r"..\..\o.txt", "/etc/o.txt", "../o.txt", "o.txt"])
def test_nothing_is_written_elsewhere(folders: Folders, name: str) -> None:
    """Outputs go to one folder, whatever path they are given."""
    assert folders.target(name, path=Path("job.arb"), line=3) == folders.out / "o.txt"


@pytest.mark.parametrize("name", ["", "..", "V:\\", "a\0b"])
def test_outputs_need_a_name(folders: Folders, name: str) -> None:
    """A folder is not a file."""
    with pytest.raises(InputError) as caught:
        folders.target(name, path=Path("job.arb"), line=3)
    assert caught.value.line == 3


def test_text_in_the_code_page_of_windows(tmp_path: Path) -> None:
    """What is not UTF-8 is read by the code page; bytes that mean nothing there do no harm."""
    path = tmp_path / "x.txt"
    for content, expected in (
        ("Größe\r\n".encode("cp1252"), "Größe\n"),
        ("Größe".encode("utf-8-sig"), "Größe"),
        (b"a\x81\x1a", "a\x81"),
    ):
        path.write_bytes(content)
        assert read_argus_text(path) == expected
