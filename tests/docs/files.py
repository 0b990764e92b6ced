"""Files that the commands on a page need and that no command before them has written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

import tacit
from tacit.cli.main import main
from tacit.generators.microdata import generate_enterprises, region_hierarchy
from tacit.io.cells import write_columns
from tests.jobs.argus.small_jobs import Office

from .blocks import ROOT, blocks


def _table(folder: Path, name: str = "table.jj") -> None:
    tacit.write_jj(tacit.examples.get("003-figure-11").problem, folder / name)


def _named_table(folder: Path) -> None:
    _table(folder, "TABLE.jj")


def _counted_table(folder: Path) -> None:
    tacit.write_jj(tacit.examples.get("003-figure-10").problem, folder / "TABLE.jj")


def _protected_table(folder: Path) -> None:
    example = tacit.examples.get("003-figure-11")
    _table(folder)
    tacit.write_jj(example.problem, folder / "protected.jj", suppressed=example.suppressed)


def _published_table(folder: Path) -> None:
    _table(folder)
    main(["protect", "table.jj", "--json", "published.json", "--quiet"])


def _primaries(folder: Path) -> None:
    main(["generate", "1h2d", "--structure", "10-10-10", "--out", "table.jj"])
    problem = tacit.read_jj(folder / "table.jj")
    (folder / "primaries.txt").write_text("\n".join(map(str, problem.sensitive.tolist())))
    (folder / "table.jj").unlink()
    # The demo in a hurry: its records and its job are there, whatever comes of the search.
    main(["demo", "--time-limit", "0.1", "--quiet"])


def _job(folder: Path) -> None:
    """The job of docs/jobs.md, with records of its columns."""
    (folder / "job.toml").write_text(_first_job("jobs.md"))
    industries = tacit.Hierarchy.from_nested({"C": ["C10", "C11", "C12"], "F": ["F41", "F42"]})
    firms = generate_enterprises(
        1000, dimensions={"industry": industries, "region": region_hierarchy(2, 3)}
    )
    write_columns(dict(firms.records), folder / "firms.csv")
    regions = firms.dimensions["region"]
    codes = [code for code in regions.codes if code != regions.total]
    parents = [regions.parent_of(code) for code in codes]
    columns = {"child": np.array(codes), "parent": np.array(parents)}
    write_columns(columns, folder / "regions.csv")


def _linked(folder: Path) -> None:
    """The job of docs/linked-tables.md, with records of its columns."""
    (folder / "job.toml").write_text(_first_job("linked-tables.md"))
    draw = np.random.default_rng(5)
    codes = {"industry": ["A01", "A02", "B10", "B11"], "region": [*"NESW"], "size": [*"sml"]}
    records = {name: draw.choice(given, 120) for name, given in codes.items()}
    records["firm"] = np.array([f"f{number}" for number in range(120)])
    records["turnover"] = np.round(np.exp(draw.normal(3, 1.6, 120)))
    write_columns(records, folder / "firms.csv")


def _jobs(folder: Path) -> None:
    """Three jobs about the records of docs/jobs.md, one of them with a mistake."""
    _job(folder)
    text = (folder / "job.toml").read_text().partition("[outputs]")[0]
    text = text.replace('"firms.csv"', '"../firms.csv"').replace('"regions', '"../regions')
    (folder / "jobs").mkdir()
    for name, changes in {
        "industry": ("", ""),
        "region": ("p = 10", "p = 15"),
        "wrong": ("p = 10", "p = -1"),
    }.items():
        outputs = f'[outputs]\npublished = "{name}.csv"\n'
        (folder / "jobs" / f"{name}.toml").write_text(text.replace(*changes) + outputs)
    (folder / "plan.toml").write_text(_first_job("plans.md"))


def _units(folder: Path) -> None:
    """The local units of the guide, prepared as it says, and its job."""
    units = dict(generate_enterprises(4000, seed=1).records)
    _, first, firm = np.unique(units["firm"], return_index=True, return_inverse=True)
    units["industry"] = units["industry"][first][firm]
    units["region"] = units["region"].astype("U3")
    write_columns(units, folder / "units.csv")
    (folder / "job.toml").write_text(_first_job("guide.md"))


def _first_job(page: str) -> str:
    found = blocks(ROOT / "docs" / page)
    return next(block.text for block in found if block.language == "toml")


def _argus_job(folder: Path) -> None:
    """The batch file of docs/tau-argus.md, with records and metadata beside it."""
    Office(folder)
    found = blocks(ROOT / "docs" / "tau-argus.md")
    (folder / "job.arb").write_text(next(each.text for each in found if "<OPEN" in each.text))


def _foreign(folder: Path) -> None:
    """The job of docs/audits.md, its table, and two publications of it."""
    (folder / "job.toml").write_text(_first_job("audits.md"))
    values = [[500.5, 400.0], [199.5, 400.5], [300.5, 200.0]]
    industries, regions = ["Food", "Steel", "Wood"], ["Nord", "Süd"]
    lines = [
        f"{industry},{region},{value}"
        for industry, row in zip(industries, values, strict=True)
        for region, value in zip(regions, row, strict=True)
    ]
    (folder / "cells.csv").write_text("\n".join(["industry,region,value", *lines]))
    (folder / "marks.csv").write_text("industry,region\nFood,Nord\n")
    found = blocks(ROOT / "docs" / "audits.md")
    ours = next(block.text for block in found if block.text.startswith("Turnover by"))
    (folder / "ours.csv").write_text(ours, encoding="cp1252")
    (folder / "open.csv").write_text(ours.replace("Food;c;c", "Food;c;400"))
    apart = folder / "apart"
    apart.mkdir()
    _linked(apart)
    main(["protect", "apart/job.toml", "--out", "turnover.xlsx", "--quiet"])
    (apart / "job.toml").rename(folder / "linked.toml")
    (apart / "firms.csv").rename(folder / "firms.csv")
    for number, name in enumerate(("by size", "industry-region"), 1):
        (apart / f"turnover {name}.csv").rename(folder / f"table{number}.csv")


PREPARED: Mapping[str, Callable[[Path], None]] = {
    "audits.md": _foreign,
    "coming-from-tau-argus.md": _protected_table,
    "command-line.md": _primaries,
    "evidence.md": _published_table,
    "guide.md": _units,
    "intervals.md": _named_table,
    "combined.md": _named_table,
    "adjustment.md": _named_table,
    "jobs.md": _job,
    "linked-tables.md": _linked,
    "plans.md": _jobs,
    "recoding.md": _job,
    "report.md": _job,
    "rounding.md": _counted_table,
    "tau-argus.md": _argus_job,
}
"""By page, what writes its files into a folder, which is the working directory as well."""
