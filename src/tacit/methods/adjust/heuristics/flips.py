"""Senses turned around one or two at a time, the whole table following each time.

The dual values of the present table tell for every sense what turning it around can bring at best
(see `cuts`): where that is nothing, it need not be tried.
"""

from __future__ import annotations

import numpy as np

from tacit.methods.adjust.cuts import sense_bounds
from tacit.methods.adjust.heuristics.domains import Domains
from tacit.methods.adjust.heuristics.senses import SenseLp
from tacit.methods.adjust.model import Search
from tacit.problem import Booleans, Floats, Integers
from tacit.tolerances import ROUNDING_NOISE, SOLVER, TINY

_KICK = 4
"""Senses turned around at once to leave a table that cannot be improved by one or two."""


class Flips:
    """Improvement of the best table by turning senses around."""

    def __init__(self, search: Search, lp: SenseLp):
        self._search = search
        self._lp = lp
        self._model = search.model
        self._domains = Domains(search.model)
        self._is_sound = self._domains.start()
        self._state = self._domains.copy()
        self._until, self._last = 0.0, 0

    def improve(self, seconds: float, trials: int = 2**62) -> None:
        """Improve for this long, or this many trials."""
        search, model = self._search, self._model
        if search.best is None or len(model.sensitive) == 0 or not self._is_sound:
            return
        self._until = search.seconds + seconds
        self._last = search.iterations + trials
        senses = model.senses(search.best)
        if not self._solve(senses):
            return
        cost = self._offered()
        while not self._is_over():
            senses, cost = self._descend(senses, cost)
            if self._is_over():
                return
            best = model.senses(search.best)
            search.iterations += 1
            kicked = self._kicked(best)
            if kicked is None or not self._solve(kicked, 1.05 * search.objective):
                self._lp.go_back()
                senses, cost = best, search.objective
                self._solve(senses)
                continue
            senses, cost = kicked, self._offered()

    def _solve(self, senses: Booleans, below: float = np.inf) -> bool:
        return self._lp.solve(senses, below=below, seconds=self._until - self._search.seconds)

    def _is_over(self) -> bool:
        search = self._search
        is_late = search.seconds >= self._until or search.iterations >= self._last
        return is_late or search.should_stop()

    def _offered(self) -> float:
        z = self._lp.deviations
        self._search.offer(z)
        return self._model.cost(z)

    def _descend(self, senses: Booleans, cost: float) -> tuple[Booleans, float]:
        """Turn senses around while that helps."""
        lp = self._lp
        while not self._is_over():
            lp.keep()
            gain = self._gains(senses)
            found = None
            for turned in self._candidates(gain):
                if self._is_over():
                    break
                self._search.iterations += 1
                trial = self._turned(senses, turned)
                if trial is None:
                    continue
                if self._solve(trial, cost * (1 - SOLVER)):
                    z = lp.deviations
                    new = self._model.cost(z)
                    if new < cost * (1 - ROUNDING_NOISE):
                        self._search.offer(z)
                        found = trial, new
                        break
                lp.go_back()
            if found is None:
                # The model is where the last trial left it.
                self._solve(senses)
                return senses, cost
            senses, cost = found
        return senses, cost

    def _gains(self, senses: Booleans) -> Floats:
        """What turning each sense around can save at best."""
        _, rises, falls = sense_bounds(self._model, *self._lp.duals)
        now, then = np.where(senses, rises, falls), np.where(senses, falls, rises)
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(then) & np.isfinite(now), now - then, -np.inf)

    def _candidates(self, gain: Floats) -> list[Integers]:
        """Senses to turn around, the most promising first."""
        least = ROUNDING_NOISE * max(self._search.objective, TINY)
        order = np.argsort(-gain)
        return [np.array([cell]) for cell in order[gain[order] > least].tolist()]

    def _turned(self, senses: Booleans, turned: Integers) -> Booleans | None:
        """Senses with some turned around and others following as they must; None if impossible."""
        domains = self._domains
        domains.restore(self._state)
        if not domains.decide(turned, ~senses[turned]):
            return None
        rises, falls = domains.decided()
        return np.where(rises, True, np.where(falls, False, senses))

    def _kicked(self, senses: Booleans) -> Booleans | None:
        """Some senses of one neighbourhood turned around at random."""
        model, rng = self._model, self._search.rng
        start = int(model.sensitive[rng.integers(len(senses))])
        near = {start}
        columns, A = model.columns, model.A
        cells = [start]
        for cell in cells:
            for row in columns.indices[columns.indptr[cell] : columns.indptr[cell + 1]].tolist():
                others = A.indices[A.indptr[row] : A.indptr[row + 1]]
                own = others[model.place[others] >= 0]
                new = [other for other in own.tolist() if other not in near]
                near.update(new)
                if len(cells) < 4 * _KICK:
                    cells.extend(new[: 2 * _KICK])
            if len(near) > 4 * _KICK:
                break
        pool = model.place[np.array(sorted(near))]
        count = int(rng.integers(2, _KICK + 1))
        return self._turned(senses, rng.permutation(pool)[:count])
