"""Entries of files as people write them: codes with blanks and quotation marks around them, numbers
with decimal signs and thousands separators, and what may be wrong with them.

What a number means is never guessed where it could mean two things. `1.234` alone may be 1234 or
a little more than one; only other numbers of the same file, or the user, can tell.

All patterns are understood alike by Python and by DuckDB.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from tacit.errors import InputError

MISSING = ("", "nan")
"""What stands for no number, in any case."""

BLANKS = " \t\u00a0\u2007\u2009\u202f"
"""Blanks, among them those that do not break a line, as French tables have them in numbers."""

AROUND_NUMBERS = f'{BLANKS}\r\n"='
"""What may stand around a number without being part of it."""

APOSTROPHES = "'\u2019"
DECIMALS = (".", ",")
THOUSANDS = ("", " ", "'", ".", ",")
"""What may stand between thousands; a blank stands for every kind of blank, and so does `'`."""

_KINDS = {" ": BLANKS, "'": APOSTROPHES}
_WORDS = {
    ".": "a point",
    ",": "a comma",
    " ": "a blank",
    "'": "an apostrophe",
}
_SAME = {
    **dict.fromkeys(BLANKS, " "),
    **dict.fromkeys(APOSTROPHES, "'"),
    "none": "",
    "blank": " ",
    "space": " ",
}
_SIGN = "[+\\-\u2212]?"
_EXPONENT = "(?:[eE][+-]?[0-9]+)?"
_GROUP = f"[{BLANKS}{APOSTROPHES}]"
_WHOLE = f"(?:[1-9][0-9]{{0,2}}(?:{_GROUP}[0-9]{{3}})+|[0-9]+)"


_AROUND = (
    re.compile('=?"(.*)"', re.DOTALL),
    re.compile("'(.*)'", re.DOTALL),
    re.compile("'([0-9].*)", re.DOTALL),
)


def tidy_code(text: str) -> str:
    """A code without blanks and quotation marks around it; what is inside stays.

    Spreadsheets write `="01"` and `'01` to keep a zero in front.

    >>> tidy_code(' "01" '), tidy_code('="01"'), tidy_code("North\u00a0"), tidy_code('5" pipes')
    ('01', '01', 'North', '5" pipes')
    """
    stripped = text.strip()
    for pattern in _AROUND:
        found = pattern.fullmatch(stripped)
        if found is not None:
            return found[1].strip()
    return stripped


def are_floats(codes: Iterable[str]) -> bool:
    """Whether all codes are whole numbers that a program wrote with a decimal, such as 1.0.

    >>> are_floats(["1.0", "12.0"]), are_floats(["1.0", "1.1"]), are_floats([])
    (True, False, False)
    """
    found = list(codes)
    return bool(found) and all(code.endswith(".0") and code[:-2].isdecimal() for code in found)


def _shapes(mark: str, other: str) -> dict[str, str]:
    """Patterns of numbers with a mark that may be a decimal sign or separate thousands."""
    here, there = re.escape(mark), re.escape(other)
    grouped = f"{_SIGN}[1-9][0-9]{{0,2}}(?:{here}[0-9]{{3}})"
    return {
        f"either {mark}": f"{_SIGN}[1-9][0-9]{{0,2}}{here}[0-9]{{3}}",
        f"decimal {mark}": f"{_SIGN}(?:{_WHOLE}{here}[0-9]*|{here}[0-9]+){_EXPONENT}",
        f"thousands {mark}": f"{grouped}{{2,}}",
        f"thousands {mark}, decimal {other}": f"{grouped}+{there}[0-9]*{_EXPONENT}",
    }


SHAPES: Mapping[str, str] = {
    **_shapes(".", ","),
    **_shapes(",", "."),
    "blanks": f"{_SIGN}[1-9][0-9]{{0,2}}(?:[{BLANKS}][0-9]{{3}})+(?:[.,][0-9]*)?",
    "apostrophes": f"{_SIGN}[1-9][0-9]{{0,2}}(?:[{APOSTROPHES}][0-9]{{3}})+(?:[.,][0-9]*)?",
}
"""What the shape of a number tells, by a pattern of the whole text without blanks around it.

