"""`tacit`: finds the command, runs it, and turns errors into messages and exit codes.

A command is imported only when it is the one to run, and the commands import what they need
only while they run: `tacit --help` answers at once.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn, Protocol, cast

from tacit.cli.exits import ExitCode
from tacit.cli.interrupts import StoppedAtOnce
from tacit.errors import SolverError, StoppedError, TacitError, nearest, unwritable
from tacit.version import __version__

COMMANDS = {
    "demo": "a complete run on generated data; no arguments needed",
    "protect": "protect a table with as little loss of information as possible",
    "audit": "is a publication safe? what can be deduced from it, with evidence",
    "explain": "why a cell is suppressed, and what publishing it would take",
    "compare": "several methods on one table, side by side",
    "info": "what an input is, and what is wrong with it",
    "tabulate": "from microdata to a table with every total",
    "generate": "write a generated table",
    "argus": "run a tau-ARGUS batch file as it is",
    "app": "the local web application: from data to a published table in the browser",
    "versions": "versions of tacit and of its libraries",
}
"""Commands in the order of the help, each with its line there."""

_EXIT_CODES = """\
exit codes:
  0  done; an audited publication is safe
  1  the input is wrong: one message says what and where
  2  no safe outcome exists
  3  stopped before any safe outcome
  4  an audit found cells exposed, or could not check them all
"""


class Command(Protocol):
    """What a module in `tacit.cli.commands` offers."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do the work and return an exit code."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        told = _in_our_words(message)
        helped = "" if told.endswith("?") else f"; see {self.prog} --help"
        # The 2 of argparse says here that no safe outcome exists.
        self.exit(ExitCode.WRONG_INPUT, f"tacit: {told}{helped}\n")

    def refuse_unknown(self, words: Sequence[str]) -> NoReturn:
        """Say which option is unknown, and which may be meant."""
        unknown = next((word for word in words if word.startswith("-")), None)
        if unknown is None:
            self.error(f"{words[0]!r} is one argument too many")
        name = unknown.partition("=")[0]
        near = nearest(name, list(self._option_string_actions))
        self.error(f"there is no option {name}" + (f"; {near}" if near.endswith("?") else ""))


def _in_our_words(message: str) -> str:
    """The message of argparse in the style of all others."""
    told = message.removeprefix("argument ")
    needed = told.removeprefix("the following arguments are required: ")
    if needed != told:
        return f"{needed} {'are' if ',' in needed else 'is'} missing"
    other = re.sub(r"not allowed with argument (\S+)", r"it does not go with \1: choose one", told)
    return other.replace(": expected one argument", " needs a value after it")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: What follows `tacit` on the command line; by default that of the process.

    Returns:
        The exit code.
    """
    if arguments is not None:
        return _run(list(arguments))
    code = _run(sys.argv[1:])
    _end_at_once_if_needed(code)
    return code


def _run(given: Sequence[str]) -> int:
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Labels may hold letters that a terminal does not know.
        sys.stdout.reconfigure(errors="backslashreplace")
    for place, word in enumerate(given, start=1):
        odd = unwritable(word)
        if odd is not None:
            print(f"tacit: argument {place}: {odd}; write it in UTF-8", file=sys.stderr)
            return ExitCode.WRONG_INPUT
    name = given[0] if given else ""
    command = _command(name) if name in COMMANDS else None
    parser, own = _parsers(name, command)
    if not given:
        parser.print_help(sys.stderr)
        return ExitCode.WRONG_INPUT
    if command is None and not name.startswith("-"):
        parser.error(f"there is no command {name!r}; {nearest(name, list(COMMANDS))}")
    # Without a command this only says what is wrong, or helps.
    parsed, unknown = parser.parse_known_args(given)
    assert command is not None
    if unknown:
        own.refuse_unknown(unknown)
    try:
        code = command.run(parsed)
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up_stdout()
        return ExitCode.BROKEN_PIPE
    except OSError as error:
        # Errors of files that are named have been told by those who open them.
        reason = (error.strerror or "unknown reason").lower()
        where = error.filename or "standard output"
        print(f"tacit: {where}: it cannot be read or written: {reason}", file=sys.stderr)
        _give_up_stdout()
        return ExitCode.WRONG_INPUT
    except MemoryError:
        print(
            "tacit: there is not enough memory; close other programs, or use a larger machine",
            file=sys.stderr,
        )
        return ExitCode.STOPPED
    except (KeyboardInterrupt, StoppedAtOnce):
        print("tacit: stopped", file=sys.stderr)
        return ExitCode.INTERRUPTED
    except TacitError as error:
        print(f"tacit: {error}", file=sys.stderr)
        failed = isinstance(error, SolverError | StoppedError)
        return ExitCode.STOPPED if failed else ExitCode.WRONG_INPUT
    return code


def _command(name: str) -> Command:
    return cast(Command, import_module(f"tacit.cli.commands.{name}"))


def _end_at_once_if_needed(code: int) -> None:
    """End the process if a solver does not: nothing may outlive the command."""
    solver = sys.modules.get("tacit.solver.mip")
    if solver is None or not solver.solvers_left_behind():
        return
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _give_up_stdout() -> None:
    """Python flushes once more at its end; that must not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parsers(chosen: str, command: Command | None) -> tuple[_Parser, _Parser]:
    """The parser of everything, and that of the chosen command: only that has its arguments."""
    parser = _Parser(
        prog="tacit",
        description="Publish statistical tables without disclosing confidential figures.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tacit {__version__}")
    listed = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    own = parser
    for name, help_line in COMMANDS.items():
        of_command = listed.add_parser(
            name, help=help_line, description=f"{name}: {help_line}.", allow_abbrev=False
        )
        if name == chosen and command is not None:
            command.add_arguments(of_command)
            own = of_command
    return parser, own
