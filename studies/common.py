"""What studies share: instances, published figures, runs, and result files that say whence."""

from __future__ import annotations

import argparse
import csv
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

import numpy as np

from tacit.attack.audit import audit
from tacit.errors import InputError, TacitError
from tacit.generators import generate_1h2d
from tacit.io.jj import read_jj
from tacit.methods.suppress.run import suppress
from tacit.outcome import TracePoint
from tacit.precompile import precompile
from tacit.problem import Booleans, Problem
from tacit.threads import available_cores

PROJECT = Path(__file__).resolve().parents[1]
RESULTS = PROJECT / "studies" / "results"
PACKAGES = ("highspy", "pyscipopt", "numpy", "scipy", "numba")

GENERATED_NOTE = (
    "generated tables have the sizes of the published ones, not their values, levels or weights: "
    "compare in class only"
)

GAP_NOTE = (
    "objective, bound and gap_pct include the sensitive cells' weight, secondary_gap_pct does not; "
    "the paper does not say which its gaps are, those near 100% point to the second"
)
RUN_COLUMNS = (
    *("status", "stopped_by", "sensitive_weight", "objective", "bound", "gap_pct"),
    *("secondary_gap_pct", "seconds", "iterations", "suppressed", "exposed", "safe"),
)
"""The columns that `Run.entries` fills."""

Entry: TypeAlias = str | float | None
Row: TypeAlias = Mapping[str, Entry]


def shared() -> Path:
    """The directory with public instances and published figures.

    Raises:
        InputError: It is not there.
    """
    folder = Path(os.environ.get("TACIT_SHARED") or PROJECT.parent / "shared")
    if not (folder / "instances").is_dir():
        raise InputError(f"no public instances at {folder}; set TACIT_SHARED to where they are")
    return folder


def shared_instance(name: str) -> Problem:
    """A public instance by its name."""
    return read_jj(shared() / "instances" / f"{name}.jj")


def generated_instance(name: str, seed: int = 1) -> Problem:
    """A generated 1H2D table by the name of its structure; weights are values."""
    return generate_1h2d(name, seed, weight="value")


