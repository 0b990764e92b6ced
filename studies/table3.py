"""[BaenaCastroFrangioni2020, Table 3]: form of the subproblem, with and without stabilization.

Mean gap, Benders iterations and seconds of the paper's own algorithms (`own_cuts=False`), and the
profiles of Figures 5 and 6. The paper ran 48 large tables for an hour each; small ones are the
default here. `table3.csv` has the means, `table3_runs.csv` every run.
"""

from __future__ import annotations

from studies.common import (
    GAP_NOTE,
    GENERATED_NOTE,
    RUN_COLUMNS,
    Results,
    Run,
    arguments,
    generated_instance,
    mean,
    published,
    run_tacit,
    warm_up,
)
from studies.performance_profile import write_profile

INSTANCES = ("table1", "table5", "10-10-10", "10-15-10", "15-15-10")
FORMS = ("meth1", "meth2", "meth3", "meth4", "meth5")
VARIANTS = {"classic": "benders", "stabilized": "stabilized"}
ALL_COLUMNS = ("instance", "cells", "sensitive", "method", "variant", "seed", *RUN_COLUMNS)
PAPER = "[BaenaCastroFrangioni2020, Table 3]"
COLUMNS = (
    *(
        "method",
        "variant",
        "runs",
        "safe_patterns",
        "optimal",
        "mean_gap_pct",
        "mean_secondary_gap_pct",
    ),
    *("mean_iterations", "mean_seconds"),
    *("paper_mean_gap_pct", "paper_mean_iterations", "paper_mean_cpu_s"),
)


def main() -> None:
    """Run the study."""
    asked = arguments(PAPER, instances=INSTANCES, time_limit=60.0).parse_args()
    notes = [
        f"{PAPER}; time limit {asked.time_limit:g} s per run (the paper's: 3600 s)",
        f"own_cuts=False; tables: {', '.join(asked.instances)}, generated with seed {asked.seed}",
        GENERATED_NOTE,
        GAP_NOTE,
    ]
    warm_up()
    runs: dict[tuple[str, str], dict[str, Run]] = {}
    with Results(asked.out / "table3_runs.csv", ALL_COLUMNS, notes) as results:
        for name in asked.instances:
            problem = generated_instance(name, asked.seed)
            about = {"cells": problem.cell_count, "sensitive": len(problem.sensitive)}
            for form in FORMS:
                for variant, algorithm in VARIANTS.items():
                    run = run_tacit(
                        problem,
                        time_limit=asked.time_limit,
                        seed=asked.seed,
                        algorithm=algorithm,
                        subproblem=form,
                        own_cuts=False,
                    )
                    runs.setdefault((form, variant), {})[name] = run
                    key = {"method": form, "variant": variant, "seed": asked.seed}
                    results.add({"instance": name, **about, **key, **run.entries()})
    printed = {(row["method"], row["variant"]): row for row in published(3)}
    with Results(asked.out / "table3.csv", COLUMNS, notes) as results:
        for (form, variant), by_instance in runs.items():
            found, paper = list(by_instance.values()), printed[form, variant]
            results.add(
                {
                    "method": form,
                    "variant": variant,
                    "runs": len(found),
                    "safe_patterns": sum(run.exposed == 0 for run in found),
                    "optimal": sum(run.status == "optimal" for run in found),
                    "mean_gap_pct": mean(run.gap_percent for run in found),
                    "mean_secondary_gap_pct": mean(run.secondary_gap_percent for run in found),
                    "mean_iterations": mean(run.iterations for run in found),
                    "mean_seconds": mean(run.seconds for run in found),
                    "paper_mean_gap_pct": paper["avg_gap_pct"],
                    "paper_mean_iterations": paper["avg_benders_iterations"],
                    "paper_mean_cpu_s": paper["avg_cpu_s"],
                }
            )
    limit = f"time limit {asked.time_limit:g} s"
    write_profile(
        {
            f"{form} {variant}": {name: run.objective for name, run in by_instance.items()}
            for (form, variant), by_instance in runs.items()
        },
        asked.out / "table3_objective_profile.csv",
        f"Objective by form of the subproblem, {limit}",
    )
    write_profile(
        {
            f"{form} {variant}": {name: run.seconds_if_optimal for name, run in by_instance.items()}
            for (form, variant), by_instance in runs.items()
        },
        asked.out / "table3_seconds_profile.csv",
        f"Seconds by form of the subproblem, {limit}",
    )


if __name__ == "__main__":
    main()
