"""Nothing confidential in anything that is published, and whatever is planted is found."""

from __future__ import annotations

import base64
import gzip
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.cli.published import Excerpt
from tacit.io.argus.written import WriteOptions, write_argus
from tacit.io.exports import SUFFIXES, Presentation, write_published
from tacit.io.jj import write_jj
from tacit.methods.registry import METHODS
from tacit.outcome import Intervals
from tacit.release import Published
from tests.leaks import (
    LEAST_FIRMS,
    OPTIONS,
    RULE_PARAMETER,
    distinctive_release,
    distinctive_table,
    leaks,
    secrets,
)

PRESENTATIONS = {
    "as it comes": Presentation(),
    "list with flags": Presentation(marks="...", flags="sdmx", title="A title"),
    "primary told": Presentation(
        marks={"primary": "c", "secondary": "s"}, layout="list", tell_primary=True
    ),
}


@pytest.fixture(params=METHODS)
def release(request: pytest.FixtureRequest) -> tacit.Release:
    """A release by each method there is."""
    return distinctive_release(request.param)


def _hidden(release: tacit.Release) -> tuple[int, float]:
    """A cell that is not published as it is, with its true value."""
    cell = int(release.papers.problem.sensitive[0])
    return cell, float(release.papers.problem.value[cell])


def _leaking(release: tacit.Release) -> Published:
    """A publication in which the true value of one cell was forgotten."""
    cell, true = _hidden(release)
    value, status = release.published.value.copy(), release.published.status.copy()
    value[cell], status[cell] = true, "published"
    return release.published.replace(value=value, status=status)


def test_there_is_something_to_hide(release: tacit.Release) -> None:
    """The table has confidential numbers of every kind, and none of them is published."""
    names = " ".join(secrets(release))
    for kind in ("value of", "contribution 1", "contribution 2", "contributors of", "upper_level"):
        assert kind in names
    assert {"p of the p% rule", "minimum of the frequency rule"} <= set(secrets(release))
    cell, true = _hidden(release)
    assert true in secrets(release).values()
    assert release.published.value[cell] != true


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", PRESENTATIONS)
def test_exports_tell_nothing(
    release: tacit.Release, suffix: str, name: str, tmp_path: Path
) -> None:
    """No file that readers get holds a confidential number, however deep it is looked for."""
    presentation = PRESENTATIONS[name]
    published = release.publish(tell_primary=presentation.tell_primary)
    path = tmp_path / f"published{suffix}"
    write_published(published, path, presentation, value="turnover")
    assert leaks(path.read_bytes(), release) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_leak_in_an_export_is_found(release: tacit.Release, suffix: str, tmp_path: Path) -> None:
    """In each format the value of a single cell that should not be there is noticed."""
    path = tmp_path / f"published{suffix}"
    write_published(_leaking(release), path)
    label = str((release.papers.problem.labels or [])[_hidden(release)[0]])
    assert f"value of {label}" in leaks(path.read_bytes(), release)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_files_of_tau_argus_for_readers(
    release: tacit.Release, number: int, tmp_path: Path
) -> None:
    """Formats 1 to 3 hold nothing confidential unless statuses are asked for."""
    if isinstance(release.papers.outcome.solution, Intervals):
        pytest.skip("formats of tau-ARGUS have no place for intervals")
    path = tmp_path / "published.txt"
    for options in ("", "FL+SE+", "QU-HI+"):
        write_argus(release, path, number, WriteOptions.parsed(options), frequency=False)
        assert leaks(path.read_bytes(), release) == []
    write_argus(release, path, number, WriteOptions.parsed("AS+"), frequency=False)
    assert leaks(path.read_bytes(), release)


def test_texts_tell_nothing(release: tacit.Release) -> None:
    """Summary, guarantee, representations and parts of the table hold no confidential number."""
    published = release.published
    texts = [
        release.summary(),
        release.guarantee,
        release._repr_html_(),
        published._repr_html_(),
        published.pivot().to_text(),
        published.pivot(rows="region", columns="industry").to_html(),
        str(published.pivot().to_frame("dict", marks=None)),
        Excerpt.of(published).plain(),
        repr(release),
        repr(release.papers),
        repr(release.papers.table),
        repr(published),
        str({name: column.tolist() for name, column in published.columns().items()}),
        str(vars(published)),
    ]
    for text in texts:
        assert leaks(text, release) == []
    assert leaks(pickle.dumps(published), release) == []
    assert leaks(pickle.dumps(release.publish(tell_primary=True)), release) == []


def test_leaks_in_texts_are_found(release: tacit.Release) -> None:
    """Where a cell was forgotten, texts and what is kept of the table tell it."""
    published = _leaking(release)
    for text in (published._repr_html_(), published.pivot().to_text()):
        assert leaks(text, release)
    assert leaks(pickle.dumps(published), release)
    assert leaks(f"the rule was p = {RULE_PARAMETER}", release) == ["p of the p% rule"]
    assert leaks(f"at least {LEAST_FIRMS:.0f} firms", release)
    assert release.papers.table is not None
    assert len(leaks(str(release.papers.table.to_frame("dict")["top_1"].tolist()), release)) > 5
    level = release.papers.problem.upper_level.max()
    assert any("level" in name for name in leaks(f"level {level:.9g}", release))


