"""`tacit`: finds the command, runs it, and turns errors into messages and exit codes.

A command is imported only when it is the one to run, and the commands import what they need
only while they run: `tacit --help` answers at once.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn, Protocol, cast

from tacit.cli.exits import ExitCode
from tacit.cli.interrupts import StoppedAtOnce
from tacit.errors import SolverError, StoppedError, TacitError
from tacit.version import __version__

COMMANDS = {
    "demo": "a complete run on generated data; no arguments needed",
    "protect": "lose as little as possible so that nothing sensitive can be deduced",
    "audit": "is a publication safe? what can be deduced from it, with evidence",
    "info": "what an input is, and what is wrong with it",
    "tabulate": "from microdata to a table with every total",
    "generate": "write a generated table",
    "versions": "versions of tacit and of what it builds on",
}
"""Commands in the order of the help, each with its line there."""

_EXIT_CODES = """\
exit codes:
  0  done; a publication that was looked at is safe
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
        # The 2 of argparse says here that no safe outcome exists.
        self.print_usage(sys.stderr)
        self.exit(ExitCode.WRONG_INPUT, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: What follows `tacit` on the command line; by default that of the process.

    Returns:
        The exit code.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Labels may hold letters that a terminal does not know.
        sys.stdout.reconfigure(errors="backslashreplace")
    name = given[0] if given else ""
    command = _command(name) if name in COMMANDS else None
    parser = _parser(name, command)
    if not given:
        parser.print_help(sys.stderr)
        return ExitCode.WRONG_INPUT
    # Without a command this only says what is wrong, or helps.
    parsed = parser.parse_args(given)
    assert command is not None
    try:
        code = command.run(parsed)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at its end; that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.BROKEN_PIPE
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


def _parser(chosen: str, command: Command | None) -> argparse.ArgumentParser:
    """The parser of everything, with the arguments of the chosen command only."""
    parser = _Parser(
        prog="tacit",
        description="Publish statistical tables without giving anybody away.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tacit {__version__}")
    listed = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, help_line in COMMANDS.items():
        own = listed.add_parser(
            name, help=help_line, description=f"{name}: {help_line}.", allow_abbrev=False
        )
        if name == chosen and command is not None:
            command.add_arguments(own)
    return parser
