"""Published tables as solutions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import InputError
from tacit.io.solutions import read_solution
from tacit.outcome import Intervals, Suppression, Values

EXAMPLE = tacit.examples.get("002-figure-2.4").table
assert EXAMPLE is not None
TABLE = EXAMPLE.apply(tacit.PPercent(10))
NAMES = [*TABLE.totals]


def rows(entries: list[str], header: str) -> str:
    """A CSV file with the codes of all cells."""
    codes = zip(*(TABLE.codes(name).tolist() for name in NAMES), strict=True)
    lines = [",".join([*code, entry]) for code, entry in zip(codes, entries, strict=True)]
    return "\n".join([",".join([*NAMES, header]), *lines]) + "\n"


def read(tmp_path: Path, text: str) -> object:
    """What a file says."""
    path = tmp_path / "published.csv"
    path.write_text(text)
    return read_solution(path, TABLE, value="turnover")


@pytest.mark.parametrize("method", ["suppress", "intervals", "combined"])
@pytest.mark.parametrize("name", ["published.csv", "published.csv.gz", "published.parquet"])
@pytest.mark.parametrize("flags", ["status", "sdmx", "none"])
def test_what_was_published_is_read_again(
    tmp_path: Path, method: str, name: str, flags: str
) -> None:
    """Every form in which a table is published for computers says what the outcome says."""
    from tacit.io.exports import Presentation, write_published

    release = tacit.protect(TABLE, method)
    path = tmp_path / name
    write_published(release.published, path, Presentation(flags=flags))  # type: ignore[arg-type]
    found = read_solution(path, TABLE)
    solution = release.papers.outcome.solution
    if isinstance(solution, Suppression):
        assert isinstance(found, Suppression)
        assert np.array_equal(found.suppressed, solution.suppressed)
        return
    assert isinstance(solution, Intervals)
    assert isinstance(found, Intervals)
    assert np.allclose(found.lower, np.maximum(solution.lower, TABLE.problem().lower))
    assert np.array_equal(np.isinf(found.upper), np.isinf(solution.upper))


def test_empty_values_are_suppressed(tmp_path: Path) -> None:
    """Without a status, what has no value is not published; rows come in any order."""
    values = [f"{value:g}" for value in TABLE.value]
    values[1] = values[3] = ""
    head, *lines = rows(values, "turnover").splitlines()
    found = read(tmp_path, "\n".join([head, *reversed(lines)]))
    assert isinstance(found, Suppression)
    assert np.flatnonzero(found.suppressed).tolist() == [1, 3]


def test_a_status_is_enough(tmp_path: Path) -> None:
    """Statuses of this and other programs are known, with marks in place of values."""
    status = ["s", "u", "m", "x", "safe", "primary", "secondary", "suppressed", "published"]
    found = read(tmp_path, rows(status, "status"))
    assert isinstance(found, Suppression)
    assert np.flatnonzero(found.suppressed).tolist() == [1, 2, 3, 5, 6, 7]
    marked = [
        f"{'x' if 0 < n < 8 and n != 4 else TABLE.value[n]},{s}" for n, s in enumerate(status)
    ]
    again = read(tmp_path, rows(marked, "turnover,status"))
    assert isinstance(again, Suppression)
    assert np.array_equal(again.suppressed, found.suppressed)


def test_changed_values_are_adjusted_ones(tmp_path: Path) -> None:
    """Where every cell has a value that need not be the true one, the values are judged."""
    found = read(tmp_path, rows([f"{value + 5:g}" for value in TABLE.value], "turnover"))
    assert isinstance(found, Values)
    assert found.value == pytest.approx(TABLE.value + 5)


def test_numbers_of_cells_name_those_of_a_problem(tmp_path: Path) -> None:
    """A problem without codes has the column that `tacit protect` writes for JJ files."""
    path = tmp_path / "published.csv"
    problem = TABLE.problem()
    lines = [f"{cell},{'' if cell == 2 else problem.value[cell]}" for cell in range(9)]
    path.write_text("\n".join(["cell,value", *lines]))
    found = read_solution(path, problem)
    assert isinstance(found, Suppression)
    assert np.flatnonzero(found.suppressed).tolist() == [2]


GOOD = [f"{value:g}" for value in TABLE.value]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (
            rows([f"{n}7" for n in range(9)], "amount"),
            None,
            "neither a column turnover nor a column status",
        ),
        ("other" + rows(GOOD, "turnover").replace("\n", "\n?"), None, f"no column {NAMES[0]}"),
        (rows(["?", *GOOD[1:]], "turnover"), 2, "neither a number nor empty"),
        (rows(["hm", *["s"] * 8], "status"), 2, "the status is not known"),
        (rows([",s", *[f"{v},s" for v in GOOD[1:]]], "turnover,status"), None, "no value"),
        (rows(["", "7777", *GOOD[2:]], "turnover"), None, "not published with their true value"),
        ("\n".join(rows(GOOD, "turnover").splitlines()[:-1]), None, "1 of 9 cells have no row"),
        (rows(GOOD, "turnover") + rows(GOOD, "turnover").splitlines()[1], 11, "is there twice"),
        (rows(GOOD, "turnover") + "no,such,1", 11, "there is no cell"),
    ],
)
def test_tables_that_do_not_fit_get_a_message(
    tmp_path: Path, text: str, line: int | None, message: str
) -> None:
    """The message names the file, the line where there is one, and shows no value."""
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, text)
    assert caught.value.path == tmp_path / "published.csv"
    assert caught.value.line == line
    assert not any(f"{value:g}" in str(caught.value) for value in TABLE.value if value > 20)
