"""How fast the attacker is, against the obvious way.

Run with `python -m benchmarks.attack`. The obvious way is one linear program for each sensitive
cell and side over the whole table, solved by HiGHS with its default options from a cold start; it
is timed on a sample of cells, in turns with tacit in the same process. Instances come from
`../shared` (or TACIT_SHARED) and from the generators. `levels` stops at the protection levels, as
the audit of a pattern does; `intervals` computes the exact interval of every sensitive cell.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import highspy
import numpy as np

from tacit.attack.audit import audit
from tacit.attack.knowledge import Knowledge
from tacit.generators import generate_1h2d
from tacit.io.jj import read_jj
from tacit.methods.suppress.run import suppress
from tacit.problem import Booleans, Problem

SAMPLE = 8


def shared() -> Path:
    """Where the public instances are."""
    default = Path(__file__).parents[2] / "shared"
    return Path(os.environ.get("TACIT_SHARED") or default) / "instances"


def instances() -> Iterator[tuple[str, Problem]]:
    """Tables to attack."""
    yield "1h2d 40-50-10", generate_1h2d("40-50-10")
    for name in ("hier13x13x13a", "ninenew"):
        if (shared() / f"{name}.jj").exists():
            yield name, read_jj(shared() / f"{name}.jj")


def patterns(problem: Problem) -> Iterator[tuple[str, Booleans]]:
    """Suppression patterns of different density; all contain the sensitive cells."""
    rng = np.random.default_rng(1)
    draw = rng.random(problem.cell_count)
    for name, share in (("20 %", 0.2), ("60 %", 0.6)):
        yield name, problem.is_sensitive | ((draw < share) & ~problem.must_publish)
    if problem.cell_count < 5000 or problem.relation_count < 500:
        yield "safe", _suppressed(problem)


def _suppressed(problem: Problem) -> Booleans:
    """A safe pattern, found by shortest paths or cheapest deviations."""
    hidden = np.zeros(problem.cell_count, bool)
    hidden[suppress(problem, algorithm="paths", weights="unit", time_limit=60).suppressed] = True
    return hidden


def obvious_seconds(problem: Problem, hidden: Booleans) -> float:
    """Seconds per cell and side for one cold solve over the whole table, on a sample."""
    knowledge = Knowledge.of(problem, hidden)
    rng = np.random.default_rng(2)
    chosen = rng.choice(problem.sensitive, min(SAMPLE, len(problem.sensitive)), replace=False)
    A = problem.relations
    start = time.perf_counter()
    for number, cell in enumerate(chosen.tolist()):
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = problem.cell_count, problem.relation_count
        cost = np.zeros(problem.cell_count)
        cost[cell] = -1.0 if number % 2 else 1.0
        lp.col_cost_ = cost
        lp.col_lower_ = problem.value - knowledge.down
        lp.col_upper_ = problem.value + knowledge.up
        lp.row_lower_ = lp.row_upper_ = problem.rhs
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = A.indptr, A.indices
        lp.a_matrix_.value_ = A.data
        solver = highspy.Highs()  # type: ignore[no-untyped-call]  # highspy has no types
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        solver.passModel(lp)
        solver.run()
    return (time.perf_counter() - start) / len(chosen)


def tacit_seconds(problem: Problem, hidden: Booleans, *, exact: bool) -> float:
    """Seconds per cell and side for the whole audit, preparation included."""
    start = time.perf_counter()
    audit(problem, hidden, cells="sensitive", exact=exact)
    return (time.perf_counter() - start) / (2 * len(problem.sensitive))


def growth(problem: Problem, hidden: Booleans) -> list[tuple[int, float]]:
    """Seconds of the audit with 1/8, 1/4, 1/2 and all of the sensitive cells."""
    rows = []
    for part in (8, 4, 2, 1):
        some = problem.replace(
            sensitive=problem.sensitive[::part],
            lower_level=problem.lower_level[::part],
            upper_level=problem.upper_level[::part],
            sliding_level=problem.sliding_level[::part],
        )
        start = time.perf_counter()
        audit(some, hidden, cells="sensitive", exact=True)
        rows.append((len(some.sensitive), time.perf_counter() - start))
    return rows


def main() -> None:
    """Print the figures."""
    warm = generate_1h2d("table5")
    audit(warm, warm.is_sensitive)
    print("ms a cell and side        obvious   levels  ratio  intervals  ratio")
    for name, problem in instances():
        for kind, hidden in patterns(problem):
            obvious = obvious_seconds(problem, hidden)
            levels = tacit_seconds(problem, hidden, exact=False)
            intervals = tacit_seconds(problem, hidden, exact=True)
            print(
                f"{name:15s} {kind:5s} {1e3 * obvious:12.2f} {1e3 * levels:8.3f} "
                f"{obvious / levels:6.0f} {1e3 * intervals:10.3f} {obvious / intervals:6.0f}"
            )
    problem = generate_1h2d("40-50-10")
    hidden = next(iter(patterns(problem)))[1]
    print("exact intervals on 1h2d 40-50-10, by number of sensitive cells:")
    for count, seconds in growth(problem, hidden):
        print(f"  {count:4d} cells {seconds:7.3f} s")


if __name__ == "__main__":
    main()
