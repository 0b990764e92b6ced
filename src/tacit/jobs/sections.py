"""`Section`: one table of a job file, read key by key, with errors that name the line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tacit.errors import InputError, KeyPath, TacitError, nearest, not_utf8, unwritable
from tacit.jobs.lines import key_lines
from tacit.reading import KINDS, kind_of


class Section:
    """A table of a TOML file.

    Attributes:
        given: What stands in it.
        file: The file.
    """

    def __init__(
        self,
        given: Mapping[str, Any],
        file: Path,
        lines: Mapping[KeyPath, int],
        place: KeyPath = (),
        below: Section | None = None,
    ):
        self.given = given
        self.file = file
        self._lines = lines
        self._place = place
        self._below = below

    @classmethod
    def read(cls, path: Path) -> Self:
        """The whole file as a section."""
        try:
            content = path.read_bytes()
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            raise InputError(f"the file cannot be read: {reason}", path=path) from None
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise not_utf8(content, error, path) from None
        try:
            given = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise _syntax_error(str(error), text, path) from None
        except RecursionError:
            raise InputError("this is not TOML: it is nested too deeply", path=path) from None
        return cls(given, path, key_lines(text))

    def over(self, below: Section, own: Mapping[str, Any]) -> Section:
        """Another section with what this one says in its place.

        Args:
            below: The other section; errors about what it says name its lines.
            own: What counts of this section.
        """
        given = {**below.given, **own}
        hidden = {key: given[key] for key in below.given if key not in own}
        rest = Section(hidden, below.file, below._lines, below._place)
        return Section(given, self.file, self._lines, self._place, rest)

    def saying(self, **changes: Any) -> Section:
        """The same section with something else said in it."""
        given = {**self.given, **changes}
        return Section(given, self.file, self._lines, self._place, self._below)

    @property
    def name(self) -> str:
        """What to call this table in messages."""
        text = ""
        for part in self._place:
            text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
        return text

    def line(self, *keys: str | int) -> int | None:
        """The line of something in here, or of the innermost table around it that is given."""
        path = (*self._place, *keys)
        given = (path[:length] for length in range(len(path), len(self._place) - 1, -1))
        return next((self._lines[part] for part in given if part in self._lines), None)

    def fault(self, message: str, *keys: str | int) -> InputError:
        """An error about something in here; without keys about the table itself."""
        if self._below is not None and keys and keys[0] in self._below.given:
            return self._below.fault(message, *keys)
        where = f"{self.name}: " if self.name else ""
        return InputError(
            f"{where}{message}",
            path=self.file,
            line=self.line(*keys),
            key=(*self._place, *keys),
        )

    def blame(self, error: TacitError, key: KeyPath | None = None) -> InputError:
        """An error that somebody else found, at the line of what its `key` names.

        An error about another file stays as it is.

        Args:
            error: What was found.
            key: What in here it is about, in place of its own key.
        """
        if isinstance(error, InputError) and error.path is not None:
            return error
        message = str(error).removeprefix(f"{self.name}: ")
        return self.fault(message, *(error.key if key is None else key))

    def refuse_unknown(self, known: Sequence[str]) -> None:
        """Refuse keys that mean nothing here, and name the nearest that does."""
        for key in self.given:
            if key not in known:
                raise self.fault(f"unknown key {key!r}; {nearest(key, known)}", key)

    def get(self, key: str, *kinds: type) -> Any:
        """What is given for a key, None where it is not; of another kind it is refused."""
        given = self.given.get(key)
        if given is None:
            return None
        # bool is an int to Python, but not to a user.
        if isinstance(given, bool):
            fits = bool in kinds
        elif float in kinds and isinstance(given, int):
            return float(given)
        else:
            fits = isinstance(given, kinds)
        if not fits:
            wish = " or ".join(KINDS[kind] for kind in kinds)
            raise self.fault(f"{key!r} must be {wish}; it is {kind_of(given)}", key)
        return given

    def text(self, key: str) -> str | None:
        """A text that is not empty."""
        given: str | None = self.get(key, str)
        if given == "":
            raise self.fault(f"{key!r} must not be empty", key)
        if given is not None:
            self._refuse_unwritable(given, key)
        return given

    def _refuse_unwritable(self, given: str, *keys: str | int) -> None:
        odd = unwritable(given)
        if odd is not None:
            raise self.fault(f"{keys[0]!r}: {odd}; correct it", *keys)

    def one_of(self, key: str, choices: Sequence[str]) -> str | None:
        """One of a few texts."""
        given = self.text(key)
        if given is not None and given not in choices:
            raise self.fault(f"{key!r} cannot be {given!r}; {nearest(given, choices)}", key)
        return given

    def texts(self, key: str) -> list[str] | None:
        """A list of texts; a single text does as well."""
        given = self.get(key, str, list)
        if given is None:
            return None
        if isinstance(given, str):
            self._refuse_unwritable(given, key)
            return [given]
        if not given:
            raise self.fault(f"{key!r} is an empty list", key)
        for place, part in enumerate(given):
            if not isinstance(part, str) or not part:
                raise self.fault(f"{key!r} must be a list of texts", key, place)
            self._refuse_unwritable(part, key, place)
        return list(given)

    def path(self, key: str) -> Path | None:
        """The path of a file, relative to the folder of the job."""
        given = self.text(key)
        return None if given is None else self.file.parent / given

    def section(self, key: str) -> Section | None:
        """A table in here."""
        given = self.get(key, dict)
        if given is None:
            return None
        return Section(given, self.file, self._lines, (*self._place, key))

    def sections(self, key: str) -> list[Section]:
        """The tables of an array of tables."""
        given = self.get(key, list) or []
        for place, part in enumerate(given):
            if not isinstance(part, dict):
                raise self.fault(f"{key!r} must be tables: write [[{key}]]", key, place)
        return [
            Section(part, self.file, self._lines, (*self._place, key, place))
            for place, part in enumerate(given)
        ]


def _syntax_error(message: str, text: str, path: Path) -> InputError:
    """What `tomllib` says, with the line where it says it."""
    found = re.search(r"^(.*) \(at (?:line (\d+), column \d+|end of document)\)$", message, re.S)
    if found is None:
        return InputError(f"this is not TOML: {message.lower()}", path=path)
    line = int(found[2]) if found[2] else len(text.splitlines())
    reason = f"{found[1][:1].lower()}{found[1][1:]}"
    if reason == "illegal character '\\n'":
        reason = "a text is not closed; put a quotation mark at its end"
    return InputError(f"this is not TOML: {reason}", path=path, line=line or None)
