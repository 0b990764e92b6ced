"""`auto`: what measures best for the table at hand.

A large table that is no network, nor made of strips that are, is first protected along a rough
relaxation, or module by module; one that is too large for any relaxation ends there. All others:
tighten the root, improve the pattern, solve integer master problems as long as they are easy, then
branch, first in small trees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.clock import Clock
from tacit.methods.engine import turns
from tacit.methods.engine.integer_master import IntegerMaster
from tacit.methods.suppress.cuts import Master, Root, is_too_large
from tacit.methods.suppress.heuristics import totals_above
from tacit.methods.suppress.heuristics.cleanup import clean_up
from tacit.methods.suppress.heuristics.construct import Constructor
from tacit.methods.suppress.heuristics.first_pattern import first_pattern, is_large
from tacit.methods.suppress.heuristics.groups import Groups, serves, usual_size
from tacit.methods.suppress.heuristics.joint import JointPatterns
from tacit.methods.suppress.heuristics.joint import serves as serves_jointly
from tacit.methods.suppress.heuristics.neighbourhoods import Neighbourhoods
from tacit.methods.suppress.heuristics.repair import Repair
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.trust_regions import Region, TrustRegions
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.mip import MipSolution
from tacit.tolerances import VIOLATED

if TYPE_CHECKING:
    from tacit.methods.suppress.beside import TreeBeside

_TRIES = 40
"""Changes of the first pattern that are tried once the root is tight."""
_MANY_TRIES = 1000
"""The same where each takes a moment, because it is cleaned up nearby."""
_SLOW = 3000
"""From this number of cells outside networks on, the time of a pattern that the relaxation
suggests, cell by cell, is better spent on the clean-up of the first one."""
_SHUFFLED = 0.3
"""How much chance may make cells dearer or cheaper in a clean-up, as a share."""
_MASTER_SECONDS = 2.0
"""What an integer master problem may take at least."""
_SMALL_TREE = 0.6
"""A tree is small if it has fewer columns than this share of those that are not fixed."""
_CEILINGS = (1.0, 0.3)
"""How capacities are cut off while cuts are sought; each finds others."""
_MOST_ENTRIES = 30_000
"""Up to so many coefficients all cuts are given to the first master problem, otherwise those at
work."""
_TRIES_EACH_ROUND = 1
"""Changes of the best pattern that are tried after each round."""
_ROUGHLY = 0.1
"""The share of the open gap to which a master problem is solved."""
_RADII = (0.01, 0.02, 0.05)
"""How far from the best pattern lighter ones are sought, as shares of the sensitive cells."""
_ENOUGH = 0.1
"""There a pattern is enough that closes this share of the gap."""
_MUCH = 0.2
"""There columns are left out that alone take up more than this share of the gap."""
_MOMENT = 1e-3
"""No turn counts as shorter, in seconds."""
_SEPARATIONS = 3
"""So many times cuts are sought before the first pattern of a table that is no network."""
_LIKED = 0.01
"""What is suppressed by more than this in the relaxation is a beginning."""
_LARGER = 4
"""A first pattern of a large table is to be quick: groups are so many times larger."""
_WORTH_A_TURN = 1e-3
"""Pattern and bound of a large table take turns as long as they come closer by this share."""
_PATIENCE = 6
"""If the gap has not become smaller by `_WORTHWHILE` in so many rounds, a tree does better;"""
_LITTLE_PATIENCE = 2
"""in so many, if the last master problem was not solved to the end;"""
_NO_PATIENCE = 1
"""in one, where besides cuts are found by flows, so that trees grow quickly."""
_WORTHWHILE = 0.2
_HARD = 2.0
"""A master problem that takes longer is hard: a tree begins on a second core, if there is one;"""
_WORTH_A_CORE = 300
"""so it does after the rounds, if at least so many columns are not fixed by then.

