"""Clean-up: publish again what need not be suppressed.

For every sensitive cell and side a deviation is remembered that shows it safe. Publishing a cell
concerns only those whose deviation uses it; they are looked at again, and if one of them fails,
the cell stays suppressed. In large tables that are no networks, what sensitive cells need in groups
is found first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from tacit.attack.network import Network
from tacit.attack.reach import TOLERANCE, Requests
from tacit.attack.shrink import Component
from tacit.clock import TimeUpError, check_time
from tacit.methods.suppress.attackers import AttackerState
from tacit.methods.suppress.heuristics import groups
from tacit.methods.suppress.heuristics.construct import CheapestDeviation, limits_of
from tacit.methods.suppress.model import Search
from tacit.problem import Booleans, Floats, Integers
from tacit.tolerances import ROUNDING_NOISE

_MANY = 8
"""More attackers than this are asked one after the other instead of each having a guard."""


def clean_up(
    search: Search,
    hidden: Booleans,
    guide: Floats | None = None,
    *,
    seconds: float = np.inf,
    among: Booleans | None = None,
) -> Booleans:
    """A safe pattern within a safe one, from which no single cell can be published alone.

    Cells are tried in order of falling weight; among equals, those with the lowest guide first.

    Args:
        search: The run.
        hidden: A safe pattern.
        guide: How far a relaxation suppresses each cell, from 0 to 1.
        seconds: Stop after this time with what has been achieved, which is safe at any time.
        among: The cells to try; by default all.
    """
    fewer = hidden.copy()
    if search.should_stop():
        return fewer
    # What has been published until time is up can stay published.
    with contextlib.suppress(TimeUpError):
        end = search.seconds + seconds
        if among is None and groups.serves(search):
            fewer = groups.lighter(search, fewer, guide, end)
        tried = search.secondary if among is None else search.secondary & among
        _publish_what_can_be(search, fewer, guide, end, tried)
    if search.insiders is not None and not _restore(search, hidden, fewer):
        return hidden.copy()
    return fewer


def _restore(search: Search, hidden: Booleans, fewer: Booleans) -> bool:
    """Suppress again, in place, what turns out to protect against contributors.

    While cells are published, the requests against contributors that are known are watched. Less
    suppression can make others matter, which are found here.

    Args:
        search: The run.
        hidden: A safe pattern.
        fewer: What was left of it after the clean-up.

    Returns:
        False if time ran out.
    """
    assert search.insiders is not None
    with contextlib.suppress(TimeUpError):
        while True:
            missed = search.missed(search.insiders, fewer)
            if not len(missed):
                return True
            answers = search.answers(search.insiders, missed, hidden)
            needed = np.unique(answers.tables.indices)
            if fewer[needed].all() or not answers.reached(missed).all():
                # Time ran out before all was answered.
                return False
            fewer[needed] = True
    return False


def _publish_what_can_be(
    search: Search, hidden: Booleans, guide: Floats | None, end: float, tried: Booleans
) -> None:
    """Publish cells again, in place; the pattern is safe at any time."""
    _guarded_clean_up(search, hidden, guide, end, tried)
    if not any(state.slides for state in search.states):
        return
    # Guards share sliding levels out between the sides once and for all; the attacker looks at
    # both sides anew.
    for cell in np.flatnonzero(hidden & tried).tolist():
        if search.should_stop() or search.seconds > end:
            break
        fewer = hidden.copy()
        fewer[cell] = False
        if search.allows(fewer) and search.first_exposed(fewer) is None:
            hidden[cell] = False


def _guarded_clean_up(
    search: Search, hidden: Booleans, guide: Floats | None, end: float, tried: Booleans
) -> None:
    order = np.flatnonzero(hidden & tried)
    liked = np.zeros(search.problem.cell_count) if guide is None else guide
    order = order[np.lexsort((order, liked[order], -search.problem.weight[order]))]
    if len(search.outsiders) == 1 and search.states[0].is_plain:
        _by_components(search, hidden, order, end)
        return
    while len(order):
        order = _one_by_one(search, hidden, order, lambda: _guards(search, hidden), end)


def _one_by_one(
    search: Search,
    hidden: Booleans,
    order: Integers,
    guards_now: Callable[[], list[Guard]],
    end: float,
) -> Integers:
    """Publish cells again as long as all guards agree, in place; returns what is left to try.

    When the pattern has shrunk, the guards come anew: fewer suppressed cells tie more of the
    others together, and the models become smaller.
    """
    guards = guards_now()
    # Guards that were not given the time to prepare are not asked: the loop ends at once.
    left = len(order)
    published = 0
    for number, cell in enumerate(order.tolist()):
        if search.should_stop() or search.seconds > end:
            return order[:0]
        if len(_spared(search, hidden, np.array([cell]))) and _all_agree(guards, cell):
            hidden[cell] = False
            published += 1
            if published > 0.1 * left + 5:
                return order[number + 1 :]
    return order[:0]


def _by_components(search: Search, hidden: Booleans, order: Integers, end: float) -> None:
    """Publish cells again, in place, part by part: what one cell protects lies in its own part.

    Parts that are networks are left to a kernel. The others may fall apart while cells are
    published; then what is left is looked at in the same way.
    """
    state = search.states[0]
    while len(order) and not search.should_stop() and search.seconds <= end:
        targets = Requests.joined([search.targets(each, hidden) for each in search.states])
        shrunk = search.attack(state, hidden).shrunk
        place = shrunk.place[order]
        # What cannot move anyway protects nobody.
        hidden[_spared(search, hidden, order[place < 0])] = False
        where = shrunk.place[targets.cells]
        left: list[Integers] = []
        for number in np.unique(place[place >= 0]).tolist():
            component = shrunk.components[number]
            mine, asked = order[place == number], targets.take(where == number)
            if component.network is not None:
                published = _network_clean_up(
                    component, component.network, asked, mine, len(hidden)
                )
                hidden[_spared(search, hidden, published)] = False
                continue

            def guards_now(part: Component = component, asked: Requests = asked) -> list[Guard]:
                return [LinearGuard(search, state, part.cells, asked, end)]

            left.append(_one_by_one(search, hidden, mine, guards_now, end))
        order = np.concatenate([*left, order[:0]])


def _guards(search: Search, hidden: Booleans) -> list[Guard]:
    """Guards over all that a safe pattern protects."""
    guards: list[Guard] = []
    guarded = search.states if len(search.states) <= _MANY else search.states[:1]
    for state in guarded:
        if search.should_stop():
            return guards
        targets = search.targets(state, hidden)
        flows = search.structure.in_network[targets.cells]
        if flows.any():
            guards.append(FlowGuard(search, state, hidden, targets.take(flows)))
        if not flows.all():
            cells = np.flatnonzero(hidden & ~search.structure.in_network)
            guards.append(LinearGuard(search, state, cells, targets.take(~flows)))
    if len(guarded) < len(search.states):
        guards.append(AskingGuard(search, hidden))
    return guards


def _spared(search: Search, hidden: Booleans, cells: Integers) -> Integers:
    """Those of the cells that relations with singletons do not need, one after the other."""
    rows, needed = search.singleton_rows()
    if len(rows) == 0:
        return cells
    A = search.problem.relations[rows]
    count = np.asarray(abs(A).sign() @ hidden).astype(np.int64)
    columns = A.tocsc()
    free = []
    for cell in cells.tolist():
        touched = columns.indices[columns.indptr[cell] : columns.indptr[cell + 1]]
        if (count[touched] > needed[touched]).all():
            count[touched] -= 1
            free.append(cell)
    return np.array(free, np.int64)


def _network_clean_up(
    component: Component,
    network: Network,
    targets: Requests,
    order: Integers,
    cell_count: int,
) -> Integers:
    """Those of the cells of a network that can be published, one after the other."""
    from tacit.methods.suppress.heuristics.kernels import publish_again

    inside = np.zeros(cell_count, bool)
    inside[component.cells] = True
    published = publish_again(
        network.arrays,
        component.up,
        component.down,
        np.searchsorted(component.cells, targets.cells),
        targets.sides,
        targets.targets * (1 - TOLERANCE),
        limits_of(targets, inside),
        np.searchsorted(component.cells, order),
    )
    return order[published]


def _hidden_network(search: Search, hidden: Booleans) -> tuple[Integers, Network, Integers]:
    """The suppressed cells of the network, the network they form, and where each cell is."""
    structure = search.structure
    assert structure.network is not None
    cells = np.flatnonzero(hidden & structure.in_network)
    network = structure.network.restricted(np.cumsum(structure.in_network)[cells] - 1)
    where = np.full(len(hidden), -1, np.int64)
    where[cells] = np.arange(len(cells))
    return cells, network, where


class Guard(Protocol):
    """Watches over the requests of one attacker while cells are published again."""

    def allows(self, cell: int) -> bool:
        """Would all stay safe if the cell were published? Remembers how."""

    def accept(self) -> None:
        """The cell last asked about is published."""

    def refuse(self) -> None:
        """The cell last asked about stays suppressed."""


def _all_agree(guards: Sequence[Guard], cell: int) -> bool:
    asked: list[Guard] = []
    for guard in guards:
        asked.append(guard)
        if not guard.allows(cell):
            for each in asked:
                each.refuse()
            return False
    for guard in asked:
        guard.accept()
    return True


class _Uses:
    """Which request's deviation uses which cell."""

    def __init__(self, cells: int, requests: int):
        self._uses = np.zeros((cells, requests), bool)
        self._offender = -1
        self._pending: list[tuple[int, Integers]] = []

    def concerned(self, cell: int) -> list[int]:
        """Requests that use the cell, the last offender first."""
        numbers: list[int] = np.flatnonzero(self._uses[cell]).tolist()
        if self._offender in numbers:
            numbers.remove(self._offender)
            numbers.insert(0, self._offender)
        self._pending = []
        return numbers

    def offend(self, request: int) -> None:
        """This request needs the cell."""
        self._offender = request

    def propose(self, request: int, cells: Integers) -> None:
        """A new deviation for a request, in force once accepted."""
        self._pending.append((request, cells))

    def accept(self) -> None:
        """The cell last asked about is published."""
        for request, cells in self._pending:
            self._uses[:, request] = False
            self._uses[cells, request] = True
        self._pending = []


