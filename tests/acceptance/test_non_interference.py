"""What readers get is a function of what is published: hidden values change not a byte of it."""

from __future__ import annotations

import dataclasses
import gzip
import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import tacit
from tacit import report
from tacit.cli.main import main
from tacit.io import exports
from tacit.io.exports import SUFFIXES
from tacit.io.jj import write_jj
from tacit.methods.registry import METHODS
from tacit.release import Pivot, Published, Release
from tacit.release.against import named_attackers
from tacit.report import document
from tests.leaks import OPTIONS, distinctive_table
from tests.twins import algorithms, differences, public_output, same_publication, twin_of

RANDOM = {"base": 5e9}
"""Rounding at random ignores protection levels: it takes a large base to be safe by chance."""


def _options(method: str, algorithm: str) -> dict[str, Any]:
    options = {"time_limit": 20, "algorithm": algorithm, **OPTIONS.get(method, {})}
    return options | (RANDOM if algorithm == "random" else {})


def _assert_apart(first: tacit.Release, second: tacit.Release) -> None:
    """The two are about tables that differ in all that is hidden, and publish the same."""
    ours, theirs = first.papers, second.papers
    assert same_publication(first.published, second.published)
    hidden = first.published.is_hidden | first.published.altered
    assert (ours.problem.value != theirs.problem.value)[hidden].any()
    assert set(ours.problem.sensitive.tolist()) != set(theirs.problem.sensitive.tolist())
    assert ours.outcome.report.objective != theirs.outcome.report.objective
    assert ours.summary() != theirs.summary()


@pytest.mark.parametrize(("method", "algorithm"), algorithms())
def test_twins_cannot_be_told_apart(method: str, algorithm: str) -> None:
    """By no method and no algorithm does any public output depend on what is hidden."""
    options = _options(method, algorithm)
    first = tacit.protect(distinctive_table(), method, **options)
    second = twin_of(first, **options)
    _assert_apart(first, second)
    assert differences(public_output(first), public_output(second)) == []


@pytest.mark.parametrize("method", METHODS)
def test_many_twins_cannot_be_told_apart(method: str) -> None:
    """Nor does it with other hidden values, sensitive cells and weights once more."""
    options = _options(method, "auto")
    first = tacit.protect(distinctive_table("unit"), method, **options)
    shown = public_output(first)
    for seed in range(2, 5):
        second = twin_of(first, seed, **options)
        _assert_apart(first, second)
        assert differences(shown, public_output(second)) == []


@pytest.mark.parametrize("method", ["suppress", "intervals", "adjust"])
def test_twins_of_linked_tables_cannot_be_told_apart(method: str) -> None:
    """Nor do the files, reports and pictures of single ones of linked tables tell anything."""
    options = _options(method, "auto")
    first = tacit.protect(_linked(), method, insiders="none", **options)
    assert len(first.published.grids) == 3
    second = twin_of(first, insiders="none", **options)
    _assert_apart(first, second)
    shown = public_output(first)
    assert "table 2: report" in shown
    assert differences(shown, public_output(second)) == []


def _linked() -> tacit.Table:
    """Two variables and their sum, linked by an equation; some cells are sensitive."""
    table = distinctive_table()
    whole = table.replace(
        status=None,
        lower_level=None,
        upper_level=None,
        sliding_level=None,
        reason=None,
        top=None,
        count=None,
        verdicts=(),
        contributors=None,
        weight=None,
    )
    half = whole.replace(value=whole.value / 4)
    rest = whole.replace(value=whole.value - half.value)
    return tacit.Table.of_variables(
        {"turnover": table, "exports": half, "domestic": rest}, ["turnover = exports + domestic"]
    )


@pytest.mark.parametrize("method", METHODS)
def test_twins_without_dimensions_cannot_be_told_apart(method: str) -> None:
    """The same holds for a problem, as JJ files have it."""
    options = _options(method, "auto")
    first = tacit.protect(distinctive_table().problem(), method, **options)
    second = twin_of(first, **options)
    _assert_apart(first, second)
    assert differences(public_output(first), public_output(second)) == []


@cache
def _pair(singletons: str = "respondents") -> tuple[tacit.Release, tacit.Release]:
    """Twins of which only the first has contributors who are alone in a cell."""
    table = distinctive_table()
    assert table.count is not None
    alone = table.count.copy()
    alone[np.flatnonzero(table.is_sensitive)[:2]] = 1.0
    first = tacit.protect(table.replace(count=alone), singletons=singletons, time_limit=20)
    return first, twin_of(first, singletons=singletons)


