"""The audit of what a search has found, in the time that the search was given.

The first safe pattern is audited at once. That leaves something to hand over whatever comes, and
shows how long an audit takes, which is then kept in reserve for the last one.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.attack.audit import Audit, audit
from tacit.attack.suggestions import Deviations
from tacit.clock import Clock
from tacit.errors import TacitError
from tacit.methods.suppress.search import Search
from tacit.problem import Booleans, Problem

_MARGIN = 1.25
"""An audit may take so many times as long as the first one."""
_SLACK_SHARE, _SLACK_SECONDS = 0.03, 0.3
"""The last audit may go beyond the limit by this share of it, or so many seconds."""


class Proof:
    """Audits patterns and keeps the last that was found safe.

    Attributes:
        audit: The audit of the pattern that may be handed over, None if there is none.
    """

    def __init__(self, search: Search, problem: Problem):
        """Audit the search's first pattern as soon as there is one.

        Args:
            search: The search.
            problem: The table as it was given, with attackers to match.
        """
        self._search = search
        self._problem = problem
        self.audit: Audit | None = None
        self._hidden: Booleans | None = None
        search.on_first = self.first

    def first(self) -> None:
        """Audit the best pattern, and keep in reserve what that took."""
        search = self._search
        before = search.seconds
        self._look()
        search.clock.reserve = _MARGIN * (search.seconds - before)

    def last(self) -> None:
        """Audit the best pattern; without the time for it, fall back on what was audited."""
        search = self._search
        if search.best is None:
            return
        if self._hidden is not None and np.array_equal(search.best, self._hidden):
            return
        search.observer.on_phase("audit")
        limit = search.options.time_limit
        slack = max(_SLACK_SHARE * limit, _SLACK_SECONDS)
        with Clock(max(limit - search.seconds, 0.0) + slack):
            self._look()
        if self._hidden is None or not np.array_equal(search.best, self._hidden):
            search.fall_back(self._hidden)
            search.stopped_by = "time"

    def _look(self) -> None:
        search = self._search
        assert search.best is not None
        checked = audit(
            self._problem,
            search.best,
            cells="sensitive",
            exact=False,
            attackers=search.attackers,
            suggested=_suggested(search),
            # The table was judged when the search began.
            tolerance=None,
        )
        if checked.exposures:
            raise TacitError(
                "the search called a pattern safe that the audit does not: this is a fault of "
                f"tacit, please report it ({self._problem.name_cells(checked.exposed_cells)})"
            )
        if checked.unchecked:
            search.unprotected = np.array(checked.unchecked, np.int64)
            return
        self.audit, self._hidden = checked, search.best


def _suggested(search: Search) -> Deviations:
    """Deviations that the search knows to stay within the best pattern."""
    assert search.best is not None
    found = {id(each): each for each in search.known if search.best[each.cells].all()}
    shape = (len(found), search.problem.cell_count)
    if not found:
        return sparse.csr_array(shape)
    lengths = [len(each.cells) for each in found.values()]
    entries = (
        np.concatenate([each.x for each in found.values()]),
        np.concatenate([each.cells for each in found.values()]),
        np.concatenate([[0], np.cumsum(lengths)]),
    )
    return sparse.csr_array(entries, shape=shape)
