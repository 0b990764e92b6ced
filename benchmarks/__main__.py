"""Run every benchmark, each in a separate process: `python -m benchmarks [NAME ...]`."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from pathlib import Path


def names() -> list[str]:
    """The modules in this folder that are benchmarks."""
    folder = str(Path(__file__).parent)
    found = [module.name for module in pkgutil.iter_modules([folder])]
    return sorted(name for name in found if not name.startswith("_"))


def main(chosen: list[str]) -> int:
    """Run the chosen benchmarks, by default all; returns how many failed."""
    known = names()
    unknown = [name for name in chosen if name not in known]
    if unknown:
        print(f"there is no benchmark {unknown[0]!r}; there are {', '.join(known)}")
        return 1
    failed = 0
    for name in chosen or known:
        print(f"# {name}", flush=True)
        # Memory and compiled code of one benchmark must not count for the next.
        failed += subprocess.run([sys.executable, "-m", f"benchmarks.{name}"]).returncode != 0
        print(flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
