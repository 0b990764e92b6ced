"""Hierarchies in `.hrc` files: one code per line, each level marked by one more mark before it.

Codes are unique and blanks around them mean nothing. `tacit.io.argus.hierarchies` reads such files
as tau-ARGUS does, where codes have a width and may occur in several places.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tacit.entries import tidy_code
from tacit.errors import HierarchyError, InputError
from tacit.hierarchy import DEFAULT_TOTAL, Hierarchy
from tacit.io.files import read_text


def read_hrc(
    path: str | Path,
    indent: str = "@",
    total: str = DEFAULT_TOTAL,
    *,
    encoding: str | None = None,
    note: Callable[[str], object] | None = None,
) -> Hierarchy:
    """Read a hierarchy from a file; see `Hierarchy.from_hrc`.

    Args:
        path: The file.
        indent: The mark.
        total: The code of the total.
        encoding: The encoding; without it UTF-8, or what the bytes of the file suggest.
        note: Is told what was guessed.

    Raises:
        InputError: The file cannot be read, a line has marks but no code or lies more than one
            level below the line before, or a code is listed twice.
    """
    if not indent or indent.isspace():
        raise InputError("the mark before codes cannot be blank; give another, such as @")
    lines = read_text(path, encoding, note).split("\n")
    above = [total]
    parents: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        code = line.strip()
        depth = 0
        while code.startswith(indent):
            code = code[len(indent) :].lstrip()
            depth += 1
        code = tidy_code(code)
        if not code:
            if depth:
                raise InputError("there are marks but no code", path=path, line=number)
            continue
        if depth >= len(above):
            raise InputError(
                f"code {code} is more than one level below the line before",
                path=path,
                line=number,
            )
        if code in parents or code == total:
            raise InputError(f"code {code} is listed more than once", path=path, line=number)
        parents[code] = above[depth]
        above[depth + 1 :] = [code]
    if not parents:
        raise InputError("the file holds no codes", path=path)
    try:
        return Hierarchy.from_parents(parents, total=total)
    except HierarchyError as error:
        raise InputError(str(error), path=path) from None
