"""`run_peer`: protect a table with pytauargus, tau-ARGUS' engine, in a separate process.

pytauargus is called through its public interface only, in a separate environment (see
`environment.py`). Nothing of it is imported here.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from studies.peers import argus_job
from studies.peers.costs import Costs, WholeCosts, whole_costs
from studies.peers.engine_log import EngineRun, read_engine_run
from studies.peers.environment import PeerError, peer_python
from tacit.io.jj import write_jj
from tacit.outcome import TracePoint
from tacit.problem import Booleans, Problem
from tacit.table.table import Table

Mode: TypeAlias = Literal["opt", "modular", "hypercube"]
Solver: TypeAlias = Literal["highs", "scip"]
Ended: TypeAlias = Literal["done", "time", "killed", "failed"]

GRACE = 60.0
_UNBOUNDED_FACTOR = 10.0
_RUNNER = Path(__file__).with_name("pytauargus_runner.py")
_LOG_LENGTH = 2000


@dataclass(frozen=True, kw_only=True, eq=False)
class PeerResult:
    """What the peer found. Holds as much confidential matter as the table it was given.

    Attributes:
        ended: `done`: the peer says it is finished, with `opt` that its pattern is best for the
            costs it was given; `time`: it stopped at its time limit; `killed`: it had to be
            stopped from outside, which loses whatever it had found; `failed`: it broke down.
        suppressed: The cells it suppresses, primaries included; None if it found nothing.
        objective: The sum of the problem's own weights over them.
        bound: What the peer has proven about that sum; None where it proves nothing: with
            `modular`, and where its costs are not exactly the weights.
        seconds: Wall time of the call inside the peer's process, without starting Python and
            without writing the JJ file.
        cpu_seconds: Processor time of the same call: what the peer's time limit goes by.
        trace: The best pattern and the bound over (processor) time, as far as the peer's
            statistics tell: first heuristic, root, best pattern, end. Empty where its costs
            are not exactly the weights.
        exact_costs: Whether the peer's costs are exactly the weights.
        engine_objective: The peer's own objective, in its whole-number costs.
        engine_bound: The peer's own bound, in its whole-number costs.
        nodes: Branch-and-bound nodes.
        version: The peer and what it is built on.
        log_tail: The end of what it wrote.
    """

    ended: Ended
    suppressed: Booleans | None = None
    objective: float | None = None
    bound: float | None = None
    seconds: float
    cpu_seconds: float
    trace: tuple[TracePoint, ...] = ()
    exact_costs: bool
    engine_objective: float | None = None
    engine_bound: float | None = None
    nodes: int | None = None
    version: str
    log_tail: str


def run_peer(
    problem: Problem | Table,
    *,
    mode: Mode = "opt",
    solver: Solver = "highs",
    time_limit: float = 60.0,
    grace: float = GRACE,
    costs: Costs = "exact",
    singletons: bool = False,
    python: Path | None = None,
) -> PeerResult:
    """Protect a table with pytauargus.

    Args:
        problem: What to protect. `modular` needs a `Table`, for its dimensions.
        mode: `opt`, the exact method; `modular`, HiTaS. pytauargus has no `hypercube`.
        solver: What the peer's engine is built on. Wheels from PyPI are built on HiGHS; for
            `scip` name the interpreter of an environment with such a build.
        time_limit: Seconds for the table. The peer counts whole minutes of processor time, and
            with `modular` for each subtable apart: the limit is rounded up to those.
        grace: The process group is killed this many seconds of wall time after the limit
            rounded up.
        costs: `exact` hands the weights over unrounded, `scaled` as tau-ARGUS does when it
            writes the table itself (see `whole_costs`). `modular` is always `scaled`.
        singletons: With `modular`, defend against single respondents too.
        python: The interpreter to use; by default that of the peers' environment.

    Raises:
        PeerError: The peer cannot be installed or cannot do what is asked. A peer that breaks
            down while at work is no error but a result, `failed`.
    """
    if mode == "hypercube":
        raise PeerError("pytauargus refuses the hypercube method; there is no peer for it")
    if mode == "modular" and not isinstance(problem, Table):
        raise PeerError("the modular method needs a Table: a Problem has no dimensions")
    if solver == "scip" and python is None:
        raise PeerError(
            "pytauargus from PyPI is built on HiGHS only; build it on SCIP in an environment "
            "of its own and name that environment's interpreter with python="
        )
    python = python or peer_python()
    minutes = max(1, math.ceil(time_limit / 60))
    with tempfile.TemporaryDirectory(prefix="tacit-peer-") as name:
        folder = Path(name)
        call = _Call(folder, python, 60.0 * minutes + grace)
        if mode == "modular" and isinstance(problem, Table):
            batch = argus_job.write_job(problem, folder, minutes=minutes, singletons=singletons)
            answer = call.run({"mode": "modular", "batch": str(batch)})
            return _modular_result(problem, folder, call, answer)
        if isinstance(problem, Table):
            problem = problem.problem()
        given = whole_costs(problem.weight, costs)
        write_jj(_for_engine(problem, given), folder / "table.jj")
        files = {"jj": str(folder / "table.jj"), "found": str(folder / "found.txt")}
        answer = call.run({"mode": "opt", "minutes": minutes, "folder": name, **files})
        return _exact_result(problem, given, folder, call, answer, solver)


class _Call:
    """One run of the runner, in a separate process group."""

    def __init__(self, folder: Path, python: Path, patience: float):
        self.folder = folder
        self.seconds = 0.0
        self.killed = False
        self._python = python
        self._patience = patience

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """The runner's answer; empty if it did not get as far."""
        request_path, answer_path = self.folder / "request.json", self.folder / "answer.json"
        request_path.write_text(json.dumps(request))
        command = [str(self._python), str(_RUNNER), str(request_path), str(answer_path)]
        began = time.perf_counter()
        with (self.folder / "output.log").open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                process.wait(self._patience)
            except subprocess.TimeoutExpired:
                self.killed = True
            finally:
                # Also when the caller is interrupted: nothing may run on behind its back.
                if process.poll() is None:
                    _kill_group(process)
        self.seconds = time.perf_counter() - began
        return json.loads(answer_path.read_text()) if answer_path.exists() else {}

    def text(self, name: str) -> str:
        """What the peer wrote to one of its files."""
        path = self.folder / name
        return path.read_text(errors="replace") if path.exists() else ""

    def common(self, answer: dict[str, Any]) -> dict[str, Any]:
        """What every result says, whatever the method."""
        engine = answer.get("engine", {})
        version = [answer.get("version", "pytauargus")]
        version += [f"{name} {engine[name]}" for name in ("engine_sha", "highs_version") if engine]
        logs = [self.text(name) for name in ("FullJJ.log", "CSPlogfile.txt", "output.log")]
        return {
            "seconds": answer.get("seconds", self.seconds),
            "cpu_seconds": answer.get("cpu_seconds", 0.0),
            "version": ", ".join(version),
            "log_tail": "\n".join(part for part in (*logs, answer.get("message", "")) if part)[
                -_LOG_LENGTH:
            ],
        }


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _for_engine(problem: Problem, given: WholeCosts) -> Problem:
    A = problem.relations
    if not (np.array_equal(A.data, np.round(A.data)) and abs(A.data).max(initial=0.0) < 128):
        raise PeerError("the engine takes small whole coefficients only; scale the relations")
    reach = np.abs(problem.value).max(initial=1.0)
    reach = max(reach, problem.upper_level.max(initial=0.0), problem.lower_level.max(initial=0.0))
    # The engine wants finite bounds. A pattern that is safe against somebody who knows wide
    # ones is safe against somebody who knows none.
    wide = _UNBOUNDED_FACTOR * float(reach)
    lower = np.where(np.isinf(problem.lower), -wide, problem.lower)
    upper = np.where(np.isinf(problem.upper), wide, problem.upper)
    return problem.replace(weight=given.cost, lower=lower, upper=upper)


