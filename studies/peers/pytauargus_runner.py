"""Runs pytauargus for `peer.py`: a separate program, in the environment of the peers.

    python pytauargus_runner.py REQUEST.json ANSWER.json

A request is either `{"mode": "opt", "jj": FILE, "found": FILE, "minutes": N, "folder": DIR}`
(exact suppression of a JJ file) or `{"mode": "modular", "batch": FILE.arb}`. The answer holds
versions, what the call returned and how long it took; everything else is in the files that
pytauargus writes itself. Standard library only: tacit is not installed here.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any


def suppress_exactly(request: dict[str, Any]) -> tuple[int, str]:
    """Suppress the table of a JJ file; the cells found are written to `found`."""
    control = importlib.import_module("pytauargus").HiTaSCtrl()
    code = control.full_jj(
        in_file_jj=request["jj"],
        out_file=request["found"],
        max_time=request["minutes"],
        # The engine puts file names right behind this text.
        out_dir=request["folder"] + "/",
    )
    return code, control.error_string(code)


def run_job(request: dict[str, Any]) -> tuple[int, str]:
    """Run a batch job, which names its own input and output files."""
    importlib.import_module("pytauargus.engine").run_batch(request["batch"])
    return 0, ""


METHODS = {"opt": suppress_exactly, "modular": run_job}


def main() -> None:
    """Answer one request."""
    request_path, answer_path = sys.argv[1:]
    request = json.loads(Path(request_path).read_text(encoding="utf-8"))
    answer = {
        "version": f"pytauargus {version('pytauargus')}",
        "engine": importlib.import_module("pytauargus").engine_meta(),
    }
    # Written beforehand too: whoever kills this process still learns what it was.
    write(answer, Path(answer_path))
    began, began_cpu = time.perf_counter(), time.process_time()
    try:
        code, message = METHODS[request["mode"]](request)
    except Exception as error:  # Whatever went wrong is for the caller to report.
        code, message = -1, f"{type(error).__name__}: {error}"
    answer |= {
        "code": code,
        "message": message,
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - began_cpu,
    }
    write(answer, Path(answer_path))


def write(answer: dict[str, Any], path: Path) -> None:
    """Write the answer, all of it or nothing."""
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(answer), encoding="utf-8")
    draft.replace(path)


if __name__ == "__main__":
    main()
