"""Errors that tacit raises on purpose: each says what is wrong, where, and what to do.

No message contains the value of a cell, a contribution or a protection level: such
texts end up in logs. Cells are named by their label or their number.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]
"""How to get to an entry: names of options or keys, and places in lists."""


class TacitError(Exception):
    """Base of every error that tacit raises on purpose.

    Attributes:
        key: The option that it is about, as a path from the argument of the function that was
            called, such as `("rules", 0, "p")`; empty where it is about no option. A job finds
            the line of its file by it.
    """

    key: KeyPath = ()


class InputError(TacitError):
    """Input that cannot be used as it is.

    Attributes:
        path: The file concerned, if there is one.
        line: The line in that file, counted from 1.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        key: KeyPath = (),
    ):
        self.key = key
        self.path = None if path is None else Path(path)
        self.line = line
        where = "" if path is None else str(path)
        if line is not None:
            where += f":{line}" if where else f"line {line}"
        super().__init__(f"{where}: {message}" if where else message)


class HierarchyError(TacitError):
    """Codes that do not form a tree.

    Attributes:
        codes: The codes concerned.
    """

    def __init__(self, message: str, codes: Sequence[str] = (), *, key: KeyPath = ()):
        self.key = key
        self.codes = tuple(codes)
        super().__init__(message)


class TableError(TacitError):
    """Cells, dimensions or links that do not make a table.

    Attributes:
        cells: Labels of the cells concerned.
    """

    def __init__(self, message: str, cells: Sequence[str] = (), *, key: KeyPath = ()):
        self.key = key
        self.cells = tuple(cells)
        super().__init__(message)


class ProblemError(TacitError):
    """A condition of `Problem` that does not hold.

    Attributes:
        cells: Numbers of the cells concerned.
        relations: Numbers of the relations concerned.
    """

    def __init__(self, message: str, *, cells: Iterable[int] = (), relations: Iterable[int] = ()):
        self.cells = tuple(int(cell) for cell in cells)
        self.relations = tuple(int(relation) for relation in relations)
        super().__init__(message)


@contextmanager
def about(*key: str | int) -> Iterator[None]:
    """Say what errors raised inside are about: their keys continue this one.

    >>> try:
    ...     with about("rules", 0):
    ...         raise InputError("p must be positive", key=("p",))
    ... except InputError as error:
    ...     print(error.key)
    ('rules', 0, 'p')
    """
    try:
        yield
    except TacitError as error:
        error.key = (*key, *error.key)
        raise


class SolverError(TacitError):
    """A solver failed, even from a cold start."""


class StoppedError(TacitError):
    """An observer asked to stop before there was anything to return."""


_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Halves of characters and control characters, which most formats cannot hold."""


def unwritable(text: str) -> str | None:
    r"""Why a text cannot be a code or a name, None where it can.

    Python takes bytes that are not UTF-8, and halves of characters that other systems cut, for
    lone surrogates; no file can hold them.

    >>> unwritable("Zürich"), unwritable("a\ud800")
    (None, 'a\\ud800 holds half of a character (a lone surrogate)')
    """
    found = _UNWRITABLE.search(text)
    if found is None:
        return None
    shown = _UNWRITABLE.sub(lambda odd: f"\\u{ord(odd[0]):04x}", text)
    if "\ud800" <= found[0] <= "\udfff":
        return f"{shown} holds half of a character (a lone surrogate)"
    return f"{shown} holds a control character"


def not_utf8(content: bytes, error: UnicodeDecodeError, path: str | Path) -> InputError:
    """The error of a file that is not text, with the line where it is not."""
    line = content[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n") + 1
    return InputError("this is not text in UTF-8; convert the file", path=path, line=line)


def nearest(word: str, known: Sequence[str]) -> str:
    """What somebody may have meant by a word that is not known.

    >>> nearest("tunrover", ["turnover", "staff"]), nearest("x", ["turnover", "staff"])
    ("did you mean 'turnover'?", 'known are turnover, staff')
    """
    near = difflib.get_close_matches(word, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(dict.fromkeys(known))}"


def name_columns(present: Iterable[str]) -> str:
    """The columns that there are, for a message about one that is missing.

    A first line with numbers is a record, and so may be one that nothing has divided: what they
    report must not get into a message.

    >>> name_columns(["region", "turnover"])
    'the columns are region, turnover'
    >>> name_columns(["North", "1250"])
    'some columns have numbers for names: does the first line name the columns?'
    >>> name_columns(["region|turnover"])
    'the first line names a single column: which character separates the columns?'
    """
    names = [str(name) for name in present]
    if len(names) == 1 and re.search(r"[^\w-]", names[0]):
        return "the first line names a single column: which character separates the columns?"
    if any(_is_number(name) for name in names):
        return "some columns have numbers for names: does the first line name the columns?"
    return f"the columns are {first_few(names, limit=20)}"


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def percentage(share: float) -> str:
    """A share in percent with two digits that count.

    >>> percentage(0.0312), percentage(3.2e-7), percentage(1.5)
    ('3.1%', '3.2e-05%', '150%')
    """
    percent = 100 * share
    return f"{percent:.0f}%" if percent >= 99.5 else f"{percent:.2g}%"


def first_few(items: Sequence[object], limit: int = 5) -> str:
    """Name the first few of many things.

    >>> first_few(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    shown = ", ".join(str(item) for item in items[:limit])
    more = len(items) - limit
    return f"{shown} and {more} more" if more > 0 else shown
