"""Pictures that compare three kinds of suppression, as in [KarlssonOlsson2015].

`python studies/combined_plots.py studies/results/combined.csv` draws what was measured before; this
needs matplotlib and nothing of tacit, so any interpreter that has it will do.
"""

from __future__ import annotations

import csv
import importlib
import importlib.util
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

QUANTITIES: Mapping[str, tuple[str, str]] = {
    "suppressions": ("B.1", "number of suppressions"),
    "width": ("B.2", "sum of the widths of the intervals"),
    "cpu_seconds": ("B.3", "processor time, seconds"),
    "seconds": ("B.4", "wall time, seconds"),
    "cuts": ("B.5", "cuts"),
}
"""What is compared, with the table of the paper and a title."""
NORMALISED = ("suppressions", "width")
"""Drawn as multiples of the least of each table (Figures 5.1 and 5.2)."""


def read(path: Path, quantity: str) -> dict[str, dict[str, float]]:
    """A quantity by model and table, as far as it is known."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        mine = found.setdefault(row["variant"], {})
        if row[quantity]:
            mine[row["instance"]] = float(row[quantity])
    return found


def normalised(figures: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Figures as multiples of the least of each table.

    >>> normalised({"one": {"a": 2.0}, "other": {"a": 3.0}})
    {'one': {'a': 1.0}, 'other': {'a': 1.5}}
    """
    least: dict[str, float] = {}
    for mine in figures.values():
        for name, figure in mine.items():
            least[name] = min(figure, least.get(name, math.inf))
    return {
        model: {name: figure / least[name] for name, figure in mine.items() if least[name] > 0}
        for model, mine in figures.items()
    }


def draw_if_possible(path: Path) -> None:
    """Draw where matplotlib is at hand, and say so where it is not."""
    if importlib.util.find_spec("matplotlib") is None:
        print(f"{path.name}: not drawn, as matplotlib is not installed")
    else:
        draw(path)


def draw(path: Path) -> Path:
    """Draw all quantities of a CSV file as SVG files, and time over cuts (Figure 5.6)."""
    pyplot = importlib.import_module("matplotlib.pyplot")
    figure, panels = pyplot.subplots(3, 2, figsize=(12, 12), layout="constrained")
    for axes, (quantity, (_, title)) in zip(panels.flat, QUANTITIES.items(), strict=False):
        figures = read(path, quantity)
        if quantity in NORMALISED:
            figures = normalised(figures)
            title = f"{title}, as a multiple of the least"
        names = list(dict.fromkeys(name for mine in figures.values() for name in mine))
        wide = 0.8 / max(len(figures), 1)
        for number, (model, mine) in enumerate(figures.items()):
            places = [at + (number + 0.5) * wide - 0.4 for at in range(len(names))]
            heights = [mine.get(name, 0.0) for name in names]
            axes.bar(places, heights, wide, label=model)
        axes.set_xticks(range(len(names)), names)
        axes.set_title(title)
        if quantity != "suppressions":
            axes.set_yscale("log")
    cuts, seconds = read(path, "cuts"), read(path, "cpu_seconds")
    last = panels.flat[len(QUANTITIES)]
    for model, mine in cuts.items():
        known = [name for name in mine if name in seconds[model]]
        last.scatter(
            [mine[name] for name in known], [seconds[model][name] for name in known], label=model
        )
    last.set(xscale="log", yscale="log", xlabel="cuts", title="processor time over cuts")
    panels.flat[0].legend(fontsize="small")
    drawn = path.with_suffix(".svg")
    figure.savefig(drawn, metadata={"Date": None})
    pyplot.close(figure)
    return drawn


def main(paths: Sequence[str]) -> None:
    """Draw what was measured before."""
    for path in paths:
        print(draw(Path(path)))


if __name__ == "__main__":
    main(sys.argv[1:])
