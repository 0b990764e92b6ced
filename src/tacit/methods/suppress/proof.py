"""The audit of what a search has found, in the time that the search was given.

The first safe pattern is audited at once. That leaves something to hand over whatever comes, and
shows how long an audit takes, which is then kept in reserve for the last one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from tacit.attack.suggestions import Deviations
from tacit.clock import Clock
from tacit.methods.engine import turns
from tacit.methods.engine.driver import refuted
from tacit.outcome import StopReason, Suppression
from tacit.problem import Booleans

if TYPE_CHECKING:
    from tacit.attack.audit import Audit
    from tacit.methods.suppress.model import Search

_MARGIN = 1.25
"""An audit may take this many times as long as the first one."""
_SLACK_SECONDS = 0.3
"""The last audit may always go beyond the limit by this many seconds."""


class Proof:
    """Audits patterns and keeps the last that was found safe.

    Attributes:
        audit: The audit of the pattern that may be handed over, None if there is none.
    """

    def __init__(self, search: Search):
        self._search = search
        self.audit: Audit | None = None
        self._hidden: Booleans | None = None

    def first(self) -> None:
        """Audit the best pattern, and keep in reserve what that took."""
        search = self._search
        before = search.seconds
        self._look()
        search.clock.reserve = _MARGIN * (search.seconds - before)

    def keep(self) -> None:
        """Audit the best pattern, to be handed over if no better one is found in time."""
        self._look()

    def last(self) -> None:
        """Audit the best pattern; without the time for it, fall back on what was audited."""
        search = self._search
        if search.best is None:
            if self._hidden is not None:
                search.adopt(self._hidden)
            return
        if self._hidden is not None and search.weigh(self._hidden) < search.weigh(search.best):
            # What was kept ready is better than what was found.
            search.fall_back(self._hidden)
        search.observer.on_phase("audit")
        if self._hidden is not None and np.array_equal(search.best, self._hidden):
            return
        limit = search.options.time_limit
        slack = max(turns.SUPPRESS_LAST_AUDIT * limit, _SLACK_SECONDS)
        with Clock(max(limit - search.seconds, 0.0) + slack):
            self._look()
        if self._hidden is None or not np.array_equal(search.best, self._hidden):
            search.fall_back(self._hidden)
            search.stop(StopReason.TIME)

    def _look(self) -> None:
        search, case = self._search, self._search.case
        assert search.best is not None
        assert case is not None
        checked = case.audited(Suppression(search.best), suggested=_suggested(search))
        if checked.exposures:
            raise refuted(case.given, "a pattern", checked)
        if checked.unchecked:
            search.unprotected = case.unprotected(checked)
            return
        self.audit, self._hidden = checked, search.best


def _suggested(search: Search) -> Deviations:
    """Deviations that the search knows to stay within the best pattern."""
    assert search.best is not None
    inside: dict[int, bool] = {}
    found = {}
    for each in search.known:
        key = id(each.cells)
        if key not in inside:
            inside[key] = bool(search.best[each.cells].all())
        if inside[key]:
            # The same deviation may be known for many requests, the other way round for some.
            found[key, id(each.x)] = each
    shape = (len(found), search.problem.cell_count)
    spared = search.spared
    if spared is not None:
        row = np.repeat(np.arange(spared.shape[0]), np.diff(spared.indptr))
        beyond = np.unique(row[~search.best[spared.indices]])
        spared = sparse.csr_array(spared[np.setdiff1d(np.arange(spared.shape[0]), beyond)])
    else:
        spared = sparse.csr_array((0, search.problem.cell_count))
    if not found:
        return spared
    lengths = [len(each.cells) for each in found.values()]
    entries = (
        np.concatenate([each.x for each in found.values()]),
        np.concatenate([each.cells for each in found.values()]),
        np.concatenate([[0], np.cumsum(lengths)]),
    )
    return sparse.csr_array(sparse.vstack([sparse.csr_array(entries, shape=shape), spared]))
