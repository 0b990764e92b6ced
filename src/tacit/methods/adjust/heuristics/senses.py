"""Senses: where they come from, and the closest table once they are given."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.methods.adjust.heuristics.annealing import Annealing
from tacit.methods.adjust.heuristics.domains import Domains
from tacit.methods.adjust.kernels import balance_senses
from tacit.methods.adjust.model import Adjustment, Search
from tacit.methods.engine.turns import ADJUST_DIVE, ADJUST_LP, ADJUST_PROMPT_LP
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.highs_warm import WarmModel
from tacit.tolerances import INTEGRAL, ROUNDING_NOISE, SOLVER_EXACT

_ROUNDS = 50
_SHARE = 0.25
"""Share of the undecided senses that a dive decides at once."""
_DIVES = 6
_LARGE = 15_000
"""Models with more entries are solved by an interior point method the first time."""


def balanced_senses(model: Adjustment, rng: np.random.Generator) -> Booleans:
    """Senses with which relations are nearly in balance.

    What a relation lacks is made up by other cells, so that imbalance costs what the cheapest
    cell of the relation costs.
    """
    own = sparse.csc_array(model.columns[:, model.sensitive])
    rate = np.full(model.A.shape[0], np.inf)
    row = np.repeat(np.arange(model.A.shape[0]), np.diff(model.A.indptr))
    np.minimum.at(rate, row, model.weight[model.A.indices] / np.abs(model.A.data))
    count = len(model.sensitive)
    both = model.may_rise & model.may_fall
    senses = np.where(both, rng.random(count) < 0.5, model.may_rise)
    balance_senses(
        own.indptr.astype(np.int64),
        own.indices.astype(np.int64),
        own.data.astype(float),
        model.rise,
        model.fall,
        rate,
        senses,
        rng.permutation(count),
        _ROUNDS,
    )
    return senses


class SenseLp:
    """The closest table for given senses: (18) without its binary columns, kept warm.

    Columns are z+ and z- beyond the level; then z+ and z- of sensitive cells up to their level,
    which cost nothing more; then for `linf` the largest weighted deviation. A sensitive cell
    whose sense is not decided may deviate freely, at no cost up to its level.

    Attributes:
        is_large: Whether solving it takes long.
    """

    def __init__(self, search: Search, weight: Floats | None = None):
        """Write the model down, with the model's weights or others that guide a dive."""
        self._search = search
        model = search.model
        self._model = model
        self._unit = model.unit
        n, k = model.size, len(model.sensitive)
        own = model.sensitive
        self._n, self._k = n, k
        self.is_large = model.A.nnz > _LARGE
        A, S = model.A, sparse.csr_array(model.columns[:, own])
        largest = int(model.norm == "linf")
        m = A.shape[0]
        blocks = [sparse.hstack([A, -A, S, -S, sparse.csr_array((m, largest))])]
        low, high = [np.zeros(m)], [np.zeros(m)]
        weight = model.weight if weight is None else weight
        cost_unit = float(np.median(weight[weight > 0])) if (weight > 0).any() else 1.0
        cost = np.concatenate([weight, weight, np.zeros(2 * k)]) / cost_unit
        if largest:
            rate = sparse.csr_array(sparse.diags_array(weight / cost_unit))
            part = sparse.csr_array(sparse.csc_array(rate)[:, own])
            blocks.append(
                sparse.hstack([rate, rate, part, part, sparse.csr_array(-np.ones((n, 1)))])
            )
            low.append(np.full(n, -np.inf))
            high.append(np.zeros(n))
            cost = np.append(np.zeros(2 * n + 2 * k), 1.0)
        self._rise = np.where(model.may_rise, model.rise, 0.0) / self._unit
        self._fall = np.where(model.may_fall, model.fall, 0.0) / self._unit
        up, down = model.up / self._unit, model.down / self._unit
        up[own] -= self._rise
        down[own] -= self._fall
        self._up, self._down = np.maximum(up, 0.0)[own], np.maximum(down, 0.0)[own]
        upper = np.concatenate([np.maximum(up, 0), np.maximum(down, 0), self._rise, self._fall])
        self._lp = WarmModel(
            sparse.csr_array(sparse.vstack(blocks)),
            row_lower=np.concatenate(low),
            row_upper=np.concatenate(high),
            lower=np.zeros(2 * n + 2 * k + largest),
            upper=np.append(upper, [np.inf] * largest),
            cost=cost,
            tolerance=SOLVER_EXACT,
        )
        self._lp.set_option("simplex_iteration_limit", 2**31 - 1)
        self._columns = np.concatenate([own, n + own, 2 * n + np.arange(2 * k)])
        self._cost_unit = cost_unit
        self._started = False
        self._gave_up = False

    def solve(
        self,
        rises: Booleans,
        falls: Booleans | None = None,
        *,
        below: float = np.inf,
        seconds: float = np.inf,
    ) -> bool:
        """Find the closest table if some cells rise and others fall.

        Args:
            rises: Sensitive cells that rise.
            falls: Sensitive cells that fall; by default all that do not rise.
            below: Give up once the table is known to cost more than this.
            seconds: Give up after this time, where there was a solution before.

        Returns:
            Whether it was found.
        """
        falls = ~rises if falls is None else falls
        up, down = np.where(falls, 0.0, self._up), np.where(rises, 0.0, self._down)
        rise, fall = np.where(falls, 0.0, self._rise), np.where(rises, 0.0, self._fall)
        nothing = np.zeros(self._k)
        self._lp.set_bounds(
            self._columns,
            np.concatenate(
                [nothing, nothing, np.where(rises, rise, 0.0), np.where(falls, fall, 0.0)]
            ),
            np.concatenate([up, down, rise, fall]),
        )
        left = self._search.seconds_left
        if not self._started:
            if self._gave_up:
                return False
            status = self._lp.start(ADJUST_LP * left, inside=self.is_large)
            self._started = status == "optimal"
            self._gave_up = status == "stopped"
            return self._started
        # Dual steps from one decision to the next are few, or else too many.
        seconds = min(seconds, ADJUST_LP * left)
        return self._lp.solve_below(self._limit(rises, below), seconds) == "optimal"

    def _limit(self, rises: Booleans, below: float) -> float:
        """A cost in the model's own measure."""
        model = self._model
        if not np.isfinite(below):
            return np.inf
        scale = self._cost_unit * self._unit
        if model.norm == "linf":
            return below / scale
        level = np.where(rises, self._rise, self._fall) * self._unit
        return float(below - model.weight[model.sensitive] @ level) / scale

    @property
    def deviations(self) -> Floats:
        """The deviations of the last solution."""
        n, k, x = self._n, self._k, self._lp.columns
        z = x[:n] - x[n : 2 * n]
        z[self._model.sensitive] += x[2 * n : 2 * n + k] - x[2 * n + k : 2 * n + 2 * k]
        return np.asarray(z * self._unit)

    @property
    def duals(self) -> tuple[Floats, Floats]:
        """Dual values of the relations, and the weights that `linf` gives to cells at its limit."""
        model = self._model
        m = model.A.shape[0]
        found = self._lp.duals
        if model.norm == "linf":
            return found[:m] * self._cost_unit, model.weight * np.maximum(-found[m:], 0.0)
        return found[:m] * self._cost_unit, model.weight

    def keep(self) -> None:
        """Remember this point."""
        self._lp.keep_basis()

    def go_back(self) -> None:
        """Go on from the point remembered last."""
        self._lp.return_to_basis()


