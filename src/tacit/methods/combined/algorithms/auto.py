"""`auto`: solutions from both parts, the root, then rounds of integer master problems."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.methods.combined.cuts import Master, MixedSeparation
from tacit.methods.combined.heuristics.patterns import Patterns
from tacit.methods.combined.model import CombinedModel, Search
from tacit.methods.engine import turns
from tacit.methods.engine.cut_pool import Rows
from tacit.methods.engine.integer_master import IntegerMaster
from tacit.methods.engine.root_loop import RootLoop
from tacit.methods.intervals import cuts as interval_cuts
from tacit.methods.intervals.heuristics.surroundings import Surroundings
from tacit.methods.intervals.linear_part import LinearPart, takes_dual_form
from tacit.problem import Booleans, Floats
from tacit.solver.highs_mip import MipSolution
from tacit.tolerances import TINY, VIOLATED

_PULL = 0.5
"""The share of the way that the vector inside follows the last optimum."""
_WIDER = 1.1
"""How much wider than the best solution the vector inside is."""
_THRESHOLDS = (0.5, 0.9)
"""Cells that the relaxation suppresses by more than this share begin a pattern."""
_MASTER_SECONDS = 2.0
"""What an integer master problem may take at least."""
_ROUGHLY = 0.1
"""The share of the open gap to which a master problem is solved."""
_LIKED = 1e-3
"""Cells with an x above this count as suppressed by the relaxation."""
_NEARBY = 0.6
"""A master problem over fewer cells is worth it below this share of them."""


def run(search: Search) -> None:
    """A pattern, the narrowest intervals, the root, and rounds of integer master problems."""
    limit = search.options.time_limit
    if not search.model.has_choice:
        _widths_alone(search)
        return
    patterns = Patterns(search)
    patterns.first(seconds=turns.COMBINED_PATTERN * limit)
    if search.should_stop():
        return
    surroundings, narrowest = None, None
    if _walks_are_cheap(search.model):
        surroundings = Surroundings(search)
        if not surroundings.first() or search.should_stop():
            return
        narrowest = Narrowest(search, surroundings)
        narrowest.run(seconds=turns.COMBINED_NARROWEST * limit)
        patterns.narrow(search.model.suppressed(narrowest.best))
        if search.should_stop():
            return
    master = Master(search)
    if narrowest is not None:
        master.add_for_points(narrowest.rows, narrowest.right)
    root = Root(search, master, patterns, surroundings)
    root.run(seconds=turns.COMBINED_ROOT * limit)
    if not search.should_stop() and not master.infeasible:
        seconds = max(_MASTER_SECONDS, turns.COMBINED_INTEGER_MASTER * limit)
        Rounds(search, master, root, patterns).run(seconds=seconds)


def _widths_alone(search: Search) -> None:
    """It does not matter which cells are suppressed: an intervals problem is left."""
    surroundings = Surroundings(search)
    if surroundings.first() and not search.should_stop():
        narrowest = Narrowest(search, surroundings)
        narrowest.run(seconds=search.options.time_limit)
        search.vertex = narrowest.vertex


def _walks_are_cheap(model: CombinedModel) -> bool:
    """Are walks to a point inside flows, or short programs with a row for each relation?

    Their dual form is slow between points with many cells open.
    """
    return model.structure.strips_cover or not any(
        takes_dual_form(LinearPart.of(model, state)) for state in model.states
    )


class Narrowest:
    """Intervals as narrow as possible, whatever cells they take.

    Their cost and that of the sensitive cells is a first bound, their cuts hold in the combined
    problem, and in its relaxation the slacks begin where they end.

    Attributes:
        best: The point with the narrowest intervals so far.
        vertex: The last optimum of the relaxation.
        rows: Cuts that are tight at the optimum.
        right: Their right-hand sides.
    """

    def __init__(self, search: Search, surroundings: Surroundings):
        assert surroundings.inside is not None
        self._search = search
        self._surroundings = surroundings
        self.best = self.vertex = surroundings.inside
        self.rows: Rows = sparse.csr_array((0, search.model.size))
        self.right = np.zeros(0)

    def run(self, *, seconds: float) -> None:
        """Go on until the intervals are narrowest within the gap asked for, or time is up."""
        search, model = self._search, self._search.model
        end = search.seconds + seconds
        master = interval_cuts.Master(search)
        while not search.should_stop() and search.seconds < end:
            if model.is_behind:
                self._surroundings.renew()
                master = master.renewed()
                inside = self._surroundings.inside
                self.best = model.lengthened(self.best) if inside is None else inside
            search.iterations += 1
            bound = master.minimise()
            self.vertex = master.x
            search.raise_bound(model.base + bound)
            found, best = self._surroundings.approach(master.x, model.width_cost)
            added = master.add(found.rows, found.right)
            for point in (best, self._surroundings.inside):
                if point is not None and model.width_cost(point) < model.width_cost(self.best):
                    self.best = point
                    search.offer(point)
            missing = model.width_cost(self.best) - bound
            close = 0.5 * search.options.gap * abs(search.objective)
            is_narrow = added == 0 or found.walked == 0 or missing <= close
            if is_narrow and not search.probe(self.best):
                break
        slack = master.pool.matrix @ master.x - master.pool.right
        tight = slack <= VIOLATED * np.maximum(np.abs(master.pool.right), TINY)
        places = np.flatnonzero(tight)
        self.rows, self.right = master.pool.rows(places), master.pool.right[places]


class Root(RootLoop):
    """Raises the bound of the relaxation and keeps improving the best solution."""

    # Rounds are expensive here, and integer master problems follow.
    window, window_share, least_gain = 5, 0.0, 0.05

    def __init__(
        self,
        search: Search,
        master: Master,
        patterns: Patterns,
        surroundings: Surroundings | None = None,
    ):
        """Prepare.

        Args:
            search: The run.
            master: The relaxation.
            patterns: Makes solutions along the way.
            surroundings: Finds cuts for slacks on the way inside; None for mixed cuts alone.
        """
        super().__init__(search)
        self._search = search
        self._master = master
        self._patterns = patterns
        self._surroundings = surroundings
        self._mixed = MixedSeparation(search.model, master.columns, search.out_of_time)
        self._inside: Floats | None = None
        self._drawn: Floats | None = None
        self._bound = -np.inf
        # The first solution took about as long as others will.
        self._building, self._lately = 0.0, search.seconds

    @property
    def bound(self) -> float:
        """The bound that the relaxation gives now."""
        return self._bound

    def tighten(self) -> bool:
        """Solve the relaxation with what is known; False if that was the end."""
        search, master = self._search, self._master
        if search.catch_up():
            # What was inside may lie outside now; solutions that were kept do not.
            self._inside = self._drawn = None
            if self._surroundings is not None:
                self._surroundings.renew()
        self._bound = master.minimise()
        search.raise_bound(self._bound)
        if master.infeasible or search.should_stop():
            return False
        master.fix(self._bound)
        return True

    def cut(self) -> bool:
        """Cut the relaxation's optimum off; False if nothing is violated."""
        return self._cut_mixed() + self._cut_cells() + self._cut_slacks() > 0

    def change_way(self) -> bool:
        """There is no other way; what this optimum violates is of use to what follows."""
        self.cut()
        return False

    def _cut_mixed(self) -> int:
        """Cuts for slacks and patterns together on the way to a vector inside, which follows."""
        master = self._master
        self._draw_inside()
        if self._inside is None:
            return master.add(*self._mixed.cuts(master.point, master.suppressed))
        cuts, share = self._mixed.approach(master.x, self._inside)
        self._inside = self._inside + _PULL * (1 - share) * (master.x - self._inside)
        return master.add(*cuts)

    def _draw_inside(self) -> None:
        """A new best solution is the vector inside, opened a little."""
        best, master = self._search.best, self._master
        if best is None or best is self._drawn:
            return
        self._drawn = best
        x = self._search.model.suppressed(best)[master.choices]
        point = self._search.model.with_reaches(_WIDER * best)
        fresh = np.clip(np.concatenate([point, x]), 0.0, np.maximum(master.upper, master.lower))
        self._inside = fresh if self._inside is None else 0.5 * (self._inside + fresh)

    def _cut_cells(self) -> int:
        """Cuts for patterns: with all the slack that there is, x alone decides."""
        return self._master.add(
            *self._mixed.cuts(self._search.model.upper, self._master.suppressed)
        )

    def _cut_slacks(self) -> int:
        """Cuts between the slacks and the point inside, which follows."""
        if self._surroundings is None:
            return 0
        search, master = self._search, self._master
        found, best = self._surroundings.approach(master.point, search.model.objective)
        if best is not None:
            search.offer(best)
        return master.add_for_points(found.rows, found.right)

    def may_build(self) -> bool:
        """Is there time left in the share for solutions?"""
        spent = self._building + self._lately
        return spent <= turns.COMBINED_IMPROVING * self._search.seconds

    def build(self) -> None:
        """Build solutions that the relaxation guides."""
        search, guide = self._search, self._master.suppressed
        began = search.seconds
        for threshold in _THRESHOLDS:
            if search.out_of_time():
                return
            self._patterns.along(guide > threshold, guide)
        self._lately = search.seconds - began
        self._building += self._lately


