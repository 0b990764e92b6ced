"""`tacit versions`: what is installed, for bug reports and studies."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import PackageNotFoundError, version

from tacit.cli.exits import ExitCode
from tacit.version import __version__

PACKAGES = (
    "numpy",
    "scipy",
    "highspy",
    "pyscipopt",
    "numba",
    "narwhals",
    "duckdb",
    "rich",
    "xlsxwriter",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are none."""


def run(_arguments: argparse.Namespace) -> int:
    """Print one line per component."""
    found = {
        "tacit": __version__,
        "python": platform.python_version(),
        **{name: _installed(name) for name in PACKAGES},
        "platform": platform.platform(),
    }
    for name, text in found.items():
        print(f"{name:<12}{text}")
    return ExitCode.DONE


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