@pytest.mark.parametrize("singletons", ["local", "respondents", "global"])
def test_readers_do_not_learn_of_single_contributors(singletons: str) -> None:
    """Whether anybody is alone in a cell does not show, whatever protection is requested."""
    first, second = _pair(singletons)
    _assert_apart(first, second)
    assert (first.papers.problem.singleton >= 0).any()
    assert not (second.papers.problem.singleton >= 0).any()
    assert differences(public_output(first), public_output(second)) == []


def _cube(
    values: Sequence[Sequence[float]], hidden: list[str], levels: dict[str, float]
) -> tacit.Table:
    """A small table of which certain cells may be hidden, and some are sensitive."""
    rows, columns = len(values), len(values[0])
    table = tacit.Table.from_cube(
        np.array(values, float),
        {
            "industry": tacit.Hierarchy.flat([f"I{row}" for row in range(rows)]),
            "region": tacit.Hierarchy.flat([f"R{column}" for column in range(columns)]),
        },
    )
    names = [
        f"{industry} {region}"
        for industry, region in zip(table.codes("industry"), table.codes("region"), strict=True)
    ]
    status = [
        "sensitive" if name in levels else "safe" if name in hidden else "publish" for name in names
    ]
    level = np.array([levels.get(name, np.nan) for name in names])
    return table.replace(status=np.array(status), lower_level=level, upper_level=level)


def test_the_order_of_adding_up_does_not_show() -> None:
    """Totals differ in their last bits where parts differ; what is published does not."""
    hidden = ["I0 R0", "I0 R1", "I1 R0", "I1 R1"]
    first, second = (
        tacit.protect(
            _cube([[a, b, 0.3], [c, d, 5.3], [7.7, 2.2, 1.9]], hidden, {"I0 R0": 0.01}),
            time_limit=20,
        )
        for a, b, c, d in ((0.1, 0.2, 3.1, 4.1), (0.15, 0.15, 3.05, 4.15))
    )
    shown = ~first.published.is_hidden
    totals = [release.papers.problem.value[shown].tolist() for release in (first, second)]
    assert totals[0] != totals[1]
    assert differences(public_output(first), public_output(second)) == []
    with patch("tacit.release.published.settled", np.array):
        noisy = [
            dataclasses.replace(
                release, published=Published.of(release.papers.table, release.papers.outcome)
            )
            for release in (first, second)
            if release.papers.table is not None
        ]
    found = differences(*map(public_output, noisy))
    assert {".parquet, as it comes", "published", "pandas with status"} <= set(found)


def _shifted(values: list[list[int]], hidden: tacit.Release, chance: Any) -> list[list[int]] | None:
    """Other values in a rectangle of cells that are all hidden; None where there is none."""
    table = hidden.papers.table
    assert table is not None
    is_hidden = hidden.published.is_hidden.tolist()
    codes = zip(table.codes("industry"), table.codes("region"), is_hidden, strict=True)
    out = {(row, column) for row, column, gone in codes if gone}
    corners = [
        (r, s, c, d)
        for r in range(len(values))
        for s in range(r)
        for c in range(len(values[0]))
        for d in range(c)
        if {(f"I{i}", f"R{j}") for i in (r, s) for j in (c, d)} <= out
    ]
    if not corners:
        return None
    r, s, c, d = corners[chance.integers(len(corners))]
    step = int(chance.choice([-1, 1]))
    other = [list(row) for row in values]
    for row, column, sign in ((r, c, 1), (r, d, -1), (s, c, -1), (s, d, 1)):
        other[row][column] += sign * step
    return other


def _released(values: list[list[int]], method: str, **options: Any) -> tacit.Release:
    """A table whose first and last cells are sensitive, protected from beginning to end."""
    every = [f"I{row} R{column}" for row in range(len(values)) for column in range(len(values[0]))]
    levels = {
        "I0 R0": float(np.ceil(values[0][0] / 10)),
        every[-1]: float(np.ceil(values[-1][-1] / 10)),
    }
    return tacit.protect(_cube(values, every, levels), method, time_limit=20, **options)


@cache
def _real_pairs(
    method: str, algorithm: str, tables: int
) -> tuple[tuple[tacit.Release, tacit.Release], ...]:
    """Pairs of tables that the method itself happens to publish alike."""
    options: dict[str, Any] = {"algorithm": algorithm} | ({"base": 20} if method == "round" else {})
    found = []
    for seed in range(tables):
        chance = np.random.default_rng(seed)
        values = chance.integers(4, 40, (3, 4)).tolist()
        plain = _released(values, "suppress")
        other = _shifted(values, plain, chance)
        if other is None:
            continue
        pair = tuple(_released(each, method, **options) for each in (values, other))
        if same_publication(pair[0].published, pair[1].published):
            found.append((pair[0], pair[1]))
    return tuple(found)


