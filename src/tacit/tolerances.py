"""Every tolerance and every stand-in for infinity, with its reason.

Shares are relative to the size of what is compared; nothing here is an absolute amount of money or
persons. Kernels keep the values that they were compiled with: after a change here remove their
caches (`find src -name '*.nb?' -delete`).
"""

from __future__ import annotations

ADDITIVITY = 1e-9
"""A relation holds when its residual is at most this times the sum of its absolute terms.

Sums of floating-point numbers over some thousand cells stay well below it.
"""
MET = 1e-9
"""Levels, bounds and relations are met when missed by at most this share of their size."""
SAME_AMOUNT = 1e-7
"""What a cell reaches and what is proven to be its limit are the same up to this share.

Linear solvers stop at 1e-9 in their own units; this allows for two digits lost on the way.
"""
EVIDENCE = 1e-8
"""What evidence may be off by in all, as a share of the amount that it claims."""
LIMIT = 1e-10
"""A limit may lie below what the multipliers of its evidence show by this share of itself."""
AGREEMENT = 1e-6
"""Figures given twice, such as contributions and their total, agree up to this share."""

SOLVER_EXACT = 1e-9
"""Feasibility tolerance of linear programs whose answers are evidence."""
SOLVER_FINE = 1e-8
"""Feasibility tolerance of relaxations whose tight rows are read off dual values."""
SOLVER = 1e-7
"""Feasibility tolerance of relaxations, whose bounds are recomputed anyway."""
INTEGRAL = 1e-6
"""A solver's number this close to an integer is meant to be it."""
FRACTION = 1e-6
"""A multiplier this close to a fraction with a small denominator is meant to be it."""
VIOLATED = 1e-6
"""A cut is worth adding when it misses its right-hand side by more than this share."""
CLEARLY_VIOLATED = 1e-4
"""The same in combined suppression, where every point is missed by many cuts."""
SMALLEST_COEFFICIENT = 1e-7
"""Solvers drop smaller coefficients of cuts; as these only weaken a cut they are rounded up."""
CANCELLED = 1e-11
"""Reduced costs below this are multipliers that cancel each other out up to rounding."""
SUBPROBLEM_GAP = 1e-4
"""The gap at which integer programs over parts of a table are solved well enough."""
ROUNDING_NOISE = 1e-9
"""Differences below this share of the usual level are what floating-point sums leave behind."""
LAST_DIGITS = 1e-12
"""Numbers that differ by at most this share are the same up to the last digits of their sums.

In vectors that are scaled to the size of 1, entries below it are zero.
"""
TIE_BREAKER = 1e-12
"""What an arc costs that is to be used only where others cost the same."""
ONWARD = 1e-6
"""On the way between two points the next one lies further on by this share at least."""
NEAR_MULTIPLE = 2e-10
"""An end of an interval this close to a multiple, as a share of the interval, is that multiple."""
CUTOFF = 1e-6
"""Limits that follow from the best solution are this share wider: what is as good stays."""
WIDER = 1e-7
"""Ends that an audit finds too close by rounding are moved by this share of slacks and levels."""
BEYOND = 1e-10
"""What is opened to meet a level goes beyond it by this share, which rounding may take back."""
UNDECIDED = 1e-8
"""What a level lacks where the answer is neither yes nor no; it counts as missed."""
NEGLIGIBLE = 1e-6
"""Capacities and deviations below this share of the smallest level come from solvers, and go."""

NEGLIGIBLE_MOVE = 1e-7
"""The same for deviations that are added to others, as a share of their own level."""
NEGLIGIBLE_COST = 1e-9
"""Costs below this share of the largest are too small to scale others by."""

REMAINDER = 1e-5
"""Euclid's algorithm for a common step ends at a remainder below this share of the amounts."""
QUOTIENT = 1e-7
"""In Euclid's algorithm, a quotient that lacks no more than this of an integer is that integer."""
COMMON_STEP = 1e-4
"""A common step below this share of the largest amount cannot be told from rounding."""

CONVERGED = 1e-9
"""Relative gap and residuals at which the interior point method ends."""
CONVERGED_DUAL = 1e-6
"""The same for dual values: bounds are recomputed from whatever values they have."""
STALLED = 1e-10
"""The interior point method gives up when its steps become shorter than this."""
CURVATURE = 1e-10
"""Curvature given to cells that cost nothing, as a share of the largest weight."""
RIDGE = 1e-10
"""What is added to the diagonal of normal equations, as a share of its largest entry.

Relations that others imply leave these equations singular.
"""
RIDGE_INTERIOR = 1e-11
"""The same in the interior point method, whose diagonals cover many magnitudes."""
LEAST_SQUARES = 1e-15
"""Residual at which iterations for least squares end: all digits that numbers have."""

STEP_INSIDE = 1e-5
"""How far inside the cuts of plain Benders for intervals are compared, as a share of the way.

On targus 1e-2 and more take four times as many rounds.
"""

FAR = 1e4
"""Capacity beyond this many times the level at stake makes no difference: no deviation needs it.

It stands for infinity where solvers would suffer from the true number.
"""
FAR_IN_FLOWS = 1e6
"""The same for flows, which do not suffer."""
FAR_NEARBY = 1e3
"""The same for small models around one cell, and for compact models."""
FAR_LEAST_MOVES = 100.0
"""The same where few cells are to move: bounds stay alike from cell to cell."""
FAR_IN_SUMS = 100.0
"""How far a cell without limits may move in an adjusted table, in sums of all levels."""

TINY = 1e-300
"""What is divided by instead of 0: objectives and capacities may be of any magnitude."""
TINY_BASE = 1e-290
"""The smallest number that bases of rounding are chosen for: a few powers of ten above `TINY`."""
