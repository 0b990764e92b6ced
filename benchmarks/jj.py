"""How fast JJ files are read and written, against parsing with numpy.loadtxt.

Run with `python -m benchmarks.jj [FILE.jj ...]`: the files named, and a generated table of
about 50 MB. Both readers of a row run in the same process one after the other; their ratio is
what to compare between machines.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from tacit.io.jj import read_jj, write_jj
from tacit.problem import Problem

ROWS, COLUMNS = 1000, 700
REPETITIONS = 3
_NUMBERS = ("lower", "upper", "lower_level", "upper_level", "sliding_level")
_CELL = np.dtype(
    [("cell", "i8"), ("value", "f8"), ("cost", "f8"), ("status", "S1")]
    + [(name, "f8") for name in _NUMBERS]
)


def generated_table(rows: int, columns: int, seed: int = 1) -> Problem:
    """A two-dimensional table with its margins in the first row and column, with decimals."""
    random = np.random.default_rng(seed)
    cents = np.zeros((rows + 1, columns + 1))
    cents[1:, 1:] = np.round(random.lognormal(8, 2, (rows, columns)))
    cents[0] = cents.sum(axis=0)
    cents[:, 0] = cents[:, 1:].sum(axis=1)
    value = (cents / 100).ravel()
    cell = np.arange(cents.size)
    row, column = np.divmod(cell, columns + 1)
    relation = np.concatenate([row, rows + 1 + column])
    is_total = np.concatenate([column == 0, row == 0])
    terms = (np.where(is_total, -1.0, 1.0), (relation, np.tile(cell, 2)))
    sensitive = np.flatnonzero(random.random(cents.size) < 0.05)
    level = np.round(0.15 * value[sensitive], 2)
    return Problem(
        value=value,
        upper=np.full(cents.size, 2 * value.max()),
        weight=value,
        relations=sparse.coo_array(terms, shape=(rows + columns + 2, cents.size)).tocsr(),
        sensitive=sensitive,
        lower_level=level,
        upper_level=level,
    )


def read_with_loadtxt(path: Path) -> Problem:
    """The usual way: loadtxt for the cells, a loop over the lines of the relations."""
    with path.open() as lines:
        next(lines)
        n = int(next(lines))
        cells = np.loadtxt(lines, _CELL, max_rows=n)
        m = int(next(lines))
        rhs, indptr, index, coefficient = np.zeros(m), [0], list[int](), list[float]()
        for relation in range(m):
            head, tail = next(lines).split(":")
            rhs[relation] = float(head.split()[0])
            fields = tail.split()
            index.extend(map(int, fields[::2]))
            coefficient.extend(float(field[1:-1]) for field in fields[1::2])
            indptr.append(len(index))
    sensitive = np.flatnonzero(cells["status"] == b"u")
    return Problem(
        value=cells["value"],
        lower=cells["lower"],
        upper=cells["upper"],
        weight=cells["cost"],
        relations=sparse.csr_array((coefficient, index, indptr), shape=(m, n)),
        rhs=rhs,
        sensitive=sensitive,
        lower_level=cells["lower_level"][sensitive],
        upper_level=cells["upper_level"][sensitive],
        sliding_level=cells["sliding_level"][sensitive],
        must_publish=cells["status"] == b"z",
    )


def seconds(action: Callable[[], object]) -> float:
    """The shortest of a few runs: the others measure what else the machine did."""
    shortest = np.inf
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        action()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


def measure(name: str, path: Path, out: Path) -> str:
    """One row of the table: MB/s of each way, and how many times faster tacit reads."""
    problem = read_jj(path)
    megabytes = path.stat().st_size / 1e6
    read = seconds(lambda: read_jj(path))
    loadtxt = seconds(lambda: read_with_loadtxt(path))
    write = seconds(lambda: write_jj(problem, out))
    written = out.stat().st_size / 1e6
    return (
        f"{name:20} {megabytes:8.2f} {megabytes / read:12.1f} {megabytes / loadtxt:12.1f} "
        f"{written / write:12.1f} {loadtxt / read:12.1f}"
    )


def main(files: list[str]) -> None:
    """Print the table for the files named and for a generated one."""
    columns = ("read MB/s", "loadtxt MB/s", "write MB/s", "read ratio")
    print(f"{'file':20} {'MB':>8} " + " ".join(f"{column:>12}" for column in columns))
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "out.jj"
        for file in files:
            print(measure(Path(file).name, Path(file), out), flush=True)
        generated = Path(directory) / "generated.jj"
        write_jj(generated_table(ROWS, COLUMNS), generated)
        print(measure("generated 1001x701", generated, out))


if __name__ == "__main__":
    main(sys.argv[1:])