@pytest.mark.parametrize(
    ("method", "algorithm"),
    [
        ("suppress", "auto"),
        ("suppress", "branch-and-cut"),
        ("suppress", "hypercube"),
        ("suppress", "monolithic"),
        ("suppress", "modular"),
        ("round", "auto"),
        ("round", "milp"),
    ],
)
def test_what_methods_publish_alike_cannot_be_told_apart(method: str, algorithm: str) -> None:
    """From a table to all outputs, with nothing put in between: equal cells, equal bytes."""
    pairs = _real_pairs(method, algorithm, 8)
    assert len(pairs) >= 2
    for first, second in pairs:
        assert (first.papers.problem.value != second.papers.problem.value).any()
        assert differences(public_output(first), public_output(second)) == []


def test_the_command_line_writes_the_same_for_twins(tmp_path: Path) -> None:
    """Published files and reports of JJ files that are published alike are equal, byte by byte."""
    first, second = _real_pairs("suppress", "auto", 8)[0]
    written = []
    for name, release in (("one", first), ("two", second)):
        # Files of readers must not depend on what confidential ones are called.
        folder = tmp_path / name
        folder.mkdir()
        write_jj(release.papers.problem, folder / "table.jj")
        command = ["protect", str(folder / "table.jj"), "--quiet", "--weights", "unit"]
        for suffix in SUFFIXES:
            assert main([*command, "--out", str(folder / f"published{suffix}")]) == 0
        assert main([*command, "--report", str(folder / "report.html")]) == 0
        files = [*folder.glob("published*"), folder / "report.html"]
        written.append({file.name: file.read_bytes() for file in files})
    assert len(written[0]) == len(SUFFIXES) + 1
    assert differences(*written) == []


def test_every_public_way_out_is_looked_at() -> None:
    """A new export, frame, text or picture has to be added to what is compared."""

    def ways(kind: type) -> set[str]:
        return {name for name in dir(kind) if name.startswith(("to_", "_repr_"))}

    assert ways(Published) == {
        *("to_csv", "to_excel", "to_frame", "to_html", "to_jj", "to_parquet", "_repr_html_")
    }
    assert ways(Pivot) == {"to_excel", "to_frame", "to_html", "to_text", "_repr_html_"}
    assert ways(Release) == {"_repr_html_"}
    assert {name for name in vars(Release) if not name.startswith("_")} == {
        # Explanations are confidential.
        *("explain", "guarantee", "publish", "report", "summary", "summary_rows")
    }
    first, _ = _pair()
    pictures: list[Callable[[tacit.Release], report.Picture]] = [
        getattr(report, name)
        for name in report.__all__
        if name.endswith(("_map", "_level", "_time", "_costs", "_widths"))
    ]
    assert len(pictures) == 6
    shown = set(public_output(first))
    assert {"heat map", "levels"} <= shown
    for picture in (report.bounds_over_time, report.protection_costs):
        assert picture(first).confidential


def _told(release: tacit.Release) -> str:
    """Something that readers must not learn."""
    return f"{release.papers.outcome.report.objective}"


Plant = Callable[[tacit.Release], AbstractContextManager[tacit.Release]]


def _row(name: str, told: Callable[[tacit.Release], object]) -> Plant:
    """A line of the public summary."""

    @contextmanager
    def planted(release: tacit.Release) -> Iterator[tacit.Release]:
        honest = Release.summary_rows

        def leaking(self: Release) -> dict[str, str]:
            return {**honest(self), name: str(told(self))}

        with patch.object(Release, "summary_rows", leaking):
            yield release

    return planted


def _text(place: str, told: Callable[[tacit.Release], Any]) -> Plant:
    """Something in place of a function or constant."""

    @contextmanager
    def planted(release: tacit.Release) -> Iterator[tacit.Release]:
        with patch(place, told(release)):
            yield release

    return planted


def _field(**told: Callable[[tacit.Release], Any]) -> Plant:
    """A field of what readers may see."""

    @contextmanager
    def planted(release: tacit.Release) -> Iterator[tacit.Release]:
        changes = {name: given(release) for name, given in told.items()}
        published = release.published.replace(**changes)
        yield dataclasses.replace(release, published=published)

    return planted


def _file(suffix: str) -> Plant:
    """Something in a file besides its cells."""

    @contextmanager
    def planted(release: tacit.Release) -> Iterator[tacit.Release]:
        honest = exports.write_published

        def leaking(published: Published, path: Path, *given: Any, **named: Any) -> None:
            honest(published, path, *given, **named)
            if path.name == f"published{suffix}":
                path.write_bytes(_marked(path.read_bytes(), _told(release).encode()))

        with patch.object(exports, "write_published", leaking):
            yield release

    return planted


