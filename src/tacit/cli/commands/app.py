"""`tacit app`: the local web application."""

from __future__ import annotations

import argparse
from pathlib import Path

from tacit.cli.arguments import whole_number
from tacit.cli.exits import ExitCode
from tacit.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the folder, the port and whether a browser is opened."""
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path(),
        metavar="FOLDER",
        help="where data and jobs lie; nothing outside is read or written (default: this folder)",
    )
    parser.add_argument(
        "--port",
        type=whole_number(0),
        default=0,
        metavar="N",
        help="listen on this port of 127.0.0.1 (default: one that is free)",
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address only")


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    try:
        from tacit.app.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "tacit":
            raise
        raise InputError(
            f"the application needs {error.name}; install it with: pip install 'tacit[app]'"
        ) from None
    if arguments.port > 65535:
        raise InputError("--port must be at most 65535")
    serve(
        arguments.folder,
        port=arguments.port,
        browser=not arguments.no_browser,
        announce=lambda address: print(address, flush=True),
    )
    return ExitCode.DONE
