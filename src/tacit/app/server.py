"""Starts the application: its routes, its address, its end."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import webbrowser
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from tacit.app.screens import data, look, protect, publish, rules, start, table
from tacit.app.security import ENTER, MAX_UPLOAD, Guard, Keys
from tacit.app.visits import Desk, Handler, screen
from tacit.app.workspace import Workspace
from tacit.errors import InputError
from tacit.io.files import replacing

HOST = "127.0.0.1"
_STATIC = Path(__file__).parent / "static"
_DOOR = "open.html"

ROUTES: dict[str, Handler] = {
    **start.ROUTES,
    **data.ROUTES,
    **table.ROUTES,
    **rules.ROUTES,
    **protect.ROUTES,
    **look.ROUTES,
    **publish.ROUTES,
}
"""Every method and path with who answers; all are of one depth, so that links are relative."""


def make_app(desk: Desk, keys: Keys, host: str, *, max_upload: int = MAX_UPLOAD) -> ASGIApp:
    """The application behind its guard.

    Args:
        desk: What it has open.
        keys: What opens it.
        host: Host and port as browsers send them.
        max_upload: Bytes of an uploaded file at most.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        desk.runs.end()

    routes = [
        Route(f"/{path}", screen(handler, desk), methods=[method])
        for (method, path), handler in ((key.split(), each) for key, each in ROUTES.items())
    ]
    inner = Starlette(
        routes=[
            Mount(
                f"/{keys.folder}",
                routes=[*routes, Mount("/static", StaticFiles(directory=_STATIC))],
            )
        ],
        lifespan=lifespan,
    )
    return Guard(inner, keys, host, max_upload=max_upload)


def serve(
    folder: Path,
    *,
    port: int = 0,
    browser: bool = True,
    announce: Callable[[str], None],
) -> None:
    """Serve until Ctrl-C.

    Args:
        folder: The folder that may be read and written.
        port: The port; 0 for one that is free.
        browser: Whether to open a browser.
        announce: Told the address.

    Raises:
        InputError: The folder or the port cannot be used.
    """
    keys = Keys()
    desk = Desk(Workspace(folder))
    with contextlib.closing(_listening(port)) as listening:
        host = f"{HOST}:{listening.getsockname()[1]}"
        server = uvicorn.Server(
            uvicorn.Config(
                make_app(desk, keys, host),
                # Requests carry nothing confidential in their paths; still nobody needs a log.
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=2,
            )
        )
        address = f"http://{host}/{keys.folder}/{ENTER}?token={keys.token}"
        announce(address)
        door = desk.workspace.private / _DOOR
        try:
            if browser:
                _open(door, address)
            server.run(sockets=[listening])
        finally:
            desk.runs.end()
            door.unlink(missing_ok=True)


def _open(door: Path, address: str) -> None:
    """Open a browser by a file: everybody on the machine can see the arguments of a program."""
    with replacing(door, confidential=True) as stream:
        stream.write(
            '<!doctype html><meta charset="utf-8"><title>tacit</title>'
            f'<meta http-equiv="refresh" content="0;url={address}">'.encode()
        )
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        if not webbrowser.open(door.as_uri()):
            sys.stderr.write("tacit: no browser was found; open the address above\n")


def _listening(port: int) -> socket.socket:
    """A socket that listens on the loopback interface alone."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        # Whoever is told the address may come before the server is ready, and waits.
        listening.listen()
    except OSError as error:
        listening.close()
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(f"port {port} cannot be used: {reason}; choose another --port") from None
    return listening