Which of the two is first then depends on the machine; all other tables go the same way every time.
"""
_REPAIRS = 2
"""Patterns that are made safe in one round: the last ones, which are the lightest."""


def run(search: Search) -> None:
    """Pattern, root, rounds and tree, as far as the size of the table and the time allow."""
    constructor = Constructor(search)
    known = _first_pattern_by_size(search, constructor)
    pattern_seconds = search.seconds
    if search.should_stop():
        return
    if is_too_large(search):
        search.leave_gap()
        return
    search.observer.on_phase("relaxation")
    master = Master(search)
    if known is not None:
        master.add(known.pool.matrix, known.pool.right)
    # Patterns of large tables have turns of their own.
    in_groups = serves(search)
    is_slow = in_groups and search.outside_networks > _SLOW and not serves_jointly(search)
    builder = None if is_large(search) or is_slow else constructor
    root = Root(search, master, builder, pattern_seconds=pattern_seconds)
    limit = search.options.time_limit
    share = turns.SUPPRESS_ROOT if known is None else turns.SUPPRESS_ROOT_AGAIN
    # Whatever the sensitive cells alone leave exposed: most of these cuts are needed anyway.
    root.cut_off(np.zeros(len(master.cells)), thorough=False)
    root.run(seconds=share * limit)
    search.observer.on_phase("improvement")
    if is_large(search):
        _in_turn(search, master, root, constructor)
    elif in_groups and pattern_seconds > turns.SUPPRESS_CLEAN_UP * limit:
        _publish_more(search)
    share = turns.SUPPRESS_NEIGHBOURHOODS_IN_GROUPS if in_groups else turns.SUPPRESS_NEIGHBOURHOODS
    tries = _MANY_TRIES if in_groups else _TRIES
    with Beside(search, master) as beside:
        neighbourhoods = Neighbourhoods(search, constructor)
        neighbourhoods.improve(master.full(master.y), tries=tries, seconds=share * limit)
        parts = Parts(search, master, constructor, neighbourhoods, beside)
        rounds = Rounds(parts)
        if search.should_stop() or rounds.run():
            return
        search.observer.on_phase("branching")
        if (~master.fixed_out).sum() >= _WORTH_A_CORE:
            beside.begin()
        branching = Branching(parts)
        if search.structure.strips_cover:
            branching.in_networks(rounds)
        else:
            branching.elsewhere(root)


def _first_pattern_by_size(search: Search, constructor: Constructor) -> Master | None:
    """Find a first pattern; returns the relaxation, if one was solved for it."""
    from tacit.methods.suppress.algorithms.modular import protect_by_modules

    # What the relaxation suggests later is worth more of the time than this first pattern.
    limit = search.options.time_limit
    in_strips = search.structure.strips_cover
    if totals_above.serves(search):
        totals_above.keep_totals_ready(search)
    if is_large(search) and not in_strips and not is_too_large(search):
        search.observer.on_phase("relaxation")
        master = Master(search)
        if _relax_then_build(search, constructor, master):
            search.settle_unit()
            return master
        if search.should_stop():
            return None
    seconds = np.inf if is_too_large(search) else turns.SUPPRESS_CLEAN_UP * limit
    if is_large(search) and not in_strips:
        protect_by_modules(search, clean_up_seconds=seconds)
    else:
        search.observer.on_phase("first pattern")
        first_pattern(search, constructor, clean_up_seconds=seconds)
    return None


def _relax_then_build(search: Search, constructor: Constructor, master: Master) -> bool:
    """A first pattern from what a rough relaxation likes; False if none was found.

    What is suppressed in part there leaves little exposed, and a deviation that all sensitive
    cells have in common shows what to add.
    """
    limit = search.options.time_limit
    root = Root(search, master, None)
    root.run(seconds=turns.SUPPRESS_FIRST_RELAXATION * limit, separations=_SEPARATIONS)
    if search.should_stop() or master.infeasible:
        return False
    search.observer.on_phase("first pattern")
    guide = master.full(master.y)
    hidden: Booleans | None = None
    with Clock(turns.SUPPRESS_CONSTRUCTION * limit):
        joint = JointPatterns(search)
        protecting = joint.protecting(guide > _LIKED, guide)
        size = _LARGER * usual_size(search)
        fewer = Groups(search, joint).pattern(protecting, guide, size=size)
        hidden = constructor.construct(fewer, guide)
    return hidden is not None and search.offer(hidden)


def _in_turn(search: Search, master: Master, root: Root, constructor: Constructor) -> None:
    """Lighter patterns within the best one, and a higher bound, as long as either moves."""
    groups = Groups(search, JointPatterns(search))
    turn = 0
    while not search.should_stop() and search.best is not None:
        before, began = (search.objective, search.bound), search.seconds
        guide = master.full(master.y)
        # Weights alone find other patterns than those that the relaxation likes.
        fewer = groups.pattern(search.best, guide if turn % 2 else None, size=usual_size(search))
        hidden = constructor.construct(fewer, guide)
        if hidden is not None:
            search.offer(hidden)
        turn += 1
        if not search.should_stop() and not root.run(seconds=search.seconds - began):
            return
        moved = before[0] - search.objective + search.bound - before[1]
        if turn > 1 and moved < _WORTH_A_TURN * before[0]:
            return


def _publish_more(search: Search) -> None:
    """Lighter patterns within the best one: the first clean-up was cut short."""
    limit = search.options.time_limit
    random = np.random.default_rng(search.options.seed)
    end = search.seconds + turns.SUPPRESS_SECOND_CLEAN_UP * limit
    while search.best is not None and search.seconds < end and not search.should_stop():
        # Each begins with new groups, and tries cells of equal weight in another order.
        liked = _SHUFFLED * random.random(len(search.best))
        seconds = min(turns.SUPPRESS_CLEAN_UP * limit, end - search.seconds)
        if not search.offer(clean_up(search, search.best, liked, seconds=seconds)):
            return


class Beside:
    """The tree on a second core, if there is one; it begins when it is needed."""

    def __init__(self, search: Search, master: Master):
        self._search = search
        self._master = master
        self._tree: TreeBeside | None = None

    @property
    def is_growing(self) -> bool:
        """Whether it has begun and not ended."""
        return self._tree is not None and not self._tree.has_ended

    def begin(self) -> None:
        """Let it grow, unless it did so before."""
        if self._tree is None and self._search.options.cores > 1:
            from tacit.methods.suppress.beside import TreeBeside

            self._tree = TreeBeside(self._search, self._master)
            self._tree.start()

    def __enter__(self) -> Beside:
        return self

    def __exit__(self, *_: object) -> None:
        if self._tree is not None:
            self._tree.stop()


@dataclass(frozen=True, eq=False)
class Parts:
    """What rounds and branching work with."""

    search: Search
    master: Master
    constructor: Constructor
    neighbourhoods: Neighbourhoods
    beside: Beside


class Branching:
    """A tree over all columns, here or beside, in turn with whatever makes patterns lighter."""

    def __init__(self, parts: Parts):
        # SCIP takes a moment to load, and most tables are done before.
        from tacit.methods.suppress.regions import Regions

        self._search = parts.search
        self._master = parts.master
        self._constructor = parts.constructor
        self._neighbourhoods = parts.neighbourhoods
        self._beside = parts.beside
        self._regions = Regions(parts.search, parts.master, parts.constructor)
        self._tree_turn = turns.SUPPRESS_TURN * parts.search.options.time_limit

    def in_networks(self, rounds: Rounds) -> None:
        """Master problems near the best pattern, regions of it, and trees take turns.

        Whatever closed more of the gap in a second of its last turn is next. The tree grows
        beside, if there is a second core. On one core its turns become longer, as it always begins
        anew.
        """
        search = self._search
        while not search.should_stop():
            found = self._close(rounds)
            if search.should_stop():
                return
            if not rounds.are_hard:
                if rounds.run():
                    return
            elif not found:
                self._change(_MASTER_SECONDS)

    def _close(self, rounds: Rounds) -> bool:
        """Go on with what closes the gap fastest until nothing does; False if nothing did."""
        search = self._search
        seconds = turns.SUPPRESS_TURN * search.options.time_limit
        ways: dict[str, Callable[..., object]] = {
            "near": rounds.look_near,
            "regions": self._regions.improve,
        }
        if not self._beside.is_growing:
            ways["tree"] = self._tree
        closed = dict.fromkeys(ways, np.inf)
        found = False
        while any(closed.values()) and not search.should_stop():
            way = max(closed, key=closed.__getitem__)
            before, began = search.objective - search.bound, search.seconds
            ways[way](seconds=self._tree_turn if way == "tree" else seconds)
            less = before - (search.objective - search.bound) if np.isfinite(before) else 0.0
            closed[way] = less / max(search.seconds - began, _MOMENT)
            if way == "tree":
                self._tree_turn *= 2
            found |= less > 0
        return found

    def elsewhere(self, root: Root) -> None:
        """Small trees, over the columns that the relaxation likes, and regions come first."""
        search, master = self._search, self._master
        limit = search.options.time_limit
        turn = turns.SUPPRESS_SMALL_TREE * limit
        while not search.should_stop():
            free = int((~master.fixed_out).sum())
            liked = np.flatnonzero((master.y > 1e-3) | _best_columns(search, master))
            before = search.objective
            if len(liked) < _SMALL_TREE * free:
                self._tree(columns=liked, seconds=min(turn, search.seconds_left))
            if search.should_stop():
                return
            if search.objective < before:
                root.run(seconds=turns.SUPPRESS_ROOT_AGAIN * limit)
                continue
            found = self._regions.improve(seconds=turn)
            if not self._beside.is_growing:
                if not search.should_stop():
                    self._tree()
                return
            if not found:
                self._change(turn)

    def _tree(self, *, columns: Integers | None = None, seconds: float = np.inf) -> None:
        """Branch and cut over all columns, or over some."""
        from tacit.methods.suppress.algorithms.branch_and_cut import Tree

        Tree(self._search, self._master, self._constructor, columns=columns, seconds=seconds).run()

    def _change(self, seconds: float) -> None:
        """Single changes of the best pattern."""
        guide = self._master.full(self._master.y)
        self._neighbourhoods.improve(guide, tries=_TRIES, seconds=seconds)


def _best_columns(search: Search, master: Master) -> Booleans:
    """Columns that the best pattern uses."""
    if search.best is None:
        return np.zeros(len(master.cells), bool)
    return search.best[master.cells]


class Rounds:
    """Solves integer master problems until one is safe, or they become too hard.

    Where the cuts describe a table well, a mixed-integer program over them is solved in a moment,
    and its optimum is a bound for all patterns. Each pattern on the way is judged by the attackers,
    who answer with cuts, and made safe, which gives better patterns than the relaxation alone.

    Attributes:
        are_hard: Whether the last one was not solved to the end.
    """

    def __init__(self, parts: Parts):
        search, master = parts.search, parts.master
        self._search = search
        self._beside = parts.beside
        self._master = master
        self._neighbourhoods = parts.neighbourhoods
        self._repair = Repair(search, parts.constructor)
        self._integer_master = IntegerMaster(
            master, np.ones(master.size, bool), search.base, search.options.seed
        )
        limit = search.options.time_limit
        self._seconds = max(_MASTER_SECONDS, turns.SUPPRESS_INTEGER_MASTER * limit)
        self.are_hard = False
        self._regions = TrustRegions(search, _RADII, goes_back=True)
        self._places = np.arange(len(master.pool))
        if master.pool.matrix.nnz > _MOST_ENTRIES:
            self._places = master.active

    def run(self) -> bool:
        """Go on until nothing is left to do; False if they close the gap too slowly."""
        search, master = self._search, self._master
        solved = True
        gaps: list[float] = []
        while not search.should_stop():
            search.iterations += 1
            search.hear()
            gaps.append(search.gap)
            if self._is_stalled(gaps, solved):
                return False
            if not self._tighten():
                return True
            met: list[Floats] = []
            # As long as much is open elsewhere, the last digits are not worth it.
            gap = max(0.5 * search.options.gap, _ROUGHLY * min(search.gap, 1.0))
            is_rough = gap > 0.5 * search.options.gap
            found = self._solve(min(self._seconds, search.seconds_left), gap, met)
            if found.status == "infeasible":
                search.nothing_better()
                return True
            search.raise_bound(min(found.settled_bound, master.ceiling), "solver")
            if search.should_stop():
                return True
            if not self._object(met) and found.status == "optimal" and not is_rough:
                # No pattern is lighter than the one found, and nobody objects to it.
                return True
            solved = found.status == "optimal"
            self.are_hard = not solved
            self._neighbourhoods.improve(master.full(master.y), tries=_TRIES_EACH_ROUND)
        return True

    def look_near(self, *, seconds: float) -> bool:
        """Solve master problems close to the best pattern, for some time or as long as it helps.

        Returns:
            Whether the best pattern has become lighter.
        """
        search = self._search
        before, end = search.objective, search.seconds + seconds
        while search.seconds < end and self._look_near():
            pass
        return search.objective < before

    def _look_near(self) -> bool:
        search = self._search
        region = self._regions.region()
        if search.best is None or region is None or search.should_stop() or not self._tighten():
            return False
        search.iterations += 1
        before = search.objective
        target = before - _ENOUGH * (before - search.bound)
        seconds = turns.SUPPRESS_TRUST_REGION * search.options.time_limit
        met: list[Floats] = []
        self._solve(
            min(seconds, search.seconds_left), 0.5 * search.options.gap, met, region, target
        )
        self._object(met)
        if search.objective < before:
            return True
        if not met:
            self._regions.grow()
        return False

    def _is_stalled(self, gaps: list[float], solved: bool) -> bool:
        """Whether a tree would do better, from the gaps so far.

        Where cuts take linear programs, it does only if nothing moves at all.

        Args:
            gaps: Before each round.
            solved: Whether the last master problem was solved to the end.
        """
        in_networks = self._search.structure.strips_cover
        if solved and not in_networks:
            return False
        patience = _PATIENCE if solved else _LITTLE_PATIENCE
        if not solved and in_networks and not self._beside.is_growing:
            patience = _NO_PATIENCE
        least = _WORTHWHILE if in_networks else 0.0
        return len(gaps) > patience and gaps[-1] >= (1 - least) * gaps[-1 - patience]

    def _tighten(self) -> bool:
        """Solve the relaxation with what is known; False if nothing better is left."""
        while self._master.tighten():
            if self._search.should_stop():
                return False
            if not self._master.recall_violated():
                return True
        return False

    def _solve(
        self,
        seconds: float,
        gap: float,
        met: list[Floats],
        region: Region | None = None,
        target: float = -np.inf,
    ) -> MipSolution:
        """The master problem over the cuts at work; patterns on the way are collected."""
        search, master = self._search, self._master
        # A row that was needed once is needed again as soon as it is gone.
        self._places = np.union1d(self._places, master.active)

        def collect(x: Floats) -> None:
            y = np.round(x)
            if search.weigh(master.full(y) > 0.5) < search.cutoff:
                met.append(y)

        began = search.seconds

        def watch(so_far: MipSolution) -> bool:
            if search.seconds - began > _HARD:
                self._beside.begin()
            if so_far.x is not None:
                collect(so_far.x)
            if region is None:
                search.raise_bound(min(so_far.bound, search.cutoff), "solver")
            search.hear()
            return search.should_stop()

        row, most = (None, None) if region is None else region.row(master.cells)
        found = self._integer_master.solve(
            seconds=seconds,
            gap=gap,
            target=target,
            rows=row,
            most=None if region is None else self._promising(),
            lower=None if most is None else np.array([-np.inf]),
            upper=None if most is None else np.array([most]),
            cuts=self._places,
            start=None if search.best is None else search.best[master.cells].astype(np.float64),
            watch=watch,
        )
        if found.x is not None:
            collect(found.x)
        return found

    def _promising(self) -> Floats:
        """Upper bounds that leave columns out which take up much of the gap."""
        search, master = self._search, self._master
        much = _MUCH * (search.objective - master.objective)
        kept = (master.reduced <= much) | (master.y > 0) | _best_columns(search, master)
        return np.where(kept, master.upper, np.minimum(master.upper, 0.0))

    def _object(self, met: list[Floats]) -> int:
        """Cut patterns off that are not safe; returns 0 if there were none."""
        search, master = self._search, self._master
        added = 0
        for number, y in enumerate(reversed(met)):
            if (master.missed(y) > VIOLATED).any():
                # Known by now: found for another pattern, or by the tree beside.
                master.recall(y)
                added += 1
                continue
            hidden = master.full(y) > 0.5
            exposed = search.exposed(hidden)
            if not exposed:
                search.offer(hidden)
                continue
            for state, requests in exposed:
                for ceiling in _CEILINGS:
                    cuts = state.cuts(hidden.astype(float), requests, ceiling=ceiling)
                    added += master.add_cuts(cuts)
            if number < _REPAIRS:
                self._repair.offer(hidden, master.full(master.y))
            if search.should_stop():
                break
        return added