class Dive:
    """Senses decided a few at a time, each time after a look at the relaxation."""

    def __init__(self, search: Search, lp: SenseLp, seconds: float = np.inf):
        """Prepare to dive.

        Args:
            search: The run.
            lp: What is looked at.
            seconds: Give up after this time.
        """
        self._search = search
        self._lp = lp
        self._model = search.model
        self._end = search.seconds + seconds

    def senses(self, share: float = _SHARE) -> Booleans | None:
        """Senses that can be met; None if the dive ended in a dead end."""
        model = self._model
        domains = Domains(model)
        if not domains.start():
            return None
        rises, falls = domains.decided()
        if not self._solve(rises, falls):
            return None
        while not self._search.out_of_time() and self._search.seconds < self._end:
            undecided = np.flatnonzero(~rises & ~falls)
            if len(undecided) == 0:
                return np.asarray(rises)
            z = self._lp.deviations[model.sensitive[undecided]]
            level = np.where(z > 0, model.rise[undecided], model.fall[undecided])
            reached = np.abs(z) / level
            # Ties are many; without a little noise the first cells would always win.
            order = np.argsort(-(reached + 0.01 * self._search.rng.random(len(z))))
            count = max(1, int(share * len(undecided)))
            count = max(count, int(np.count_nonzero(reached >= 1 - INTEGRAL)))
            state = domains.copy()
            while True:
                chosen = undecided[order[:count]]
                wanted = z[order[:count]]
                if not self._decide(domains, chosen, wanted):
                    return None
                rises, falls = domains.decided()
                if self._solve(rises, falls):
                    break
                domains.restore(state)
                if count == 1:
                    first = order[0]
                    order = np.append(order[1:], first)
                    if not domains.decide(chosen, wanted <= 0):
                        return None
                    rises, falls = domains.decided()
                    if not self._solve(rises, falls):
                        return None
                    break
                count = max(1, count // 4)
        return None

    def _solve(self, rises: Booleans, falls: Booleans) -> bool:
        return self._lp.solve(rises, falls, seconds=self._end - self._search.seconds)

    def consistent(self, senses: Booleans) -> Booleans | None:
        """Senses that agree with single relations, as near as possible to those given."""
        domains = Domains(self._model)
        if not domains.start():
            return None
        order = self._search.rng.permutation(len(senses))
        if not self._decide(domains, order, np.where(senses, 1.0, -1.0)[order] * self._model.unit):
            return None
        return domains.decided()[0]

    def _decide(self, domains: Domains, chosen: Integers, wanted: Floats) -> bool:
        """Decide senses one after the other as wanted, or the other way round."""
        model, rng = self._model, self._search.rng
        guess = rng.random(len(chosen)) < 0.5
        for cell, z, coin in zip(chosen.tolist(), wanted.tolist(), guess.tolist(), strict=True):
            own = model.sensitive[cell]
            if domains.low[own] > 0 or domains.high[own] < 0:
                continue
            rises = z > 0 if abs(z) > ROUNDING_NOISE * model.unit else coin
            number = np.array([cell])
            state = domains.copy()
            if domains.decide(number, np.array([rises])):
                continue
            domains.restore(state)
            if not domains.decide(number, np.array([not rises])):
                return False
        return True


def first_table(search: Search, lp: SenseLp) -> Annealing | None:
    """Find a safe table and offer it; returned is what can improve it by annealing, if any."""
    annealing = Annealing.of(search)
    if annealing is not None:
        annealing.first_table()
    if not search.should_stop():
        _dive(search, lp)
    return annealing


def _dive(search: Search, lp: SenseLp) -> None:
    """Find a safe table by linear models, and offer it."""
    model = search.model
    guide = lp
    if lp.is_large:
        # Where large cells move for next to nothing, the way down is short.
        size = np.abs(model.problem.value[model.cells])
        guide = SenseLp(search, model.weight / (1.0 + size))
    has_table = search.best is not None
    dive = Dive(search, guide, ADJUST_DIVE * search.seconds_left if has_table else np.inf)
    senses = dive.consistent(balanced_senses(model, search.rng))
    if senses is not None and guide.solve(senses):
        search.offer(guide.deviations)
    share = _SHARE
    for _ in range(_DIVES):
        if search.should_stop():
            return
        senses = dive.senses(share)
        if senses is not None and guide.solve(senses):
            search.offer(guide.deviations)
        if search.best is not None:
            break
        share = max(0.02, share / 2)


def second_table(search: Search, lp: SenseLp) -> None:
    """Where the first table came by other weights, look for one by those that count."""
    if not lp.is_large or search.best is None or search.should_stop():
        return
    model, began = search.model, search.seconds
    if not lp.solve(model.senses(search.best)):
        return
    search.offer(lp.deviations)
    if search.seconds - began < ADJUST_PROMPT_LP * search.seconds_left:
        dive = Dive(search, lp, ADJUST_DIVE * search.seconds_left)
        senses = dive.senses(_SHARE / 2)
        if senses is not None and lp.solve(senses):
            search.offer(lp.deviations)


def first_tables(search: Search, lp: SenseLp) -> Annealing | None:
    """The same, if possible with a good table."""
    annealing = first_table(search, lp)
    second_table(search, lp)
    return annealing
