"""[KarlssonOlsson2015, section 5.3]: open solvers on the programs that suppression comes down to.

    python -m studies.open_solvers                     # up to three hours, mostly GLPK's
    python -m studies.open_solvers --instances 2C --variants Partial-Value --time-limit 20

The paper runs its decompositions on CPLEX and on GLPK. Here subproblems are flows, and what a
solver gets is the master problem. So the last master problem of each run, with all cuts found and
without what the search had fixed, goes to HiGHS, SCIP and GLPK as one and the same file, to each in
a process of its own on one core. Answers must agree; the last columns are the paper's times for the
whole decomposition, on its own tables.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy import sparse

from studies.combined import VARIANTS, Variant, run
from studies.combined_tables import table, with_sliding_levels
from studies.common import GENERATED_NOTE, Entry, Results, arguments, shared, warm_up
from studies.peers import glpk_runner
from studies.peers.environment import PeerError, glpk_python
from studies.pictures import read_rows
from tacit.methods.combined import cuts as combined_cuts
from tacit.methods.engine.relaxation import Relaxation
from tacit.methods.intervals import cuts as interval_cuts
from tacit.methods.suppress import cuts as suppress_cuts
from tacit.problem import Booleans, Floats, Problem

PAPER = "[KarlssonOlsson2015, Tables 5.2 and 5.3]"
INSTANCES = ("1LINKED", "1B", "2C", "3ALT")
SOLVERS = ("highs", "scip", "glpk")
GAP = 1e-4
KEY = ("instance", "variant", "solver")
COLUMNS = (
    *("instance", "variant", "solver", "rows", "columns", "integers", "status", "objective"),
    *("cpu_seconds", "seconds", "times_highs", "paper_cplex_cpu_s", "paper_glpk_cpu_s"),
)
MASTERS: Mapping[str, type[Relaxation]] = {
    "Complete": suppress_cuts.Master,
    "Partial": interval_cuts.Master,
    "Combined": combined_cuts.Master,
}
"""The relaxation that each kind of suppression fills with cuts."""


@dataclass(frozen=True, eq=False)
class Program:
    """min cost x, row_lower <= A x <= row_upper, lower <= x <= upper, some x integer."""

    A: sparse.csr_array[Any, Any]
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats
    cost: Floats
    integer: Booleans

    @classmethod
    def of(cls, master: Relaxation, lower: Floats, upper: Floats) -> Program:
        """The master problem with all its cuts, in the units in which solvers are given it.

        Args:
            master: Holds steady rows and cuts.
            lower: The least of each column, before anything was fixed.
            upper: The most of each column.
        """
        integer = np.ones(master.size, bool)
        blocks, lowers, uppers = [], [], []
        rows, least, most = master.steady
        if isinstance(master, interval_cuts.Master):
            integer[:] = False
        if isinstance(master, combined_cuts.Master):
            integer = np.arange(master.size) >= master.size - len(master.choices)
            links = master.links(master.linkable())
            blocks.append(links)
            lowers.append(np.zeros(links.shape[0]))
            uppers.append(np.full(links.shape[0], np.inf))
        blocks += [rows, master.pool.matrix]
        lowers += [least, master.pool.right]
        uppers += [most, np.full(len(master.pool.right), np.inf)]
        A = sparse.csr_array(sparse.vstack(blocks).multiply(master.unit[None, :]))
        scale = np.maximum(np.asarray(abs(A).max(axis=1).todense()).ravel(), np.finfo(float).tiny)
        return cls(
            sparse.csr_array(A.multiply(1.0 / scale[:, None])),
            np.concatenate(lowers) / scale,
            np.concatenate(uppers) / scale,
            lower / master.unit,
            upper / master.unit,
            master.cost * master.unit / master.cost_unit,
            integer,
        )

    def mps(self) -> str:
        """The program in free MPS, which every solver reads."""
        lines = ["NAME tacit", "ROWS", " N cost"]
        kinds = np.where(
            self.row_lower == self.row_upper, "E", np.where(np.isinf(self.row_upper), "G", "L")
        )
        lines += [f" {kind} r{row}" for row, kind in enumerate(kinds)]
        lines.append("COLUMNS")
        columns = sparse.csc_array(self.A)
        for column in range(columns.shape[1]):
            if self.integer[column]:
                lines.append(f" m{column} 'MARKER' 'INTORG'")
            lines.append(f" x{column} cost {float(self.cost[column])!r}")
            for at in range(columns.indptr[column], columns.indptr[column + 1]):
                lines.append(f" x{column} r{columns.indices[at]} {float(columns.data[at])!r}")
            if self.integer[column]:
                lines.append(f" n{column} 'MARKER' 'INTEND'")
        lines.append("RHS")
        right = np.where(kinds == "L", self.row_upper, self.row_lower)
        lines += [f" rhs r{row} {float(number)!r}" for row, number in enumerate(right) if number]
        lines.append("RANGES")
        both = np.flatnonzero((kinds == "L") & np.isfinite(self.row_lower))
        lines += [f" rng r{row} {self.row_upper[row] - self.row_lower[row]!r}" for row in both]
        lines.append("BOUNDS")
        for column, (low, high) in enumerate(zip(self.lower, self.upper, strict=True)):
            lines.append(f" LO bnd x{column} {float(low)!r}")
            if math.isfinite(high):
                lines.append(f" UP bnd x{column} {float(high)!r}")
        return "\n".join([*lines, "ENDATA", ""])


@contextmanager
def capturing(kind: type[Relaxation]) -> Iterator[list[tuple[Relaxation, Floats, Floats]]]:
    """Relaxations of a kind that are made meanwhile, each with its first bounds."""
    made: list[tuple[Relaxation, Floats, Floats]] = []
    begin = kind.__init__

    def noting(self: Relaxation, *given: Any, **named: Any) -> None:
        begin(self, *given, **named)
        made.append((self, self.lower.copy(), self.upper.copy()))

    with mock.patch.object(kind, "__init__", noting):
        yield made


def last_master(problem: Problem, variant: Variant, label: str, **options: Any) -> Program | None:
    """The master problem at the end of a run; None if there was nothing to cut off."""
    with capturing(MASTERS[label.partition("-")[0]]) as made:
        run(problem, variant, **options)
    # Searches within the search have masters of their own, over fewer cells.
    whole = max((len(upper) for _, _, upper in made), default=0)
    full = [each for each in made if len(each[2]) == whole]
    if not full:
        return None
    return Program.of(*max(full, key=lambda each: len(each[0].pool.right)))


def solve(path: Path, solver: str, seconds: float) -> dict[str, Entry]:
    """Give a file to a solver, in a process of its own."""
    limits = [str(path), f"{seconds:g}", f"{GAP:g}"]
    if solver == "glpk":
        command = [str(glpk_python()), glpk_runner.__file__, *limits]
    else:
        command = [sys.executable, "-m", "studies.open_solvers_runner", solver, *limits]
    began = time.monotonic()
    try:
        # GLPK asks its clock rarely, and sometimes never again.
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=2 * seconds + 10
        )
        lines = done.stdout.strip().splitlines()
        answer: dict[str, Any]
        answer = json.loads(lines[-1]) if done.returncode == 0 and lines else {"status": "failed"}
    except subprocess.TimeoutExpired:
        answer = {"status": "hung"}
    used = answer.get("cpu_seconds")
    return {
        "status": answer["status"],
        "objective": answer.get("objective"),
        "cpu_seconds": None if used is None else max(round(used, 3), 0.001),
        "seconds": round(time.monotonic() - began, 2),
    }


def printed() -> dict[tuple[str, str, str], str]:
    """The paper's processor seconds, by variant, solver and instance; empty where unsolved."""
    rows = read_rows(shared() / "published" / "seed002_table5_2.csv")
    return {(row["model_variant"], row["solver"], row["instance"]): row["cpu_s"] for row in rows}


