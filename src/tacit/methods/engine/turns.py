"""Shares of the time limit that phases may take, all in one place.

A share is one of the whole limit, unless its comment says that it is one of the time left. Times
that do not follow from the limit stand where they are used.
"""

from __future__ import annotations

INTERVALS_LOOK_AGAIN = 0.1  # Of the time so far: looking at points is not free.
INTERVALS_TIGHTENING = 0.1  # At most; intervals that were not cut back are safe, too.
INTERVALS_AUDIT_GRACE = 0.05  # Beyond the limit: nothing is handed over without an audit.

COMBINED_PATTERN = 0.15  # For complete suppression: its pattern is a first solution.
COMBINED_PATTERN_MONOLITHIC = 0.1  # The model itself needs the time.
COMBINED_CLEAN_UP = 0.1  # Of one pattern; many are built along the way.
COMBINED_NARROWEST = 0.15  # Cuts of intervals alone say little about which cells are suppressed.
COMBINED_REACH = 0.03  # For tight links; bounds do where time does not suffice.
COMBINED_ROOT = 0.3  # Beyond this, cuts close less of the gap than integer master problems do.
COMBINED_IMPROVING = 0.2  # Of the time so far, for solutions along the way.
COMBINED_INTEGER_MASTER = 0.15  # For one of them: its bound rises slowly in the end.
COMBINED_NEARBY = 0.3  # Of the time of an integer master problem, for one over few cells.
