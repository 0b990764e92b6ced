"""Runs GLPK for `studies.open_solvers`: a separate program, in an environment of its own.

    python glpk_runner.py MODEL.mps SECONDS GAP

prints status, objective and processor seconds, reading included, as JSON. Standard library and
swiglpk only: tacit is not installed here, and nothing of GLPK, which is under the GPL, is part of
tacit.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from typing import Any


def solve(path: str, seconds: float, gap: float) -> dict[str, Any]:
    """Solve the model of an MPS file, simplex first, then branch and cut where it has integers."""
    g = importlib.import_module("swiglpk")
    g.glp_term_out(g.GLP_OFF)
    model = g.glp_create_prob()
    if g.glp_read_mps(model, g.GLP_MPS_FILE, None, path):
        return {"status": "unreadable"}
    milliseconds = int(1000 * seconds)
    if g.glp_get_num_int(model) == 0:
        simplex = g.glp_smcp()
        g.glp_init_smcp(simplex)
        simplex.presolve, simplex.tm_lim = g.GLP_ON, milliseconds
        code = g.glp_simplex(model, simplex)
        is_optimal = code == 0 and g.glp_get_status(model) == g.GLP_OPT
        value = g.glp_get_obj_val(model) if is_optimal else None
        return {"status": "optimal" if is_optimal else "stopped", "objective": value}
    tree = g.glp_iocp()
    g.glp_init_iocp(tree)
    tree.presolve, tree.tm_lim, tree.mip_gap = g.GLP_ON, milliseconds, gap
    g.glp_intopt(model, tree)
    status = g.glp_mip_status(model)
    is_solved, is_found = status == g.GLP_OPT, status in (g.GLP_OPT, g.GLP_FEAS)
    # A run that ended at the gap is told as optimal by the code alone.
    return {
        "status": "optimal" if is_solved else "feasible" if is_found else "stopped",
        "objective": g.glp_mip_obj_val(model) if is_found else None,
    }


if __name__ == "__main__":
    began = time.process_time()
    answer = solve(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
    print(json.dumps({**answer, "cpu_seconds": time.process_time() - began}))