`either` is also a case of `decimal`: it counts only as the former.
"""

_COMPILED = {name: re.compile(pattern) for name, pattern in SHAPES.items()}


@dataclass(frozen=True)
class NumberFormat:
    """How numbers are written.

    Attributes:
        decimal: The decimal sign.
        thousands: All marks that may separate thousands, see `THOUSANDS`.
    """

    decimal: str = "."
    thousands: str = ""

    @cached_property
    def pattern(self) -> str:
        """A pattern of the whole text, without blanks around it."""
        point = re.escape(self.decimal)
        # Nothing begins with a group of zeros: that would be a decimal. Nor has a number marks of
        # two kinds between its thousands.
        kinds = [re.escape(_KINDS.get(mark, mark)) for mark in self.thousands]
        grouped = [f"[1-9][0-9]{{0,2}}(?:[{kind}][0-9]{{3}})+" for kind in kinds]
        whole = f"(?:{'|'.join([*grouped, '[0-9]+'])})"
        return f"{_SIGN}(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+){_EXPONENT}"

    @property
    def marks(self) -> str:
        """All characters that may separate thousands."""
        return "".join(_KINDS.get(mark, mark) for mark in self.thousands)

    @cached_property
    def _matches(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def read(self, text: str) -> float | None:
        """The number that a text is, None where it is none.

        >>> NumberFormat(",", ".").read("1.234,5"), NumberFormat(",", ".").read("1.5")
        (1234.5, None)
        """
        stripped = text.strip(AROUND_NUMBERS)
        if not self._matches.fullmatch(stripped):
            return None
        plain = stripped.translate({ord(mark): None for mark in self.marks})
        number = float(plain.replace(self.decimal, ".").replace("\u2212", "-"))
        return number if math.isfinite(number) else None

    def __str__(self) -> str:
        words = [f"decimal {'comma' if self.decimal == ',' else 'point'}"]
        if self.thousands:
            named = " or ".join(_WORDS[mark] for mark in self.thousands)
            words.append(f"{named} between thousands")
        return ", ".join(words)


PLAIN = NumberFormat()
"""As computers write numbers."""


@dataclass(frozen=True)
class Told:
    """What a user says about numbers.

    Attributes:
        decimal: The decimal sign; None leaves it to the numbers themselves.
        thousands: What separates thousands, empty for nothing; None leaves it open.
    """

    decimal: str | None = None
    thousands: str | None = None

    def __post_init__(self) -> None:
        if self.decimal is not None and self.decimal not in DECIMALS:
            raise InputError('decimal must be "." or ","', key=("decimal",))
        if self.thousands is not None:
            mark = _SAME.get(self.thousands, self.thousands)
            if mark not in THOUSANDS:
                raise InputError(
                    'thousands must be one of " ", "\'", ".", "," or "" for none; a blank stands '
                    "for blanks of every kind",
                    key=("thousands",),
                )
            object.__setattr__(self, "thousands", mark)
            if mark and mark == self.decimal:
                raise InputError(
                    "decimal and thousands are the same sign; they must differ", key=("thousands",)
                )


class AmbiguousNumbersError(InputError):
    """Numbers that could mean two things, and nothing tells which.

    Attributes:
        mark: The sign that may be either.
    """

    def __init__(self, mark: str):
        self.mark = mark
        word = "point" if mark == "." else "comma"
        other = "," if mark == "." else "."
        super().__init__(
            f"a {word} with three digits behind it may be a decimal {word} or separate thousands, "
            f"and no number tells which; write decimal = {mark!r} or decimal = {other!r} (then it "
            "separates thousands)".replace("'", '"'),
            key=("decimal",),
        )


def shapes_of(texts: Iterable[str]) -> dict[str, int]:
    """How many texts have each shape; see `SHAPES`.

    >>> shapes_of(["1.234", "12,50", "7"])
    {'either .': 1, 'decimal ,': 1}
    """
    found: dict[str, int] = {}
    for text in texts:
        stripped = text.strip(AROUND_NUMBERS)
        if stripped.isdecimal():
            continue
        either = False
        for name, pattern in _COMPILED.items():
            if either and name.startswith("decimal"):
                either = False
            elif pattern.fullmatch(stripped):
                either = name.startswith("either")
                found[name] = found.get(name, 0) + 1
    return found


def format_of(shapes: Mapping[str, int], told: Told) -> NumberFormat:
    """How numbers are written that have these shapes, as far as they tell.

    A point or comma separates thousands only where some number shows it, such as `1.234.567` or
    `1.234,5`, or where the user says so. Where numbers contradict each other the format is that
    of most; the others are no numbers in it.

    Args:
        shapes: How many numbers have each shape, see `shapes_of`.
        told: What the user says.

    Raises:
        AmbiguousNumbersError: Numbers could mean two things.

    >>> str(format_of({"decimal ,": 2, "blanks": 1}, Told()))
    'decimal comma, a blank between thousands'
    """
    votes = {
        mark: sum(count for name, count in shapes.items() if f"decimal {mark}" in name)
        for mark in DECIMALS
    }
    groups = {
        mark: sum(count for name, count in shapes.items() if f"thousands {mark}" in name)
        for mark in DECIMALS
    }
    decimal = told.decimal
    contradicts = False
    if decimal is None and told.thousands in DECIMALS:
        decimal = _other(told.thousands)
    if decimal is None:
        # A sign that separates thousands leaves the other one for decimals.
        for_sign = {mark: votes[mark] + groups[_other(mark)] for mark in DECIMALS}
        contradicts = all(for_sign.values())
        if any(for_sign.values()):
            decimal = max(DECIMALS, key=for_sign.__getitem__)
        else:
            unclear = [mark for mark in DECIMALS if shapes.get(f"either {mark}")]
            if told.thousands is not None and len(unclear) == 1:
                decimal = unclear[0]
            elif unclear:
                raise AmbiguousNumbersError(unclear[0])
    decimal = decimal or "."
    if told.thousands is not None:
        return NumberFormat(decimal, told.thousands)
    thousands = ""
    other = _other(decimal)
    # With a decimal sign that was told, the other one can only separate thousands.
    if (groups[other] and not contradicts) or (
        told.decimal is not None and shapes.get(f"either {other}") and not votes[other]
    ):
        thousands += other
    thousands += " " if shapes.get("blanks") else ""
    thousands += "'" if shapes.get("apostrophes") else ""
    return NumberFormat(decimal, thousands)


def _other(mark: str | None) -> str:
    return "," if mark == "." else "."


_NUMBER = "[+\\-\u2212]?[0-9][0-9.,' \u00a0\u202f]*"
_CAUSES = (
    (r"[-\u2013\u2014\u2212]+", "a dash for zero or nothing: write 0, or leave it empty"),
    (
        r"\.{1,3}|:|\*+|[a-z]{1,2}|n/?a|n\.a\.?|nc|conf\.?|null|none|#n/a",
        "a mark in place of a figure: leave it empty where there is none",
    ),
    (r"#[a-z/0-9!?]+[!?]?", "an error of a spreadsheet: correct the formula"),
    (r"[+-]?inf(inity)?|nan", "an infinite number: correct it"),
    (r"\(\s*[0-9.,' ]+\)", "brackets for a negative number: write a minus sign"),
    (r"[0-9.,' ]*[0-9]\s*[-\u2212]", "the minus sign stands behind: write it in front"),
    (
        r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}",
        "a date: did a spreadsheet make one of a number?",
    ),
    (
        _NUMBER + r"(\s*[*\u2020\u2021\u00b9\u00b2\u00b3\u2070-\u2079]+|\s*[a-z0-9]{1,2}\)"
        r"|\s*\([a-z0-9]{1,2}\)"
        r"|\s+[pregsub])",
        "a footnote mark: remove it",
    ),
    (
        _NUMBER + r"%|[\u20ac$\u00a3\u00a5].*|.*[\u20ac$\u00a3\u00a5]",
        "a unit: keep the number alone",
    ),
    (_NUMBER + r"\s*[a-z][^0-9]*", "a unit: keep the number alone"),
    (r"[0-9ol.,' ]*[ol][0-9ol.,' ]*", "a letter o or l in place of a digit: correct it"),
    (r"[0-9]+(_[0-9]+)+", "an underscore between digits: remove it"),
)
_CAUSES_COMPILED = tuple((re.compile(pattern), cause) for pattern, cause in _CAUSES)


def likely_cause(text: str, expected: NumberFormat = PLAIN) -> str:
    """Why a text is probably not a number, and what to do; empty where nobody can tell.

    The text itself is not quoted, because it may be confidential.

    >>> likely_cause("12 EUR"), likely_cause("-")
    ('a unit: keep the number alone', 'a dash for zero or nothing: write 0, or leave it empty')
    >>> likely_cause("3,5")
    'a decimal comma where other numbers have a decimal point'
    """
    stripped = text.strip()
    shapes = shapes_of([stripped])
    other = _other(expected.decimal)
    word = "comma" if other == "," else "point"
    if f"either {other}" in shapes:
        return (
            f"a {word} that separates thousands, or a decimal {word}: write thousands = "
            f'"{other}" if it separates thousands'
        )
    if f"decimal {other}" in shapes:
        expected_word = "point" if word == "comma" else "comma"
        return f"a decimal {word} where other numbers have a decimal {expected_word}"
    if any(f"thousands {mark}" in name for name in shapes for mark in DECIMALS):
        return "points or commas that contradict those of other numbers"
    if "blanks" in shapes or "apostrophes" in shapes:
        return "a sign between thousands: write thousands to allow it"
    lowered = stripped.casefold()
    for pattern, cause in _CAUSES_COMPILED:
        if pattern.fullmatch(lowered):
            return cause
    if re.fullmatch(_NUMBER, stripped):
        return "separators that do not divide it into groups of three digits"
    return ""
