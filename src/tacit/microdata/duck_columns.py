"""What columns say, as SQL: codes without what stands around them, numbers as written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tacit.entries import (
    AROUND_NUMBERS,
    BLANKS,
    MISSING,
    PLAIN,
    SHAPES,
    NumberFormat,
    Told,
    are_floats,
    format_of,
    tidy_code,
)
from tacit.hierarchy import Hierarchy
from tacit.microdata.quoting import quoted_name, quoted_text
from tacit.microdata.specification import NO, YES, Specification

WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
FLOATING = ("FLOAT", "DOUBLE")
TEXT = ("VARCHAR", "ENUM")
TIMES = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE")
NUMERIC = (*WHOLE, *FLOATING, "UBIGINT", "HUGEINT", "UHUGEINT", "DECIMAL", "BOOLEAN", "BIGNUM")
Run: TypeAlias = Callable[[str], list[tuple[Any, ...]]]
"""Runs a query; its rows."""


@dataclass
class SqlColumns:
    """How to read columns in SQL.

    Attributes:
        types: The type of each column.
        wanted: Which columns are what.
        untidy: Columns of codes with something around some of them.
        floats: Columns of codes that are whole numbers written with a decimal, such as 1.0.
        format: How numbers are written in columns of text.
        is_plain: Whether all of them are as computers write them.
        notes: What was guessed.
    """

    types: Mapping[str, str]
    wanted: Specification
    untidy: frozenset[str] = frozenset()
    floats: frozenset[str] = frozenset()
    format: NumberFormat = PLAIN
    is_plain: bool = True
    notes: list[str] = field(default_factory=list)
    _looked: bool = False

    def look_at_points(self, run: Run, table: str, told: Told) -> None:
        """Find out whether numbers are as computers write them, at little cost where they are.

        Whatever else is wrong with them shows when they are read. Only a point that separates
        thousands would not show.

        Raises:
            AmbiguousNumbersError: Numbers could mean two things.
        """
        texts = self._texts()
        if not texts:
            return
        if told != Told():
            self.look_at_numbers(run, table, told)
            return
        points = " OR ".join(f"contains({self._text(name)}, '.')" for name in texts)
        if run(f"SELECT 1 FROM {table} WHERE {points} LIMIT 1"):
            decimals = " OR ".join(self._shows_decimals(name) for name in texts)
            if not run(f"SELECT 1 FROM {table} WHERE {decimals} LIMIT 1"):
                self.look_at_numbers(run, table, told)

    def look_at_numbers(self, run: Run, table: str, told: Told) -> bool:
        """Find out how numbers are written; whether that is in another way than was thought.

        Args:
            run: Runs a query.
            table: What to read from.
            told: What the user says about numbers.

        Raises:
            AmbiguousNumbersError: Numbers could mean two things.
        """
        if self._looked or not self._texts():
            return False
        self._looked = True
        self.format = format_of(self._shapes(run, table, self._texts()), told)
        # Blanks of other kinds may stand around numbers as well.
        self.is_plain = False
        if self.format != PLAIN and told == Told():
            self.notes.append(
                f"numbers are read with {self.format} (guessed; decimal and thousands say "
                "otherwise)"
            )
        return True

    def look_at_codes(self, run: Run, table: str, names: Iterable[str]) -> bool:
        """Find out whether codes have something around them; whether any do.

        Args:
            run: Runs a query.
            table: What to read from.
            names: Columns of codes.
        """
        before = self.untidy | self.floats
        for name in names:
            if name in before or self.types[name] not in TEXT:
                continue
            text = self._text(name)
            codes = [row[0] for row in run(f"SELECT DISTINCT {text} FROM {table}")]
            self.note_codes(name, [code for code in codes if code is not None])
        return self.untidy | self.floats != before

    def note_codes(self, name: str, codes: Iterable[str]) -> None:
        """Note what is around the codes of a column, all of which are given."""
        given = self.wanted.by.get(name)
        if self.types[name] not in TEXT or (given is not None and _is_untidy(given)):
            # Hierarchies whose own codes have something around them are matched to the letter.
            return
        found = list(codes)
        tidy = [tidy_code(code) for code in found]
        if tidy != found:
            self.untidy |= {name}
        if name not in self.wanted.by:
            return
        filled = [code for code in tidy if code]
        # Whole numbers become 1.0 where a program had to leave a gap.
        if are_floats(filled) and (given is None or not any(code in given for code in filled)):
            self.floats |= {name}
            self.notes.append(f"{name}: codes such as 1.0 are read as 1")

    def _texts(self) -> list[str]:
        return [name for name in self.wanted.numbers if self.types[name] in TEXT]

    def _text(self, name: str) -> str:
        column = quoted_name(name)
        return column if self.types[name] == "VARCHAR" else f"CAST({column} AS VARCHAR)"

    def _shows_decimals(self, name: str) -> str:
        """Whether a number with a point can only have a decimal point."""
        text = f"trim({self._text(name)})"
        one = f"regexp_full_match({text}, {quoted_text(SHAPES['decimal .'])})"
        two = f"regexp_full_match({text}, {quoted_text(SHAPES['either .'])})"
        return f"({one} AND NOT {two})"

    def _shapes(self, run: Run, table: str, texts: list[str]) -> dict[str, int]:
        """How many numbers have each shape, see `tacit.entries.SHAPES`."""
        found = dict.fromkeys(SHAPES, 0)
        for name in texts:
            text = self.stripped(name)
            counted = ", ".join(
                f"count_if(regexp_full_match({text}, {quoted_text(pattern)}))"
                for pattern in SHAPES.values()
            )
            ((*counts,),) = run(f"SELECT {counted} FROM {table}")
            for shape, count in zip(SHAPES, counts, strict=True):
                found[shape] += count
        for mark in (".", ","):
            found[f"decimal {mark}"] -= found[f"either {mark}"]
        return {shape: count for shape, count in found.items() if count}

    @staticmethod
    def is_untidy(text: str) -> str:
        """Whether a text, as SQL, has anything around it."""
        around = f'{BLANKS}\r\n"'
        pattern = quoted_text(f"^[{around}=']|[{around}]$")
        return f"regexp_matches({text}, {pattern})"

    def stripped(self, name: str) -> str:
        """A text without blanks and quotation marks around it."""
        return f"trim({self._text(name)}, {quoted_text(AROUND_NUMBERS)})"

    def code(self, name: str) -> str:
        """A code as text, NULL where it is missing."""
        found = self._code(name)
        stand_in = self.wanted.missing_code(name)
        return found if stand_in is None else f"coalesce({found}, {quoted_text(stand_in)})"

    def _code(self, name: str) -> str:
        column, kind = quoted_name(name), self.types[name]
        if kind in FLOATING:
            # Whole numbers become floating where pandas has to leave a gap.
            return (
                f"CASE WHEN isnan({column}) THEN NULL "
                f"WHEN {column} = floor({column}) AND abs({column}) < 9e15 "
                f"THEN CAST(CAST({column} AS BIGINT) AS VARCHAR) "
                f"ELSE CAST({column} AS VARCHAR) END"
            )
        if kind in TIMES:
            # A date without a time of day is a date.
            return (
                f"CASE WHEN date_trunc('day', {column}) = {column} "
                f"THEN CAST(CAST({column} AS DATE) AS VARCHAR) ELSE CAST({column} AS VARCHAR) END"
            )
        text = f"CAST({column} AS VARCHAR)"
        if name in self.untidy:
            blank = quoted_text(f"{BLANKS}\r\n")
            text = f"trim({text}, {blank})"
            for pattern in ('^=?"(.*)"$', "^'(.*)'$", "^'([0-9].*)$"):
                text = f"regexp_replace({text}, {quoted_text(pattern)}, '\\1', 's')"
            text = f"trim({text}, {blank})"
        if name in self.floats:
            text = f"regexp_replace({text}, '\\.0$', '')"
        return f"NULLIF({text}, '')"

    def unit(self, name: str) -> str:
        """A contributor or holding, NULL where it is missing."""
        return quoted_name(name) if self.types[name] in WHOLE else self._code(name)

    def number(self, name: str) -> str:
        """A number, NULL where there is none."""
        column, kind = quoted_name(name), self.types[name]
        if kind in TEXT:
            number = self._plain_number(name) if self.is_plain else self._written_number(name)
        elif kind not in FLOATING:
            return f"CAST({column} AS DOUBLE)"
        else:
            number = f"CAST({column} AS DOUBLE)"
        return f"CASE WHEN isfinite({number}) THEN {number} END"

    def _plain_number(self, name: str) -> str:
        text = f"CAST({quoted_name(name)} AS VARCHAR)"
        # DuckDB reads 1_000, which nobody else does.
        return f"(CASE WHEN NOT contains({text}, '_') THEN TRY_CAST({text} AS DOUBLE) END)"

    def _written_number(self, name: str) -> str:
        text, written = self.stripped(name), self.format
        matches = f"regexp_full_match({text}, {quoted_text(written.pattern)})"
        plain = text
        if written.marks:
            plain = f"translate({plain}, {quoted_text(written.marks)}, '')"
        plain = f"translate({plain}, {quoted_text(written.decimal + chr(0x2212))}, '.-')"
        return f"(CASE WHEN {matches} THEN TRY_CAST({plain} AS DOUBLE) END)"

    def is_missing(self, name: str) -> str:
        """Whether there is no number."""
        column, kind = quoted_name(name), self.types[name]
        if kind in TEXT:
            listed = ", ".join(quoted_text(word) for word in MISSING)
            return f"({column} IS NULL OR lower({self.stripped(name)}) IN ({listed}))"
        return f"({column} IS NULL OR isnan({column}))" if kind in FLOATING else f"{column} IS NULL"

    def weight(self, name: str) -> str:
        """A sampling weight, NULL where there is none."""
        number = self.number(name)
        return f"CASE WHEN {number} >= 0 THEN {number} END"

    def flag(self, name: str) -> str:
        """1 or 0, NULL where it is neither."""
        column = quoted_name(name)
        if self.types[name] in TEXT:
            text = f"lower({self.stripped(name)})"
            yes, no = (", ".join(quoted_text(word) for word in words) for words in (YES, ("", *NO)))
            return (
                f"CASE WHEN {column} IS NULL OR {text} IN ({no}) THEN 0 "
                f"WHEN {text} IN ({yes}) THEN 1 END"
            )
        number = self.number(name)
        return f"CASE WHEN {number} IS NULL THEN 0 WHEN {number} = 0 THEN 0 ELSE 1 END"


def _is_untidy(given: Hierarchy) -> bool:
    return any(tidy_code(code) != code for code in given.leaves)
