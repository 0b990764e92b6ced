"""Methods of tau-ARGUS (`<SUPPRESS>`) as those of tacit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.errors import InputError
from tacit.io.argus.commands import (
    Suppress,
)
from tacit.io.argus.paths import Tell
from tacit.table import Bounds, Table
from tacit.table.insiders import Choice


@dataclass(frozen=True, kw_only=True)
class Treatment:
    """How a table is protected.

    Attributes:
        method: The method.
        options: Its options.
        insiders: Which contributors attack; None for the default.
        known_percent: Within how many percent attackers know each cell, if they do.
        unit_weights: Whether all cells cost the same.
        limits_parts: Whether tau-ARGUS limits the time for parts of a table only, or not at all.
    """

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    insiders: Choice | None = None
    known_percent: float | None = None
    unit_weights: bool = False
    limits_parts: bool = False

    def prepared(self, table: Table) -> Table:
        """A table with what attackers know, and with other weights where these are asked for.

        Attackers do not know a sensitive cell so closely that its levels would be impossible.
        """
        if self.unit_weights:
            table = table.replace(weight=np.ones(table.cell_count))
        if self.known_percent is None:
            return table
        value, reach = table.value, self.known_percent / 100 * np.abs(table.value)
        levels = {
            name: np.zeros(len(value)) if column is None else np.nan_to_num(column)
            for name, column in (("lower", table.lower_level), ("upper", table.upper_level))
        }
        lower = value - np.maximum(reach, levels["lower"])
        upper = value + np.maximum(reach, levels["upper"])
        if not (value < 0).any():
            lower = np.maximum(lower, 0.0)
        return table.apply(bounds=Bounds(lower=lower, upper=upper))


def treatment(command: Suppress, tell: Tell) -> Treatment:
    """How a table is protected by a command.

    Args:
        command: The command.
        tell: Told about parameters that mean nothing here.

    Raises:
        InputError: There is no counterpart.
    """
    return _METHODS[command.method](command, tell)


def _minutes(command: Suppress, place: int) -> dict[str, Any]:
    """The time limit; tau-ARGUS takes 0 for none, and so the default holds."""
    given = _parameter(command, place)
    return {"time_limit": 60 * given} if given else {}


def _parameter(command: Suppress, place: int) -> float | None:
    return command.parameters[place] if place < len(command.parameters) else None


def _flags(command: Suppress, *places: int) -> list[bool]:
    """Switches as far as they are given."""
    given = [each for each in (_parameter(command, place) for place in places) if each is not None]
    if any(each not in (0, 1) for each in given):
        raise InputError(f"the singleton options of {command.method} are 0 or 1")
    return [each == 1 for each in given]


def _insiders(flags: list[bool]) -> Choice | None:
    """Whoever is alone in a cell attacks if any option asks for it, and by default."""
    if not flags:
        return None
    return "singletons" if any(flags) else "none"


def _optimal(command: Suppress, _tell: Tell) -> Treatment:
    return Treatment(method="suppress", options=_minutes(command, 0))


def _modular(command: Suppress, tell: Tell) -> Treatment:
    if len(command.parameters) > 4:
        tell(
            "MOD: scaled costs and ranges of margins are not needed: costs are exact, and the "
            "table is protected as a whole"
        )
    return Treatment(
        method="suppress",
        options=_minutes(command, 0),
        insiders=_insiders(_flags(command, 1, 2, 3)),
        limits_parts=True,
    )


def _hypercube(command: Suppress, tell: Tell) -> Treatment:
    percent = _parameter(command, 0)
    if _parameter(command, 1):
        tell("GH: the size of the model is not needed: tables of any size are protected")
    return Treatment(
        method="suppress",
        options={"algorithm": "hypercube"},
        insiders=_insiders(_flags(command, 2)),
        known_percent=percent or None,
        limits_parts=True,
    )


def _network(_command: Suppress, _tell: Tell) -> Treatment:
    return Treatment(method="suppress", limits_parts=True)


def _adjustment(_command: Suppress, _tell: Tell) -> Treatment:
    return Treatment(method="adjust", limits_parts=True)


def _rounding(command: Suppress, _tell: Tell) -> Treatment:
    base, steps = command.parameters[0], _parameter(command, 1) or 0
    if base == 0 or steps != int(steps):
        raise InputError("RND needs a base above 0 and a whole number of steps")
    partitions, stop, unit = (_parameter(command, place) for place in (3, 4, 5))
    if partitions not in (None, 0, 1) or unit not in (None, 0, 1):
        raise InputError("partitions and unit costs of RND are 0 or 1")
    if stop not in (None, 1, 2, 3):
        raise InputError("the stopping rule of RND is 1 (first), 2 or 3 (optimal)")
    options = {
        "base": base,
        "zero_restricted": steps == 0,
        # In tau-ARGUS steps come on top of the two neighbouring multiples.
        "most_steps": int(steps) + 1,
        **_minutes(command, 2),
    }
    if partitions == 1:
        options["algorithm"] = "partition"
    if stop == 1:
        # Any rounding does.
        options["gap"] = 1.0
    return Treatment(method="round", options=options, unit_weights=unit == 1)


def _cell_keys(_command: Suppress, _tell: Tell) -> Treatment:
    raise InputError(
        "CKM (the cell key method) has no counterpart in tacit; protect the table with OPT, MOD, "
        "RND or CTA"
    )


_METHODS: Mapping[str, Callable[[Suppress, Tell], Treatment]] = {
    "OPT": _optimal,
    "MOD": _modular,
    "GH": _hypercube,
    "NET": _network,
    "CTA": _adjustment,
    "RND": _rounding,
    "CKM": _cell_keys,
}
