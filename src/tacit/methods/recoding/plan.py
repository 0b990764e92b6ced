"""What becomes of the codes of one dimension when some of them are merged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tacit.errors import HierarchyError, InputError, about, first_few
from tacit.hierarchy import Hierarchy, code_text
from tacit.problem import Integers

Recode: TypeAlias = int | Sequence[float] | Mapping[str, Sequence[object] | str]
"""How to recode one dimension.

A mapping merges by name: each new code with the codes that it takes the place of, as a list or as
the first and last of neighbouring ones, `"N1..N4"`. A whole number keeps the levels down to
that one; the total is level 0. A list of numbers merges codes that are numbers into ranges that
begin at these.
"""

RANGE = ".."
"""What stands between the first and the last of neighbouring codes."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A hierarchy recoded.

    Attributes:
        hierarchy: The new hierarchy.
        target: For each code of the old one its position in the new one; -1 where its cells
            are left out, because those of a coarser code remain.
    """

    hierarchy: Hierarchy
    target: Integers


def plan_recode(hierarchy: Hierarchy, recode: Recode, dimension: str) -> Plan:
    """Plan how to recode a dimension.

    Args:
        hierarchy: The hierarchy of the dimension.
        recode: What to merge.
        dimension: The name of the dimension, for errors.
    """
    if isinstance(recode, int) and not isinstance(recode, bool):
        if not recode >= 0:
            raise InputError(f"{dimension}: a level is 0 (the total) or more")
        return _planned(hierarchy, {}, hierarchy.level > recode)
    try:
        groups = groups_of(hierarchy, recode)
    except HierarchyError as error:
        raise HierarchyError(f"{dimension}: {error}", error.codes, key=error.key) from None
    dropped = np.zeros(len(hierarchy), bool)
    merged: dict[int, str] = {}
    for code, members in groups.items():
        for member in members:
            if hierarchy.parent_of(member) == code:
                dropped[hierarchy.index(member)] = True
            else:
                merged[hierarchy.index(member)] = code
    return _planned(hierarchy, merged, dropped)


def _planned(hierarchy: Hierarchy, merged: Mapping[int, str], dropped: Any) -> Plan:
    target = np.full(len(hierarchy), -1, np.int64)
    codes: list[str] = []
    parents: list[int] = []
    place: dict[str, int] = {}
    for position, (code, parent) in enumerate(zip(hierarchy.codes, hierarchy.parents, strict=True)):
        # What lies below a merged or dropped code goes with it.
        if dropped[position] or (parent >= 0 and (target[parent] < 0 or parent in merged)):
            continue
        named = merged.get(position, code)
        if named not in place:
            place[named] = len(codes)
            codes.append(named)
            parents.append(-1 if parent < 0 else int(target[parent]))
        target[position] = place[named]
    above = {
        code: None if parent < 0 else codes[parent]
        for code, parent in zip(codes, parents, strict=True)
    }
    # Members that are not neighbours leave codes out of pre-order.
    found = Hierarchy.from_parents({c: p for c, p in above.items() if p is not None} or above)
    order = np.array([found.index(code) for code in codes], np.int64)
    found = found.with_labels(hierarchy.labels, unknown="ignore")
    return Plan(found, np.where(target < 0, -1, order[target]))


def groups_of(hierarchy: Hierarchy, recode: Any) -> dict[str, tuple[str, ...]]:
    """The groups of codes to merge: each new code with its members.

    Raises:
        HierarchyError: Codes that do not exist, have different parents or two groups, or new
            codes that are taken.
        InputError: Something that does not say how to recode.
    """
    if isinstance(recode, Mapping):
        groups = {}
        for code, given in recode.items():
            with about(str(code)):
                groups[code_text(code)] = _members(hierarchy, given)
    elif isinstance(recode, Sequence) and not isinstance(recode, str):
        groups = _ranges(hierarchy, recode)
    else:
        raise InputError(
            "a recode is a level, a list of numbers at which ranges begin, or new codes with "
            "those that each takes the place of, as in {'north': ['N1', 'N2']}"
        )
    seen: dict[str, str] = {}
    for code, members in groups.items():
        for member in members:
            if member in seen:
                raise HierarchyError(
                    f"code {member} is in {seen[member]} and in {code}; put it into one",
                    [member],
                    key=(code,),
                )
            seen[member] = code
        above = {hierarchy.parent_of(member) for member in members}
        if None in above or len(above) > 1:
            raise HierarchyError(
                f"the codes of {code} do not lie below the same code; merge those that do",
                members,
                key=(code,),
            )
        (parent,) = above
        whole = parent == code and set(members) == set(hierarchy.children(code))
        if code in hierarchy and not whole:
            raise HierarchyError(
                f"there is a code {code} already; name the merged one differently",
                [code],
                key=(code,),
            )
    return groups


def _members(hierarchy: Hierarchy, given: object) -> tuple[str, ...]:
    if isinstance(given, str):
        first, found, last = given.partition(RANGE)
        if not found:
            raise HierarchyError(
                f"{given!r} is one code; name several in a list, or neighbours as 'first..last'",
                [given],
            )
        parent = hierarchy.parent_of(first)
        siblings = () if parent is None else hierarchy.children(parent)
        if last not in siblings or siblings.index(last) < siblings.index(first):
            raise HierarchyError(
                f"{last} does not come after {first} below the same code; list the codes",
                [first, last],
            )
        return siblings[siblings.index(first) : siblings.index(last) + 1]
    if not isinstance(given, Sequence) or not given:
        raise InputError("what is merged is a list of codes, or neighbours as 'first..last'")
    members = tuple(code_text(code) for code in given)
    for code in members:
        hierarchy.index(code)
    return members


def _ranges(hierarchy: Hierarchy, starts: Sequence[Any]) -> dict[str, tuple[str, ...]]:
    """Finest codes that are numbers, merged from each start to the next."""
    if not starts or not all(
        isinstance(start, int | float) and not isinstance(start, bool) and math.isfinite(start)
        for start in starts
    ):
        raise InputError("ranges begin at numbers, as in [0, 18, 65]")
    bounds = np.array(starts, float)
    if (np.diff(bounds) <= 0).any():
        raise InputError("the numbers at which ranges begin must increase")
    groups: dict[str, list[str]] = {}
    names: dict[tuple[str | None, int], list[str]] = {}
    for code in hierarchy.leaves:
        try:
            number = float(code)
        except ValueError:
            raise HierarchyError(f"code {code} is not a number; merge it by name", [code]) from None
        key = (hierarchy.parent_of(code), int(np.searchsorted(bounds, number, side="right")))
        names.setdefault(key, []).append(code)
    for members in names.values():
        if len(members) > 1:
            ordered = sorted(members, key=float)
            groups[f"{ordered[0]}-{ordered[-1]}"] = members
    return {code: tuple(members) for code, members in groups.items()}


def grouped(hierarchy: Hierarchy, recode: Recode) -> Hierarchy:
    """The hierarchy with merged codes above those that they will take the place of.

    Tabulate with it, and recode the table afterwards: what is known of contributors to merged
    cells is then exact, even of those who contribute to several of the cells merged.

    Args:
        hierarchy: The hierarchy of a dimension.
        recode: As for `recode`.

    >>> regions = Hierarchy.flat(["N1", "N2", "S"])
    >>> grouped(regions, {"north": ["N1", "N2"]}).codes
    ('Total', 'north', 'N1', 'N2', 'S')
    """
    if isinstance(recode, int):
        return hierarchy
    inside: dict[str, str] = {}
    for code, members in groups_of(hierarchy, recode).items():
        if code not in hierarchy:
            inside |= dict.fromkeys(members, code)
    parents: dict[str, str] = {}
    for code in hierarchy.codes[1:]:
        parent = hierarchy.parent_of(code)
        assert parent is not None
        if code in inside:
            parents.setdefault(inside[code], parent)
            parents[code] = inside[code]
        else:
            parents[code] = parent
    if not parents:
        return hierarchy
    return Hierarchy.from_parents(parents).with_labels(hierarchy.labels)


def known_dimension(dimension: str, dimensions: Mapping[str, Hierarchy]) -> Hierarchy:
    """The hierarchy of a dimension that is to be recoded."""
    if dimension not in dimensions:
        raise InputError(
            f"there is no dimension {dimension} to recode; there are {first_few([*dimensions])}"
        )
    return dimensions[dimension]
