"""Bounds over time: how the search closed in [RojoGonzalez2019, Figure 1]. Confidential."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tacit.errors import InputError
from tacit.release import Release
from tacit.report.picture import Numbers, Picture
from tacit.report.svg import Drawing, number, round_steps, text_width
from tacit.report.texts import percent, value_text

Point = tuple[float, float]
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 920.0, 320.0, 84.0, 24.0, 46.0
_MOST_ROWS = 25


def has_bounds(release: Release) -> bool:
    """Whether the search left a trace with at least one safe solution in it."""
    return any(point.objective is not None for point in release.papers.outcome.report.trace)


def bounds_over_time(release: Release) -> Picture:
    """How the best safe solution and the proven bound met.

    The picture is confidential: objective and bound add up weights, which may be values of
    hidden cells, and so even the gap between them tells something about hidden values.

    Args:
        release: The release.

    Raises:
        InputError: The method left no trace.
    """
    if not has_bounds(release):
        raise InputError("the method left no trace of bounds to draw")
    report = release.papers.outcome.report
    known = [point for point in report.trace if point.objective is not None]
    last = max(report.seconds, known[-1].seconds)
    objectives = [(point.seconds, point.objective or 0.0) for point in known]
    bounds = [(point.seconds, point.bound) for point in report.trace if math.isfinite(point.bound)]
    lines = {"best safe solution": objectives, "proven bound": bounds}
    gap = "" if report.gap is None else f" The gap is {percent(max(report.gap, 0.0))} in the end."
    return Picture(
        "bounds",
        "Objective and proven bound over time",
        f"Lines over {last:.3g} seconds. The objective falls from {value_text(objectives[0][1])} "
        f"to {value_text(objectives[-1][1])}; the bound rises to {value_text(report.bound)}.",
        _draw(lines, last),
        "A safe solution costs no less than the bound; where the lines meet it is best. The gap is "
        f"what might be saved at most, as a share of the objective.{gap}",
        _numbers(lines),
        confidential=True,
    )


def _draw(lines: dict[str, list[Point]], last: float) -> Drawing:
    values = [value for line in lines.values() for _, value in line]
    upwards = round_steps(min(values), max(values) or 1.0, 4)
    across = round_steps(0, last if last > 0 else 1.0, 6)
    names = max(text_width(name) for name in lines) + 20
    plot_width, plot_height = _WIDTH - _LEFT - names, _HEIGHT - _TOP - _BOTTOM
    end = across[-1]

    def x_of(seconds: float) -> float:
        return _LEFT + plot_width * seconds / end

    def y_of(value: float) -> float:
        return _TOP + plot_height * (1 - (value - upwards[0]) / (upwards[-1] - upwards[0]))

    drawing = Drawing(_WIDTH, _HEIGHT)
    for step in upwards:
        drawing.line(_LEFT, y_of(step), _LEFT + plot_width, y_of(step))
        drawing.text(_LEFT - 8, y_of(step) + 4, value_text(step), "t-soft", anchor="end")
    for step in across:
        drawing.line(x_of(step), _TOP + plot_height, x_of(step), _TOP + plot_height + 5, "t-axis")
        drawing.text(x_of(step), _TOP + plot_height + 19, f"{step:g}", "t-soft", anchor="middle")
    drawing.line(_LEFT, _TOP + plot_height, _LEFT + plot_width, _TOP + plot_height, "t-axis")
    drawing.text(_LEFT + plot_width, _HEIGHT - 6, "seconds", "t-soft", anchor="end")
    styles = ("t-line", "t-line-two")
    ends = [y_of(line[-1][1]) for line in lines.values()]
    if abs(ends[0] - ends[1]) < 14:
        ends = [ends[0] - 7, ends[0] + 7]
    for (name, line), style, y in zip(lines.items(), styles, ends, strict=True):
        drawing.path(_steps([(x_of(t), y_of(v)) for t, v in line], x_of(last)), style)
        drawing.text(
            x_of(last) + 8, min(y + 4, _TOP + plot_height - 6), name, f"{style}-ink t-strong"
        )
    return drawing


def _steps(points: Sequence[Point], end: float) -> str:
    """A line that stays where it is until the next point; points that nobody sees are left out."""
    (x, y), *rest = points
    commands = [f"M{number(x)} {number(y)}"]
    for next_x, next_y in rest:
        if abs(next_x - x) + abs(next_y - y) < 0.3:
            continue
        commands.append(f"H{number(next_x)}V{number(next_y)}")
        x, y = next_x, next_y
    commands.append(f"H{number(end)}")
    return "".join(commands)


def _numbers(lines: dict[str, list[Point]]) -> Numbers:
    """Some of the points, the first and the last included."""
    moments = sorted({seconds for line in lines.values() for seconds, _ in line})
    step = max(math.ceil(len(moments) / _MOST_ROWS), 1)
    chosen = sorted({*moments[::step], moments[-1]})
    rows = []
    for moment in chosen:
        row = [f"{moment:.3g}"]
        for line in lines.values():
            before = [value for seconds, value in line if seconds <= moment]
            row.append(value_text(float(f"{before[-1]:.6g}")) if before else "")
        rows.append(tuple(row))
    return Numbers(("seconds", *lines), tuple(rows))
