"""Printed examples to the digit, and nothing confidential in anything that is published."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.cli.main import main

FIGURE_2_4 = {
    ("A", "1"): [120, 80, 40, 10],
    ("A", "2"): [55, 45],
    ("B", "1"): [280, 15, 5],
    ("B", "2"): [99, 99, 2],
}


def records_of(contributions: dict[tuple[str, str], list[int]]) -> dict[str, list[Any]]:
    """One record for each contribution, each of a different firm."""
    rows = [(*codes, amount) for codes, amounts in contributions.items() for amount in amounts]
    columns: dict[str, list[Any]] = {
        name: [row[place] for row in rows]
        for place, name in enumerate(("business", "location", "turnover"))
    }
    return {**columns, "firm": list(range(len(rows)))}


def table_of(contributions: dict[tuple[str, str], list[int]]) -> tacit.Table:
    """The table of contributions."""
    by: dict[str, tacit.Hierarchy | None] = {"business": None, "location": None}
    return tacit.tabulate(records_of(contributions), by, "turnover", contributor="firm", top=3)


def sensitive(table: tacit.Table, *rules: Any) -> dict[str, tuple[float, float]]:
    """Sensitive cells by short names such as A1, with how far their intervals must reach."""
    problem = table.apply(*rules).problem()
    names = [a + b for a, b in zip(table.codes("business"), table.codes("location"), strict=True)]
    levels = zip(problem.sensitive, problem.lower_level, problem.upper_level, strict=True)
    return {
        names[cell]: (float(problem.value[cell] - low), float(problem.value[cell] + up))
        for cell, low, up in levels
    }


def test_table_2_1_of_paper_002() -> None:
    """Four rules find the cells that the paper prints, totals included."""
    table = table_of(FIGURE_2_4)
    assert table.cell_count == 9
    assert [*sensitive(table, tacit.MinFrequency(3))] == ["A2"]
    assert [*sensitive(table, tacit.Dominance(1, 90))] == ["B1"]
    assert [*sensitive(table, tacit.Dominance(2, 90))] == ["A2", "B1", "B2"]
    assert [*sensitive(table, tacit.PriorPosterior(20, 50))] == ["A2", "B1", "B2"]


def test_example_2_4_of_paper_002() -> None:
    """Dominance is inconsistent where the prior-posterior rule is not."""
    cells = {("A", "1"): [46, 45, 9], ("B", "1"): [80, 9, 4, 4, 3], ("C", "1"): [46, 45, 8, 1]}
    table = table_of(cells)
    parts = {"A1", "B1", "C1"}
    assert parts & {*sensitive(table, tacit.Dominance(2, 90))} == {"A1", "C1"}
    assert parts & {*sensitive(table, tacit.Dominance(3, 90))} == {"A1", "B1", "C1"}
    assert parts & {*sensitive(table, tacit.PriorPosterior(20, 50))} == parts
    # Within 19.6% and 13.8% of the truth: the p% rule tells them apart at these percentages.
    assert "A1" not in sensitive(table, tacit.PPercent(19.5))
    assert "A1" in sensitive(table, tacit.PPercent(19.6))
    assert "B1" not in sensitive(table, tacit.PPercent(13.7))
    assert "B1" in sensitive(table, tacit.PPercent(13.8))


REST = {("A", "2"): [40, 30, 30], ("B", "2"): [40, 40, 40]}
REST |= {("C", "1"): [30, 20, 20], ("C", "2"): [30, 30, 20]}


@pytest.mark.parametrize(
    ("a1", "b1", "expected"),
    [
        ([30, 20], [65, 10, 5], {"A1": (47, 53), "B1": (78.5, 81.5)}),
        ([50], [80], {"A1": (45, 55), "B1": (72, 88)}),
        ([48, 2], [70, 8, 2], {"A1": (45.2, 54.8), "B1": (75, 85)}),
    ],
)
def test_examples_3_1_to_3_3_of_paper_002(
    a1: list[int], b1: list[int], expected: dict[str, tuple[float, float]]
) -> None:
    """The p% rule asks for the intervals that the paper computes by (3.1) and (3.2)."""
    table = table_of({("A", "1"): a1, ("B", "1"): b1, **REST})
    found = sensitive(table, tacit.PPercent(10))
    assert set(found) == set(expected)
    for cell, ends in expected.items():
        assert found[cell] == pytest.approx(ends)


RULE_PARAMETER = "17.25"
JOB = f"""
[data]
microdata = "firms.csv"
value = "turnover"
contributor = "firm"

[dimensions.industry]
lengths = [1, 3]

[dimensions.region]

[[rules]]
rule = "min-frequency"
minimum = 3

[[rules]]
rule = "p-percent"
p = {RULE_PARAMETER}

