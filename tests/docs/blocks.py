"""The fenced blocks of the documentation, and what is to happen to each."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
TESTED_ELSEWHERE = {"errors.md": "tests/cli/test_errors.py"}
"""Pages of which another test compares every line."""

_FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})(?P<language>\S*)[^\n]*$")
_NOT_RUN = re.compile(r"<!-- not run: (?P<reason>.+?) -->\s*\Z", re.DOTALL)
_EXIT_CODE = re.compile(r"exit code(?: is)? (\d+)")


@dataclass(frozen=True)
class Command:
    """A line after `$`, and what it prints.

    Attributes:
        words: The command and its arguments.
        printed: What is shown below it.
    """

    words: tuple[str, ...]
    printed: str


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        page: The page it is on.
        line: The line of its fence, counted from 1.
        language: What stands after the fence.
        text: What is inside.
        before: The page up to the fence.
    """

    page: Path
    line: int
    language: str
    text: str
    before: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"

    @property
    def kind(self) -> str:
        """`python`, `toml`, `make`, `commands`, or nothing: nobody knows how to run it."""
        if self.language in ("python", "pycon"):
            return "python" if self.text.startswith(">>> ") else ""
        if self.language == "toml":
            return "toml"
        if self.language not in ("", "console"):
            return ""
        if all(line.startswith("make ") for line in self.text.splitlines()):
            return "make"
        return "commands" if re.match(r"(\$ )?tacit ", self.text) else ""

    @property
    def why_not_run(self) -> str:
        """The reason given in a comment right above the block."""
        found = _NOT_RUN.search(self.before)
        return found["reason"].strip() if found else ""

    @property
    def exit_code(self) -> int:
        """What the paragraph above says, 0 if it says nothing."""
        paragraph = self.before.rstrip().rpartition("\n\n")[2]
        found = _EXIT_CODE.findall(paragraph)
        return int(found[-1]) if found else 0

    def commands(self) -> list[Command]:
        """The commands; without `$`, every line is one."""
        if not self.text.startswith("$ "):
            lines = self.text.replace("\\\n", " ").splitlines()
            return [Command(tuple(shlex.split(line)), "") for line in lines if line.strip()]
        parts = re.split(r"(?m)^\$ ", self.text)[1:]
        split = [part.replace("\\\n", " ").partition("\n") for part in parts]
        return [Command(tuple(shlex.split(typed)), printed) for typed, _, printed in split]


def blocks(page: Path) -> Iterator[Block]:
    """All fenced blocks of a page; a fence that is never closed is an error."""
    lines = page.read_text().splitlines(keepends=True)
    opened: int | None = None
    fence = language = ""
    for number, line in enumerate(lines):
        found = _FENCE.match(line.rstrip("\n"))
        if opened is None and found:
            opened, fence, language = number, found["fence"], found["language"]
        elif opened is not None and line.rstrip() == fence:
            inside, before = "".join(lines[opened + 1 : number]), "".join(lines[:opened])
            yield Block(page, opened + 1, language, inside, before)
            opened = None
    if opened is not None:
        raise ValueError(f"{page.name}:{opened + 1}: the fence is never closed")
