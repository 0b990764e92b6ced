"""Shares of the time limit that phases may take, all in one place.

A share is one of the whole limit, unless its comment says that it is one of the time left. Times
that do not follow from the limit stand where they are used.
"""

from __future__ import annotations

SUPPRESS_CONSTRUCTION = 0.5  # Of a large table; from then on anything safe will do.
SUPPRESS_HYPERCUBES = 0.7  # Of the time left: then all cells are suppressed, which takes a moment.
SUPPRESS_REPAIR = 0.6  # Of the time left: something safe has to be found in the rest.
SUPPRESS_CLEAN_UP = 0.1  # What a relaxation suggests later is worth more than a first pattern.
SUPPRESS_ROOT = 0.35  # Beyond this, cuts close less of the gap than patterns and branching do.
SUPPRESS_ROOT_AGAIN = 0.1  # A better pattern fixes columns, but the cuts are mostly there.
SUPPRESS_NEIGHBOURHOODS = 0.1  # Later rounds improve the pattern, too.
SUPPRESS_INTEGER_MASTER = 0.1  # A master problem that takes longer is left to branch and cut.
SUPPRESS_SMALL_TREE = 0.15  # The tree over all columns, which alone proves, needs its time.
SUPPRESS_EXACT_MODULES = 0.5  # From then on modules are protected by heuristics.
SUPPRESS_MODULE = 0.5  # Of the time left, for one module: others wait.
SUPPRESS_LAST_AUDIT = 0.03  # Beyond the limit: nothing is handed over without an audit.
