"""How time and memory grow with the number of cells: exponents and a plot.

`python -m studies.growth FILE.csv` draws what was measured before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from studies.pictures import draw_named, pyplot, read_rows, save

PANELS = {"cpu_seconds": "processor time, seconds", "peak_gb": "peak memory, GB"}
FIRST_PANELS = {"first_safe_seconds": "first safe pattern, seconds", "peak_gb": "peak memory, GB"}
"""Of files whose names end with `_first`: what comes after the first pattern does not count."""


def exponent(sizes: Sequence[float], amounts: Sequence[float]) -> float | None:
    """The slope of the line through log(amount) over log(size): 1 is growth in proportion.

    None where there are fewer than two sizes.

    >>> round(exponent([10, 100, 1000], [2, 20, 200]), 6)
    1.0
    """
    points = [
        (math.log(size), math.log(amount)) for size, amount in zip(sizes, amounts, strict=True)
    ]
    if len({x for x, _ in points}) < 2:
        return None
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


def curves(path: Path, column: str) -> dict[str, list[tuple[float, float]]]:
    """Cells and amounts of every kind of table and algorithm; only runs that ended safe."""
    found: dict[str, list[tuple[float, float]]] = {}
    for row in read_rows(path):
        if row["safe"] == "yes" and row[column]:
            name = f"{row['kind']} {row['algorithm']}"
            found.setdefault(name, []).append((float(row["cells"]), float(row[column])))
    return {name: sorted(points) for name, points in found.items()}


def draw(path: Path) -> Path:
    """Draw the curves of a CSV file as SVG next to it."""
    labels = FIRST_PANELS if path.stem.endswith("_first") else PANELS
    figure, panels = pyplot().subplots(1, len(labels), figsize=(11, 4.5), layout="constrained")
    for axes, (column, label) in zip(panels, labels.items(), strict=True):
        for name, points in curves(path, column).items():
            sizes, amounts = zip(*points, strict=True)
            # Every process starts with some memory: a power of the size does not describe it.
            slope = None if column == "peak_gb" else exponent(sizes, amounts)
            text = name if slope is None else f"{name} (exponent {slope:.2f})"
            axes.plot(sizes, amounts, marker="o", label=text)
        axes.set(xscale="log", yscale="log", xlabel="cells", ylabel=label)
        axes.grid(visible=True, which="both", alpha=0.2)
        axes.legend(fontsize="small")
    return save(figure, path)


if __name__ == "__main__":
    draw_named(draw)
