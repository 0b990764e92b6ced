"""A priori files of tau-ARGUS (`.hst`): what is decided about cells beforehand.

Each line names a cell by its codes, then a command and its numbers: `code1,code2,PL,5,10`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from tacit.errors import InputError, nearest
from tacit.io.argus.batch import split_quoted, unquoted
from tacit.io.argus.paths import read_argus_text

COMMANDS = {"S": 0, "U": 0, "P": 0, "M": 0, "ML": 0, "C": 1, "W": 1, "PL": 2}
"""The commands, with how many numbers they need."""


@dataclass(frozen=True)
class Decision:
    """What is decided about a cell.

    Attributes:
        codes: The code of the cell in each dimension; empty for the total.
        command: S safe, U sensitive, P to be published, M and ML suppressed, C costs, PL levels.
        numbers: The costs, or the lower and the upper level.
        line: The line.
    """

    codes: tuple[str, ...]
    command: str
    numbers: tuple[float, ...]
    line: int


@dataclass(frozen=True)
class AprioriFile:
    """An a priori file.

    Attributes:
        path: The file.
        decisions: What can be understood, in order.
        faults: Errors about all other lines.
    """

    path: Path
    decisions: tuple[Decision, ...]
    faults: tuple[InputError, ...]


def read_apriori(path: str | Path, dimensions: int, separator: str = ",") -> AprioriFile:
    """Read an a priori file.

    Args:
        path: The file.
        dimensions: How many dimensions the table has.
        separator: What stands between entries.
    """
    path = Path(path)
    decisions: list[Decision] = []
    faults: list[InputError] = []
    for line, text in enumerate(read_argus_text(path).split("\n"), start=1):
        if not text.strip() or text.lstrip().startswith("//"):
            continue
        try:
            decisions.append(_decision(text, dimensions, separator, line))
        except InputError as error:
            faults.append(InputError(str(error), path=path, line=line))
    return AprioriFile(path, tuple(decisions), tuple(faults))


def _decision(text: str, dimensions: int, separator: str, line: int) -> Decision:
    parts = [unquoted(part).strip() for part in split_quoted(text, separator)]
    if len(parts) <= dimensions:
        raise InputError(
            f"write {dimensions} codes and a command, with {separator} between them; there are "
            f"{len(parts)} entries"
        )
    codes, command = tuple(parts[:dimensions]), parts[dimensions].upper()
    if command == "AB":
        raise InputError("AB (bounds by hand) does nothing in tau-ARGUS; leave the line out")
    if command not in COMMANDS:
        raise InputError(f"there is no command {command!r}; {nearest(command, list(COMMANDS))}")
    needed = COMMANDS[command]
    given = parts[dimensions + 1 :]
    if len(given) < needed or any(given[needed:]):
        raise InputError(f"{command} needs {needed} number{'s' * (needed != 1)} behind it")
    numbers = tuple(_number(part) for part in given[:needed])
    if command in ("C", "W"):
        if numbers[0] < 0:
            raise InputError("a cost is negative; write a positive number")
        # Nothing is suppressed for free.
        numbers = (numbers[0] or 1.0,)
    if command == "PL" and min(numbers) < 0:
        raise InputError("a protection level is negative; write 0 or more")
    return Decision(codes, "C" if command == "W" else command, numbers, line)


def _number(text: str) -> float:
    try:
        number = float(text.replace(",", ".")) if "_" not in text else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        # The text may be a confidential value that is out of place.
        raise InputError("a number is needed behind the command")
    return number
