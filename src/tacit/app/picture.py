"""Pictures that the server draws: the search as it goes on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640.0, 180.0
_MARGIN = 8.0


@dataclass(frozen=True)
class Picture:
    """Lines of best solution and bound over time, as points of SVG polylines.

    Attributes:
        best: The best safe solution.
        bound: The proven bound.
        area: What lies between them, while both are known.
    """

    best: str
    bound: str
    area: str
    width: float = WIDTH
    height: float = HEIGHT


def progress_picture(
    trace: Sequence[tuple[float, float | None, float | None]], seconds: float
) -> Picture | None:
    """The picture of a search; None while there is nothing to draw.

    Args:
        trace: Time, best objective and bound.
        seconds: How long it has taken.
    """
    points = [
        (at, best, bound)
        for at, best, bound in trace
        if best is None or bound is None or math.isfinite(best - bound)
    ]
    known = [each for _, best, bound in points for each in (best, bound) if each is not None]
    known = [each for each in known if math.isfinite(each)]
    if not known:
        return None
    least, most = min(known), max(known)
    span = (most - least) or 1.0
    first = points[0][0]
    length = max(seconds - first, points[-1][0] - first, 1e-3)

    def x(at: float) -> float:
        return _MARGIN + (WIDTH - 2 * _MARGIN) * (at - first) / length

    def y(amount: float) -> float:
        return HEIGHT - _MARGIN - (HEIGHT - 2 * _MARGIN) * (amount - least) / span

    def steps(series: Sequence[tuple[float, float | None]]) -> list[tuple[float, float]]:
        drawn: list[tuple[float, float]] = []
        for at, amount in series:
            if amount is None or not math.isfinite(amount):
                continue
            if drawn:
                drawn.append((x(at), drawn[-1][1]))
            drawn.append((x(at), y(amount)))
        if drawn:
            drawn.append((x(first + length), drawn[-1][1]))
        return drawn

    best = steps([(at, each) for at, each, _ in points])
    bound = steps([(at, each) for at, _, each in points])
    area = []
    if best and bound:
        # Only from when both are known.
        start = max(best[0][0], bound[0][0])
        upper, lower = (_from(line, start) for line in (best, bound))
        area = [*upper, *reversed(lower)]
    return Picture(_svg(best), _svg(bound), _svg(area))


def _from(line: Sequence[tuple[float, float]], start: float) -> list[tuple[float, float]]:
    """A line of steps without what lies before some place."""
    before = [point for point in line if point[0] <= start]
    after = [point for point in line if point[0] > start]
    return [(start, before[-1][1]), *after] if before else after


def _svg(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
