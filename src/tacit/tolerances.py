"""Every tolerance and every stand-in for infinity, with its reason.

Shares are relative to the size of what is compared; nothing here is an absolute amount of money or
persons.
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
VIOLATED = 1e-6
"""A cut is worth adding when it misses its right-hand side by more than this share."""
ROUNDING_NOISE = 1e-9
"""Differences below this share of the usual level are what floating-point sums leave behind."""
LAST_DIGITS = 1e-12
"""Numbers that differ by at most this share are the same but for the last digits of their sums.

In vectors that are scaled to the size of 1, entries below it are zero.
"""
NEAR_MULTIPLE = 2e-10
"""An end of an interval this close to a multiple, as a share of the interval, is that multiple."""
CUTOFF = 1e-6
"""Limits that follow from the best solution are this share wider: what is as good stays."""
WIDER = 1e-7
"""Ends that an audit finds too close by rounding are moved by this share of slacks and levels."""
BEYOND = 1e-10
"""What is opened to meet a level goes beyond it by this share, which rounding may take back."""
UNDECIDED = 1e-8
"""What lacks of a level where the answer is neither yes nor no; it counts as missed."""
NEGLIGIBLE = 1e-6
"""Capacities and deviations below this share of the smallest level come from solvers, and go."""

NEGLIGIBLE_MOVE = 1e-7
"""The same for deviations that are added to others."""

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
"""What gaps are divided by where an objective is 0: objectives may be of any magnitude."""
