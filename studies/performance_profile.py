"""Performance profiles (Dolan and Moré 2002), as in [BaenaCastroFrangioni2020, Figures 5 to 7].

P_k(q) is the share of instances on which method k is at most q times as bad as the best method.
`python -m studies.performance_profile FILE_profile.csv` draws one that was written before.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from pathlib import Path

from studies.pictures import draw_if_possible, draw_named, pyplot, read_rows, save

Quality = Mapping[str, Mapping[str, float | None]]
"""Quality by method and instance; less is better, None where a method did not get there."""


def profile(quality: Quality) -> dict[str, list[tuple[float, float]]]:
    """The steps (q, P(q)) of each method, from q = 1 on."""
    instances = sorted({name for by_instance in quality.values() for name in by_instance})
    best = {
        name: min(_known(by_instance.get(name)) for by_instance in quality.values())
        for name in instances
    }
    found = {}
    for method, by_instance in quality.items():
        ratios = [_ratio(_known(by_instance.get(name)), best[name]) for name in instances]
        steps = sorted({1.0, *(ratio for ratio in ratios if math.isfinite(ratio))})
        found[method] = [(q, sum(ratio <= q for ratio in ratios) / len(instances)) for q in steps]
    return found


def write_profile(quality: Quality, path: Path, title: str) -> None:
    """Write a profile as CSV and, where matplotlib is installed, draw it as SVG.

    Args:
        quality: What to compare.
        path: The CSV file.
        title: What is compared.
    """
    with path.open("w", newline="") as file:
        file.write(f"# {title}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["method", "q", "share"])
        for method, steps in profile(quality).items():
            writer.writerows([method, f"{q:.6g}", f"{share:.6g}"] for q, share in steps)
    draw_if_possible(draw, path)


def draw(path: Path) -> Path:
    """Draw a profile from its CSV file as SVG next to it."""
    with path.open() as file:
        title = file.readline().removeprefix("#").strip()
    rows = read_rows(path)
    end = 1.05 * max(float(row["q"]) for row in rows) + 0.05
    figure, axes = pyplot().subplots(figsize=(7, 4.5))
    for method in dict.fromkeys(row["method"] for row in rows):
        q = [float(row["q"]) for row in rows if row["method"] == method]
        share = [float(row["share"]) for row in rows if row["method"] == method]
        axes.step([*q, end], [*share, share[-1]], where="post", label=method)
    if end > 10:
        axes.set_xscale("log")
    axes.set(xlim=(1, end), ylim=(0, 1.02), xlabel="q", ylabel="P(q)", title=title)
    axes.legend(fontsize="small")
    return save(figure, path)


def _known(value: float | None) -> float:
    return math.inf if value is None else value


def _ratio(value: float, best: float) -> float:
    if not math.isfinite(value):
        return math.inf
    # Times of zero can be measured; there is nothing to divide by.
    return value / best if best > 0 else (1.0 if value <= 0 else math.inf)


if __name__ == "__main__":
    draw_named(draw)
