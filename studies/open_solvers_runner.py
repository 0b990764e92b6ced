"""Gives an MPS file to HiGHS or SCIP, as `studies.open_solvers` asks: a process for each run.

    python -m studies.open_solvers_runner highs MODEL.mps SECONDS GAP

prints status, objective and processor seconds, reading included, as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import highspy
from pyscipopt import Model


def by_highs(path: str, seconds: float, gap: float) -> dict[str, Any]:
    """HiGHS with its own settings, on one thread."""
    model: Any = highspy.Highs()  # type: ignore[no-untyped-call]  # highspy has no types
    for name, setting in (
        ("output_flag", False),
        ("threads", 1),
        ("time_limit", seconds),
        ("mip_rel_gap", gap),
    ):
        model.setOptionValue(name, setting)
    model.readModel(path)
    model.run()
    is_optimal = model.getModelStatus() == highspy.HighsModelStatus.kOptimal
    value = model.getInfo().objective_function_value
    is_found = abs(value) < highspy.kHighsInf
    return {
        "status": "optimal" if is_optimal else "feasible" if is_found else "stopped",
        "objective": value if is_found else None,
    }


def by_scip(path: str, seconds: float, gap: float) -> dict[str, Any]:
    """SCIP with its own settings."""
    model = Model()
    model.hideOutput()
    model.readProblem(path)
    model.setParam("limits/time", seconds)
    model.setParam("limits/gap", gap)
    model.optimize()
    is_found = model.getNSols() > 0
    is_optimal = model.getStatus() in ("optimal", "gaplimit")
    return {
        "status": "optimal" if is_optimal else "feasible" if is_found else "stopped",
        "objective": model.getObjVal() if is_found else None,
    }


if __name__ == "__main__":
    solver, path, seconds, gap = sys.argv[1:]
    chosen = by_highs if solver == "highs" else by_scip
    began = time.process_time()
    answer = chosen(path, float(seconds), float(gap))
    print(json.dumps({**answer, "cpu_seconds": time.process_time() - began}))
