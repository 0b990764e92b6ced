"""Cells of records whose code is missing: nobody can tell who is in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.errors import InputError, TableError
from tacit.rules.rule import SensitivityRule
from tacit.table import CellStatus, Table
from tacit.table.judging import Verdict


@dataclass(frozen=True)
class MissingSafe(SensitivityRule):
    """Cells with a code for missing ones are safe, whatever other rules say.

    What is known about them in another way, such as marks by hand, stays.

    Attributes:
        codes: For each dimension the code that stands for missing ones, or several.

    >>> from tacit.rules.frequency import MinFrequency
    >>> table = Table.from_frame(
    ...     {"sex": ["f", "m", "9"], "value": [5, 6, 2], "count": [4, 3, 1]},
    ...     {"sex": None}, count="count")
    >>> int(table.apply(MinFrequency(3)).is_sensitive.sum())
    1
    >>> int(table.apply(MinFrequency(3), MissingSafe({"sex": "9"})).is_sensitive.sum())
    0
    """

    key: ClassVar[str] = "missing-safe"
    title: ClassVar[str] = "missing"

    codes: Mapping[str, Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.codes, Mapping) or not all(map(_are_codes, self.codes.values())):
            raise InputError(
                'codes must give dimensions their codes, as in {region = "99"}', key=("codes",)
            )

    @property
    def in_words(self) -> str:
        """What the rule finds, for confidential explanations."""
        return "the code of a dimension is missing"

    def judge(self, table: Table) -> Verdict:
        """Nothing is sensitive; what rules find in cells of missing codes is overridden."""
        spared = np.zeros(table.cell_count, bool)
        for name, given in self.codes.items():
            if name not in table.totals:
                raise TableError(
                    f"there is no dimension {name}; dimensions are {', '.join(table.totals)}",
                    key=("codes", name),
                )
            spared |= np.isin(table.codes(name), [given] if isinstance(given, str) else list(given))
        # What is marked otherwise stays so.
        cells = np.flatnonzero(spared & (table.status == CellStatus.SAFE.value))
        nothing = np.zeros(0)
        return Verdict(
            reason=self.name or self.title,
            cells=np.zeros(0, np.int64),
            lower=nothing,
            upper=nothing,
            decided=cells,
            decided_status=np.full(len(cells), CellStatus.SAFE.value, table.status.dtype),
            override=True,
        )


def _are_codes(given: object) -> bool:
    if isinstance(given, str):
        return bool(given)
    return isinstance(given, list | tuple) and all(isinstance(code, str) for code in given)