class LinearGuard:
    """Guard by linear programs over the suppressed cells."""

    def __init__(
        self,
        search: Search,
        state: AttackerState,
        cells: Integers,
        requests: Requests,
        end: float = np.inf,
    ):
        """Find a deviation for every request.

        Args:
            search: The run.
            state: Whose requests.
            cells: The suppressed cells that may move.
            requests: What must stay out of reach.
            end: Give up at this time of the search; nobody may be asked then.
        """
        self._model = CheapestDeviation(search, state, cells, cold=False)
        self._state = state
        self._requests = requests
        self._cost = np.ones(search.problem.cell_count)
        self._uses = _Uses(self._model.column_count, len(requests))
        self._column = -1
        hidden = np.zeros(search.problem.cell_count, bool)
        hidden[cells] = True
        for request in range(len(requests)):
            if search.should_stop() or search.seconds > end:
                return
            if not self._is_known(request, hidden) and self._settle(request) is None:
                # Out of reach for this model's tolerance: guard all cells that might matter.
                self._uses.propose(request, np.arange(self._model.column_count))
        self._uses.accept()

    def _request(self, number: int) -> tuple[int, int, float]:
        asked = self._requests
        return int(asked.cells[number]), int(asked.sides[number]), float(asked.targets[number])

    def _is_known(self, request: int, hidden: Booleans) -> bool:
        """Is a deviation remembered that stays within the suppressed cells?"""
        if not self._state.is_plain:
            return False
        found = self._state.witnesses.find(self._requests, request, hidden)
        if found is None:
            return False
        self._uses.propose(request, self._model.columns(found.cells))
        return True

    def _settle(self, request: int) -> tuple[Integers, Floats] | None:
        """Look for a deviation anew; cells that move and how far, or None if there is none."""
        cell, side, level = self._request(request)
        limited = self._requests.limited(request)
        x = self._model.deviation(cell, side, level, self._cost, limited)
        if x is None:
            return None
        moves = self._model.moves(x, cell, level)
        if self._state.is_plain:
            self._state.witnesses.remember(self._requests, request, *moves)
        self._uses.propose(request, np.flatnonzero(np.abs(x) > ROUNDING_NOISE))
        return moves

    def _also_met(self, waiting: Integers, moves: tuple[Integers, Floats]) -> Integers:
        """Those of the waiting requests that a deviation serves, too."""
        if not self._state.is_plain or len(waiting) == 0:
            return waiting[:0]
        still_open = np.zeros(len(self._requests), bool)
        still_open[waiting] = True
        met = np.flatnonzero(self._state.witnesses.spread(self._requests, still_open, *moves))
        for request in met.tolist():
            self._uses.propose(request, self._model.columns(moves[0]))
        return met

    def allows(self, cell: int) -> bool:
        """Would all stay safe without the cell?"""
        self._column = self._model.column(cell)
        if self._column < 0 or self._model.barred[self._column]:
            # The cell does not move anyway.
            self._column = -1
            return True
        waiting = np.array(self._uses.concerned(self._column), np.int64)
        self._model.barred[self._column] = True
        while len(waiting):
            request, waiting = int(waiting[0]), waiting[1:]
            moves = self._settle(request)
            if moves is None:
                self._uses.offend(request)
                return False
            waiting = waiting[~np.isin(waiting, self._also_met(waiting, moves))]
        return True

    def accept(self) -> None:
        """The cell last asked about is published."""
        self._uses.accept()

    def refuse(self) -> None:
        """The cell last asked about stays suppressed."""
        if self._column >= 0:
            self._model.barred[self._column] = False


