"""Result files: a study that was stopped goes on where it was."""

from __future__ import annotations

from pathlib import Path

from studies.common import Results, mean_of
from studies.pictures import read_rows

COLUMNS = ("instance", "limit", "gap")


def write(path: Path, rows: list[tuple[str, float, float]]) -> list[str]:
    """Add what is not there; returns the instances that were."""
    there: list[str] = []
    with Results(path, COLUMNS, ["a note"], key=("instance", "limit"), aloud=False) as file:
        for name, limit, gap in rows:
            if file.has(name, limit):
                there.append(name)
            else:
                file.add({"instance": name, "limit": limit, "gap": gap})
    return there


def test_rows_that_are_there_are_kept(tmp_path: Path) -> None:
    """The second run adds what is missing and leaves the rest as it was."""
    path = tmp_path / "study.csv"
    assert write(path, [("a", 10.0, 1.0)]) == []
    assert write(path, [("a", 10.0, 7.0), ("b", 10.0, 3.0)]) == ["a"]
    assert [row["gap"] for row in read_rows(path)] == ["1", "3"]
    assert mean_of(read_rows(path), "gap") == 2.0
    assert "# continued: " in path.read_text()
    assert list(tmp_path.iterdir()) == [path]


def test_a_row_cut_short_is_measured_again(tmp_path: Path) -> None:
    """A process that was killed while it wrote leaves half a line, which does not count."""
    path = tmp_path / "study.csv"
    write(path, [("a", 10.0, 1.0), ("b", 10.0, 2.0)])
    path.write_text(path.read_text()[:-3])
    assert write(path, [("a", 10.0, 7.0), ("b", 10.0, 3.0)]) == ["a"]
    assert [row["gap"] for row in read_rows(path)] == ["1", "3"]


def test_rows_of_other_circumstances_are_not_mixed(tmp_path: Path) -> None:
    """Another limit in the notes, other columns, or `again`: the file begins anew."""
    path = tmp_path / "study.csv"
    for notes, columns, again in (
        (["limit 60 s"], COLUMNS, False),
        (["limit 10 s"], (*COLUMNS, "bound"), False),
        (["limit 10 s"], COLUMNS, True),
    ):
        with Results(path, COLUMNS, ["limit 10 s"], key=("instance",), aloud=False) as file:
            if not file.has("a"):
                file.add({"instance": "a"})
        with Results(path, columns, notes, key=("instance",), again=again, aloud=False) as file:
            assert not file.has("a")
