"""Generated tables by kind and structure, as one would type them."""

from __future__ import annotations

import re

from tacit.errors import InputError
from tacit.generators.sensitivity import SensitiveRule, SensitiveShare, Sensitivity
from tacit.generators.table_1h2d import generate_1h2d
from tacit.generators.tables import generate_table
from tacit.problem import Problem

DEFAULT_STRUCTURES = {"1h2d": "40-50-10", "2d": "20-20", "3d": "10-10-10"}
"""The kinds of tables, each with the structure it has where none is given."""


def generate_by_name(kind: str, structure: str | None = None, seed: int = 1) -> Problem:
    """A generated table by the name of its kind and structure.

    Args:
        kind: `1h2d`, `2d` or `3d`.
        structure: For `1h2d` as in `Structure1H2D.from_name`. For `2d` and `3d` the number of
            codes below the total of each dimension, as in `20-30` or `10-10-5`; one number
            more is the percentage of finest cells that are sensitive, as in `20-30-10`.
            Without it the p% rule decides, with p = 15.
        seed: The same seed gives the same table.

    Raises:
        InputError: There is no such kind, or the structure does not fit the kind.

    >>> generate_by_name("2d", "20-30-10")
    Problem(651 cells, 52 relations, 60 sensitive)
    """
    plain = kind.strip().casefold()
    if plain not in DEFAULT_STRUCTURES:
        raise InputError(f"no kind of table is called {kind!r}; expected 1h2d, 2d or 3d")
    structure = DEFAULT_STRUCTURES[plain] if structure is None else structure
    if plain == "1h2d":
        return generate_1h2d(structure, seed)
    names = ("row", "column", "layer")[: int(plain[0])]
    sizes, sensitivity = _sizes(structure, len(names))
    dimensions = dict(zip(names, sizes, strict=True))
    return generate_table(dimensions, seed, sensitivity=sensitivity).problem()


def _sizes(structure: str, dimensions: int) -> tuple[list[int], Sensitivity]:
    form = "-".join([r"\d{1,6}"] * dimensions) + r"(-\d{1,3})?"
    if re.fullmatch(form, structure.strip(), re.ASCII) is None:
        example = "-".join(["20"] * dimensions)
        raise InputError(
            f"{structure!r} is not the structure of a {dimensions}d table; expected "
            f"{dimensions} numbers of codes as in '{example}', or with the percentage of "
            f"sensitive cells as in '{example}-10'"
        )
    numbers = [int(number) for number in structure.split("-")]
    if len(numbers) == dimensions:
        return numbers, SensitiveRule()
    return numbers[:-1], SensitiveShare(percent=numbers[-1])