class Rounds:
    """Solves master problems in integer x until one is safe: the cheapest solution, cut off.

    Before a master problem over all cells, which raises the bound, comes one over the cells that
    the relaxation or the best solution suppresses: it is solved in a moment, and better solutions
    come from it.
    """

    def __init__(self, search: Search, master: Master, root: Root, patterns: Patterns):
        self._search = search
        self._master = master
        self._root = root
        self._patterns = patterns

    def run(self, *, seconds: float) -> None:
        """Go on until nothing is left to do.

        Args:
            seconds: The longest time for one master problem; more where nothing else helps.
        """
        search = self._search
        while not search.should_stop():
            search.iterations += 1
            if not self._root.tighten():
                return
            before = search.objective, search.bound
            liked = self._liked()
            if liked.sum() < _NEARBY * self._master.is_open.sum():
                near = self._solve(turns.COMBINED_NEARBY * seconds, self._gap, liked)
                if near.x is not None and self._judge(near.x) and search.objective < before[0]:
                    continue
            if search.should_stop() or not self._root.tighten():
                return
            gap = self._gap
            found = self._solve(seconds, gap)
            if found.status == "infeasible":
                search.nothing_better()
                return
            search.raise_bound(found.settled_bound, "solver")
            is_cut = found.x is not None and not search.should_stop() and self._judge(found.x)
            is_rough = gap > 0.5 * search.options.gap
            if not is_cut and found.status == "optimal" and not is_rough:
                return
            if not is_cut and (search.objective, search.bound) == before:
                seconds *= 2

    def _liked(self) -> Booleans:
        """Columns of x that the relaxation or the best solution uses."""
        search, master = self._search, self._master
        liked = np.asarray(master.x[search.model.size :] > _LIKED)
        if search.best is not None:
            liked |= search.model.suppressed(search.best)[master.choices]
        return liked

    @property
    def _gap(self) -> float:
        """As long as much is open, the last digits of a master problem are not worth it."""
        search = self._search
        return max(0.5 * search.options.gap, _ROUGHLY * min(search.gap, 1.0))

    def _solve(self, seconds: float, gap: float, among: Booleans | None = None) -> MipSolution:
        return solve_integer_master(
            self._search, self._master, seconds=seconds, gap=gap, among=among
        )

    def _judge(self, vector: Floats) -> bool:
        """Cut a solution of the master problem off and make a safe one of it; False if uncut."""
        master = self._master
        master.x = vector
        guide, point = np.round(master.suppressed), master.point
        added = self._root.cut()
        self._patterns.mend(guide > 0, guide)
        # Where contributors ask for more, cuts follow in the next round.
        return added or self._search.probe(point)


