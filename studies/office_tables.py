"""Tables as offices have them, from public microdata and tables: see `shared/tables/README.md`."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from studies.alone import hierarchies_for
from studies.common import shared
from tacit.generators import SensitiveShare, generate_2d
from tacit.generators.contributions import Contributions
from tacit.hierarchy import Hierarchy
from tacit.table import Table

_REGION = {
    "Nr": ("1", "2", "3"),
    "Os": ("4", "5", "6", "7"),
    "Ws": ("8", "9", "10"),
    "Zd": ("11", "12"),
}
"""region2.hrc."""


def size_region() -> Table:
    """tau_testW: Size x Region, Var2, P(15,1)."""
    return _testw({"size": None, "region": Hierarchy.from_nested(_REGION)})


def industry_size(variable: str = "var2") -> Table:
    """tau_testW: IndustryCode x Size, Var2 or Var1, P(15,1)."""
    return _testw({"industry": _industry(), "size": None}, variable)


def industry_region() -> Table:
    """tau_testW: IndustryCode x Region, Var2, P(15,1)."""
    return _testw({"industry": _industry(), "region": Hierarchy.from_nested(_REGION)})


def industry_size_region() -> Table:
    """tau_testW: IndustryCode x Size x Region, Var2, P(15,1)."""
    region = Hierarchy.from_nested(_REGION)
    return _testw({"industry": _industry(), "size": None, "region": region})


def enterprise() -> Table:
    """enterprise: act x product and act x region linked, turnover, p% 10 on holdings."""
    folder = shared() / "tables" / "argus" / "enterprise"
    fields = {"holding": (1, 9), "act": (10, 2), "product": (12, 2), "region": (14, 2)}
    data = _fixed_width(folder / "example_enterprise.asc", {**fields, "turnover": (19, 8)})
    data["turnover"] = [float(text) for text in data["turnover"]]
    act = _hrc(folder / "nace_divisions.hrc", missing="00")
    region = _hrc(folder / "KohStatReg.hrc")
    tables = [
        tacit.tabulate(data, by, "turnover", holding="holding", top=3)
        for by in ({"act": act, "product": None}, {"act": act, "region": region})
    ]
    rule = tacit.PPercent(10, holding=True)
    linked = tables[0].link(tables[1])
    judged = linked.apply(rule)
    # Missing=safe: cells of the missing code are published whatever the rule says.
    missing = np.flatnonzero(judged.is_sensitive & (judged.codes("act") == "00"))
    marks = {name: judged.codes(name)[missing].tolist() for name in ("act", "product", "region")}
    safe = tacit.Manual({**marks, "status": ["safe"] * len(missing)}, override=True)
    return linked.apply(rule, safe, weight="value")


def french() -> Table:
    """Four French turnover tables linked: MinFrequency(3) and Dominance(1, 85)."""
    folder = shared() / "tables" / "rtauargus"
    activity = _levels(folder / "activity_corr_table.csv", folder / "turnover_act_size.csv")
    nuts = _levels(folder / "nuts23_fr_corr_table.csv", folder / "turnover_nuts_size.csv")
    tables = []
    for first, second in (("act", "size"), ("act", "cj"), ("nuts", "size"), ("nuts", "cj")):
        columns = _columns(folder / f"turnover_{first}_{second}.csv")
        name, hierarchy = ("ACTIVITY", activity) if first == "act" else ("NUTS", nuts)
        codes = sorted(set(columns[second.upper()]) - {"Total"})
        tables.append(
            Table.from_frame(
                {key: _numbers(column) for key, column in columns.items()},
                {name: hierarchy, second.upper(): Hierarchy.flat(codes, total="Total")},
                value="TOT",
                count="N_OBS",
                top=["MAX"],
            )
        )
    linked = tables[0].link(*tables[1:])
    return linked.apply(tacit.MinFrequency(3), tacit.Dominance(1, 85), weight="value")


def large() -> Table:
    """100,489 generated cells in two hierarchies, 8% sensitive by p% 15, a third of them single."""
    return generated(100_000, mean_count=40.0)


def generated(cells: int, mean_count: float) -> Table:
    """A table with two hierarchies of three levels, sensitive by p% 15.

    Args:
        cells: About so many cells.
        mean_count: Contributors of a cell on average: the fewer, the more cells are sensitive.
    """
    rows, columns = hierarchies_for(cells, (3, 3))
    drawn = Contributions(mean_count=mean_count, spread=1.0, code_spread=1.0)
    nothing = SensitiveShare(percent=0.0)
    table = generate_2d(rows, columns, sensitivity=nothing, contributions=drawn)
    return table.apply(tacit.PPercent(15), weight="value")


TABLES: Mapping[str, Callable[[], Table]] = {
    "size x region": size_region,
    "industry x size": industry_size,
    "industry x region": industry_region,
    "enterprise": enterprise,
    "french": french,
    "large": large,
}


def testw_records() -> dict[str, Any]:
    """tau_testW: the columns that its tables are made of."""
    path = shared() / "tables" / "argus" / "tau_testW" / "tau_testW.asc"
    fields = {"industry": (4, 5), "size": (9, 2), "region": (12, 2)}
    variables = {"var1": (19, 9), "var2": (28, 10)}
    data: dict[str, Any] = _fixed_width(path, fields | variables)
    return data | {name: np.array([float(text) for text in data[name]]) for name in variables}


def testw_dimensions() -> dict[str, Hierarchy | None]:
    """tau_testW: its dimensions and their hierarchies."""
    return {"industry": _industry(), "size": None, "region": Hierarchy.from_nested(_REGION)}


def _testw(by: Mapping[str, Hierarchy | None], variable: str = "var2") -> Table:
    table = tacit.tabulate(testw_records(), by, variable, top=3)
    return table.apply(tacit.PPercent(15), weight="value")


def _industry() -> Hierarchy:
    """IndustryCode with levels of 3, 4 and 5 digits (HIERLEVELS 3 1 1 0 0)."""
    path = shared() / "tables" / "argus" / "tau_testW" / "tau_testW.asc"
    codes = sorted(set(_fixed_width(path, {"industry": (4, 5)})["industry"]))
    return Hierarchy.from_prefixes(codes, lengths=(3, 4, 5))


def _fixed_width(path: Path, fields: Mapping[str, tuple[int, int]]) -> dict[str, list[Any]]:
    """Columns of a file with a fixed width: first position, counted from 1, and length."""
    lines = path.read_text("latin-1").splitlines()
    return {
        name: [line[start - 1 : start - 1 + length].strip() for line in lines]
        for name, (start, length) in fields.items()
    }


def _hrc(path: Path, missing: str | None = None) -> Hierarchy:
    """A hierarchy whose levels are marked by `@`; a missing code stands below the total."""
    above: dict[str, str | None] = {"Total": None}
    if missing is not None:
        above[missing] = "Total"
    way = ["Total"]
    for line in path.read_text("latin-1").split():
        code = line.lstrip("@")
        depth = len(line) - len(code)
        del way[depth + 1 :]
        above[code] = way[-1]
        way.append(code)
    return Hierarchy.from_parents(above)


def _columns(path: Path) -> dict[str, list[str]]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


def _numbers(column: Sequence[str]) -> Any:
    try:
        return np.array([float(entry) for entry in column])
    except ValueError:
        return list(column)


def _levels(path: Path, table: Path) -> Hierarchy:
    """A classification from a file with one column per level, as far as a table has its codes."""
    occurring = set(next(iter(_columns(table).values())))
    paths = zip(*_columns(path).values(), strict=True)
    above: dict[str, str | None] = {"Total": None}
    for codes in paths:
        up = "Total"
        for code in codes:
            if code in occurring and code != up:
                above.setdefault(code, up)
                up = code
    return Hierarchy.from_parents(above)