WAYS: dict[str, Callable[[float], bytes]] = {
    "plain": lambda number: f"{number:.0f}".encode(),
    "comma": lambda number: f"{number:,.0f}".encode(),
    "point": lambda number: f"{number:,.0f}".replace(",", ".").encode(),
    "space": lambda number: f"{number:,.0f}".replace(",", " ").encode(),
    "thin space": lambda number: f"{number:,.0f}".replace(",", "\u202f").encode(),
    "entity": lambda number: f"{number:,.0f}".replace(",", "&#8239;").encode(),
    "apostrophe": lambda number: f"{number:,.0f}".replace(",", "’").encode(),
    "decimal": lambda number: f"{number:.1f}".encode(),
    "decimal comma": lambda number: f"{number:.2f}".replace(".", ",").encode(),
    "scientific": lambda number: f"{number:.8e}".encode(),
    "six digits": lambda number: f"{number:g}".encode(),
    "five digits": lambda number: f"{number:.5g}".encode(),
    "millions": lambda number: f"{number / 1e6:.3f} million".encode(),
    "in a word": lambda number: f"cell{number:.0f}end".encode(),
    "two bytes a letter": lambda number: f"{number:.0f}".encode("utf-16-le"),
    "JSON": lambda number: json.dumps({"data": [1, number, 2]}).encode(),
    "float64": lambda number: b"abc" + struct.pack("<d", number),
    "float64, big end first": lambda number: struct.pack(">d", number),
    "int64": lambda number: b"abc" + struct.pack("<q", int(number)),
    "int64, big end first": lambda number: struct.pack(">q", int(number)),
    "int32": lambda number: struct.pack("<i", int(number)),
    "float32": lambda number: struct.pack("<f", number),
    "gzip": lambda number: gzip.compress(f"{number:.0f}".encode()),
    "base64": lambda number: (
        b'src="data:x;base64,'
        + base64.b64encode(f"<svg><text>some words, {number:.0f}</text></svg>".encode())
        + b'"'
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_number_is_found_however_it_is_written(way: str) -> None:
    """Each way to write a number is recognised, among other text."""
    release = distinctive_release("suppress")
    _, true = _hidden(release)
    content = WAYS[way](true)
    if way not in ("gzip",):
        content = b"<p>1 and 2.5% of 2024-01-31, " + content + b" and more</p>"
    assert leaks(content, release)
    other = WAYS[way](float(release.published.value[0] % 2**31 // 2))
    assert leaks(other, release) == []


def test_a_leak_beside_the_cells_of_a_workbook_is_found(tmp_path: Path) -> None:
    """Names of parts, comments and properties of a zip file are looked at too."""
    release = distinctive_release("suppress")
    _, true = _hidden(release)
    path = tmp_path / "published.xlsx"
    release.published.to_excel(path)
    with zipfile.ZipFile(path, "a") as book:
        book.comment = f"{true:.0f}".encode()
    assert leaks(path.read_bytes(), release)
    release.published.to_excel(path)
    with zipfile.ZipFile(path, "a") as book:
        book.writestr("docProps/custom.xml", f"<x>{true:,.0f}</x>", zipfile.ZIP_DEFLATED)
    assert leaks(path.read_bytes(), release)


def test_a_leak_beside_the_columns_of_parquet_is_found(tmp_path: Path) -> None:
    """Metadata and compressed columns of a Parquet file are looked at too."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    release = distinctive_release("suppress")
    _, true = _hidden(release)
    frame = pa.table({"value": [1.0, 2.0]})
    path = tmp_path / "published.parquet"
    parquet.write_table(frame, path)
    assert leaks(path.read_bytes(), release) == []
    parquet.write_table(frame.replace_schema_metadata({"total": f"{true:.0f}"}), path)
    assert leaks(path.read_bytes(), release)
    several = pa.table({"value": np.r_[true, np.arange(1000.0)], "text": ["a"] * 1001})
    parquet.write_table(several, path, compression="zstd", write_statistics=False)
    assert leaks(path.read_bytes(), release)


def test_the_command_line_tells_nothing(
    release: tacit.Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is printed while and after protecting holds no confidential number."""
    method = release.papers.outcome.method
    table = distinctive_table("unit")
    path, out = tmp_path / "table.jj", tmp_path / "published.html"
    write_jj(table.problem(), path)
    options = ["--method", method, "--time-limit", "20", "--weights", "unit"]
    for name, chosen in OPTIONS.get(method, {}).items():
        options += ["--option", f"{name}={chosen}"]
    assert main(["protect", str(path), *options, "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert leaks(printed.out + printed.err, distinctive_release(method, "unit")) == []
    assert leaks(out.read_bytes(), distinctive_release(method, "unit")) == []
    assert main(["info", str(path)]) == 0
    printed = capsys.readouterr()
    assert leaks(printed.out + printed.err, release) == []


def test_errors_tell_nothing(tmp_path: Path) -> None:
    """A release that cannot be made, and a file that cannot be written, tell no number."""
    table = distinctive_table()
    release = distinctive_release("suppress")
    with pytest.raises(tacit.NoReleaseError) as refused:
        tacit.protect(table, "suppress", max_suppressed=1)
    assert leaks(str(refused.value), release) == []
    for suffix in SUFFIXES:
        with pytest.raises(tacit.InputError, match="cannot be written") as raised:
            write_published(release.published, tmp_path / "nowhere" / f"file{suffix}")
        assert leaks(str(raised.value), release) == []
