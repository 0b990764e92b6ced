"""Everyday tables before and after, as a picture: first safe patterns, whole runs and gaps.

`python -m studies.everyday_plots studies/results/everyday.csv` draws what was measured, beside
`everyday_before.csv`.
"""

from __future__ import annotations

from pathlib import Path

from studies.pictures import draw_named, pyplot, read_rows, save

PANELS = {
    "first_cpu": "first safe pattern, processor seconds",
    "cpu": "whole run, processor seconds",
    "gap_pct": "gap at the end, per cent",
}


def pairs(path: Path, column: str) -> dict[str, tuple[float | None, float | None]]:
    """A figure of every table, before and after; None where it was not measured.

    Args:
        path: The later file; the earlier one stands beside, its name ends with `_before`.
        column: Which figure.
    """
    before, after = (
        {row["table"]: float(row[column]) for row in read_rows(file) if row[column]}
        for file in (path.with_stem(f"{path.stem}_before"), path)
    )
    return {table: (before.get(table), after.get(table)) for table in after | before}


def draw(path: Path) -> Path:
    """Draw three panels as SVG next to the file."""
    figure, panels = pyplot().subplots(1, len(PANELS), figsize=(13, 4.5), layout="constrained")
    for axes, (column, label) in zip(panels, PANELS.items(), strict=True):
        found = pairs(path, column)
        for shift, which, text in ((0.2, 0, "before"), (-0.2, 1, "now")):
            places = [-place + shift for place in range(len(found))]
            lengths = [both[which] or 0.0 for both in found.values()]
            axes.barh(places, lengths, height=0.36, label=text)
        axes.set_yticks([-place for place in range(len(found))], list(found))
        axes.set(xscale="log", xlabel=label)
        axes.grid(visible=True, axis="x", alpha=0.2)
        if axes is not panels[0]:
            axes.tick_params(labelleft=False)
    panels[0].legend(fontsize="small")
    return save(figure, path)


if __name__ == "__main__":
    draw_named(draw)
