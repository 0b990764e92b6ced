"""From safe rooms to what is published."""

from __future__ import annotations

import numpy as np

from tacit.methods.combined.model import CombinedModel
from tacit.methods.intervals import publication
from tacit.methods.intervals.search import Search
from tacit.outcome import Intervals
from tacit.problem import Floats


def tightened(search: Search, ends: Floats) -> Floats:
    """Rooms cut back to what a reader can deduce from all of them, or to their least width."""
    model = search.model
    assert isinstance(model, CombinedModel)
    wide = ends[: model.cell_ends]
    tight = publication.tightened(search, wide)
    before, after = wide[0::2] + wide[1::2], tight[0::2] + tight[1::2]
    # A cell that a reader can deduce exactly may as well be published.
    narrow = (after > 0) & (after < model.least_width)
    narrow |= model.is_always & (after < model.least_width)
    missing = np.where(narrow, model.least_width - after, 0.0)
    back = np.clip(missing / np.maximum(before - after, 1e-300), 0.0, 1.0)
    back = np.repeat(np.where(missing > 0, back, 0.0), 2)
    return np.asarray(tight + back * (wide - tight))


def cost(search: Search, solution: Intervals) -> float:
    """What published intervals cost."""
    model = search.model
    assert isinstance(model, CombinedModel)
    hidden = (solution.upper > solution.lower) | model.is_always
    return publication.cost(search, solution) + float(model.suppress_weight[hidden].sum())


FINISH = publication.Finish(tightened, cost)
"""What follows the search."""
