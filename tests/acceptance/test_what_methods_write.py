"""What rounding, adjustment, combined suppression and comparisons write and say."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.cli.main import main

OPTIONS: dict[str, dict[str, Any]] = {
    "adjust": {},
    "combined": {"width_weights": "unit"},
    "round": {"base": 50, "most_steps": 3},
}

JOB = """
[data]
microdata = "firms.csv"
value = "turnover"
contributor = "firm"
[dimensions.industry]
lengths = [1, 3]
[dimensions.region]
[[rules]]
rule = "min-frequency"
minimum = 7
[[rules]]
rule = "p-percent"
p = 15
"""


def _records() -> dict[str, list[Any]]:
    """Firms, some of them large, in five industries and three regions."""
    rng = np.random.default_rng(5)
    size = 120
    return {
        "firm": [f"f{number}" for number in rng.integers(0, 80, size)],
        "industry": rng.choice(["A01", "A02", "B01", "B02", "C01"], size).tolist(),
        "region": rng.choice(["N", "S", "E"], size).tolist(),
        "turnover": (rng.lognormal(3, 1.2, size).astype(int) + 1).tolist(),
    }


@pytest.fixture(scope="module")
def table() -> tacit.Table:
    """A table of whole numbers with sensitive cells."""
    records = _records()
    codes = sorted(set(records["industry"]))
    industries = tacit.Hierarchy.from_prefixes(codes, lengths=(1, 3))
    made = tacit.tabulate(
        records, {"industry": industries, "region": None}, "turnover", contributor="firm"
    ).apply(tacit.MinFrequency(7), tacit.PPercent(15))
    assert len(made.problem().sensitive) > 1, "there is nothing to protect"
    return made


@pytest.fixture(scope="module")
def releases(table: tacit.Table) -> dict[str, tacit.Release]:
    """A release by each of the new methods."""
    return {
        name: tacit.protect(table, name, time_limit=20, **options)
        for name, options in OPTIONS.items()
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the microdata."""
    records = _records()
    with (tmp_path / "firms.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(records)
        writer.writerows(zip(*records.values(), strict=True))
    return tmp_path


def _rows(path: Path) -> list[dict[str, str]]:
    """The lines of a CSV file."""
    return list(csv.DictReader(path.read_text().splitlines()))


def _visible(path: Path) -> str:
    """The text of a page, without styles and tags."""
    page = re.sub(r"<style.*?</style>", " ", path.read_text(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_whole_tables_do_not_show_what_was_adjusted(releases: dict[str, tacit.Release]) -> None:
    """In a table of whole numbers no decimals tell readers which values were changed."""
    release = releases["adjust"]
    assert "neither which values were changed" in release.guarantee
    value = release.published.value
    assert np.abs(value - np.rint(value)).max() < 1e-9


@pytest.mark.parametrize("name", OPTIONS)
def test_files_hold_what_is_published(
    releases: dict[str, tacit.Release], name: str, tmp_path: Path
) -> None:
    """CSV and JJ files read back give the published values, intervals and relations."""
    published = releases[name].published
    published.to_csv(tmp_path / "x.csv")
    published.to_jj(tmp_path / "x.jj")
    rows = _rows(tmp_path / "x.csv")
    again = tacit.read_jj(tmp_path / "x.jj")
    assert len(rows) == published.cell_count == again.cell_count
    hidden = np.array([row["status"] != "published" for row in rows])
    value = np.array([float(row["value"] or "nan") for row in rows])
    np.testing.assert_allclose(value[~hidden], published.value[~hidden], rtol=1e-12)
    assert np.isnan(value[hidden]).all()
    np.testing.assert_allclose(again.value[~hidden], published.value[~hidden], rtol=1e-12)
    if name == "combined":
        lower = np.array([float(row["lower"]) for row in rows])
        upper = np.array([float(row["upper"]) for row in rows])
        np.testing.assert_allclose(again.lower[hidden], lower[hidden], rtol=1e-12)
        np.testing.assert_allclose(again.upper[hidden], upper[hidden], rtol=1e-12)
    else:
        assert not hidden.any()
        assert np.abs(again.relations @ again.value - again.rhs).max() < 1e-6


@pytest.mark.parametrize("name", OPTIONS)
def test_reports_for_readers_tell_no_sensitive_value(
    releases: dict[str, tacit.Release], name: str, tmp_path: Path
) -> None:
    """No true value of a sensitive cell stands in the report unless it is published elsewhere."""
    release = releases[name]
    page = _visible(release.report(tmp_path / "x.html")).replace("\u202f", "").replace("\xa0", "")
    numbers = set(re.findall(r"\d+(?:\.\d+)?", page))
    problem = release.papers.problem
    published = release.published
    shown = [
        published.value,
        *(end for end in (published.lower, published.upper) if end is not None),
    ]
    # Ends of intervals are round, and so may be the value of another cell.
    elsewhere = {f"{value:g}" for value in np.concatenate(shown) if np.isfinite(value)}
    true = {f"{value:g}" for value in problem.value[problem.sensitive] if value > 99}
    assert true
    assert not (true - elsewhere) & numbers


def test_reports_on_random_rounding_do_not_say_that_totals_add_up(
    tmp_path: Path,
) -> None:
    """Values that were rounded one by one are not announced as a table that adds up."""
    records = _records()
    table = tacit.tabulate(records, {"industry": None, "region": None}, "turnover")
    release = tacit.protect(table, "round", base=50, algorithm="random", seed=4)
    assert np.abs(release.papers.problem.residual(release.published.value)).max() >= 50
    assert "still add up" not in _visible(release.report(tmp_path / "x.html"))


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_jobs_with_levels_on_one_side_publish_no_sensitive_value(folder: Path, side: str) -> None:
    """Adjustment changes sensitive cells even if they have only one level."""
    job = folder / "job.toml"
    job.write_text(
        f'levels = "{side}"\n{JOB}[method]\nname = "adjust"\ntime_limit = 10\n'
        '[outputs]\npublished = "x.csv"\ntable = "x.confidential.csv"\n'
    )
    assert main(["protect", str(job), "--quiet"]) == 0
    published = _rows(folder / "x.csv")
    true = _rows(folder / "x.confidential.csv")
    told = [
        (cell["industry"], cell["region"])
        for cell, shown in zip(true, published, strict=True)
        if cell["status"] == "sensitive" and float(shown["turnover"]) == float(cell["value"])
    ]
    assert not told


@pytest.mark.parametrize("name", ["intervals", "combined"])
def test_the_confidential_table_names_cells_that_became_intervals(folder: Path, name: str) -> None:
    """Cells that are published as intervals are secondary in the internal table."""
    job = folder / "job.toml"
    job.write_text(
        f'{JOB}[method]\nname = "{name}"\ntime_limit = 10\n'
        '[outputs]\npublished = "x.csv"\ntable = "x.confidential.csv"\n'
    )
    assert main(["protect", str(job), "--quiet"]) == 0
    published = _rows(folder / "x.csv")
    true = _rows(folder / "x.confidential.csv")
    shown = {
        cell["status"]
        for cell, row in zip(true, published, strict=True)
        if row["lower"] != row["upper"]
    }
    assert shown == {"sensitive", "secondary"}


@pytest.mark.parametrize("name", OPTIONS)
def test_json_and_exit_codes_keep_the_contract(
    folder: Path, table: tacit.Table, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The result of a job is audited from its JSON; a changed one is found exposed."""
    job, result = folder / "job.toml", folder / "result.json"
    options = "\n".join(f"{key} = {json.dumps(value)}" for key, value in OPTIONS[name].items())
    job.write_text(f'{JOB}[method]\nname = "{name}"\ntime_limit = 10\n{options}\n')
    assert main(["protect", str(job), "--quiet", "--json", str(result)]) == 0
    found = json.loads(result.read_text())
    assert found["method"] == name
    assert found["status"] in ("optimal", "feasible")
    assert found["audit"]["safe"] is True
    assert found["audit"]["exposed"] == []
    gap = (found["objective"] - found["bound"]) / max(abs(found["objective"]), 1e-10)
    assert found["gap"] == pytest.approx(gap, abs=1e-9)
    assert main(["audit", str(job), str(result), "--quiet"]) == 0
    if name == "combined":
        cells = [cell for cell, _, _ in found["intervals"]]
        assert sorted(cells) == sorted(found["suppressed"])
        found["intervals"] = found["suppressed"] = []
    else:
        assert len(found["values"]) == found["cells"]
        found["values"] = table.value.tolist()
        found.pop("radius", None)
    result.write_text(json.dumps(found))
    assert main(["audit", str(job), str(result), "--quiet"]) == 4
    assert "NOT SAFE" in capsys.readouterr().out


def test_true_values_are_not_an_adjustment(table: tacit.Table) -> None:
    """The audit finds the true table exposed, whatever readers are told of it."""
    problem = table.problem()
    audit = tacit.audit(problem, tacit.Values(problem.value))
    assert not audit.safe
    exact = tacit.audit(problem, tacit.Values(problem.value, np.zeros(problem.cell_count)))
    assert not exact.safe


def test_without_a_safe_outcome_only_the_json_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a base is too small the exit code is 2, with a reason, and nothing is published."""
    problem = tacit.examples.get("003-figure-10").problem
    problem = problem.replace(sensitive=[0], lower_level=[4], upper_level=[4])
    tacit.write_jj(problem, tmp_path / "t.jj")
    command = ["protect", str(tmp_path / "t.jj"), "--method", "round", "--option", "base=2"]
    files = ["--json", str(tmp_path / "r.json"), "--out", str(tmp_path / "r.csv")]
    assert main([*command, *files, "--report", str(tmp_path / "r.html"), "--quiet"]) == 2
    assert "larger base" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "t.jj"]
    assert json.loads((tmp_path / "r.json").read_text())["status"] == "infeasible"


class _Impatient(tacit.Observer):
    """Interrupts as soon as there is something to lose."""

    def on_solution(self, *_heard: Any, **_more: Any) -> None:
        raise KeyboardInterrupt


@pytest.mark.parametrize("method", [tacit.adjust, tacit.combined])
def test_interrupted_methods_hand_over_the_best_so_far(method: Any) -> None:
    """Ctrl-C after the first solution ends with a safe one."""
    problem = tacit.generators.generate_1h2d("6-6-10", seed=1)
    outcome = method(problem, observer=_Impatient(), time_limit=20)
    assert outcome.solution is not None
    assert tacit.audit(problem, outcome).safe


def test_figures_of_a_comparison_are_those_computed_by_hand() -> None:
    """Two free cells and their total: every figure is known without a computer."""
    problem = tacit.Problem(
        value=[20, 30, 50],
        relations=[[1, 1, -1]],
        sensitive=[0],
        lower_level=[4],
        upper_level=[4],
        weight=[1, 1, 9],
    )
    found = tacit.compare(
        problem,
        ["suppress", "intervals", "adjust", "round"],
        time_limit=10,
        options={"round": {"base": 20}},
    )
    measures = {row.label: row.measures for row in found.rows if row.measures is not None}
    # Both parts range from 0 to 50: 200% of 20 (cut off) and 167% of 30; guesses are 25.
    suppressed = measures["suppress"]
    assert suppressed.exact == pytest.approx(1 / 3)
    assert suppressed.loss == pytest.approx((2 + 5 / 3) / 6)
    assert suppressed.sensitive_width == pytest.approx(2)
    assert suppressed.deviation == pytest.approx((5 / 20 + 5 / 30) / 3)
    # 16 to 24 and 26 to 34, moved outwards to multiples of 5: widths of 10.
    assert measures["intervals"].sensitive_width == pytest.approx(10 / 20)
    assert measures["intervals"].loss == pytest.approx((10 / 20 + 10 / 30) / 6)
    # Moved by 4 each, total kept.
    assert measures["adjust"].exact == pytest.approx(1 / 3)
    assert measures["adjust"].deviation == pytest.approx((4 / 20 + 4 / 30) / 3)
    assert measures["adjust"].sensitive_width == pytest.approx(8 / 20)
    # 20 + 20 = 40 or 20 + 40 = 60, both as dear: the sensitive cell is from 0 to 40.
    assert measures["round"].sensitive_width == pytest.approx(2)
    assert measures["round"].max_deviation == pytest.approx(10 / 30)
