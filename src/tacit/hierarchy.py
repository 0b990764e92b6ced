"""`Hierarchy`: one classification as a tree of codes with its total on top."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from tacit.errors import HierarchyError, first_few, unwritable

Integers: TypeAlias = npt.NDArray[np.int64]

DEFAULT_TOTAL = "Total"
"""The code of the total where nobody says otherwise."""


@dataclass(frozen=True, repr=False)
class Hierarchy:
    """A tree of codes: each code is the sum of its children, the total the sum of all.

    Codes are in pre-order: the total first, every code directly followed by all that lies
    below it. Build one with `flat`, `from_nested`, `from_parents`, `from_prefixes`,
    `from_levels` or `from_hrc`; codes that are whole numbers become text.

    Attributes:
        codes: All codes, the total first.
        parents: For each code the position of its parent in `codes`; -1 for the total.
        labels: What codes mean in words, for those that have a label; see `with_labels`. They
            are shown to people and nothing else: two hierarchies are equal whatever their labels.

    >>> regions = Hierarchy.from_nested({"North": ["N1", "N2"], "South": None})
    >>> regions
    Hierarchy('Total', 5 codes, 3 levels)
    >>> regions.codes
    ('Total', 'North', 'N1', 'N2', 'South')
    >>> regions.children("North"), regions.ancestors("N1"), regions.leaves
    (('N1', 'N2'), ('North', 'Total'), ('N1', 'N2', 'South'))
    """

    codes: tuple[str, ...]
    parents: tuple[int, ...]
    labels: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", tuple(code_text(code) for code in self.codes))
        object.__setattr__(self, "parents", tuple(int(parent) for parent in self.parents))
        if len(self.codes) != len(self.parents) or not self.codes:
            raise HierarchyError(
                f"there are {len(self.codes)} codes and {len(self.parents)} parents; "
                "each code needs one, and there is at least the total"
            )
        _refuse_duplicates(self.codes)
        roots = [
            code for code, parent in zip(self.codes, self.parents, strict=True) if parent == -1
        ]
        if len(roots) > 1:
            raise _several_roots(roots)
        path: list[int] = []
        for position, parent in enumerate(self.parents):
            while path and path[-1] != parent:
                path.pop()
            if position and not path:
                raise HierarchyError(
                    f"code {self.codes[position]} does not follow its parent in pre-order; build "
                    "the hierarchy with from_parents, which takes codes in any order",
                    [self.codes[position]],
                )
            path.append(position)
        object.__setattr__(self, "labels", label_texts(self.labels.items()))
        self._refuse_unknown(self.labels)

    @classmethod
    def flat(cls, codes: Iterable[object], total: object = DEFAULT_TOTAL) -> Self:
        """Codes without any order among them, below one total.

        Args:
            codes: The codes; the total itself may be among them.
            total: The code of the total.
        """
        top = code_text(total)
        below = [code for code in _texts(codes) if code != top]
        _refuse_duplicates(below)
        return cls((top, *below), (-1, *[0] * len(below)))

    @classmethod
    def from_nested(
        cls, mapping: Mapping[Any, Any] | Iterable[object], total: object = DEFAULT_TOTAL
    ) -> Self:
        """From codes mapped to what lies below them.

        Args:
            mapping: Each code with a mapping of the same kind, a list of codes, or None for
                a code with nothing below it. The total may be the only code at the top.
            total: The code of the total.
        """
        top = code_text(total)
        if isinstance(mapping, Mapping) and [str(code) for code in mapping] == [top]:
            (mapping,) = mapping.values()
        codes, parents = [top], [-1]
        waiting = _nested_items(mapping, top, 0)
        while waiting:
            code, below, parent = waiting.pop()
            codes.append(code)
            parents.append(parent)
            waiting += _nested_items(below, code, len(codes) - 1)
        return cls(tuple(codes), tuple(parents))

    @classmethod
    def from_parents(
        cls,
        source: Any,
        child: str = "child",
        parent: str = "parent",
        total: object | None = None,
    ) -> Self:
        """From pairs of a code and its parent, in any order.

        The total is the one code without a parent: either it does not occur as a child, or its
        parent is missing. Where codes without parent are listed (with a missing parent), every
        other code has to be listed too.

        Args:
            source: A mapping of each code to its parent, or a data frame (or dict of columns).
            child: The column with the codes, for a data frame.
            parent: The column with their parents, for a data frame.
            total: A code to put above all codes without a parent.
        """
        pairs = _pairs(source, child, parent)
        _refuse_duplicates([code for code, _ in pairs])
        above = dict(pairs)
        undeclared = [code for code in dict.fromkeys(above.values()) if code not in above]
        unlisted = [code for code in undeclared if code is not None]
        tops = [code for code, up in pairs if up is None]
        if tops and unlisted and total is None:
            orphans = [code for code, up in pairs if up in unlisted]
            raise HierarchyError(
                f"the parents of {first_few(orphans)} ({first_few(unlisted)}) are not in the list; "
                "add them with their own parents",
                orphans,
            )
        for code in unlisted:
            above[code] = None
        roots = [code for code, up in above.items() if up is None]
        if total is not None:
            top = code_text(total)
            above.setdefault(top, None)
            above.update((code, top) for code in roots if code != top)
            roots = [top] if above[top] is None else []
        if len(roots) > 1:
            raise _several_roots(roots)
        return cls._from_above(above, roots[0] if roots else None)

    @classmethod
    def from_prefixes(
        cls, codes: Iterable[object], lengths: Sequence[int], total: object = DEFAULT_TOTAL
    ) -> Self:
        """From codes whose first characters are the code of their parent.

        Where no code is the beginning of another one, the codes are taken as the finest ones
        and the coarser codes are made from them. Otherwise all have to be there.

        Args:
            codes: The codes; the total itself may be among them.
            lengths: The length of the codes of each level, coarsest first, as in (2, 3, 4).
            total: The code of the total.

        >>> Hierarchy.from_prefixes(["011", "012", "02"], lengths=(2, 3)).codes
        ('Total', '01', '011', '012', '02')
        """
        top = code_text(total)
        lengths = [int(length) for length in lengths]
        if not lengths or lengths[0] < 1 or any(np.diff(lengths) <= 0):
            raise HierarchyError(f"lengths {tuple(lengths)} do not increase from at least 1")
        given = [code for code in _texts(codes) if code != top]
        _refuse_duplicates(given)
        odd = [code for code in given if len(code) not in lengths]
        if odd:
            raise HierarchyError(
                f"codes {first_few(odd)} have none of the lengths {tuple(lengths)}; correct the "
                "codes or the lengths",
                odd,
            )
        level = {length: number for number, length in enumerate(lengths)}
        paths = {code: [code[:length] for length in lengths[: level[len(code)]]] for code in given}
        prefixes = dict.fromkeys(prefix for path in paths.values() for prefix in path)
        listed = set(given)
        if not listed.isdisjoint(prefixes):
            orphans = [code for code, path in paths.items() if not listed.issuperset(path)]
            if orphans:
                missing = [prefix for prefix in prefixes if prefix not in listed]
                raise HierarchyError(
                    f"codes {first_few(orphans)} have no parent: {first_few(missing)} missing; add "
                    "the missing codes, or give the finest codes only",
                    orphans,
                )
        if top in prefixes:
            raise HierarchyError(
                f"the total {top} is also the beginning of other codes; name it differently", [top]
            )
        return cls._from_paths(([*path, code] for code, path in paths.items()), top)

    @classmethod
    def from_levels(
        cls, frame: Any, columns: Sequence[str] | None = None, total: object = DEFAULT_TOTAL
    ) -> Self:
        """From one column per level, each row a code with all that lies above it.

        A row may end early (its last columns missing); a code repeated in the next column
        stands for the same code, not for a child of its own.

        Args:
            frame: A data frame (or dict of columns).
            columns: The columns, coarsest first; all columns by default.
            total: The code of the total, above the first column.
        """
        table = _columns(frame)
        chosen = list(table) if columns is None else list(columns)
        values = [_column(table, name) for name in chosen]
        paths = []
        for row in dict.fromkeys(zip(*values, strict=True)):
            path = [None if _is_missing(code) else code_text(code) for code in row]
            ended = path.index(None) if None in path else len(path)
            orphans = [code for code in path[ended:] if code is not None]
            if orphans:
                raise HierarchyError(
                    f"code {orphans[0]} has no parent: its row has nothing in column "
                    f"{chosen[ended]}; fill it in",
                    orphans,
                )
            paths.append([code for code in path[:ended] if code is not None])
        return cls._from_paths(paths, code_text(total))

    @classmethod
    def from_hrc(
        cls, path: str | Path, indent: str = "@", total: object = DEFAULT_TOTAL
    ) -> Hierarchy:
        """From a file with one code per line, as tau-ARGUS and sdcHierarchies write it (`.hrc`).

        Args:
            path: The file: each level has one mark more before the code.
            indent: The mark.
            total: The code of the total, which is not in the file.

        Raises:
            InputError: The file cannot be read, or a line makes no sense; it names the line.
        """
        from tacit.io.hrc import read_hrc

        return read_hrc(path, indent, code_text(total))

    @classmethod
    def _from_paths(cls, paths: Iterable[list[str]], top: str) -> Self:
        above: dict[str, str | None] = {top: None}
        for path in paths:
            up = top
            for code in path:
                if code == up:
                    continue
                known = above.setdefault(code, up)
                if known != up:
                    places = "at the top" if known is None else f"below {known}"
                    raise HierarchyError(
                        f"code {code} occurs twice: {places} and below {up}; give the two "
                        "different codes",
                        [code],
                    )
                up = code
        return cls._from_above(above, top)

    @classmethod
    def _from_above(cls, above: Mapping[str, str | None], root: str | None) -> Self:
        below: dict[str | None, list[str]] = {}
        for code, up in above.items():
            below.setdefault(up, []).append(code)
        codes: list[str] = []
        parents: list[int] = []
        waiting = [] if root is None else [(root, -1)]
        while waiting:
            code, parent = waiting.pop()
            waiting += [(child, len(codes)) for child in reversed(below.get(code, []))]
            codes.append(code)
            parents.append(parent)
        if len(codes) < len(above):
            circle = _circle(above, set(above).difference(codes))
            raise HierarchyError(
                f"codes lie below themselves: {' below '.join([*circle, circle[0]])}; correct the "
                "parent of one of them",
                circle,
            )
        if root is None:
            raise HierarchyError("there are no codes; a hierarchy has at least a total")
        return cls(tuple(codes), tuple(parents))

    def __repr__(self) -> str:
        n, levels = len(self.codes), self.depth + 1
        return (
            f"Hierarchy({self.total!r}, {n} code{'s' * (n != 1)}, {levels} level"
            f"{'s' * (levels != 1)})"
        )

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[str]:
        return iter(self.codes)

    def __contains__(self, code: object) -> bool:
        return code in self.positions

    @property
    def total(self) -> str:
        """The code of the total."""
        return self.codes[0]

    @cached_property
    def positions(self) -> dict[str, int]:
        """The position of each code in `codes`."""
        return {code: position for position, code in enumerate(self.codes)}

    @cached_property
    def parent(self) -> Integers:
        """`parents` as an array."""
        return _frozen(np.array(self.parents, np.int64))

    @cached_property
    def level(self) -> Integers:
        """How far below the total each code lies; 0 for the total."""
        level = [0] * len(self.codes)
        for position, parent in enumerate(self.parents[1:], start=1):
            level[position] = level[parent] + 1
        return _frozen(np.array(level, np.int64))

    @property
    def depth(self) -> int:
        """The level of the deepest code; 0 where there is only a total."""
        return int(self.level.max())

    @cached_property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        """For each code whether nothing lies below it."""
        leaf = np.ones(len(self.codes), bool)
        leaf[self.parent[1:]] = False
        leaf.setflags(write=False)
        return leaf

    @property
    def leaves(self) -> tuple[str, ...]:
        """The codes with nothing below them, in order."""
        return tuple(self.codes[position] for position in np.flatnonzero(self.is_leaf))

    def index(self, code: object) -> int:
        """The position of a code in `codes`."""
        position = self.positions.get(code_text(code))
        if position is None:
            raise HierarchyError(
                f"there is no code {code} below {self.total}; known are {first_few(self.codes)}",
                [str(code)],
            )
        return position

    def parent_of(self, code: object) -> str | None:
        """The code that a code lies directly below; None for the total."""
        parent = self.parents[self.index(code)]
        return None if parent < 0 else self.codes[parent]

    def children(self, code: object) -> tuple[str, ...]:
        """The codes directly below a code, in order."""
        below = np.flatnonzero(self.parent == self.index(code))
        return tuple(self.codes[position] for position in below)

    def ancestors(self, code: object) -> tuple[str, ...]:
        """All codes that a code lies below, nearest first."""
        found = []
        position = self.parents[self.index(code)]
        while position >= 0:
            found.append(self.codes[position])
            position = self.parents[position]
        return tuple(found)

    def with_labels(
        self,
        labels: Any,
        code: str = "code",
        label: str = "label",
        *,
        unknown: Literal["refuse", "ignore"] = "refuse",
    ) -> Self:
        """The same hierarchy with labels of codes, besides those that it has.

        Args:
            labels: A mapping of codes to labels, or a data frame (or dict of columns).
            code: The column with the codes, for a data frame.
            label: The column with their labels, for a data frame. A code without one has none.
            unknown: What to do with labels of codes that are not here: `refuse` them, or
                `ignore` them where one list of labels serves several hierarchies.

        Raises:
            HierarchyError: Codes that are not here, or codes with two labels.

        >>> industry = Hierarchy.flat(["C10", "C11"]).with_labels({"C10": "Food"})
        >>> industry.labels["C10"], industry.text("C10"), industry.text("C11")
        ('Food', 'C10 Food', 'C11')
        """
        given = labels_from(labels, code, label)
        if unknown == "ignore":
            given = {key: text for key, text in given.items() if key in self.positions}
        return replace(self, labels={**self.labels, **given})

    def text(self, code: object) -> str:
        """A code with its label, as in `C10 Food`; the code alone where it has none."""
        found = self.codes[self.index(code)]
        return f"{found} {self.labels[found]}" if found in self.labels else found

    def _refuse_unknown(self, labels: Iterable[str]) -> None:
        unknown = [code for code in labels if code not in self.positions]
        if unknown:
            raise HierarchyError(
                f"there are labels of {first_few(unknown)}, but no such codes below {self.total}; "
                "correct the codes or leave their labels out",
                unknown,
            )

    def codes_at(self, level: int) -> tuple[str, ...]:
        """The codes of one level, in order; the total is level 0."""
        return tuple(self.codes[position] for position in np.flatnonzero(self.level == level))


def code_text(code: object) -> str:
    """A code as text: text as it is, whole numbers written out, all else refused."""
    if isinstance(code, str) and code:
        odd = unwritable(code)
        if odd is not None:
            raise HierarchyError(f"code {odd}; correct it")
        return str(code)
    if isinstance(code, numbers.Integral) and not isinstance(code, bool | np.bool_):
        return str(int(code))
    if _is_missing(code):
        raise HierarchyError("a code is missing; every code needs a text or a whole number")
    raise HierarchyError(f"{code!r} cannot be a code; codes are text or whole numbers", [str(code)])


def _texts(codes: Iterable[object]) -> list[str]:
    if isinstance(codes, str):
        raise HierarchyError(f"{codes!r} is one text; give a list of codes")
    return [code_text(code) for code in codes]


def label_texts(rows: Iterable[tuple[object, object]]) -> dict[str, str]:
    """The label of each code that has one; pairs of code and label.

    Raises:
        HierarchyError: A code has two labels, or something cannot be a code or a label.
    """
    found: dict[str, str] = {}
    for code, label in rows:
        if _is_missing(label):
            continue
        # A line end within a label would break lines of text.
        key, text = code_text(code), " ".join(str(label).split())
        odd = unwritable(text)
        if odd is not None:
            raise HierarchyError(f"the label of code {key}, {odd}; correct it", [key])
        if text and found.setdefault(key, text) != text:
            raise HierarchyError(f"code {key} has two labels; leave out one", [key])
    return found


def labels_from(labels: Any, code: str = "code", label: str = "label") -> dict[str, str]:
    """The label of each code; arguments as of `Hierarchy.with_labels`."""
    if isinstance(labels, Mapping) and not (code in labels and label in labels):
        return label_texts(labels.items())
    table = _columns(labels)
    return label_texts(zip(_column(table, code), _column(table, label), strict=True))


def _is_missing(code: object) -> bool:
    # Data frames write "nothing here" in many ways; all but None and "" differ from themselves
    # or, as pandas.NA does, refuse to say.
    if code is None or (isinstance(code, str) and code == ""):
        return True
    try:
        return bool(code != code)
    except TypeError:
        return True


def _frozen(array: Integers) -> Integers:
    array.setflags(write=False)
    return array


def _refuse_duplicates(codes: Sequence[str]) -> None:
    twice = [code for code, times in Counter(codes).items() if times > 1]
    if twice:
        raise HierarchyError(
            f"codes {first_few(twice)} are listed more than once; list each code once", twice
        )


def _several_roots(roots: Sequence[str]) -> HierarchyError:
    return HierarchyError(
        f"there are {len(roots)} codes without a parent: {first_few(roots)}; a hierarchy has one "
        "total, put one above them",
        roots,
    )


def _circle(above: Mapping[str, str | None], unreached: set[str]) -> list[str]:
    """One cycle of codes, found by walking upwards from any code without a way to the total."""
    code: str | None = min(unreached)
    seen: dict[str | None, int] = {}
    walk: list[str] = []
    while code is not None and code not in seen:
        seen[code] = len(walk)
        walk.append(code)
        code = above[code]
    return walk[seen.get(code, 0) :]


def _nested_items(below: Any, above: str, position: int) -> list[tuple[str, Any, int]]:
    """What lies directly below a code, last one first as a stack wants it."""
    if below is None:
        return []
    if isinstance(below, str) or not isinstance(below, Iterable):
        raise HierarchyError(
            f"below {above} there is {below!r}; give a mapping, a list of codes or None", [above]
        )
    items = below.items() if isinstance(below, Mapping) else ((code, None) for code in below)
    return [(code_text(code), inside, position) for code, inside in items][::-1]


def _pairs(source: Any, child: str, parent: str) -> list[tuple[str, str | None]]:
    if isinstance(source, Mapping) and not (child in source and parent in source):
        rows: Iterable[tuple[object, object]] = source.items()
    else:
        table = _columns(source)
        rows = zip(_column(table, child), _column(table, parent), strict=True)
    return [(code_text(code), None if _is_missing(up) else code_text(up)) for code, up in rows]


def _columns(frame: Any) -> dict[str, list[Any]]:
    if isinstance(frame, Mapping):
        return {str(name): list(column) for name, column in frame.items()}
    # Slow to import, and needed for frames only.
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise HierarchyError(
            f"{type(frame).__name__} is not a data frame; give one of pandas, polars or pyarrow, "
            "or a dict of columns"
        ) from None
    return {name: table[name].to_list() for name in table.columns}


def _column(table: Mapping[str, list[Any]], name: str) -> list[Any]:
    if name not in table:
        raise HierarchyError(f"there is no column {name}; the columns are {first_few([*table])}")
    return table[name]