def main() -> None:
    """Run the study."""
    parser = arguments(PAPER, instances=INSTANCES, time_limit=300.0)
    parser.add_argument("--variants", nargs="+", default=[*VARIANTS], metavar="NAME")
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, default=list(SOLVERS))
    parser.add_argument("--search", type=float, default=60.0, help="seconds to collect cuts")
    asked = parser.parse_args()
    paper = printed()
    notes = [
        f"{PAPER}; time limit {asked.time_limit:g} s, gap {GAP:g}, one core; cuts of a run of "
        f"{asked.search:g} s",
        "objective: in the solver's units, without what every solution pays; seconds include "
        "starting a process, cpu_seconds do not",
        GENERATED_NOTE,
    ]
    warm_up()
    solvers = [each for each in asked.solvers if each != "glpk" or _has_glpk()]
    path = asked.out / "open_solvers.csv"
    with Results(path, COLUMNS, notes, key=KEY, again=asked.again) as results:
        for name in asked.instances:
            for label in asked.variants:
                open_ones = [each for each in solvers if not results.has(name, label, each)]
                if open_ones:
                    _compare(results, name, label, open_ones, asked, paper)


def _has_glpk() -> bool:
    try:
        glpk_python()
    except PeerError as error:
        print(f"without GLPK: {error}")
        return False
    return True


def _compare(
    results: Results,
    name: str,
    label: str,
    solvers: list[str],
    asked: Any,
    paper: Mapping[tuple[str, str, str], str],
) -> None:
    """One program, one solver after the other."""
    variant = VARIANTS[label]
    problem = table(name, asked.seed)
    if variant.slides:
        problem = with_sliding_levels(problem)
    options = {"time_limit": asked.search, "gap": GAP, "seed": asked.seed}
    program = last_master(problem, variant, label, **options)
    if program is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "master.mps"
        path.write_text(program.mps())
        for solver in solvers:
            found = solve(path, solver, asked.time_limit)
            first = {
                row["solver"]: float(row["cpu_seconds"])
                for row in results.rows
                if (row["instance"], row["variant"]) == (name, label) and row["cpu_seconds"]
            }.get("highs")
            used = found["cpu_seconds"]
            results.add(
                {
                    "instance": name,
                    "variant": label,
                    "solver": solver,
                    "rows": program.A.shape[0],
                    "columns": program.A.shape[1],
                    "integers": int(program.integer.sum()),
                    **found,
                    "times_highs": round(used / first, 2)
                    if first and isinstance(used, float)
                    else None,
                    "paper_cplex_cpu_s": paper.get((label, "CPLEX", name)),
                    "paper_glpk_cpu_s": paper.get((label, "GLPK", name)),
                }
            )


if __name__ == "__main__":
    main()
