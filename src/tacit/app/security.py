"""Who may talk to the application: the person who started it, from the page that it served.

It listens on the loopback interface only, yet other programs can send requests there: web pages
that the same browser has open, other people on the same machine, names that resolve to
127.0.0.1. Each of these is refused before any screen is asked.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_FORM = 4 * 2**20
"""Bytes of a form at most; files are sent to `UPLOAD`."""
MAX_UPLOAD = 2 * 2**30
"""Bytes of an uploaded file at most."""
UPLOAD = "upload"
"""The path that takes files."""
ENTER = "enter"
"""The path that takes the token."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
        "object-src 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # With `no-referrer` browsers would not tell the origin of forms either.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""What every answer says: nothing from elsewhere, nothing kept, nothing shown elsewhere."""

# Reports are pages with styles and pictures of their own: shown apart, and without scripts.
SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


class Keys:
    """What opens the application: a token that works once, and the cookie that it becomes.

    Attributes:
        folder: The first part of every path. Cookies do not know ports, so another server on
            this machine would be sent ours, were it not for a path that it cannot guess.
        token: What the address carries until it is used.
    """

    def __init__(self) -> None:
        self.folder = secrets.token_hex(8)
        self.token: str | None = secrets.token_urlsafe(32)
        self._cookie = secrets.token_urlsafe(32)

    def exchange(self, given: str) -> str | None:
        """The cookie for a token; None where it is wrong or was used before."""
        if self.token is None or not _same(given, self.token):
            return None
        self.token = None
        return self._cookie

    def fits(self, cookie: str | None) -> bool:
        """Whether it is the cookie."""
        return cookie is not None and _same(cookie, self._cookie)


class Guard:
    """Lets requests through that come from the application's own page, and no others.

    Args:
        app: What is guarded.
        keys: What opens it.
        host: The host with its port, as browsers send it.
        max_upload: Bytes of an uploaded file at most.
    """

    def __init__(self, app: ASGIApp, keys: Keys, host: str, *, max_upload: int = MAX_UPLOAD):
        self._app = app
        self._keys = keys
        self._host = host
        self._max_upload = max_upload
        self._cookie = f"tacit-{host.rpartition(':')[2]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            # Nobody needs a web socket here.
            await send({"type": "websocket.close", "code": 1008})
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, text in HEADERS.items():
                    headers.setdefault(name, text)
            await send(message)

        answer = self._refusal(scope)
        if answer is not None:
            await answer(scope, receive, sending)
            return
        await self._app(scope, self._bounded(scope, receive), sending)

    def _refusal(self, scope: Scope) -> Response | None:
        """The answer to a request that does not get through; None where it does."""
        headers = Headers(scope=scope)
        if headers.getlist("host") != [self._host]:
            return _page(421, "This is not the address of the application.")
        path = scope["path"]
        inside = path.removeprefix(f"/{self._keys.folder}/")
        entering = inside == ENTER and scope["method"] in ("GET", "HEAD")
        fault = None if entering else self._foreign(scope["method"], headers)
        if fault is not None:
            return fault
        if inside == path:
            return _page(404, "There is nothing here. Use the address that tacit app has printed.")
        known = self._keys.fits(self._given_cookie(headers))
        if entering:
            return self._enter(scope, known=known)
        if not known:
            return _page(
                403,
                "Only the browser that opened the address printed by tacit app may enter. "
                "Start tacit app again for a new address.",
            )
        return self._too_long(inside, headers)

    def _foreign(self, method: str, headers: Mapping[str, str]) -> Response | None:
        """A refusal of what other pages ask for."""
        site = headers.get("sec-fetch-site")
        if site not in (None, "same-origin", "none"):
            return _page(403, "Another page asked for this.")
        if method in ("GET", "HEAD"):
            return None
        if method != "POST":
            return _page(405, "There is no such method.")
        origin = headers.get("origin")
        own = origin == f"http://{self._host}"
        # A browser that sends neither header is too old to be protected.
        if not (own and site in (None, "same-origin")) and not (
            origin is None and site == "same-origin"
        ):
            return _page(403, "Another page sent this.")
        return None

    def _given_cookie(self, headers: Mapping[str, str]) -> str | None:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return None
        return None if found is None else found.value

    def _enter(self, scope: Scope, *, known: bool) -> Response:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        # Looking at an address, as some programs do before opening it, must not use it up.
        if scope["method"] == "HEAD":
            return HTMLResponse("")
        cookie = None if known else self._keys.exchange(given)
        if not known and cookie is None:
            return _page(
                403,
                "This address has been used already, and it works once. "
                "If it was not you who used it, stop tacit app and start it again.",
            )
        # Not a redirection: browsers withhold a strict cookie in one that began elsewhere.
        answer = HTMLResponse(
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>tacit</title>'
            '<link rel="icon" href="static/icon.svg">'
            '<meta http-equiv="refresh" content="0;url=start">'
            '<p><a href="start">Continue</a></p></html>'
        )
        if cookie is not None:
            answer.set_cookie(
                self._cookie,
                cookie,
                path=f"/{self._keys.folder}/",
                httponly=True,
                samesite="strict",
            )
        return answer

    def _limit(self, path: str) -> int:
        return self._max_upload if path.endswith(f"/{UPLOAD}") else MAX_FORM

    def _too_long(self, inside: str, headers: Mapping[str, str]) -> Response | None:
        length = headers.get("content-length")
        limit = self._limit(f"/{inside}")
        if length is not None and (not length.isdigit() or int(length) > limit):
            return _page(413, f"This is too large: at most {limit // 2**20} MB can be sent.")
        return None

    def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        """Stop reading a request that is longer than it may be, whatever it announced."""
        left = self._limit(scope["path"])

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                return {"type": "http.disconnect"}
            return message

        return counted


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())


def _page(status: int, text: str) -> Response:
    return HTMLResponse(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>tacit</title>'
        f"<h1>tacit</h1><p>{text}</p></html>",
        status_code=status,
    )
