"""[RojoGonzalez2019]: Benders' decomposition with cuts of one side, 50 iterations, three tables.

    python -m studies.one_sided                        # about a minute

`one_sided.csv` has one row per table, sides and kind of cuts, next to what the report says of the
table: how many cells it suppresses, and how many sensitive cells that pattern leaves exposed.
`one_sided_trace.csv` has objective and bound after every iteration, as in its Figure 1, which is
drawn where matplotlib is at hand (`one_sided.svg`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from studies.common import (
    RUN_COLUMNS,
    Entry,
    Results,
    arguments,
    count_exposed,
    run_tacit,
    shared,
    shared_instance,
    warm_up,
)
from studies.pictures import draw_if_possible, pyplot, read_rows, save
from tacit.outcome import TracePoint
from tacit.problem import Problem

PAPER = "[RojoGonzalez2019, section 6 and Figure 1]"
ITERATIONS = 50
INSTANCES = ("small", "example_2D", "targus")
SIDES = ("lower", "upper", "both")
CUTS = {"paper": False, "strengthened": True}
"""Kinds of cuts: those of the report, and tacit's."""
KEY = ("instance", "sides", "cuts")
COLUMNS = (
    *("instance", "cells", "sensitive", "sides", "cuts", "seed", *RUN_COLUMNS),
    *("paper_iterations", "paper_suppressed", "paper_exposed", "paper_weight"),
)
TRACE_COLUMNS = (*KEY, "iteration", "objective", "bound")


def printed() -> dict[str, dict[str, str]]:
    """What the report says of each table."""
    rows = read_rows(shared() / "published" / "seed001_results.csv")
    return {row["instance"]: row for row in rows}


def printed_pattern(row: Mapping[str, str]) -> list[int]:
    """The cells that the report suppresses, numbered from 0.

    >>> printed_pattern({"suppressed_cells_1based": "3 16 22"})
    [2, 15, 21]
    """
    return [int(cell) - 1 for cell in row["suppressed_cells_1based"].split()]


def is_its_table(problem: Problem, row: Mapping[str, str]) -> bool:
    """Whether the sensitive cells are those of the report."""
    cells: list[int] = (problem.sensitive + 1).tolist()
    return cells == [int(cell) for cell in row["sensitive_cells_1based"].split()]


def by_iteration(trace: Sequence[TracePoint], last: int) -> Iterator[dict[str, Entry]]:
    """Objective and bound after each iteration, from 0 on; what is found later counts later."""
    objective: float | None = None
    bound: float | None = None
    points = sorted(trace, key=lambda point: point.iteration)
    for iteration in range(last + 1):
        while points and points[0].iteration <= iteration:
            point = points.pop(0)
            objective, bound = point.objective, point.bound
        yield {"iteration": iteration, "objective": objective, "bound": bound}


def main() -> None:
    """Run the study."""
    parser = arguments(PAPER, instances=INSTANCES, time_limit=60.0)
    parser.add_argument("--iterations", type=int, default=ITERATIONS, help="master problems")
    asked = parser.parse_args()
    paper = printed()
    notes = [
        f"{PAPER}; {asked.iterations} iterations at most, time limit {asked.time_limit:g} s",
        "costs are those of the files; sides: the levels that cuts ask for, patterns are safe for "
        "all; bound: of the relaxation with these cuts",
        "paper_exposed: sensitive cells that the printed pattern leaves exposed, by the audit",
    ]
    warm_up()
    path = asked.out / "one_sided.csv"
    trace_path = asked.out / "one_sided_trace.csv"
    trace_key = (*KEY, "iteration")
    with (
        Results(path, COLUMNS, notes, key=KEY, again=asked.again) as results,
        Results(
            trace_path, TRACE_COLUMNS, notes, key=trace_key, again=asked.again, aloud=False
        ) as traces,
    ):
        for name in asked.instances:
            problem = shared_instance(name)
            row = paper.get(name)
            if row is not None and not is_its_table(problem, row):
                row = None
            for sides in SIDES:
                for cuts, own in CUTS.items():
                    if results.has(name, sides, cuts):
                        continue
                    run = run_tacit(
                        problem,
                        time_limit=asked.time_limit,
                        seed=asked.seed,
                        algorithm="benders",
                        sides=sides,
                        own_cuts=own,
                        max_iterations=asked.iterations,
                    )
                    key = {"instance": name, "sides": sides, "cuts": cuts}
                    for point in by_iteration(run.trace, run.iterations or 0):
                        if not traces.has(name, sides, cuts, point["iteration"]):
                            traces.add({**key, **point})
                    results.add(
                        {
                            **key,
                            "cells": problem.cell_count,
                            "sensitive": len(problem.sensitive),
                            "seed": asked.seed,
                            **run.entries(),
                            **_in_paper(problem, row),
                        }
                    )
    draw_if_possible(draw, trace_path)


def _in_paper(problem: Problem, row: Mapping[str, str] | None) -> dict[str, Entry]:
    if row is None:
        return {}
    pattern = printed_pattern(row)
    return {
        "paper_iterations": row["benders_iterations"],
        "paper_suppressed": row["n_suppressed_reported"],
        "paper_exposed": count_exposed(problem, pattern),
        "paper_weight": float(problem.weight[pattern].sum()),
    }


def draw(path: Path) -> Path:
    """Bounds over iterations, a panel per table, with the cuts of the report."""
    rows = [row for row in read_rows(path) if row["cuts"] == "paper"]
    names = list(dict.fromkeys(row["instance"] for row in rows))
    figure, panels = pyplot().subplots(
        1, len(names), figsize=(5 * len(names), 4), layout="constrained", squeeze=False
    )
    for axes, name in zip(panels.flat, names, strict=True):
        for sides in dict.fromkeys(row["sides"] for row in rows):
            mine = [row for row in rows if (row["instance"], row["sides"]) == (name, sides)]
            for column, style in (("objective", "-"), ("bound", "--")):
                known = [row for row in mine if row[column]]
                axes.plot(
                    [int(row["iteration"]) for row in known],
                    [float(row[column]) for row in known],
                    style,
                    label=f"{sides}, {column}",
                )
        axes.set_title(name)
        axes.set_xlabel("iteration")
    panels.flat[0].legend(fontsize="small")
    return save(figure, path.with_name("one_sided.csv"))


if __name__ == "__main__":
    main()
