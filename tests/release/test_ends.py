"""On the road to a release no end of an interval is a function of true values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.io.jj import write_jj
from tacit.problem import Problem

METHODS = ["intervals", "combined"]


def row(first: float) -> Problem:
    """Two cells and their total; the first is sensitive, bounds are shares of values."""
    value = np.array([first, 100.0 - first, 100.0])
    return Problem(
        value=value,
        lower=0.1 * value,
        upper=3.1 * value,
        relations=[[1, 1, -1]],
        sensitive=[0],
        lower_level=[10],
        upper_level=[10],
        must_publish=[False, False, True],
        weight=value,
    )


@pytest.mark.parametrize("method", METHODS)
def test_ends_are_round_unless_told_otherwise(method: str) -> None:
    """The mathematical door follows the papers, a release moves ends outwards."""
    exact = getattr(tacit, method)(row(41.0)).solution
    assert (exact.lower[0], exact.upper[0]) == (31.0, 51.0)
    release = tacit.protect(row(41.0), method)
    lower, upper = release.published.lower, release.published.upper
    assert lower is not None
    assert upper is not None
    assert (lower[0], upper[0]) == (30.0, 55.0)
    assert (lower[1], upper[1]) == (45.0, 70.0)
    told = tacit.protect(row(41.0), method, round_to=20).published
    assert told.lower is not None
    assert (told.lower[0], told.lower[1]) == (20.0, 40.0)
    as_found = tacit.protect(row(41.0), method, round_to="exact").published
    assert as_found.lower is not None
    assert as_found.lower[0] == 31.0


@pytest.mark.parametrize("method", METHODS)
def test_equal_publications_tell_nothing_apart(method: str, tmp_path: Path) -> None:
    """Two tables with the same published cells and intervals give the same bytes."""
    contents = []
    for first in (41.0, 42.0, 43.9):
        release = tacit.protect(row(first), method)
        folder = tmp_path / str(first)
        folder.mkdir()
        for name in ("table.csv", "table.jj"):
            path = folder / name
            release.published.to_csv(path) if name.endswith("csv") else release.published.to_jj(
                path
            )
        contents.append([(folder / name).read_bytes() for name in ("table.csv", "table.jj")])
    assert contents[0] == contents[1] == contents[2]


def test_an_interval_is_not_shown_differently_because_it_covers_the_bounds() -> None:
    """Whether round ends happen to lie beyond bounds is not told: it is about the bounds."""
    wide, narrow = (
        row(41.0).replace(lower=np.array([low, 5.9, 100.0]), upper=np.array([54.0, 80.0, 100.0]))
        for low in (30.5, 3.0)
    )
    shown = [tacit.protect(problem, "intervals").published for problem in (wide, narrow)]
    assert shown[0].status.tolist() == shown[1].status.tolist() == ["interval"] * 2 + ["published"]
    assert np.array_equal(shown[0].value, shown[1].value, equal_nan=True)


def test_a_cell_as_open_as_its_bounds_is_not_published() -> None:
    """An interval from bound to bound tells no more than nothing, and shows no bound."""
    value = np.array([40.0, 60.0, 100.0])
    problem = Problem(
        value=value,
        lower=np.array([20.5, 0.0, 0.0]),
        upper=np.array([61.5, 1000.0, 1000.0]),
        relations=[[1, 1, -1]],
        sensitive=[0],
        lower_level=[19.5],
        upper_level=[21.5],
        must_publish=[False, False, True],
    )
    for method in METHODS:
        published = tacit.protect(problem, method).published
        assert published.status[0] == "suppressed"
        assert published.lower is not None
        assert np.isnan(published.lower[0])


@pytest.mark.parametrize("method", METHODS)
def test_the_command_line_rounds_as_well(method: str, tmp_path: Path) -> None:
    """A JJ file takes the same road as a table."""
    table, out = tmp_path / "table.jj", tmp_path / "out.csv"
    write_jj(row(41.0), table)
    arguments = ["protect", str(table), "--method", method, "--quiet", "--out", str(out)]
    assert main(arguments) == 0
    assert out.read_text().splitlines()[1].split(",")[2:4] == ["30", "55"]
    assert main([*arguments, "--option", "round_to=20"]) == 0
    assert out.read_text().splitlines()[1].split(",")[2:4] == ["20", "60"]
