"""`stabilized`: Benders' decomposition in a trust region [BaenaCastroFrangioni2020, Figure 2]."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacit.methods.suppress.algorithms.benders import Decomposition, Region
from tacit.methods.suppress.model import Search


def run(search: Search) -> None:
    """Decompose as `benders` does, but close to a good pattern as long as that helps."""
    loop = Decomposition(search)
    centre = search.sensitive if search.best is None else search.best
    radii = _radii(search)
    radius = next(radii)
    while not search.should_stop():
        region = None if radius is None else Region(centre, radius)
        answer = loop.master.solve(region)
        if answer.status == "infeasible":
            if region is None:
                loop.exhausted()
                return
            loop.master.leave_out(region, np.inf)
            radius = next(radii)
        elif answer.hidden is None or answer.status == "stopped":
            continue
        elif loop.cut_off(answer.hidden):
            loop.relax()
        else:
            if region is None:
                return
            # Nothing better here: see what the whole table promises, then move on.
            everywhere = loop.master.solve()
            if everywhere.hidden is not None and not search.should_stop():
                loop.cut_off(everywhere.hidden)
            loop.master.leave_out(region, answer.bound)
            centre = answer.hidden


def _radii(search: Search) -> Iterator[int | None]:
    """Growing radii, then none [BaenaCastroFrangioni2020, section 5].

    They are shares of the number of sensitive cells.
    """
    last, most = 0, int(search.secondary.sum())
    for share in search.options.radius:
        radius = max(last + 1, round(share * len(search.problem.sensitive)))
        if radius >= most:
            break
        yield radius
        last = radius
    yield None
