"""Releases to be written: a small one, one of changed values, and tau-ARGUS' own example."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np

import tacit
from tacit.attack.audit import audit
from tacit.hierarchy import Hierarchy
from tacit.outcome import Outcome, Status, Suppression
from tacit.release import Published, Release
from tacit.release.release import WorkingPapers

SIZES = Hierarchy.flat([" 2", " 4", "10", "99"])
REGIONS = Hierarchy.from_nested({"Nr": [" 1", " 2"], "Os": [" 4"]})

CONTRIBUTIONS = {
    (" 2", " 1"): [950, 755, 512],
    (" 2", " 2"): [145],
    (" 2", " 4"): [948, 869, 500, 400, 84],
    (" 4", " 1"): [827, 257],
    (" 4", " 2"): [644, 550, 86],
    (" 4", " 4"): [865],
    ("10", " 1"): [838, 817, 500, 368],
    ("10", " 2"): [788, 303, 124],
}
"""What contributors add to each cell that is not empty."""


def small_table() -> tacit.Table:
    """A table with a hierarchy, an empty row, and a code that is alone below another one."""
    records = [(*codes, amount) for codes, found in CONTRIBUTIONS.items() for amount in found]
    columns = zip(*records, strict=True)
    frame = dict(zip(("Size", "Region", "Var2"), map(list, columns), strict=True))
    import pandas

    by = {"Size": SIZES, "Region": REGIONS}
    table: tacit.Table = tacit.tabulate(pandas.DataFrame(frame), by=by, value="Var2")
    return table


@cache
def small_release() -> tacit.Release:
    """The small table, protected."""
    table = small_table().apply(tacit.PPercent(15), tacit.MinFrequency(2, percent=15))
    return tacit.protect(table, time_limit=20)


@cache
def example_table() -> tacit.Table:
    """A table without blanks in its codes, from a paper."""
    table = tacit.examples.get("002-figure-2.4").table
    assert table is not None
    return table.apply(tacit.PPercent(10))


@cache
def rounded_release() -> tacit.Release:
    """The small table, rounded."""
    return tacit.protect(small_table().apply(tacit.PPercent(15)), "round", base=500, time_limit=20)


def released(table: tacit.Table, suppressed: Iterable[int]) -> Release:
    """A release with the suppressions of somebody else."""
    mask = np.zeros(table.cell_count, bool)
    mask[list(suppressed)] = True
    outcome = Outcome(status=Status.FEASIBLE, solution=Suppression(mask))
    problem = table.problem()
    papers = WorkingPapers(table, problem, outcome, audit(problem, outcome))
    return Release(Published.of(table, outcome), papers)


def demonstration(shared: Path) -> tuple[Release, list[str]]:
    """tau-ARGUS' demonstration table with its own suppressions, and the file that it wrote."""
    folder = shared / "tables" / "argus" / "tau_testW"
    expected = (folder / "Simple2D_expected.txt").read_text().splitlines()
    cells = [line.split(",") for line in expected]
    codes = [[entry.strip('"') for entry in line[:2]] for line in cells]
    sizes = Hierarchy.flat(dict.fromkeys(size for size, _ in codes))
    parents: dict[str, str] = {}
    last = ""
    for region in dict.fromkeys(region for _, region in codes):
        if region.strip().isdigit() and region != "99":
            parents[region] = last
        elif region != "Total":
            parents[region], last = "Total", region
    regions = Hierarchy.from_parents(parents)
    import pandas

    lines = (folder / "tau_testW.asc").read_text().splitlines()
    frame = pandas.DataFrame(
        {
            "Size": [line[8:10] for line in lines],
            "Region": [line[11:13] for line in lines],
            "Var2": [float(line[27:37]) for line in lines],
        }
    )
    by = {"Size": sizes, "Region": regions}
    table = tacit.tabulate(frame, by=by, value="Var2").apply(tacit.PPercent(15), weight="value")
    found = {tuple(code): line[3] for code, line in zip(codes, cells, strict=True)}
    pairs = zip(table.codes("Size"), table.codes("Region"), strict=True)
    suppressed = [cell for cell, pair in enumerate(pairs) if found[pair] in ("3", "11")]
    return released(table, suppressed), expected
