"""What is wrong with a JJ file that cannot be read, and on which line.

The reader works on whole columns and only knows that something is wrong. This module then
walks through the text line by line and names the first fault. Fields are named, not quoted: a
malformed field may still show a true value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from tacit.errors import InputError

MOST_DIGITS = 18
"""Digits that a count may have: more do not fit a machine integer."""

_CELL_FIELDS = (
    "cell number",
    "value",
    "cost",
    "status",
    "lower bound",
    "upper bound",
    "lower protection level",
    "upper protection level",
    "sliding protection level",
)
_BOUNDS = ("lower bound", "upper bound")
_LEVELS = _CELL_FIELDS[6:]
_NUMBER = re.compile(
    rb"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE
)
_TERM = re.compile(rb"\s*([^\s()]+)\s*\(\s*([^\s()]+)\s*\)\s*")


def raise_first_fault(content: bytes, path: str | Path) -> NoReturn:
    """Raise the `InputError` that names the first fault of a text that is no JJ file."""
    walk = _Walk(content, path)
    walk.first_line()
    n = walk.count("the number of cells")
    announced = walk.line
    for cell in range(n):
        walk.cell(cell, n, announced)
    m = walk.count("the number of relations")
    announced = walk.line
    for relation in range(m):
        walk.relation(relation, m, n, announced)
    walk.end(m)
    raise InputError("this is not a JJ file", path=path)


class _Walk:
    """The lines of a file in order; `line` is the number of the one last taken."""

    def __init__(self, content: bytes, path: str | Path):
        self.path = path
        self.line = 0
        self._lines = self._filled(content)

    def _filled(self, content: bytes) -> Iterator[bytes]:
        for number, text in enumerate(content.split(b"\n"), 1):
            if text.strip():
                self.line = number
                yield text

    def _fault(self, message: str) -> InputError:
        return InputError(message, path=self.path, line=self.line)

    def _next(self, wanted: str) -> bytes:
        text = next(self._lines, None)
        if text is None:
            raise self._fault(f"the file ends here, before {wanted}; it may be cut off")
        return text

    def first_line(self) -> None:
        text = next(self._lines, None)
        if text is None:
            raise InputError("the file is empty; was it written to its end?", path=self.path)
        if text.strip() != b"0":
            raise self._fault(
                "a JJ file starts with a line that holds only 0 (it has no comments and no "
                "headings); this is another format, or its first line is missing"
            )

    def count(self, what: str) -> int:
        text = self._next(what).strip()
        if not text.isdigit() or len(text) > MOST_DIGITS:
            fields = len(text.split())
            found = f"{fields} fields" if fields > 1 else self._quoted(text)
            raise self._fault(
                f"{what} must stand alone on this line; found {found}. Check the counts, and "
                "that no line is missing or added before this one"
            )
        return int(text)

    def cell(self, cell: int, n: int, announced: int) -> None:
        wanted = f"cell {cell}; line {announced} announces {n} cells"
        fields = self._next(wanted).split()
        if len(fields) != len(_CELL_FIELDS):
            raise self._fault(
                f"the line of a cell has {len(_CELL_FIELDS)} fields ({', '.join(_CELL_FIELDS)}); "
                f"this one has {len(fields)} (expected: {wanted})"
            )
        status = fields[3]
        if status not in (b"s", b"u", b"z", b"m"):
            raise self._fault(
                f"the status must be s, u, z or m in lower case; found {self._quoted(status)}"
            )
        numbers = {
            name: self._number(f"the {name} of cell {cell}", field)
            for name, field in zip(_CELL_FIELDS, fields, strict=True)
            if name != "status"
        }
        if numbers["cell number"] != cell:
            raise self._fault(
                f"cells are numbered from 0 in the order of their lines; this must be cell {cell}"
            )
        for name, number in numbers.items():
            if name in _BOUNDS or (name in _LEVELS and status != b"u"):
                continue
            if not math.isfinite(number):
                raise self._fault(f"the {name} of cell {cell} must be a finite number")
        for name in _BOUNDS:
            if math.isnan(numbers[name]):
                raise self._fault(f"the {name} of cell {cell} must be a number, inf or -inf")

    def relation(self, relation: int, m: int, n: int, announced: int) -> None:
        wanted = f"relation {relation}; line {announced} announces {m} relations"
        head, colon, tail = self._next(wanted).partition(b":")
        where = f"relation {relation}"
        start = head.split()
        if not colon or len(start) != 2:
            missing = "" if colon else "; the colon is missing"
            raise self._fault(
                f"a relation reads `rhs k : i (c) i (c) ...`{missing} (expected: {wanted})"
            )
        rhs = self._number(f"the right-hand side of {where}", start[0])
        if not math.isfinite(rhs):
            raise self._fault(f"the right-hand side of {where} must be a finite number")
        k = self._number(f"the number of terms of {where}", start[1])
        found = self._terms(tail, where, n)
        if k != found:
            raise self._fault(
                f"{where} has {found} term{'s' * (found != 1)}; the number before the colon "
                "says otherwise"
            )

    def _terms(self, tail: bytes, where: str, n: int) -> int:
        """Check all terms of a relation and count them."""
        seen: set[float] = set()
        position = len(tail) - len(tail.lstrip())
        while position < len(tail):
            name = f"term {len(seen) + 1} of {where}"
            term = _TERM.match(tail, position)
            if term is None:
                raise self._fault(
                    f"{name} does not read `i (c)`: a cell number, its coefficient in parentheses"
                )
            cell = self._number(f"the cell number in {name}", term[1])
            if not (0 <= cell < n and cell == math.trunc(cell)):
                raise self._fault(f"{name}: there is no such cell; cells are 0 to {n - 1}")
            if cell in seen:
                raise self._fault(f"{name} names cell {int(cell)} again; add its coefficients up")
            seen.add(cell)
            if not math.isfinite(self._number(f"the coefficient in {name}", term[2])):
                raise self._fault(f"the coefficient in {name} must be a finite number")
            position = term.end()
        return len(seen)

    def end(self, m: int) -> None:
        if next(self._lines, None) is not None:
            raise self._fault(f"the file goes on after its last relation (there are {m})")

    def _number(self, what: str, field: bytes) -> float:
        if _NUMBER.fullmatch(field):
            return float(field)
        hint = "; write decimals with a point, not a comma" if b"," in field else ""
        raise self._fault(f"{what} is not a number{hint} (found {self._quoted(field)})")

    def _quoted(self, field: bytes) -> str:
        """The field itself where it cannot show a value."""
        if any(byte in b"0123456789" for byte in field):
            return "digits that are not shown here"
        return repr(field[:20].decode("ascii", "backslashreplace"))