def published(table: int, seed: str = "004") -> list[dict[str, str]]:
    """The rows of a table of a paper, as printed; by default of [BaenaCastroFrangioni2020]."""
    with (shared() / "published" / f"seed{seed}_table{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def published_by_instance(table: int, seed: str = "004") -> dict[str, dict[str, str]]:
    """The rows of a table of a paper, by instance; see `published`."""
    return {row["instance"]: row for row in published(table, seed)}


def arguments(
    description: str, *, instances: Sequence[str], time_limit: float
) -> argparse.ArgumentParser:
    """The arguments of every study; a study may add others."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--time-limit", type=float, default=time_limit, help="seconds for each run")
    parser.add_argument(
        "--instances", nargs="+", default=list(instances), metavar="NAME", help="which tables"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of tables and methods")
    add_results(parser)
    return parser


def add_results(parser: argparse.ArgumentParser) -> None:
    """The options for result files."""
    parser.add_argument("--out", type=Path, default=RESULTS, help="directory for the results")
    parser.add_argument(
        "--again", action="store_true", help="measure anew what is in the file already"
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """The option for the number of cores; `jobs_note` records it."""
    parser.add_argument(
        "--jobs", type=int, default=available_cores(), help="cores that suppression may use"
    )


def jobs_note(jobs: int) -> str:
    """The number of cores, for the head of a file."""
    return f"suppression may use {jobs} core{'s' if jobs > 1 else ''} (jobs={jobs})"


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """One method on one table.

    Attributes:
        sensitive_weight: Weight of the sensitive cells, which every pattern pays.
        status: How it ended; `failed` if it broke down.
        stopped_by: Why it ended.
        objective: Weight of the pattern, sensitive cells included.
        bound: What was proven about it.
        seconds: Wall time.
        iterations: Rounds of the outer loop.
        suppressed: Number of suppressed cells.
        exposed: Sensitive cells that the audit finds exposed; None without a pattern.
        trace: Objective and bound over time.
    """

    sensitive_weight: float
    status: str
    stopped_by: str
    objective: float | None = None
    bound: float | None = None
    seconds: float
    iterations: int | None = None
    suppressed: int | None = None
    exposed: int | None = None
    trace: tuple[TracePoint, ...] = ()

    @property
    def gap_percent(self) -> float | None:
        """How far the objective is from the bound, in per cent of the objective."""
        if self.objective is None or self.bound is None:
            return None
        return 100 * (self.objective - self.bound) / max(abs(self.objective), 1e-10)

    @property
    def secondary_gap_percent(self) -> float | None:
        """The same in per cent of what is paid beyond the sensitive cells: the stricter figure."""
        if self.objective is None or self.bound is None:
            return None
        beyond = self.objective - self.sensitive_weight
        return 100 * (self.objective - self.bound) / max(beyond, 1e-10)

    def seconds_to(self, secondary_gap_percent: float) -> float | None:
        """When the gap of the secondary cells was this small for the first time; None if never."""
        for point in self.trace:
            if point.objective is None or point.bound is None:
                continue
            beyond = max(point.objective - self.sensitive_weight, 1e-10)
            if 100 * (point.objective - point.bound) <= secondary_gap_percent * beyond:
                return point.seconds
        return None

    def entries(self) -> dict[str, Entry]:
        """The run as part of a row."""
        return {
            "status": self.status,
            "stopped_by": self.stopped_by,
            "sensitive_weight": self.sensitive_weight,
            "objective": self.objective,
            "bound": self.bound,
            "gap_pct": self.gap_percent,
            "secondary_gap_pct": self.secondary_gap_percent,
            "seconds": round(self.seconds, 2),
            "iterations": self.iterations,
            "suppressed": self.suppressed,
            "exposed": self.exposed,
            "safe": None if self.exposed is None else "yes" if self.exposed == 0 else "no",
        }


def run_tacit(problem: Problem, *, time_limit: float, seed: int = 1, **options: Any) -> Run:
    """Suppress with tacit. A breakdown is a result too, and the study goes on."""
    began = datetime.now(UTC)
    try:
        outcome = suppress(problem, time_limit=time_limit, seed=seed, **options)
    except TacitError as error:
        took = (datetime.now(UTC) - began).total_seconds()
        return Run(
            sensitive_weight=weight_of_sensitive(problem),
            status="failed",
            stopped_by=type(error).__name__,
            seconds=took,
        )
    report = outcome.report
    has_pattern = outcome.solution is not None
    return Run(
        sensitive_weight=weight_of_sensitive(problem),
        status=outcome.status.value,
        stopped_by=outcome.stopped_by,
        objective=report.objective,
        bound=report.bound,
        seconds=report.seconds,
        iterations=report.iterations,
        suppressed=len(outcome.suppressed) if has_pattern else None,
        exposed=count_exposed(problem, outcome.suppressed) if has_pattern else None,
        trace=report.trace,
    )


def weight_of_sensitive(problem: Problem) -> float:
    """What every pattern pays for the sensitive cells."""
    return float(problem.weight[problem.is_sensitive].sum())


def count_exposed(problem: Problem, suppressed: Any) -> int:
    """How many sensitive cells a pattern leaves exposed, by the audit's account."""
    mask: Booleans = np.zeros(problem.cell_count, bool)
    mask[suppressed] = True
    found = audit(problem, mask, cells="sensitive", exact=False, tolerance=None)
    return len(found.exposed_cells)


def warm_up() -> None:
    """Compile what is compiled on first use, so that no run is charged for it."""
    precompile()


class Results:
    """A CSV file that is written row by row, so that a study cut short leaves what it has.

    Comment lines at its head name the machine, the versions and the date. With a key the study
    goes on where it was: rows of a file with the same notes and columns stay, and `has` tells
    which they are.
    """

    def __init__(
        self,
        path: Path,
        columns: Sequence[str],
        notes: Iterable[str] = (),
        *,
        key: Sequence[str] = (),
        again: bool = False,
        aloud: bool = True,
    ):
        """Nothing is written yet.

        Args:
            path: Of the file.
            columns: Its columns.
            notes: Lines for its head.
            key: Columns that tell a row from all others; without any, the file begins anew.
            again: Begin anew, whatever is there.
            aloud: Print rows.
        """
        self._path = path
        self._aloud = aloud
        self._columns = list(columns)
        self._notes = [line for line in notes if line]
        self._key = list(key)
        self._goes_on = bool(key) and not again
        self._rows: list[dict[str, str]] = []

    @property
    def rows(self) -> list[dict[str, str]]:
        """All rows, as they stand in the file."""
        return list(self._rows)

    def __enter__(self) -> Results:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        kept = self._begun() if self._goes_on else ""
        if kept:
            lines = (line for line in kept.splitlines() if not line.startswith("#"))
            self._rows = list(csv.DictReader(lines))
            head = [f"continued: {datetime.now(UTC):%Y-%m-%d}, load average {_load()}"]
            at = kept.index("\n", kept.rindex("\n#") + 1) + 1
            text = kept[:at] + "".join(f"# {line}\n" for line in head) + kept[at:]
        else:
            head = [*self._notes, *circumstances()]
            text = "".join(f"# {line}\n" for line in head) + ",".join(self._columns) + "\n"
        part = self._path.with_name(f"{self._path.name}.part")
        part.write_text(text)
        part.replace(self._path)
        self._file = self._path.open("a", newline="")
        self._writer = csv.DictWriter(self._file, self._columns, lineterminator="\n")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def has(self, *key: Entry) -> bool:
        """Whether the row is there already, from this run or one before."""
        asked = [_plain(entry) for entry in key]
        return any([row[name] for name in self._key] == asked for row in self._rows)

    def add(self, row: Row) -> None:
        """Write a row, and print it unless the file is a quiet one."""
        plain = {name: _plain(entry) for name, entry in row.items()}
        self._writer.writerow(plain)
        self._file.flush()
        self._rows.append({name: plain.get(name, "") for name in self._columns})
        if self._aloud:
            print("  ".join(f"{name}={entry}" for name, entry in plain.items() if entry))

    def _begun(self) -> str:
        """What is in the file, without a last line that was cut short; nothing if it differs."""
        if not self._path.exists():
            return ""
        with self._path.open(newline="") as file:
            lines = [line for line in file if line.endswith("\n")]
        head = [line[1:].strip() for line in lines if line.startswith("#")]
        rest = [line.strip() for line in lines if not line.startswith("#")]
        same = head[: len(self._notes)] == self._notes and rest[:1] == [",".join(self._columns)]
        return "".join(lines) if same else ""


def circumstances() -> list[str]:
    """Machine, versions and date, a line each."""
    versions = [f"{name} {version(name)}" for name in ("tacit", *PACKAGES)]
    return [
        f"machine: {_processor()}, {os.cpu_count()} cores, {_memory()}, {platform.platform()}",
        f"load average at the start: {_load()}",
        f"versions: python {platform.python_version()}, {', '.join(versions)}",
        f"date: {datetime.now(UTC):%Y-%m-%d}",
    ]


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of what is known; None if nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def mean_of(rows: Iterable[Mapping[str, str]], column: str) -> float | None:
    """The mean of a column, where it has an entry."""
    return mean(float(row[column]) if row[column] else None for row in rows)


def _plain(entry: Entry) -> str:
    if entry is None:
        return ""
    return f"{entry:.6g}" if isinstance(entry, float) and abs(entry) < 1e5 else str(entry)


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _memory() -> str:
    if not hasattr(os, "sysconf"):
        return "memory unknown"
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