def _marked(content: bytes, told: bytes) -> bytes:
    """A file with something in a place where nobody looks."""
    if content.startswith(b"\x1f\x8b"):
        return gzip.compress(gzip.decompress(content) + b"# " + told, mtime=0)
    if content.startswith(b"PK"):
        stream = io.BytesIO(content)
        with zipfile.ZipFile(stream, "a") as archive:
            archive.comment = told
        return stream.getvalue()
    if content.startswith(b"PAR1"):
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(io.BytesIO(content))
        out = io.BytesIO()
        pyarrow.parquet.write_table(table.replace_schema_metadata({b"made": told}), out)
        return out.getvalue()
    return content + b"# " + told + b"\n"


PLANTS: dict[str, tuple[Plant, str]] = {
    "gap": (_row("gap", lambda release: release.papers.outcome.report.gap), "summary"),
    "status": (_row("status", lambda release: release.papers.outcome.status), "notebook"),
    "seconds": (_row("seconds", lambda release: release.papers.outcome.report.seconds), "report"),
    "algorithm": (_row("by", lambda release: release.papers.outcome.algorithm), "summary rows"),
    "seed": (_row("seed", lambda release: release.papers.outcome.seed), "report as text"),
    "sensitive cells": (
        _row("cells", lambda release: len(release.papers.problem.sensitive)),
        "summary",
    ),
    "names of attackers": (
        _text(
            "tacit.release.release.guarantee",
            lambda release: lambda _: named_attackers(release.papers.audit),
        ),
        "guarantee",
    ),
    "figures of the working report": (
        _text(
            "tacit.report.document._figures",
            lambda _: (
                lambda release, shown, _, honest=document._figures: honest(release, shown, True)
            ),
        ),
        "report",
    ),
    "facts of the working report": (
        _text(
            "tacit.report.document._protection",
            lambda _: lambda release, _, honest=document._protection: honest(release, True),
        ),
        "report as text",
    ),
    "bounds in the report": (
        _text(
            "tacit.report.document.loss_by_level",
            lambda _: lambda release, **_: report.bounds_over_time(release),
        ),
        "report",
    ),
    "sensitive cells in a picture": (
        _text(
            "tests.twins.heat_map",
            lambda _: lambda release: report.heat_map(release, confidential=True),
        ),
        "heat map",
    ),
    "property of a workbook": (
        _text("tacit.io.exports.excel_file.__version__", _told),
        ".xlsx, as it comes",
    ),
    "meta element of a page": (
        _text("tacit.io.exports.html_file.__version__", _told),
        ".html, as it comes",
    ),
    "meta element of a report": (_text("tacit.report.page.__version__", _told), "report"),
    "decimals of a workbook": (
        _text(
            "tacit.io.exports.excel_file.decimals",
            lambda release: lambda _: len(release.papers.problem.sensitive),
        ),
        "pivot as workbook",
    ),
    "decimals of pages": (
        _text(
            "tacit.release.marks.decimals",
            lambda release: lambda _: len(release.papers.problem.sensitive),
        ),
        ".html, pivot",
    ),
    "decimals of files of tau-ARGUS": (
        _text(
            "tacit.io.argus.sheet.decimals",
            lambda release: lambda _: len(release.papers.problem.sensitive),
        ),
        "tau-ARGUS 3",
    ),
    "empty cells that are none": (
        _field(empty=lambda release: release.papers.problem.is_sensitive),
        "tau-ARGUS 1 FL+SE+",
    ),
    "primary cells": (
        _field(primary=lambda release: release.publish(tell_primary=True).primary),
        ".csv, sdmx",
    ),
    "primary cells in JJ": (
        _field(primary=lambda release: release.publish(tell_primary=True).primary),
        ".jj, as it comes",
    ),
    "a true value": (
        _field(
            value=lambda release: np.where(
                release.published.is_hidden, release.papers.problem.value, release.published.value
            )
        ),
        ".parquet, as it comes",
    ),
    "the least true value": (
        _field(lowest=lambda release: release.papers.problem.value.min()),
        ".jj.gz, as it comes",
    ),
    "a bit of a value": (
        _field(
            value=lambda release: (
                release.published.value + 1e-7 * (release.papers.outcome.algorithm == "another")
            )
        ),
        "pyarrow with none",
    ),
    "the method": (
        _field(method=lambda release: f"suppress by {release.papers.outcome.algorithm}"),
        "repr",
    ),
    **{f"beside the cells of {suffix}": (_file(suffix), f"{suffix}, sdmx") for suffix in SUFFIXES},
}


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_leak_is_caught(name: str) -> None:
    """Each way to let something through shows in what is compared, where it was put."""
    plant, place = PLANTS[name]
    outputs = []
    for release in _pair():
        with plant(release) as leaking:
            outputs.append(public_output(leaking))
    assert place in differences(*outputs)
