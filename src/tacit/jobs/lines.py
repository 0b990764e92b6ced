"""The line of each key in a TOML file, which `tomllib` does not report.

Only text that `tomllib` has accepted is looked at: this scanner tells parts apart, and refuses
nothing.
"""

from __future__ import annotations

import re
import tomllib

from tacit.errors import KeyPath

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_PLAIN = re.compile(r"[^,\]}#\n]*")


def key_lines(text: str) -> dict[KeyPath, int]:
    r"""The line of every key, table and entry of an array, counted from 1.

    Args:
        text: A TOML document, known to be a valid one.

    >>> key_lines('top = 2\n[[rules]]\nrule = "p-percent"\n')
    {('top',): 1, ('rules',): 2, ('rules', 0): 2, ('rules', 0, 'rule'): 3}
    """
    return _Scanner(text.replace("\r\n", "\n")).scan()


class _Scanner:
    def __init__(self, text: str):
        self._text = text
        self._at = 0
        self._lines: dict[KeyPath, int] = {}
        self._latest: dict[KeyPath, int] = {}
        """For each array of tables the place of its last table."""
        self._counted_to, self._line = 0, 1

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        while self._skip(_BLANK) < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
        return self._lines

    def _skip(self, pattern: re.Pattern[str]) -> int:
        """Move behind what matches here, and say where that is."""
        found = pattern.match(self._text, self._at)
        self._at = self._at if found is None else found.end()
        return self._at

    def _note(self, path: KeyPath, at: int) -> None:
        """Note the line of a path, unless it was met before."""
        self._line += self._text.count("\n", self._counted_to, at)
        self._counted_to = at
        self._lines.setdefault(path, self._line)

    def _header(self) -> KeyPath:
        begin = self._at
        brackets = 2 if self._text.startswith("[[", begin) else 1
        self._at += brackets
        *above, last = self._key()
        self._skip(_SPACE)
        self._at += brackets
        path = self._noted((), above, begin)
        path = (*path, last)
        self._note(path, begin)
        if brackets == 2:
            self._latest[path] = self._latest.get(path, -1) + 1
            path = (*path, self._latest[path])
            self._note(path, begin)
        return path

    def _noted(self, table: KeyPath, keys: list[str], at: int) -> KeyPath:
        """Walk from a table along keys; in arrays of tables to the latest one."""
        for key in keys:
            table = (*table, key)
            self._note(table, at)
            if table in self._latest:
                table = (*table, self._latest[table])
        return table

    def _key(self) -> list[str]:
        """The parts of a dotted key."""
        parts = []
        while True:
            begin = self._skip(_SPACE)
            if self._text[begin] in "\"'":
                raw = self._text[begin : self._skip(_STRING)]
                parts.append(str(tomllib.loads(f"key = {raw}")["key"]))
            else:
                parts.append(self._text[begin : self._skip(_BARE_KEY)])
            if self._text[self._skip(_SPACE) : self._at + 1] != ".":
                return parts
            self._at += 1

    def _pair(self, table: KeyPath) -> None:
        begin = self._at
        path = self._noted(table, self._key(), begin)
        # Behind the equals sign.
        self._at += 1
        self._skip(_SPACE)
        self._entry(path)

    def _entry(self, path: KeyPath) -> None:
        """Move behind a value, noting what lies in it."""
        opening = self._text[self._at]
        if opening in "\"'":
            self._skip(_STRING)
        elif opening in "[{":
            self._at += 1
            place = 0
            while self._text[self._skip(_BLANK)] not in "]}":
                if opening == "{":
                    self._pair(path)
                else:
                    self._note((*path, place), self._at)
                    self._entry((*path, place))
                    place += 1
                if self._text[self._skip(_BLANK)] == ",":
                    self._at += 1
            self._at += 1
        else:
            self._skip(_PLAIN)
