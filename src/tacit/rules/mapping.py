"""Rules, bounds and weights from tables of a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.errors import InputError, nearest
from tacit.reading import read_fields
from tacit.rules.concentration import Dominance, PPercent, PriorPosterior
from tacit.rules.frequency import GroupDisclosure, MinFrequency, SmallCounts
from tacit.rules.marks import Manual
from tacit.rules.missing import MissingSafe
from tacit.rules.requests import Request
from tacit.rules.rule import SensitivityRule
from tacit.rules.zeros import ZeroCells
from tacit.table.bounds import Bounds
from tacit.table.judging import Rule
from tacit.table.weighting import Weighting

RULES: Mapping[str, type[SensitivityRule]] = {
    kind.key: kind
    for kind in (
        MinFrequency,
        Dominance,
        PPercent,
        PriorPosterior,
        ZeroCells,
        Request,
        Manual,
        MissingSafe,
        SmallCounts,
        GroupDisclosure,
    )
}
"""The rules by their names in files."""


def from_mapping(
    mapping: Mapping[str, Any], where: str = "rule", folder: str | Path | None = None
) -> Rule:
    """A rule from a table of a TOML file; unknown keys and wrong types are refused.

    Args:
        mapping: The name of the rule under `rule`, and its parameters.
        where: What to call this place in messages.
        folder: Where files that the rule names lie, by default the current directory.

    >>> from_mapping({"rule": "p-percent", "p": 10, "levels": "upper"})
    PPercent(levels='upper', name=None, p=10.0, coalition=1, holding=False)
    >>> from_mapping({"rule": "p-percent", "p": 10, "colition": 2}, where="rules[0]")
    Traceback (most recent call last):
        ...
    tacit.errors.InputError: rules[0]: unknown key 'colition'; did you mean 'coalition'?
    """
    if not isinstance(mapping, Mapping):
        raise InputError(f"{where} must be a table of keys and values")
    if "rule" not in mapping:
        raise InputError(
            f"{where}: the key 'rule' is missing; it names one of {', '.join(RULES)}", key=("rule",)
        )
    key = mapping["rule"]
    if not isinstance(key, str) or key not in RULES:
        raise InputError(
            f"{where}: there is no rule {key!r}; {nearest(str(key), [*RULES])}", key=("rule",)
        )
    rest = {name: given for name, given in mapping.items() if name != "rule"}
    if RULES[key] is Manual and isinstance(rest.get("marks"), str):
        rest["marks"] = Path(folder or ".") / rest["marks"]
    made: Any = read_fields(RULES[key], rest, where=where)
    rule: Rule = made
    return rule


def bounds_from_mapping(mapping: Mapping[str, Any], where: str = "bounds") -> Bounds:
    """Bounds from a table of a TOML file.

    >>> bounds_from_mapping({"lower_factor": 0, "upper_factor": 11}).upper_factor
    11.0
    """
    return read_fields(Bounds, mapping, where=where)


def weighting_from_mapping(given: str | Mapping[str, Any], where: str = "weights") -> Weighting:
    """Weights from the name of a column, or from a table of a TOML file.

    >>> weighting_from_mapping({"by": "count", "power": 0.5})
    Weighting(by='count', power=0.5)
    """
    taken = {"by": given} if isinstance(given, str) else given
    return read_fields(Weighting, taken, where=where)
