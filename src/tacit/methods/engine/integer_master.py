"""The master problem in integers: the cheapest vector that meets the cuts of a relaxation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from tacit.methods.engine.cut_pool import Rows
from tacit.methods.engine.relaxation import Relaxation
from tacit.problem import Booleans, Floats, Integers
from tacit.solver.mip import MipSolution, Watcher
from tacit.solver.scaled_mip import ScaledMip


@dataclass(frozen=True, eq=False)
class IntegerMaster:
    """What the master problems of one run have in common.

    Attributes:
        relaxation: Its columns, costs, bounds, steady rows and cuts.
        integer: Columns that take integers only.
        offset: What every vector costs besides.
        seed: For the solver.
    """

    relaxation: Relaxation
    integer: Booleans
    offset: float = 0.0
    seed: int = 1

    def solve(
        self,
        *,
        seconds: float,
        gap: float,
        target: float = -np.inf,
        cuts: Integers | None = None,
        rows: Rows | None = None,
        lower: Floats | None = None,
        upper: Floats | None = None,
        most: Floats | None = None,
        least: Floats | None = None,
        start: Floats | None = None,
        watch: Watcher | None = None,
    ) -> MipSolution:
        """Minimise, or come as far as time allows.

        Args:
            seconds: Time limit.
            gap: Stop when (objective - bound) / objective is at most this.
            target: Stop at the first vector that costs at most this.
            cuts: Places in the pool of the cuts to heed; by default those at work.
            rows: Further rows, with `lower` and `upper` as their ends (by default 0 and inf).
            lower: The lower ends of the further rows.
            upper: The upper ends of the further rows.
            most: Upper bounds of the columns in place of the relaxation's.
            least: Lower bounds of the columns in place of the relaxation's.
            start: A vector to begin with, unless it is out of bounds.
            watch: Told how far the solver got; returns True to stop it.

        Returns:
            The solver's answer, over all columns and with the offset.
        """
        relaxation = self.relaxation
        places = relaxation.active if cuts is None else cuts
        most = relaxation.upper if most is None else most
        steady, steady_lower, steady_upper = relaxation.steady
        right = relaxation.pool.right[places]
        blocks = [steady, relaxation.pool.rows(places)]
        lowers, uppers = [steady_lower, right], [steady_upper, np.full(len(right), np.inf)]
        if rows is not None:
            blocks.append(rows)
            lowers.append(np.zeros(rows.shape[0]) if lower is None else lower)
            uppers.append(np.full(rows.shape[0], np.inf) if upper is None else upper)
        all_rows = sparse.csr_array(sparse.vstack(blocks))
        least = relaxation.lower if least is None else least
        kept = np.flatnonzero((most > least) | (least != 0))
        mip = ScaledMip(
            sparse.csr_array(all_rows[:, kept]),
            row_lower=np.concatenate(lowers),
            row_upper=np.concatenate(uppers),
            lower=least[kept],
            upper=most[kept],
            cost=relaxation.cost[kept],
            integer=self.integer[kept],
            offset=self.offset,
            seed=self.seed,
            unit=relaxation.unit[kept],
            cost_unit=relaxation.cost_unit,
        )

        def over_all_columns(found: MipSolution) -> MipSolution:
            if found.x is None:
                return found
            vector = least.copy()
            vector[kept] = found.x
            return replace(found, x=vector)

        if start is not None:
            fits = not ((start > most) | (start < least)).any()
            start = start[kept] if fits else None
        found = mip.minimise(
            seconds=seconds,
            gap=gap,
            target=target,
            start=start,
            watch=None if watch is None else lambda so_far: watch(over_all_columns(so_far)),
        )
        return over_all_columns(found)