def solve_integer_master(
    search: Search,
    master: Master,
    *,
    seconds: float,
    gap: float,
    among: Booleans | None = None,
) -> MipSolution:
    """The cheapest vector with integer x over the cuts at work and all links.

    Without a restriction the search's bound rises along the way.

    Args:
        search: The run.
        master: The relaxation.
        seconds: The longest time.
        gap: How exactly to solve it.
        among: Columns of x that may be 1; all others are 0, but for those that must be 1.
    """
    model = search.model
    most = master.upper.copy()
    if among is not None:
        out = np.flatnonzero(~among & (master.lower[model.size :] == 0))
        shut = master.choices[out]
        most[np.concatenate([model.size + out, 2 * shut, 2 * shut + 1])] = 0.0
    ends = master.linkable()
    start = None
    if search.best is not None:
        x = model.suppressed(search.best)[master.choices]
        point = np.clip(model.with_reaches(search.best), None, most[: model.size])
        start = np.concatenate([np.maximum(point, master.lower[: model.size]), x])

    def watch(so_far: MipSolution) -> bool:
        if among is None:
            search.raise_bound(min(so_far.bound, search.objective), "solver")
        return search.should_stop()

    is_x = np.arange(master.size) >= model.size
    return IntegerMaster(master, is_x, model.base, search.options.seed).solve(
        seconds=min(seconds, search.seconds_left),
        gap=gap,
        rows=master.links(ends[most[ends] > 0]),
        most=most,
        start=start,
        watch=watch,
    )
