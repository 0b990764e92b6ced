"""A tacit `Table` as a tau-ARGUS batch job, and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studies.peers.environment import PeerError
from tacit.hierarchy import Hierarchy
from tacit.problem import Booleans, Floats
from tacit.table.status import CellStatus
from tacit.table.table import Table

_TOTAL = "T"
_MOST_DECIMALS = 6
_LETTERS = {
    CellStatus.SAFE: "S",
    CellStatus.SECONDARY: "S",
    CellStatus.SENSITIVE: "U",
    CellStatus.PUBLISH: "P",
}


def write_job(table: Table, folder: Path, *, minutes: int, singletons: bool) -> Path:
    """Write all files of a job that protects the table with MOD; returns the `.arb` file.

    Codes become numbers, so that no code of the table can mean anything to tau-ARGUS.

    Args:
        table: One table, not linked.
        folder: Where the files go.
        minutes: Time for each subtable.
        singletons: Let tau-ARGUS also defend against single respondents.
    """
    if len(table.grids) != 1:
        raise PeerError("tau-ARGUS' modular method is only run on single tables; unlink them")
    metadata = ['<SEPARATOR> ";"', "<SAFE> S", "<UNSAFE> U", "<PROTECT> P"]
    names = []
    for place, hierarchy in enumerate(table.grids[0].hierarchies):
        names.append(f"d{place}")
        metadata += [f"d{place}", "  <RECODEABLE>", f'  <TOTCODE> "{_TOTAL}"']
        if hierarchy.depth > 1:
            (folder / f"d{place}.hrc").write_text(_hierarchy_text(hierarchy))
            metadata += ["  <HIERARCHICAL>", f'  <HIERCODELIST> "d{place}.hrc"']
            metadata += ['  <HIERLEADSTRING> "@"']
    decimals = f"  <DECIMALS> {_decimals(table.value)}"
    metadata += ["value", "  <NUMERIC>", decimals, "freq", "  <FREQUENCY>"]
    metadata += ["loss", "  <NUMERIC> <COST>", decimals, "status", "  <STATUS>"]
    metadata += ["lower", "  <NUMERIC> <LOWERPL>", decimals]
    metadata += ["upper", "  <NUMERIC> <UPPERPL>", decimals]
    (folder / "table.rda").write_text("\n".join(metadata) + "\n")
    (folder / "table.tab").write_text("\n".join(_cell_lines(table)) + "\n")
    flags = ",".join(["1" if singletons else "0"] * 3)
    quoted = "".join(f'"{name}"' for name in names)
    batch = folder / "job.arb"
    batch.write_text(
        f'<OPENTABLEDATA> "{folder / "table.tab"}"\n'
        f'<OPENMETADATA> "{folder / "table.rda"}"\n'
        f'<SPECIFYTABLE> {quoted}|"value"||"loss"\n'
        "<SAFETYRULE>\n"
        "<READTABLE> 2\n"
        f"<SUPPRESS> MOD(1,{minutes},{flags})\n"
        f'<WRITETABLE> (1,5,SO+,"{folder / "protected.tab"}")\n'
    )
    return batch


def read_suppressed(table: Table, folder: Path) -> Booleans:
    """The suppressed cells of the table that the job has written."""
    grid = table.grids[0]
    dimensions = len(grid.shape)
    keys, hidden = [], []
    for line in (folder / "protected.tab").read_text().splitlines():
        fields = line.split(";")
        codes = [field.strip('" ') for field in fields[:dimensions]]
        positions = [0 if code == _TOTAL else int(code) for code in codes]
        keys.append(int(np.dot(positions, grid.strides)))
        # Status, lower and upper level come last.
        hidden.append(fields[-3] in ("U", "M"))
    mask = np.zeros(table.cell_count, bool)
    mask[grid.numbers[grid.find(np.array(keys, np.int64)[np.array(hidden, bool)])]] = True
    return mask


def _hierarchy_text(hierarchy: Hierarchy) -> str:
    codes = _codes(hierarchy)
    return "".join(
        "@" * (int(level) - 1) + code + "\n"
        for code, level in zip(codes[1:], hierarchy.level[1:], strict=True)
    )


def _codes(hierarchy: Hierarchy) -> list[str]:
    width = len(str(len(hierarchy) - 1))
    return [_TOTAL, *(f"{position:0{width}}" for position in range(1, len(hierarchy)))]


def _decimals(value: Floats) -> int:
    for decimals in range(_MOST_DECIMALS):
        if np.array_equal(np.round(value, decimals), value):
            return decimals
    return _MOST_DECIMALS


def _cell_lines(table: Table) -> list[str]:
    grid = table.grids[0]
    problem = table.problem()
    lower, upper = np.zeros((2, table.cell_count))
    lower[problem.sensitive], upper[problem.sensitive] = problem.lower_level, problem.upper_level
    count = np.ones(table.cell_count) if table.count is None else table.count
    # Cells without contributors are not written: tau-ARGUS takes what is left out for empty.
    kept = np.flatnonzero(table.status[grid.numbers] != CellStatus.EMPTY.value)
    cells = grid.numbers[kept]
    codes = [
        np.array(_codes(hierarchy))[grid.positions[kept, place]]
        for place, hierarchy in enumerate(grid.hierarchies)
    ]
    columns = [
        *(column.tolist() for column in codes),
        map(repr, table.value[cells].tolist()),
        map(str, np.maximum(np.nan_to_num(count[cells], nan=1.0), 1.0).astype(int).tolist()),
        map(repr, problem.weight[cells].tolist()),
        (_LETTERS[CellStatus(status)] for status in table.status[cells].tolist()),
        map(repr, lower[cells].tolist()),
        map(repr, upper[cells].tolist()),
    ]
    return [";".join(fields) for fields in zip(*columns, strict=True)]
