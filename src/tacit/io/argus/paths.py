r"""Files of tau-ARGUS jobs: names that another machine gave, and text in its code page.

Batch files and metadata name files by paths such as `V:\project\data.asc` or `\\server\data.asc`.
Where there is no such file here, the one of that name beside the batch file is taken, whatever its
case, or else the only one in the folders there. Outputs are written to one folder and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path, PureWindowsPath

from tacit.errors import InputError
from tacit.io.files import read_content

Tell = Callable[[str], object]
"""Takes something that users should know, in a sentence."""

CODE_PAGE = "cp1252"
"""What text is in that is not UTF-8: the code page of Windows in western Europe."""


def read_argus_text(path: Path) -> str:
    """The content of a text file in UTF-8 or else in the code page of Windows.

    Line ends come back as newlines; the end-of-file mark of DOS is dropped.
    """
    return decoded(read_content(path)).removesuffix("\x1a")


def decoded(content: bytes) -> str:
    """Bytes as text: UTF-8, else the code page of Windows; no byte is refused.

    >>> decoded("Zürich".encode()), decoded("Zürich".encode("cp1252"))
    ('Zürich', 'Zürich')
    """
    try:
        return content.decode()
    except UnicodeDecodeError:
        pass
    try:
        return content.decode(CODE_PAGE)
    except UnicodeDecodeError:
        # Five bytes mean nothing in the code page.
        return content.decode("latin-1")


def base_name(name: str) -> str:
    r"""The last part of a path of any system.

    >>> base_name(r"V:\data\Tau.asc"), base_name("data/Tau.asc"), base_name(r"\\server\x\Tau.asc")
    ('Tau.asc', 'Tau.asc', 'Tau.asc')
    """
    # The drive of `V:Tau.asc` is no part of the name.
    return PureWindowsPath(name).name


class Folders:
    """Where the files of a batch file are.

    Attributes:
        home: The folder of the batch file.
        out: The folder for everything that is written.
        within: The folder that files must not lie outside of; None where they may lie anywhere.
        found: The files that were asked for and found.
    """

    def __init__(self, home: Path, out: Path, tell: Tell):
        self.home = home
        self.out = out
        self.within: Path | None = None
        self.tell = tell
        self.found: set[Path] = set()
        self._told: set[str] = set()

    def find(self, name: str, *, path: Path, line: int, near: Path | None = None) -> Path:
        """The file that a name stands for.

        Args:
            name: The name as given.
            path: The file that gives it, for errors.
            line: The line there.
            near: Another folder in which to look, before that of the batch file.

        Raises:
            InputError: There is no such file.
        """
        found = self._searched(name, path, line, near)
        if self.within is not None and not found.resolve().is_relative_to(self.within.resolve()):
            raise InputError(
                f"{base_name(name)} lies outside the folder that may be read; copy it there",
                path=path,
                line=line,
            )
        self.found.add(found.resolve())
        return found

    def _searched(self, name: str, path: Path, line: int, near: Path | None) -> Path:
        if not base_name(name) or "\0" in name:
            raise InputError("a file name is missing; write it in quotes", path=path, line=line)
        folders = [self.home] if near is None else [near, self.home]
        plain = name.replace("\\", "/")
        # The file at that place wins over one of its name elsewhere.
        for look in (_at_its_place, _by_name):
            for folder in folders:
                for tried in dict.fromkeys((name, plain)):
                    found = look(folder, tried)
                    if found is not None:
                        self._say_where(name, tried, folder, found)
                        return found
        below = _below(folders, base_name(name))
        if len(below) == 1:
            self._tell_once(f"{name} is read from {below[0]}")
            return below[0]
        raise InputError(
            f"there is no file {name}, and {'more than one' if below else 'none'} of that name in "
            f"{self._listed(folders)}; copy it there",
            path=path,
            line=line,
        )

    def target(self, name: str, *, path: Path, line: int) -> Path:
        """Where a file of some name is to be written: in the folder for outputs, always."""
        base = base_name(name)
        if not base or base in (".", "..") or "\0" in name:
            raise InputError(
                "the name of the file to write is missing; write it in quotes", path=path, line=line
            )
        target = self.out / base
        if target.is_dir():
            raise InputError(
                f"{base} is a folder; give another name to write", path=path, line=line
            )
        if base != name:
            self._tell_once(f"{name} is written as {target}")
        return target

    def _say_where(self, name: str, tried: str, folder: Path, found: Path) -> None:
        try:
            expected = (folder / tried).resolve()
        except (OSError, ValueError):
            expected = None
        if expected != found.resolve():
            self._tell_once(f"{name} is read from {found}")

    def _tell_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self.tell(text)

    @staticmethod
    def _listed(folders: Sequence[Path]) -> str:
        return " or ".join(dict.fromkeys(str(folder) for folder in folders))


def _at_its_place(folder: Path, name: str) -> Path | None:
    """The file at a path from a folder, exact or in another case."""
    try:
        exact = folder / name
        if exact.is_file():
            return exact
        parts = [part for part in Path(name).parts if part != "."]
        return None if Path(name).is_absolute() else _in_any_case(folder, parts)
    except (OSError, ValueError):
        # Names too long, or with characters that no file system takes.
        return None


def _by_name(folder: Path, name: str) -> Path | None:
    """The file in a folder that has the name at the end of a path, in any case."""
    try:
        return _in_any_case(folder, [base_name(name)])
    except (OSError, ValueError):
        return None


def _below(folders: Sequence[Path], base: str) -> list[Path]:
    """Files of a name in folders directly below some, whatever their case."""
    found: dict[Path, None] = {}
    for folder in dict.fromkeys(folders):
        try:
            inner = sorted(each for each in folder.iterdir() if each.is_dir())
            alike = [_in_any_case(each, [base]) for each in inner]
        except (OSError, ValueError):
            continue
        found |= {path.resolve(): None for path in alike if path is not None}
    return list(found)


def _in_any_case(folder: Path, parts: Sequence[str]) -> Path | None:
    here = folder
    for place, part in enumerate(parts):
        if part == "..":
            here = here.parent
            continue
        if not here.is_dir():
            return None
        alike = [entry for entry in here.iterdir() if entry.name.casefold() == part.casefold()]
        last = place == len(parts) - 1
        alike = [entry for entry in alike if (entry.is_file() if last else entry.is_dir())]
        if not alike:
            return None
        # The exact name first, then always the same one.
        here = min(alike, key=lambda entry: (entry.name != part, entry.name))
    return here if here.is_file() else None