class AskingGuard:
    """Guard against many attackers: each is asked again, unless earlier answers suffice."""

    def __init__(self, search: Search, hidden: Booleans):
        self._search = search
        self._hidden = hidden.copy()
        self._cell = -1
        self._order = list(search.states[1:])

    def allows(self, cell: int) -> bool:
        """Would all stay safe without the cell?"""
        self._cell = cell
        self._hidden[cell] = False
        for number, state in enumerate(self._order):
            check_time()
            if len(self._search.missed(state, self._hidden)):
                # An attacker who objects once is likely to object again.
                self._order.insert(0, self._order.pop(number))
                return False
        return True

    def accept(self) -> None:
        """The cell last asked about is published."""

    def refuse(self) -> None:
        """The cell last asked about stays suppressed."""
        self._hidden[self._cell] = True


class FlowGuard:
    """Guard by maximum flows over the suppressed cells."""

    def __init__(self, search: Search, state: AttackerState, hidden: Booleans, requests: Requests):
        self._cells, self._network, self._where = _hidden_network(search, hidden)
        self._up = state.separator.up[self._cells].copy()
        self._down = state.separator.down[self._cells].copy()
        self._requests = requests.numbered_by(self._where)
        self._uses = _Uses(len(self._cells), len(requests))
        self._share = np.ones(len(self._cells))
        self._cell = -1
        self._settle(np.arange(len(requests)))
        self._uses.accept()

    def _settle(self, numbers: Integers) -> bool:
        from tacit.attack.flow import maximum_flows

        network = self._network
        asked = self._requests.take(numbers)
        targets = asked.targets * (1 - TOLERANCE)
        amount, pointer, arcs, _, _ = maximum_flows(
            network.first,
            network.link,
            network.tail,
            network.head,
            self._up,
            self._down,
            asked.cells,
            asked.sides,
            targets,
            np.full(len(numbers), np.inf),
            self._share,
            np.zeros(len(self._cells), bool),
            asked.limits,
        )
        for position, request in enumerate(numbers.tolist()):
            self._uses.propose(request, arcs[pointer[position] : pointer[position + 1]])
            if amount[position] < targets[position]:
                self._uses.offend(request)
                return False
        return True

    def allows(self, cell: int) -> bool:
        """Would all stay safe without the cell?"""
        self._cell = int(self._where[cell])
        if self._cell < 0:
            return True
        concerned = self._uses.concerned(self._cell)
        self._share[self._cell] = 0.0
        return self._settle(np.array(concerned, np.int64))

    def accept(self) -> None:
        """The cell last asked about is published."""
        self._uses.accept()

    def refuse(self) -> None:
        """The cell last asked about stays suppressed."""
        if self._cell >= 0:
            self._share[self._cell] = 1.0
