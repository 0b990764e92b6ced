"""Sums that everybody knows, protected on the way to a release.

A pattern may leave the sum of some suppressed cells known though rules find it sensitive, see
`tacit.rules.sums`. Each such sum becomes a cell of its own that is sensitive and costs nothing, and
the table is protected again; the added cells are dropped from what comes out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np
from scipy import sparse

from tacit.clock import Clock
from tacit.insiders import Insiders, LevelsAgainst
from tacit.methods.inputs import chosen_weights
from tacit.options import Options
from tacit.outcome import Intervals, Outcome, Solution, Suppression
from tacit.problem import Booleans, Floats, Problem
from tacit.rules.sums import SensitiveSum, sensitive_sums
from tacit.table import Table

MOST_ROUNDS = 4
"""So often the table is protected again; sums that are still known then are reported."""

LEAST_SHARE = 0.1
"""A round is not begun with less than this share of the time limit left."""

Run = Callable[..., Outcome]


def hidden_by(solution: Solution | None, cell_count: int, left_out: Sequence[int] = ()) -> Booleans:
    """The cells that readers do not see exactly; none where all cells have a value."""
    hidden = np.zeros(cell_count, bool)
    if isinstance(solution, Suppression):
        hidden |= solution.suppressed
    elif isinstance(solution, Intervals):
        hidden |= solution.lower < solution.upper
        hidden[list(left_out)] = True
    return hidden


def left_known(table: Table, outcome: Outcome) -> list[SensitiveSum]:
    """The sensitive sums that an outcome lets everybody know."""
    hidden = hidden_by(outcome.solution, table.cell_count, outcome.left_out)
    return sensitive_sums(table, hidden)


def protect_sums(
    run: Run,
    table: Table,
    problem: Problem,
    outcome: Outcome,
    options: Mapping[str, Any],
    clock: Clock,
) -> tuple[Outcome, list[SensitiveSum]]:
    """An outcome that leaves no sensitive sum known, as far as one is found in time.

    Sums are protected where the table knows who contributes; in the worst case of a table that
    does not, they are reported only.

    Args:
        run: The method: takes a problem and options.
        table: The table, with rules applied.
        problem: What the method saw of it.
        outcome: What it found; complete suppression.
        options: Its options.
        clock: The time for everything, of which the method has taken its part.

    Returns:
        The outcome, and the sums that it leaves known.
    """
    known = left_known(table, outcome)
    if table.contributors is None and table.holdings is None:
        return outcome, known
    added: dict[tuple[int, ...], SensitiveSum] = {}
    for _ in range(MOST_ROUNDS):
        fresh = {tuple(each.cells.tolist()): each for each in known}
        short = clock.left < LEAST_SHARE * clock.limit
        if not fresh or fresh.keys() <= added.keys() or short or outcome.stopped_by == "user":
            break
        added |= fresh
        sums = [*added.values()]
        found = run(with_sums(problem, sums), **_extended(problem, options, len(sums), clock.left))
        if not isinstance(found.solution, Suppression):
            # Not every sum can be protected: what is there stays, and the sums are reported.
            break
        suppressed = found.solution.suppressed[: problem.cell_count]
        outcome = replace(found, solution=Suppression(suppressed), audit=None)
        known = left_known(table, outcome)
    return outcome, known


def _extended(
    problem: Problem, options: Mapping[str, Any], added: int, seconds: float
) -> dict[str, Any]:
    """Options of the method for the problem with some cells added, which cost nothing."""
    weight = chosen_weights(problem, options.get("weights", "given"))
    changed = {"weights": np.append(weight, np.zeros(added)), "time_limit": seconds}
    if options.get("max_suppressed") is not None:
        changed["max_suppressed"] = options["max_suppressed"] + added
    return {**options, **changed}


def time_limit_of(options: Mapping[str, Any]) -> float:
    """The time limit among options of a method."""
    return float(options.get("time_limit", Options.time_limit))


def with_sums(problem: Problem, sums: Sequence[SensitiveSum]) -> Problem:
    """The problem with each sum as one more sensitive cell, and a relation that says so."""
    n, m = problem.cell_count, len(sums)
    row = np.repeat(np.arange(m), [len(each.cells) for each in sums])
    cell = np.concatenate([each.cells for each in sums])
    members = sparse.csr_array((np.ones(len(cell)), (row, cell)), shape=(m, n))
    value: Floats = np.asarray(members @ problem.value)
    lower: Floats = np.asarray(members @ problem.lower)
    levels = {
        "lower_level": np.minimum([each.lower for each in sums], value - lower),
        "upper_level": np.array([each.upper for each in sums]),
        "sliding_level": np.array([each.sliding for each in sums]),
    }
    old = sparse.hstack([problem.relations, sparse.csr_array((problem.relation_count, m))])
    new = sparse.hstack([members, -sparse.eye_array(m)])
    labels = [] if problem.labels is None else [problem.name_cells(each.cells) for each in sums]
    fields = {item.name: getattr(problem, item.name) for item in dataclasses.fields(problem)}
    return Problem(
        **{
            **fields,
            "value": np.append(problem.value, value),
            "lower": np.append(problem.lower, lower),
            "upper": np.append(problem.upper, np.full(m, np.inf)),
            "weight": np.append(problem.weight, np.zeros(m)),
            "relations": sparse.vstack([old, new], format="csr"),
            "rhs": np.append(problem.rhs, np.zeros(m)),
            "sensitive": np.append(problem.sensitive, np.arange(n, n + m)),
            "must_publish": np.append(problem.must_publish, np.zeros(m, bool)),
            "singleton": np.append(problem.singleton, np.full(m, -1)),
            "insiders": _extended_insiders(problem, sums, members),
            "labels": None if problem.labels is None else _Labels(problem.labels, labels),
            **{name: np.append(getattr(problem, name), level) for name, level in levels.items()},
        }
    )


def _extended_insiders(
    problem: Problem, sums: Sequence[SensitiveSum], members: sparse.csr_array[Any, Any]
) -> Insiders | None:
    """The same insiders, with what they know of the sums: what they add to their cells."""
    insiders, value = problem.insiders, problem.value
    if insiders is None:
        return None
    who = insiders.insider
    shape = (len(insiders), problem.cell_count)
    amount = sparse.csr_array((insiders.amount, (who, insiders.cells)), shape=shape)
    alone = sparse.csr_array((insiders.alone.astype(float), (who, insiders.cells)), shape=shape)
    there = sparse.csr_array((np.ones(len(who)), (who, insiders.cells)), shape=shape)
    own, lone, listed = (sparse.csc_array(matrix @ members.T) for matrix in (amount, alone, there))
    entries = [(who, insiders.cells, insiders.amount, insiders.alone, insiders.own)]
    outside = [insiders.outside]
    for place, each in enumerate(sums):
        k = listed.indices[listed.indptr[place] : listed.indptr[place + 1]].astype(np.int64)
        mine = own[:, [place]].toarray()[:, 0]
        all_alone = lone[:, [place]].toarray()[k, 0] == len(each.cells)
        total = float(value[each.cells].sum())
        levels = each.levels_against(
            total,
            np.append(mine[k], 0.0),
            are_identified=insiders.are_identified,
            are_holdings=insiders.are_holdings,
        )
        last = np.arange(len(k), len(k) + 1)
        outside.append(levels.take(last))
        against = levels.take(np.arange(len(k)))
        for level in (against.lower, against.upper, against.sliding):
            level[all_alone] = 0.0
        cell = np.full(len(k), problem.cell_count + place)
        entries.append((k, cell, mine[k], all_alone, against))
    numbers, cells, amounts, is_alone, levels_of = zip(*entries, strict=True)
    number = np.concatenate(numbers)
    order = np.lexsort((np.concatenate(cells), number))
    return replace(
        insiders,
        start=np.searchsorted(number[order], np.arange(len(insiders) + 1)).astype(np.int64),
        cells=np.concatenate(cells)[order],
        amount=np.concatenate(amounts)[order],
        alone=np.concatenate(is_alone)[order],
        own=_joined(levels_of).take(order),
        outside=_joined(outside),
    )


def _joined(levels: Sequence[LevelsAgainst]) -> LevelsAgainst:
    columns = zip(*((each.lower, each.upper, each.sliding) for each in levels), strict=True)
    return LevelsAgainst(*(np.concatenate(column) for column in columns))


class _Labels(Sequence[str]):
    """Names of cells, and of sums after them, without making them all."""

    def __init__(self, cells: Sequence[str], sums: list[str]):
        self._cells, self._sums = cells, sums

    def __len__(self) -> int:
        return len(self._cells) + len(self._sums)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        n = len(self._cells)
        return self._cells[place] if place < n else f"sum of {self._sums[place - n]}"