[outputs]
published = ["published.csv", "published.parquet"]
json = "result.json"
table = "table.confidential.csv"
evidence = "evidence.confidential.json"
"""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a job that was run, and what it printed."""
    folder = tmp_path_factory.mktemp("job")
    chance = random.Random(7)
    rows = ["firm,industry,region,turnover"]
    for number in range(45):
        turnover = chance.choice([1, 1, 20]) * chance.randint(10**6, 10**7) + 0.125
        code = chance.choice(["C10", "C11", "D20", "D21"])
        rows.append(f"F{number},{code},{chance.choice('NSE')},{turnover:.3f}")
    (folder / "firms.csv").write_text("\n".join(rows) + "\n")
    (folder / "job.toml").write_text(JOB)
    return folder


def test_nothing_confidential_is_published(
    published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """True values that are suppressed, contributions, levels and parameters appear nowhere."""
    job = str(published / "job.toml")
    assert main(["protect", job, "--quiet", "--time-limit", "20"]) == 0
    printed = capsys.readouterr()
    frame = tacit_columns(published / "table.confidential.csv")
    shown = tacit_columns(published / "published.csv")
    assert list(shown) == ["industry", "region", "turnover", "status"]
    assert set(shown["status"]) == {"published", "suppressed"}
    hidden = [place for place, status in enumerate(shown["status"]) if status == "suppressed"]
    assert len(hidden) > 3
    public = {entry for entry in shown["turnover"] if entry}
    secrets = {frame["value"][place] for place in hidden}
    for name in ("top_1", "top_2", "lower_level", "upper_level"):
        secrets |= set(frame[name])
    secrets = {text.rstrip("0").rstrip(".") for text in secrets if text} - public
    assert len(secrets) > 40
    texts = [
        (published / "published.csv").read_text(),
        (published / "result.json").read_text(),
        printed.out,
        printed.err,
    ]
    for text in texts:
        assert RULE_PARAMETER not in text
        assert not {secret for secret in secrets if secret in text}
    import pyarrow.parquet as parquet

    read = parquet.read_table(published / "published.parquet").to_pydict()
    assert list(read) == list(shown)
    assert [value is None or np.isnan(value) for value in read["turnover"]] == [
        status == "suppressed" for status in read["status"]
    ]
    assert main(["audit", job, str(published / "result.json")]) == 0
    assert "safe" in capsys.readouterr().out


def tacit_columns(path: Path) -> dict[str, list[str]]:
    """The columns of a CSV file as text."""
    lines = [line.split(",") for line in path.read_text().splitlines()]
    names = [name for name in lines[0] if "confidential" not in name and "do not" not in name]
    return {name: [line[place] for line in lines[1:]] for place, name in enumerate(names)}


def test_releases_tell_nothing_confidential(published: Path) -> None:
    """Summary, guarantee and representations of a release hold no number of the true table."""
    by = {"industry": None, "region": None}
    table = tacit.tabulate(published / "firms.csv", by, "turnover", contributor="firm").apply(
        tacit.MinFrequency(3), tacit.PPercent(float(RULE_PARAMETER)), weight="value"
    )
    release = tacit.protect(table, "suppress", time_limit=20)
    texts = [release.summary(), release.guarantee, repr(release), repr(release.published)]
    texts += [repr(release.papers), repr(table)]
    assert table.top is not None
    assert table.upper_level is not None
    numbers = np.concatenate([table.value, table.top.ravel(), table.upper_level])
    for text in texts:
        assert RULE_PARAMETER not in text
        for number in numbers[np.isfinite(numbers) & (numbers > 1000)]:
            assert str(int(number)) not in text


@pytest.mark.parametrize(
    ("changes", "data"),
    [
        ({"max_suppressed = 1": "[outputs]"}, None),
        ({"[bounds]\nupper_factor = 1.0001": "[outputs]"}, None),
        ({"[bounds]\nlower = 30000000": "[outputs]"}, None),
        ({}, lambda text: text.partition("\n")[2]),
        ({}, lambda text: text + "F9,C10,N,7654321.5,9876543.5\n"),
        ({}, lambda text: text + 'F9,C10,N,"7654321,5"\n'),
        ({}, lambda text: text + 'F9,C10,N,"7654321.5\n'),
        ({}, lambda text: text + "F9,C10,N\n"),
        ({}, lambda text: text + "F9,C10,,7654321.5\n"),
    ],
)
def test_errors_tell_nothing_confidential(
    published: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, str],
    data: Any,
) -> None:
    """Whatever goes wrong with records, bounds or search, no number of a record is shown."""
    text, job = (published / "firms.csv").read_text(), JOB
    for new, place in changes.items():
        method = f"[method]\n{new}" if "max" in new else new
        job = job.replace(place, f"{method}\n\n{place}")
    (tmp_path / "firms.csv").write_text(text if data is None else data(text))
    (tmp_path / "job.toml").write_text(job)
    assert main(["protect", str(tmp_path / "job.toml"), "--quiet"]) in (1, 2)
    printed = capsys.readouterr()
    amounts = [line.split(",")[3].split(".")[0] for line in text.splitlines()[1:]]
    for secret in [*amounts, "7654321", "9876543", RULE_PARAMETER, "30000000", "1.0001"]:
        assert secret not in printed.out + printed.err
    assert "Traceback" not in printed.err
    assert not (tmp_path / "published.csv").exists()
