r"""Batch files of tau-ARGUS (`.arb`): one command per line, as typed commands with their lines.

The grammar is wider than the manual's: quotes are optional, arguments at the end may be missing,
both `//` and `\\` begin comments. What cannot be understood is refused with its line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tacit.errors import InputError, nearest
from tacit.io.argus.commands import (
    COST_BY_DISTANCE,
    COST_BY_FREQUENCY,
    COST_UNIT,
    FREQUENCY,
    Anco,
    AnyCommand,
    Apriori,
    Clear,
    GoInteractive,
    Logbook,
    OpenMetadata,
    OpenMicrodata,
    OpenTableData,
    ReadMicrodata,
    ReadTable,
    Recode,
    RuleCall,
    SafetyRule,
    Silent,
    Solver,
    SpecifyTable,
    Suppress,
    VersionInfo,
    WriteTable,
)
from tacit.io.argus.paths import read_argus_text


@dataclass(frozen=True)
class BatchFile:
    """A batch file.

    Attributes:
        path: The file.
        commands: Its commands, in order.
        lines: All its lines as written.
    """

    path: Path
    commands: tuple[AnyCommand, ...]
    lines: tuple[str, ...] = ()

    def fault(self, message: str, line: int) -> InputError:
        """An error about one of its lines."""
        return InputError(message, path=self.path, line=line)


def read_batch(path: str | Path) -> BatchFile:
    """Read a batch file.

    Args:
        path: The file.

    Raises:
        InputError: A line that cannot be understood.
    """
    path = Path(path)
    commands: list[AnyCommand] = []
    lines = tuple(text.strip() for text in read_argus_text(path).split("\n"))
    for line, text in enumerate(lines, start=1):
        if not text or text.startswith(("//", "\\\\")):
            continue
        try:
            commands.append(_command(text, line))
        except InputError as error:
            raise InputError(str(error), path=path, line=line) from None
    if not commands:
        raise InputError("there are no commands", path=path)
    return BatchFile(path, tuple(commands), lines)


_COMMAND = re.compile(r"<\s*([A-Za-z]+)\s*>\s*(.*)", re.S)
_COMMENT = re.compile(r"(?:^|\s)//")


def _command(text: str, line: int) -> AnyCommand:
    match = _COMMAND.fullmatch(text)
    if match is None:
        raise InputError("a line begins with a command such as <READMICRODATA>, or with // ")
    name, rest = match[1].upper(), _without_comment(match[2]).strip()
    if name in NOT_FOR_USERS:
        raise InputError(f"<{name}> {NOT_FOR_USERS[name]}")
    if name not in COMMANDS:
        raise InputError(f"there is no command <{name}>; {nearest(name, list(COMMANDS))}")
    return COMMANDS[name](rest, line)


def _without_comment(text: str) -> str:
    """A line up to `//` behind a blank, if that is not inside quotes."""
    for match in _COMMENT.finditer(text):
        if text[: match.start()].count('"') % 2 == 0:
            return text[: match.start()]
    return text


# --- Parts of lines ----------------------------------------------------------------------------


def unquoted(text: str) -> str:
    """A text without the quotes around it, if there are any; blanks within quotes stay.

    >>> unquoted(' " 1" '), unquoted(" a "), unquoted('"')
    (' 1', 'a', '')
    """
    text = text.strip()
    if text.startswith('"'):
        text = text[1:]
        return text[:-1] if text.endswith('"') else text
    return text


def split_quoted(text: str, separator: str) -> list[str]:
    """The parts of a text between separators that are not inside quotes.

    >>> split_quoted('"a,b", c,', ",")
    ['"a,b"', ' c', '']
    """
    parts, part, inside = [], "", False
    for letter in text:
        if letter == '"':
            inside = not inside
        if letter == separator and not inside:
            parts.append(part)
            part = ""
        else:
            part += letter
    return [*parts, part]


def _number(text: str, what: str) -> float:
    try:
        # Python reads 1_000, which nobody else does.
        number = float(text.strip()) if "_" not in text else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{what} is {text.strip() or 'missing'!r}; write a number")
    return number


def _whole(text: str, what: str, least: int = 0, most: int | None = None) -> int:
    number = _number(text, what)
    fits = number == int(number) and least <= number and (most is None or number <= most)
    if not fits:
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InputError(f"{what} is {text.strip()!r}; write a whole number {limits}")
    return int(number)


def _flag(text: str, what: str) -> bool:
    if text.strip().upper() not in ("0", "1", "T", "F"):
        raise InputError(f"{what} is {text.strip()!r}; write 0 or 1")
    return text.strip().upper() in ("1", "T")


def _file(rest: str) -> str:
    name = unquoted(rest)
    if not name.strip():
        raise InputError("the name of a file is missing; write it in quotes")
    return name


def _calls(text: str) -> list[tuple[str, str, str]]:
    """Names with what is in the parentheses behind them, and what follows up to the next `|`."""
    found = []
    for part in split_quoted(text, "|"):
        if not part.strip():
            continue
        match = re.fullmatch(r"\s*([A-Za-z]+)\s*\(([^()]*)\)\s*(.*)", part, re.S)
        if match is None:
            raise InputError(f"{part.strip()!r} is not understood; write it as in P(10,1)")
        found.append((match[1].upper(), match[2], match[3].strip()))
    return found


def _parameters(text: str, name: str) -> tuple[float, ...]:
    if not text.strip():
        return ()
    parts = text.split(",")
    while parts and not parts[-1].strip():
        parts.pop()
    return tuple(_number(part, f"a parameter of {name}") for part in parts)


# --- Commands ----------------------------------------------------------------------------------


def _specify_table(rest: str, line: int) -> SpecifyTable:
    fields = split_quoted(rest, "|")
    explanatory = _names(fields[0])
    if len(fields) > 5:
        raise InputError(
            "a table has variables, response, shadow, cost and its power, with | between them"
        )
    fields += [""] * (5 - len(fields))
    if not explanatory:
        raise InputError('no explanatory variable is named; write them as in "Size""Region"|"Var2"')
    twice = next((name for name in explanatory if explanatory.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"variable {twice} is named twice; name each once")
    response: str | None = unquoted(fields[1])
    if not response:
        raise InputError("the response is missing; name a variable, or write <freq>")
    if response.lower().replace(" ", "") == FREQUENCY:
        response = None
    # The manual has the power in a field of its own, the program behind a comma.
    cost, power = _cost(f"{fields[3]},{fields[4]}" if fields[4].strip() else fields[3])
    return SpecifyTable(
        line=line,
        explanatory=tuple(explanatory),
        response=response,
        shadow=unquoted(fields[2]) or None,
        cost=cost,
        power=power,
    )


def _names(text: str) -> list[str]:
    """Names in quotes one after the other, or plain ones with blanks or commas between."""
    found = re.findall(r'"([^"]*)"|([^\s,"]+)', text)
    return [name for name in (quoted.strip() or plain for quoted, plain in found) if name]


def _cost(text: str) -> tuple[str | int | None, float]:
    parts = split_quoted(text, ",")
    power = 1.0
    if len(parts) > 2:
        raise InputError("costs are a variable or a number, and a power behind a comma")
    if len(parts) == 2 and parts[1].strip():
        power = _number(parts[1], "the power of the costs")
        if power < 0:
            raise InputError("the power of the costs is negative; write 0 or more")
    cost = unquoted(parts[0])
    if not cost:
        return None, power
    if re.fullmatch(r"-\s*\d+", cost):
        number = int(cost.replace(" ", ""))
        if number not in (COST_BY_FREQUENCY, COST_UNIT, COST_BY_DISTANCE):
            raise InputError(
                f"cost {number} is not known; write a variable, -1 (frequency), -2 (all alike) or "
                "-3 (distance)"
            )
        return number, power
    return cost, power


RULE_PARAMETERS: Mapping[str, tuple[int, int]] = {
    "P": (1, 3),
    "NK": (2, 2),
    "FREQ": (1, 2),
    "REQ": (3, 4),
    "ZERO": (1, 1),
    "MIS": (1, 1),
    "WGT": (1, 1),
    "MAN": (1, 1),
}
"""The rules, with the least and the largest number of their parameters."""


def _safety_rule(rest: str, line: int) -> SafetyRule:
    rules = []
    for name, inside, behind in _calls(rest):
        if behind:
            raise InputError(f"{behind!r} is not understood; put | between rules")
        if name not in RULE_PARAMETERS:
            raise InputError(f"there is no rule {name}; {nearest(name, list(RULE_PARAMETERS))}")
        parameters = _parameters(inside, name)
        least, most = RULE_PARAMETERS[name]
        if not least <= len(parameters) <= most:
            wish = str(least) if least == most else f"{least} to {most}"
            raise InputError(f"{name} has {len(parameters)} parameters; write {wish}")
        if any(parameter < 0 for parameter in parameters):
            raise InputError(f"a parameter of {name} is negative; write 0 or more")
        if name in ("MIS", "WGT") and parameters[0] not in (0, 1):
            raise InputError(f"{name} is 0 or 1")
        rules.append(RuleCall(name, parameters))
    return SafetyRule(line=line, rules=tuple(rules))


def _read_table(rest: str, line: int) -> ReadTable:
    match = re.fullmatch(r"([0-2]?)\s*,?\s*([TFtf]?)", rest)
    if match is None:
        raise InputError(f"{rest!r} is not understood; write 0, 1, 1T, 2 or nothing")
    return ReadTable(line=line, totals=int(match[1] or 0), keep_status=match[2].upper() == "T")


def _recode(rest: str, line: int) -> Recode:
    parts = split_quoted(rest, ",")
    if len(parts) != 3:
        raise InputError('write a table, a variable and a file or level: 1,"Region","region.grc"')
    variable, how = unquoted(parts[1]), unquoted(parts[2])
    if not variable or not how:
        raise InputError("a variable and a file or level are needed")
    table = _whole(parts[0], "the number of the table")
    if how.isascii() and how.isdigit():
        return Recode(line=line, table=table, variable=variable, level=int(how))
    return Recode(line=line, table=table, variable=variable, file=how)


def _apriori(rest: str, line: int) -> Apriori:
    parts = split_quoted(rest, ",")
    if not 2 <= len(parts) <= 5:
        raise InputError('write a file, a table and a separator: "file.hst",1,";",0,1')
    separator = unquoted(parts[2]) if len(parts) > 2 else ","
    if parts[2:3] and parts[2].strip() == '""':
        raise InputError("the separator is empty; write it in quotes")
    named = {"\\t": "\t", "tab": "\t"}
    separator = named.get(separator.lower(), separator) or ","
    if len(separator) != 1:
        raise InputError(f"the separator is {separator!r}; write one character in quotes")
    return Apriori(
        line=line,
        file=_file(parts[0]),
        table=_whole(parts[1], "the number of the table", 1),
        separator=separator,
        ignore_errors=len(parts) > 3 and _flag(parts[3], "whether errors are ignored"),
        expand_trivial=len(parts) < 5 or _flag(parts[4], "whether trivial levels are expanded"),
    )


METHODS: Mapping[str, tuple[int, int]] = {
    "GH": (0, 3),
    "MOD": (0, 7),
    "OPT": (0, 1),
    "NET": (0, 0),
    "CTA": (0, 0),
    "RND": (1, 6),
    "CKM": (0, 0),
}
"""The methods, with the least and the largest number of parameters behind the table."""

LINKED = ("GH", "MOD")
"""The methods that take 0 for all tables, linked."""


def _suppress(rest: str, line: int) -> Suppress:
    calls = _calls(rest.replace("|", "\0")) if rest else []
    if not calls:
        raise InputError("name a method, as in OPT(1,5)")
    name, inside, text = calls[0]
    text = text.replace("\0", "|")
    if name not in METHODS:
        raise InputError(f"there is no method {name}; {nearest(name, list(METHODS))}")
    if text and name != "CKM":
        raise InputError(f"{text!r} is not understood behind {name}(...)")
    parameters = _parameters(inside, name)
    if not parameters:
        raise InputError(f"{name} needs the number of a table, as in {name}(1)")
    table = _whole(str(parameters[0]), "the number of the table")
    if table == 0 and name not in LINKED:
        raise InputError(f"{name} protects one table; only {', '.join(LINKED)} take 0")
    least, most = METHODS[name]
    if not least <= len(parameters) - 1 <= most:
        wish = str(most) if least == most else f"{least} to {most}"
        raise InputError(f"{name} has {len(parameters) - 1} parameters behind the table; {wish}")
    if any(parameter < 0 for parameter in parameters):
        raise InputError(f"a parameter of {name} is negative; write 0 or more")
    return Suppress(line=line, method=name, table=table, parameters=parameters[1:], text=text)


def _write_table(rest: str, line: int) -> WriteTable:
    match = re.fullmatch(r"\(\s*(.*?)\s*\)", rest, re.S)
    parts = split_quoted(match[1] if match else rest, ",")
    if len(parts) != 4:
        raise InputError('write table, format, options and file: (1,3,AS+,"table.txt")')
    return WriteTable(
        line=line,
        table=_whole(parts[0], "the number of the table", 1),
        format=_whole(parts[1], "the format", 1, 7),
        options=unquoted(parts[2]),
        file=_file(parts[3]),
    )


def _solver(rest: str, line: int) -> Solver:
    parts = split_quoted(rest, ",")
    name = unquoted(parts[0]).upper()
    if name not in ("XPRESS", "CPLEX", "FREE"):
        raise InputError(f"there is no solver {name or 'without a name'}; write FREE")
    return Solver(line=line, name=name, licence=unquoted(parts[1]) if len(parts) > 1 else "")


Reader: TypeAlias = Callable[[str, int], AnyCommand]


def _plain(name: str, kind: Callable[..., AnyCommand]) -> Reader:
    """Reads a command without arguments."""

    def read(rest: str, line: int) -> AnyCommand:
        if rest:
            raise InputError(f"nothing belongs behind <{name}>; leave it out")
        return kind(line=line)

    return read


def _with_file(kind: Callable[..., AnyCommand]) -> Reader:
    """Reads a command with the name of a file."""
    return lambda rest, line: kind(line=line, file=_file(rest))


COMMANDS: Mapping[str, Reader] = {
    "OPENMICRODATA": _with_file(OpenMicrodata),
    "OPENTABLEDATA": _with_file(OpenTableData),
    "OPENMETADATA": _with_file(OpenMetadata),
    "SPECIFYTABLE": _specify_table,
    "SAFETYRULE": _safety_rule,
    "READMICRODATA": _plain("READMICRODATA", ReadMicrodata),
    "READTABLE": _read_table,
    "RECODE": _recode,
    "APRIORI": _apriori,
    "APRIORY": _apriori,
    "SUPPRESS": _suppress,
    "WRITETABLE": _write_table,
    "LOGBOOK": _with_file(Logbook),
    "VERSIONINFO": _with_file(VersionInfo),
    "SOLVER": _solver,
    "SILENT": _plain("SILENT", Silent),
    "ANCO": _plain("ANCO", Anco),
    "CLEAR": _plain("CLEAR", Clear),
    "GOINTERACTIVE": _plain("GOINTERACTIVE", GoInteractive),
}
"""What reads each command."""

NOT_FOR_USERS: Mapping[str, str] = {
    "COVER": "is internal to tau-ARGUS; linked tables are protected by <SUPPRESS> MOD(0,...)",
    "JJ": "does nothing in tau-ARGUS; protect a JJ file with: tacit protect FILE.jj",
}
"""Commands that are known and refused, with the reason."""
