"""`Specification`: what is to be tabulated, the same for every engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tacit.errors import InputError, KeyPath, first_few, name_columns, unwritable
from tacit.hierarchy import DEFAULT_TOTAL, Hierarchy

RECORDS = "records"
"""The name of the value that counts records."""

YES, NO = ("1", "true", "t", "yes", "y"), ("0", "false", "f", "no", "n")
"""How a request for protection is written where it is text."""

POLICIES = ("refuse", "drop")


@dataclass(frozen=True, kw_only=True)
class Specification:
    """Which columns are tabulated, and what happens to records that cannot be.

    Attributes are those of `tabulate`; `values` is empty where records are counted, and
    `missing_codes` holds the code that stands for a missing one, for dimensions that have it.
    """

    by: Mapping[str, Hierarchy | None]
    values: tuple[str, ...]
    contributor: str | None = None
    holding: str | None = None
    weight: str | None = None
    shadow: str | None = None
    request: str | None = None
    top: int = 2
    unknown: str = "refuse"
    missing: str = "refuse"
    missing_codes: Mapping[str, str] = field(default_factory=dict)
    unreadable: str = "refuse"
    keep_empty: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.by, Mapping):
            raise InputError(
                "by must give each dimension its hierarchy or None, as in {'region': None}",
                key=("by",),
            )
        if not self.by:
            raise InputError(
                "by names no dimension; name at least one column with its hierarchy", key=("by",)
            )
        wrong = [name for name, given in self.by.items() if not isinstance(given, Hierarchy | None)]
        if wrong:
            raise InputError(
                f"by gives {first_few(wrong)} something else than a Hierarchy or None; make a "
                "Hierarchy of it",
                key=("by", wrong[0]),
            )
        for name in self.columns:
            odd = unwritable(str(name))
            if odd is not None:
                raise InputError(f"the name of a column: {odd}; rename it", key=self.key_of(name))
        if len(set(self.values)) < len(self.values):
            raise InputError(
                f"value names a column twice: {first_few(self.values)}", key=("value",)
            )
        if isinstance(self.top, bool) or not isinstance(self.top, int) or self.top < 0:
            raise InputError("top must be a whole number of contributions, 0 or more", key=("top",))
        for name in ("unknown", "missing", "unreadable"):
            if getattr(self, name) not in POLICIES:
                raise InputError(f"{name} must be one of {', '.join(POLICIES)}", key=(name,))
        if not isinstance(self.keep_empty, bool):
            raise InputError("keep_empty must be true or false", key=("keep_empty",))

    def missing_code(self, dimension: str) -> str | None:
        """The code of records whose own is missing, None where there is no such code."""
        return self.missing_codes.get(dimension)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the values, one table each."""
        return self.values or (RECORDS,)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read, each once."""
        named = (self.contributor, self.holding, self.weight, self.shadow, self.request)
        given = [name for name in named if name is not None]
        return tuple(dict.fromkeys([*self.by, *self.values, *given]))

    def key_of(self, column: str) -> KeyPath:
        """Which argument of `tabulate` names a column."""
        if column in self.values:
            return ("value",)
        if column in self.by:
            return ("by", column)
        named = ("contributor", "holding", "weight", "shadow", "request")
        return next(((name,) for name in named if getattr(self, name) == column), ())

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns that hold numbers, each once."""
        named = (*self.values, self.shadow, self.weight)
        return tuple(dict.fromkeys(name for name in named if name is not None))

    @property
    def owner(self) -> str | None:
        """The column whose records must stay together: contributors, or else holdings."""
        return self.contributor if self.contributor is not None else self.holding

    @property
    def keeps_top(self) -> bool:
        """Whether the table shows the largest contributions."""
        return self.top > 0 and self.lists_contributors

    @property
    def lists_contributors(self) -> bool:
        """Whether largest contributions say anything: not where each record counts for one."""
        return bool(self.values) or self.shadow is not None or self.owner is not None

    def refuse_missing_columns(
        self, present: Mapping[str, object] | tuple[str, ...], advice: str | None = None
    ) -> None:
        """Refuse to look for columns that are not there.

        Args:
            present: The columns that there are.
            advice: What to do, in place of naming the columns that there are.
        """
        absent = [name for name in self.columns if name not in present]
        if absent:
            known = advice or name_columns(present)
            raise InputError(
                f"there is no column {absent[0]}; {known}"
                if len(absent) == 1
                else f"there are no columns {first_few(absent)}; {known}",
                key=self.key_of(absent[0]),
            )


def missing_policy(given: Any, by: Any) -> tuple[Any, dict[str, str]]:
    """What happens to records with missing entries, and the codes that stand for missing ones.

    Args:
        given: `refuse` or `drop`; or a mapping whose `code` is a code for all dimensions, or a
            mapping from dimensions to codes.
        by: The dimensions.

    >>> missing_policy({"code": "99"}, {"region": None, "size": None})
    ('refuse', {'region': '99', 'size': '99'})
    """
    if not isinstance(given, Mapping):
        return given, {}
    if "safe" in given:
        raise InputError(
            "safe belongs to the rules: leave it out here, and apply tacit.MissingSafe",
            key=("missing", "safe"),
        )
    if set(given) != {"code"}:
        raise InputError(
            'missing must be "refuse", "drop" or a code, as in {"code": "99"}', key=("missing",)
        )
    codes = given["code"]
    if not isinstance(codes, Mapping):
        codes = dict.fromkeys(by, codes)
    for name, code in codes.items():
        if name not in by:
            raise InputError(
                f"missing: there is no dimension {name}; dimensions are {', '.join(by)}",
                key=("missing", "code"),
            )
        if not isinstance(code, str) or not code.strip():
            raise InputError(
                "missing: a code must be a text that is not empty, as in {'code': '99'}",
                key=("missing", "code"),
            )
    return "refuse", {name: code.strip() for name, code in codes.items()}


def with_missing_code(hierarchy: Hierarchy, code: str) -> Hierarchy:
    """A hierarchy with a code for missing ones right below its total.

    >>> with_missing_code(Hierarchy.flat(["N", "S"]), "99").codes
    ('Total', 'N', 'S', '99')
    """
    if code in hierarchy:
        return hierarchy
    return Hierarchy((*hierarchy.codes, code), (*hierarchy.parents, 0))


def flat_hierarchy(codes: list[str]) -> Hierarchy:
    """The codes that occur below one total, whole numbers by size, other codes as text.

    >>> flat_hierarchy(["10", "9"]).codes, flat_hierarchy(["10", "9", "b"]).codes
    (('Total', '9', '10'), ('Total', '10', '9', 'b'))
    """
    whole = all(code.isascii() and code.isdigit() for code in codes)
    order = sorted(codes, key=lambda code: (int(code), code)) if whole else sorted(codes)
    return Hierarchy.flat(order, total=DEFAULT_TOTAL)
