"""Random hierarchies for generated tables."""

from __future__ import annotations

import numpy as np

from tacit.errors import InputError
from tacit.generators.contributions import streams
from tacit.hierarchy import DEFAULT_TOTAL, Hierarchy
from tacit.tolerances import ROUNDING_NOISE


def random_hierarchy(
    leaves: int, *, depth: int = 2, seed: int = 1, prefix: str = "", total: str = DEFAULT_TOTAL
) -> Hierarchy:
    """A random hierarchy with a given number of leaves, all on the lowest level.

    Levels grow by about the same factor. Every code above the lowest level has two children
    or more; how many more differs by chance.

    Args:
        leaves: The number of codes on the lowest level.
        depth: The number of levels below the total; 1 is a flat list.
        seed: The same seed gives the same hierarchy.
        prefix: What every code but the total begins with.
        total: The code of the total.

    Raises:
        InputError: The leaves are too few for so many levels.

    >>> random_hierarchy(100, depth=2)
    Hierarchy('Total', 111 codes, 3 levels)
    >>> random_hierarchy(4, depth=2, prefix="R").codes
    ('Total', 'R1', 'R1.1', 'R1.2', 'R2', 'R2.1', 'R2.2')
    """
    if depth < 1 or leaves < 1:
        raise InputError("a hierarchy needs at least one leaf and one level below its total")
    if depth > 1 and leaves < 2**depth:
        raise InputError(
            f"{leaves} leaves are too few for {depth} levels with at least two children per code; "
            f"ask for at least {2**depth} leaves or for fewer levels"
        )
    (random,) = streams(seed, 1)
    # Level sizes leaves^(level/depth): each is at least twice the one before.
    sizes = [int(leaves ** (level / depth) + ROUNDING_NOISE) for level in range(depth)] + [leaves]
    above: dict[str, str] = {}
    parents = [total]
    for size in sizes[1:]:
        codes = []
        for parent, count in zip(parents, _shared_out(size, len(parents), random), strict=True):
            siblings = numbered_codes(count, prefix if parent == total else f"{parent}.")
            above |= dict.fromkeys(siblings, parent)
            codes += siblings
        parents = codes
    return Hierarchy.from_parents(above)


def numbered_codes(number: int, prefix: str = "") -> list[str]:
    """Codes 1, 2, 3, ... of the same length.

    >>> numbered_codes(10, "r")[-2:]
    ['r09', 'r10']
    """
    width = len(str(number))
    return [f"{prefix}{code:0{width}d}" for code in range(1, number + 1)]


def _shared_out(children: int, parents: int, random: np.random.Generator) -> list[int]:
    """How many children each of the parents has: two or more where they suffice."""
    least = min(2, children // parents)
    chance = random.uniform(0.5, 1.5, parents)
    more = random.multinomial(children - least * parents, chance / chance.sum())
    return [least + int(number) for number in more]
