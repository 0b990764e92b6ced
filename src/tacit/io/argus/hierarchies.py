"""Hierarchies of tau-ARGUS: files with one code per line (`.hrc`), and levels within codes.

Codes are found whatever the blanks around them. In the table a finest code is as wide as its
variable, aligned to the right, and codes above it are as in the file. Such a code may occur below
several others; from the second time on it has a blank more behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tacit.errors import HierarchyError, InputError
from tacit.hierarchy import Hierarchy
from tacit.io.argus.paths import read_argus_text

REPEATED = " "
"""What stands behind a code that occurs in another place of the hierarchy before."""

DEEPEST = 1000
"""More levels than this are no hierarchy but a broken file."""


def read_hrc(
    path: str | Path,
    lead: str = "@",
    total: str = "Total",
    *,
    width: int = 0,
    missing: Sequence[str] = (),
) -> Hierarchy:
    """Read a hierarchy from a file.

    Args:
        path: The file, one code per line; as many lead strings before it as levels above it.
        lead: The lead string.
        total: The code of the total, which is not in the file.
        width: How wide finest codes are.
        missing: Codes that stand for missing values: the last ones directly below the total.

    Raises:
        InputError: A line without a code, or more than one level below the line before.
    """
    path = Path(path)
    found: list[tuple[int, str, int]] = []
    for line, text in enumerate(read_argus_text(path).split("\n"), start=1):
        rest = text.rstrip()
        # Blanks before the lead string mean nothing, those behind it belong to the code.
        if rest.lstrip().startswith(lead) and lead.strip():
            rest = rest.lstrip()
        depth = 0
        while rest.startswith(lead) and depth < DEEPEST:
            rest = rest[len(lead) :]
            depth += 1
        if not rest.strip():
            if depth and lead.strip():
                raise InputError("there are lead strings but no code", path=path, line=line)
            continue
        if depth > (found[-1][0] + 1 if found else 0):
            raise InputError(
                f"code {rest.strip()} is more than one level below the line before",
                path=path,
                line=line,
            )
        found.append((depth, rest, line))
    if not found:
        raise InputError("the file holds no codes", path=path)
    depths = [depth for depth, _, _ in found] + [0]
    codes, parents, above, lines = [total], [-1], [0], {total: 0}
    for place, (depth, text, line) in enumerate(found):
        is_finest = depths[place + 1] <= depth
        code = aligned(text, width) if is_finest else text
        if code in lines and is_finest:
            raise InputError(
                f"code {code.strip()} is listed more than once, or is the total",
                path=path,
                line=line,
            )
        # Records name finest codes only, so that others may occur in several places.
        while code in lines:
            code += REPEATED
        lines[code] = line
        parents.append(above[depth])
        codes.append(code)
        above[depth + 1 :] = [len(codes) - 1]
    try:
        return with_missing(Hierarchy(tuple(codes), tuple(parents)), missing, width)
    except HierarchyError as error:
        at = next((lines[code] for code in error.codes if code in lines), None)
        raise InputError(str(error), path=path, line=at or None) from None


def by_levels(
    codes: Iterable[str],
    levels: Sequence[int],
    total: str = "Total",
    *,
    missing: Sequence[str] = (),
) -> Hierarchy:
    """A hierarchy from codes whose first characters are the codes above them.

    Args:
        codes: The codes; those above finest ones need not be among them.
        levels: How many characters each level adds.
        total: The code of the total.
        missing: Codes that stand for missing values.

    >>> by_levels(["101", "102", "201"], (1, 2)).codes
    ('Total', '1', '101', '102', '2', '201')
    """
    width = sum(levels)
    lost = {aligned(code, width) for code in missing}
    ends = [sum(levels[: place + 1]) for place in range(len(levels))]
    above: dict[str, str] = {}
    for code in sorted(code for code in codes if code not in lost):
        up = total
        for end in [*(end for end in ends if end < len(code)), len(code)]:
            part = code[:end]
            above.setdefault(part, up)
            up = part
    made = Hierarchy.from_parents(above, total=total) if above else Hierarchy((total,), (-1,))
    return with_missing(made, missing, width)


def flat(
    codes: Iterable[str], total: str = "Total", *, width: int = 0, missing: Sequence[str] = ()
) -> Hierarchy:
    """Codes below one total, in order; those for missing values last."""
    lost = {aligned(code, width) for code in missing}
    ordered = sorted(code for code in codes if code not in lost and code != total)
    return with_missing(Hierarchy.flat(ordered, total), missing, width)


def with_missing(hierarchy: Hierarchy, missing: Sequence[str], width: int) -> Hierarchy:
    """A hierarchy with the codes for missing values, directly below the total."""
    known = {code.strip() for code in hierarchy.codes}
    added = [aligned(code, width) for code in dict.fromkeys(missing) if code.strip() not in known]
    return Hierarchy(
        (*hierarchy.codes, *added), (*hierarchy.parents, *[0] * len(added)), hierarchy.labels
    )


def aligned(code: str, width: int) -> str:
    """A code without the blanks around it, aligned to the right.

    >>> aligned("7 ", 2), aligned(" North", 2)
    (' 7', 'North')
    """
    return code.strip().rjust(width)