def _exact_result(
    problem: Problem,
    given: WholeCosts,
    folder: Path,
    call: _Call,
    answer: dict[str, Any],
    solver: Solver,
) -> PeerResult:
    common = call.common(answer)
    common["exact_costs"] = given.exact
    code = answer.get("code", -1)
    if code not in (0, 1):
        return PeerResult(ended="killed" if call.killed else "failed", **common)
    run = read_engine_run(folder)
    if run.solver is not None and run.solver != solver:
        raise PeerError(f"the engine is built on {run.solver}, not on {solver}")
    mask = problem.is_sensitive
    found = [int(cell) for cell in call.text("found.txt").split()]
    mask[found] = True
    has_pattern = run.objective is not None and float(given.cost[mask].sum()) == run.objective
    return PeerResult(
        ended="done" if code == 0 else "time",
        suppressed=mask if has_pattern else None,
        objective=float(problem.weight[mask].sum()) if has_pattern else None,
        bound=run.bound / given.scale if given.exact and run.bound is not None else None,
        trace=_in_weights(run, given.scale) if given.exact else (),
        engine_objective=run.objective if has_pattern else None,
        engine_bound=run.bound,
        nodes=run.nodes,
        **common,
    )


def _in_weights(run: EngineRun, scale: float) -> tuple[TracePoint, ...]:
    return tuple(
        TracePoint(
            point.seconds,
            None if point.objective is None else point.objective / scale,
            point.bound / scale,
        )
        for point in run.trace
    )


def _modular_result(table: Table, folder: Path, call: _Call, answer: dict[str, Any]) -> PeerResult:
    common = call.common(answer)
    common["exact_costs"] = False
    if answer.get("code", -1) != 0:
        return PeerResult(ended="killed" if call.killed else "failed", **common)
    mask = argus_job.read_suppressed(table, folder)
    weight = table.problem().weight
    return PeerResult(ended="done", suppressed=mask, objective=float(weight[mask].sum()), **common)
