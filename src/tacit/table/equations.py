"""Equations between response variables, such as `turnover = domestic + exports`.

Cells of different variables at the same codes are different cells; an equation is one relation
among them at each combination of codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tacit.arrays import Booleans, Integers
from tacit.errors import InputError, first_few, nearest
from tacit.table.grid import Grid, Relations


@dataclass(frozen=True)
class Equation:
    """A linear equation between variables that holds at every combination of codes.

    Attributes:
        terms: For each variable its sign, 1 or -1; together they add up to nothing. As in
            relations between totals and parts, a variable that is the sum of the others is
            the one with -1.
    """

    terms: tuple[tuple[str, int], ...]

    @classmethod
    def parsed(cls, text: str) -> Equation:
        """An equation as people write it, with blanks around `=`, `+` and `-`.

        Raises:
            InputError: It cannot be read, or names a variable twice.

        >>> Equation.parsed("turnover = domestic + exports").terms
        (('turnover', -1), ('domestic', 1), ('exports', 1))
        >>> print(Equation.parsed("profit = turnover - costs"))
        turnover = profit + costs
        """
        sides = f" {text} ".split(" = ")
        if len(sides) != 2:
            raise InputError(f"{text!r} is not an equation; write it as 'total = part + part'")
        terms: dict[str, int] = {}
        for side, sign in zip(sides, (-1, 1), strict=True):
            for name, own in _signed_names(side, text):
                if name in terms:
                    raise InputError(f"{text!r} names {name} twice; each variable has one place")
                terms[name] = sign * own
        if len(terms) < 2:
            raise InputError(f"{text!r} needs two variables or more")
        if list(terms.values()).count(-1) != 1 and list(terms.values()).count(1) == 1:
            terms = {name: -sign for name, sign in terms.items()}
        ordered = sorted(terms.items(), key=lambda term: term[1])
        return cls(tuple(ordered))

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables in it."""
        return tuple(name for name, _ in self.terms)

    def __str__(self) -> str:
        sides = ([name for name, sign in self.terms if sign == side] for side in (-1, 1))
        return " = ".join(" + ".join(names) or "0" for names in sides)


def _signed_names(side: str, text: str) -> Iterable[tuple[str, int]]:
    words = side.split()
    sign, name = 1, []
    signs = {"+": 1, "-": -1}
    if words and words[0] in signs:
        sign, words = signs[words[0]], words[1:]
    for word in [*words, "+"]:
        if word not in signs:
            name.append(word)
            continue
        if not name:
            raise InputError(f"{text!r}: a variable is missing; write it as 'total = part + part'")
        yield " ".join(name), sign
        sign, name = signs[word], []


def read_equations(
    given: Sequence[str | Equation], variables: Sequence[str]
) -> tuple[Equation, ...]:
    """Equations between some variables; others are refused."""
    found = []
    for place, each in enumerate(given):
        try:
            equation = each if isinstance(each, Equation) else Equation.parsed(each)
            for name in equation.variables:
                if name not in variables:
                    raise InputError(f"there is no variable {name!r}; {nearest(name, variables)}")
        except InputError as error:
            error.key = ("equations", place)
            raise
        found.append(equation)
    return tuple(dict.fromkeys(found))


def equation_relations(
    equations: Sequence[Equation],
    grids: Sequence[Grid],
    everything: Mapping[str, str],
    cell_count: int,
) -> Relations:
    """One relation for each equation at each combination of codes that all its variables have.

    Empty cells that a table leaves out are left out of the relations as well. Where the tables of
    one of the variables say nothing of a combination, there is no relation.

    Args:
        equations: The equations.
        grids: The linked tables.
        everything: For each dimension the code that stands for everything.
        cell_count: How many cells there are.
    """
    places = _Places(grids, everything)
    rows, cells, signs = [], [], []
    count = 0
    for equation in equations:
        found = [places.of(variable) for variable in equation.variables]
        keys = np.unique(np.concatenate([keys for keys, _ in found]))
        shared = np.ones(len(keys), bool)
        for variable in equation.variables:
            shared &= places.are_known(variable, keys)
        keys = keys[shared]
        for (mine, numbers), (_, sign) in zip(found, equation.terms, strict=True):
            at = np.searchsorted(keys, mine)
            there = at < len(keys)
            there[there] = keys[at[there]] == mine[there]
            rows.append(count + at[there])
            cells.append(numbers[there])
            signs.append(np.full(int(there.sum()), float(sign)))
        count += len(keys)
    if not rows:
        return sparse.csr_array((0, cell_count))
    entries = (np.concatenate(signs), (np.concatenate(rows), np.concatenate(cells)))
    A = sparse.csr_array(entries, shape=(count, cell_count))
    A.sort_indices()
    return A


class _Places:
    """Combinations of codes as numbers that mean the same in all tables."""

    def __init__(self, grids: Sequence[Grid], everything: Mapping[str, str]):
        self._grids = grids
        self._codes: dict[str, dict[str, int]] = {}
        for name, code in everything.items():
            numbers = self._codes[name] = {code: 0}
            for grid in grids:
                for each in grid.dimensions[name].codes if name in grid.dimensions else ():
                    numbers.setdefault(each, len(numbers))
        self._strides: dict[str, int] = {}
        size = 1
        for name, numbers in self._codes.items():
            self._strides[name] = size
            size *= len(numbers)
        if size > np.iinfo(np.int64).max:
            raise InputError(
                "equations over these dimensions have more combinations of codes than can be "
                f"numbered: {first_few([*everything])}; link fewer tables"
            )

    def of(self, variable: str) -> tuple[Integers, Integers]:
        """Where the cells of a variable are, increasing, and their numbers."""
        keys, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for grid in self._grids:
            if grid.variable == variable:
                key = np.zeros(grid.cell_count, np.int64)
                for place, (name, hierarchy) in enumerate(grid.dimensions.items()):
                    own = np.array([self._codes[name][code] for code in hierarchy.codes])
                    key += own[grid.positions[:, place]] * self._strides[name]
                keys.append(key)
                numbers.append(grid.numbers)
        found, first = np.unique(np.concatenate(keys), return_index=True)
        return found, np.concatenate(numbers)[first]

    def are_known(self, variable: str, keys: Integers) -> Booleans:
        """Which combinations a variable has: they are cells of it, or known to be empty."""
        known = np.zeros(len(keys), bool)
        for grid in self._grids:
            if grid.variable != variable:
                continue
            inside = np.ones(len(keys), bool)
            own = np.zeros(len(keys), np.int64)
            for name, numbers in self._codes.items():
                code = keys // self._strides[name] % len(numbers)
                if name not in grid.dimensions:
                    inside &= code == 0
                    continue
                positions = grid.dimensions[name].positions
                place = np.array([positions.get(each, -1) for each in numbers])[code]
                inside &= place >= 0
                own += place * grid.strides[[*grid.dimensions].index(name)]
            at = np.flatnonzero(inside)
            known[at] |= (grid.find(own[at]) >= 0) | grid.says_empty(own[at])
        return known
