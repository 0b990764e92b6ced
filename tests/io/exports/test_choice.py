"""The name of a file chooses its format."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest

import tacit
from tacit.errors import InputError
from tacit.io.exports import SUFFIXES, Presentation, write_published
from tacit.release import Published
from tests.release.tables import HIDDEN, mask, published


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_is_written_whole(suffix: str, tmp_path: Path) -> None:
    """The file is there, nothing else is, and an old one is kept where a new one cannot be."""
    path = tmp_path / f"published{suffix.upper() if suffix != '.csv.gz' else suffix}"
    write_published(published(), path, value="turnover")
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    with pytest.raises(InputError, match="cannot be written"):
        write_published(published(), tmp_path / "nowhere" / f"published{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nothing_can_be_published_too(suffix: str, tmp_path: Path) -> None:
    """A table without cells makes a file without cells."""
    outcome = tacit.Outcome(
        status=tacit.Status.FEASIBLE, solution=tacit.Suppression(np.zeros(0, bool))
    )
    empty = Published.of(tacit.Problem(value=[]), outcome)
    assert str(empty.pivot()).split() == ["cell", "value"]
    path = tmp_path / f"published{suffix}"
    write_published(empty, path)
    assert path.stat().st_size > 0


def test_a_full_disk_gets_a_message(tmp_path: Path) -> None:
    """What a format leaves out is reported."""
    full = tmp_path / "full.csv"
    full.symlink_to("/dev/full")
    with pytest.raises(InputError, match=r"full.csv: the file cannot be written: no space left"):
        write_published(published(), full)


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    """The message lists the endings there are."""
    with pytest.raises(InputError, match=r"must end in one of .csv, .csv.gz, .parquet, .xlsx"):
        write_published(published(), tmp_path / "published.xls")
    with pytest.raises(InputError, match=r"must end in .parquet"):
        published().to_parquet(tmp_path / "published.csv")


def test_formats_take_what_they_have_a_place_for(tmp_path: Path) -> None:
    """One choice does for several files, but not for none."""
    chosen = Presentation(marks="c", flags="sdmx", title="T")
    files = [tmp_path / f"published{suffix}" for suffix in (".csv", ".parquet", ".html", ".jj")]
    chosen.refuse_unused(*files)
    for file in files:
        write_published(published(), file, chosen)
    assert ",c,N,Q\n" in files[0].read_text()
    columns = parquet.read_table(files[1]).to_pydict()
    assert list(columns) == ["industry", "region", "value", "CONF_STATUS", "OBS_STATUS"]
    assert [value is None for value in columns["value"]] == mask(*HIDDEN).tolist()
    with pytest.raises(InputError, match="no published file has a place for title; leave it out"):
        chosen.refuse_unused(*files[:2])
    pivot = Presentation(layout="pivot", flags="sdmx")
    with pytest.raises(InputError, match="no published file has a place for flags"):
        pivot.refuse_unused(files[2])
    pivot.refuse_unused(*files)


def test_a_format_that_is_not_installed_is_refused_before_any_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Excel files need an extra, and other files do not."""
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    Presentation().refuse_unused(Path("a.csv"), Path("a.parquet"), Path("a.html"), Path("a.jj"))
    with pytest.raises(InputError, match=r"^b.XLSX: .* xlsxwriter.* 'tacit\[excel\]'"):
        Presentation().refuse_unused(Path("a.csv"), Path("b.XLSX"))


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"flags": "smdx"}, "flags cannot be 'smdx'; did you mean 'sdmx'"),
        ({"layout": "piv"}, "layout cannot be 'piv'; did you mean 'pivot'"),
        ({"marks": {"primary": "c", "secondary": "d"}}, "say so with tell_primary"),
    ],
)
def test_choices_are_checked(choices: dict[str, object], message: str) -> None:
    """What makes no sense is refused before any work."""
    with pytest.raises(InputError, match=message):
        Presentation(**choices)  # type: ignore[arg-type]  # what users may write
