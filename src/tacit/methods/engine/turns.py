"""Shares of the time limit that phases may take, all in one place.

A share is one of the whole limit, unless its comment says that it is one of the time left. Times
that do not follow from the limit stand where they are used.
"""

from __future__ import annotations

SUPPRESS_MAKESHIFT = 0.15  # Something poor to hand over if nothing else is found in time.
SUPPRESS_FIRST_RELAXATION = 0.15  # A rough one: it only guides the first pattern.
SUPPRESS_CONSTRUCTION = 0.5  # Of a large table; from then on anything safe is good enough.
SUPPRESS_HYPERCUBES = 0.7  # Of the time left: then all cells are suppressed, which takes a moment.
SUPPRESS_REPAIR = 0.6  # Of the time left: something safe has to be found in the rest.
SUPPRESS_JOINT_PATTERN = 0.3  # At most: where it takes longer, cells are protected one by one.
SUPPRESS_CLEAN_UP = 0.1  # What a relaxation suggests later is worth more than a first pattern.
SUPPRESS_SECOND_CLEAN_UP = 0.35  # Where linear programs publish what the relaxation leaves.
SUPPRESS_ROOT = 0.35  # Beyond this, cuts close less of the gap than patterns and branching do.
SUPPRESS_ROOT_AGAIN = 0.1  # A better pattern fixes columns, but the cuts are mostly there.
SUPPRESS_NEIGHBOURHOODS = 0.05  # Later rounds improve the pattern, too.
SUPPRESS_NEIGHBOURHOODS_IN_GROUPS = 0.3  # There they find more than integer master problems.
SUPPRESS_TRUST_REGION = 0.05  # One master problem of `stabilized`; further away there is more.
SUPPRESS_INTEGER_MASTER = 0.1  # A master problem that takes longer is left to branch and cut.
SUPPRESS_TURN = 0.1  # Near the best pattern, in regions, in a tree: what closes more goes on.
SUPPRESS_SMALL_TREE = 0.15  # The tree over all columns, which alone proves, needs its time.
SUPPRESS_EXACT_MODULES = 0.5  # From then on modules are protected by heuristics.
SUPPRESS_MODULE = 0.5  # Of the time left, for one module: others wait.
SUPPRESS_LAST_AUDIT = 0.03  # Beyond the limit: nothing is handed over without an audit.

ADJUST_AUDIT = 0.2  # At most: checking and auditing takes about as long as reading did.
ADJUST_INTEGRAL = 0.1  # Of the time left, then of the time so far: the search needs the rest.
ADJUST_AT_LEAST = 0.5  # Of the time kept for the end: what is left of it when that begins late.
ADJUST_TURN = 0.05  # Of the time for improving: one turn of two ways, which share it by success.
ADJUST_LAST = 0.05  # For a last attempt at integers, or for writing a table with decimals.
ADJUST_LP = 0.25  # Of the time left, for one model: many more are to be solved.
ADJUST_PROMPT_LP = 0.05  # Of the time left: a model solved within it may guide a dive of its own.
ADJUST_DIVE = 0.15  # Of the time left, for such a dive.
ADJUST_FIRST_SENSES = 0.2  # Of the time left: small tables are mostly done within it.
ADJUST_FIRST_TREE = 0.15  # Of the time left: a tree that is small ends the search at once.
ADJUST_SENSES = 0.6  # Of the time left: branch and bound, which alone proves, needs the rest.
ADJUST_LINEAR = 0.3  # Of the time left: absolute deviations give the senses for least squares.
ADJUST_SQUARES = 0.4  # Of the time left: tangents, which alone prove, need the rest.

ROUND_FIRST_AUDIT = 0.1  # Kept for the first audit, where cells are sensitive.
ROUND_RELAXATION = 0.5  # Of the time left: its parts have to be made integral in the rest.

INTERVALS_LOOK_AGAIN = 0.1  # Of the time so far: looking at points is not free.
INTERVALS_TIGHTENING = 0.1  # At most; intervals that were not cut back are safe, too.
INTERVALS_AUDIT_GRACE = 0.05  # Beyond the limit: nothing is handed over without an audit.

COMBINED_PATTERN = 0.15  # For complete suppression: its pattern is a first solution.
COMBINED_PATTERN_MONOLITHIC = 0.1  # The model itself needs the time.
COMBINED_CLEAN_UP = 0.1  # Of one pattern; many are built along the way.
COMBINED_NARROWEST = 0.15  # Cuts of intervals alone say little about which cells are suppressed.
COMBINED_REACH = 0.03  # For tight links; where time is short, bounds take their place.
COMBINED_ROOT = 0.3  # Beyond this, cuts close less of the gap than integer master problems do.
COMBINED_IMPROVING = 0.2  # Of the time so far, for solutions along the way.
COMBINED_INTEGER_MASTER = 0.15  # For one of them: its bound rises slowly in the end.
COMBINED_NEARBY = 0.3  # Of the time of an integer master problem, for one over few cells.
