"""Result files as rows and as pictures, without anything of tacit.

Modules that draw are run as `python -m studies.<name> FILE.csv` for what was measured before, by
any interpreter that has matplotlib.
"""

from __future__ import annotations

import csv
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

Draw: TypeAlias = Callable[[Path], Path]
"""Draws a result file; returns the picture."""


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a result file; none where it is not there."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def pyplot() -> Any:
    """The part of matplotlib that draws: loaded late, as most runs draw nothing."""
    return importlib.import_module("matplotlib.pyplot")


def save(figure: Any, path: Path) -> Path:
    """Write a figure as SVG, named after a file; the same figure gives the same bytes."""
    drawn = path.with_suffix(".svg")
    # Names within the file are drawn by lot otherwise.
    pyplot().rcParams["svg.hashsalt"] = path.stem
    figure.savefig(drawn, metadata={"Date": None})
    pyplot().close(figure)
    return drawn


def draw_if_possible(draw: Draw, path: Path) -> None:
    """Draw where matplotlib is at hand, and say so where it is not."""
    if importlib.util.find_spec("matplotlib") is None:
        print(f"{path.name}: not drawn, as matplotlib is not installed")
    else:
        draw(path)


def draw_named(draw: Draw) -> None:
    """Draw the files that the command line names."""
    for path in sys.argv[1:]:
        print(draw(Path(path)))
