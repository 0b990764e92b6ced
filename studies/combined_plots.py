"""Pictures that compare three kinds of suppression, as in [KarlssonOlsson2015].

`python -m studies.combined_plots studies/results/combined.csv` draws what was measured before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from studies.pictures import draw_named, pyplot, read_rows, save

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
    found: dict[str, dict[str, float]] = {}
    for row in read_rows(path):
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


def draw(path: Path) -> Path:
    """Draw all quantities of a CSV file as SVG files, and time over cuts (Figure 5.6)."""
    figure, panels = pyplot().subplots(3, 2, figsize=(12, 12), layout="constrained")
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
    return save(figure, path)


if __name__ == "__main__":
    draw_named(draw)
