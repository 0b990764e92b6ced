"""Files that the command line is tried on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tacit import examples
from tacit.io.jj import write_jj


@dataclass(frozen=True)
class Files:
    """A small table, a safe publication of it and one that gives the sensitive cell away."""

    folder: Path
    table: Path
    safe: Path
    exposed: Path


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """A printed table and two solutions as files."""
    example = examples.get("003-figure-11")
    table, safe, exposed = (tmp_path / name for name in ("table.jj", "safe.jj", "exposed.txt"))
    write_jj(example.problem, table)
    write_jj(example.problem, safe, suppressed=example.suppressed)
    exposed.write_text(f"{example.problem.sensitive[0]}\n")
    return Files(tmp_path, table, safe, exposed)
