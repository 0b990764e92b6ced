"""`Visit`: one request to a screen, with everything that screens need to answer it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, wraps
from pathlib import Path
from typing import Any

import jinja2
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, QueryParams
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tacit.app.grid import Shown
from tacit.app.runs import Run, Runs
from tacit.app.tables import Reading, StillReadingError, Tables
from tacit.app.texts import LANGUAGE, text, texts
from tacit.app.workspace import ChangedElsewhereError, Draft, Seen, Workspace
from tacit.errors import InputError, KeyPath, StoppedError, TacitError
from tacit.jobs import Job
from tacit.jobs.job import JJFile
from tacit.problem import Problem
from tacit.table import Table
from tacit.version import __version__

SCREENS = ("data", "table", "rules", "protect", "look", "publish")
"""The screens in the order of the work."""
_WHOLE = {f"{name}.html" for name in (*SCREENS, "start", "table_edit", "wrong", "reading_page")}
"""Pages; other templates are parts of them."""
PARTS = ("data-read", "table-trees", "rules-effect", "rules-suggest")
"""Parts of pages that need the table, which may still be being read."""
MAX_FIELDS = 20_000


@dataclass
class Desk:
    """What the application has open.

    Attributes:
        workspace: The folder and the job.
        tables: The table of the job.
        runs: Searches.
        notices: What the next page is to tell, each with its kind, `done` or `wrong`.
    """

    workspace: Workspace
    tables: Tables = field(default_factory=Tables)
    runs: Runs = field(init=False)
    notices: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.runs = Runs(self.workspace)


@dataclass(frozen=True)
class Fault:
    """What is wrong with the job so far.

    Attributes:
        message: In words.
        key: Which entry it is about.
        can_repeat: Whether reading was stopped, and can be begun again.
    """

    message: str
    key: KeyPath = ()
    can_repeat: bool = False

    @property
    def screen(self) -> str:
        """The screen where it can be mended."""
        first = self.key[0] if self.key else "data"
        places = {"data": "data", "outputs": "publish"}
        places |= dict.fromkeys(("dimensions", "recode", "tables", "equations"), "table")
        places |= dict.fromkeys(("method", "insiders", "coalition", "weights"), "protect")
        return places.get(str(first), "rules")


@dataclass
class Visit:
    """One request.

    Attributes:
        desk: What is open.
        query: What the address says.
        form: What was sent.
        is_part: Whether the page asks for a part of itself.
        path: What is asked for, without anything after it.
        page_asking: The screen that asks.
    """

    desk: Desk
    query: QueryParams
    form: FormData
    method: str = "GET"
    is_part: bool = False
    path: str = ""
    page_asking: str = ""

    @property
    def workspace(self) -> Workspace:
        """The folder and the job."""
        return self.desk.workspace

    @property
    def draft(self) -> Draft:
        """What the job says so far."""
        return self.workspace.draft

    @property
    def seen(self) -> Seen | None:
        """The version of the job that the page showed, and which page that was."""
        given, _, page = self.sent("version").partition(".")
        return Seen(int(given), page) if given.isdigit() else None

    def sent(self, name: str, default: str = "") -> str:
        """A text that was sent."""
        given = self.form.get(name, default)
        return given if isinstance(given, str) else default

    def change(self, done: str, edit: Callable[[Draft], None]) -> None:
        """Change the job as the page that was shown asks for."""
        self.workspace.change(text(f"done.{done}"), edit, seen=self.seen)

    def tell(self, message: str, kind: str = "done") -> None:
        """Show something on the next page."""
        self.desk.notices.append((kind, message))

    def go(self, place: str) -> Response:
        """Go on to a screen; so that reloading it sends nothing again."""
        return RedirectResponse(place, status_code=303)

    def back(self) -> Response:
        """Go back to the screen that the form was on."""
        name = self.sent("screen") or self.page_asking
        return self.go(name if name in SCREENS and self.workspace.state.draft else "start")

    def job(self) -> tuple[Job | None, Fault | None]:
        """The job, or what is wrong with it."""
        if not self.workspace.state.draft:
            return None, None
        try:
            return self.workspace.job(), None
        except TacitError as error:
            return None, self.fault(error)

    def table(self) -> tuple[Table | Problem | None, Fault | None]:
        """The table before any rule, or why there is none."""
        job, fault = self.job()
        if job is None:
            return None, fault
        try:
            return self.desk.tables.table(job, self.workspace.state.draft), None
        except TacitError as error:
            return None, self.fault(error)

    def judged(self) -> tuple[Table | Problem | None, Fault | None]:
        """The table with its sensitive cells, or why there is none."""
        job, fault = self.job()
        if job is None:
            return None, fault
        try:
            return self.desk.tables.judged(job, self.workspace.state.draft), None
        except TacitError as error:
            return None, self.fault(error)

    def shown(self) -> tuple[Shown | None, Fault | None]:
        """What there is to look at: the latest result where it is current, else the table."""
        run = self.run
        if run is not None and run.progress.state == "done" and self.is_current:
            return run.shown, None
        job, fault = self.job()
        if job is None:
            return None, fault or Fault(text("app.no_data"))
        try:
            return self.desk.tables.shown(job, self.workspace.state.draft), None
        except TacitError as error:
            return None, self.fault(error)

    def fault(self, error: TacitError) -> Fault:
        """An error in words, with files named as users know them."""
        stopped = isinstance(error, StoppedError)
        return Fault(plain(error, self.workspace), error.key, can_repeat=stopped)

    @property
    def run(self) -> Run | None:
        """The latest run."""
        return self.desk.runs.latest

    @property
    def is_current(self) -> bool:
        """Whether the latest run is about the job as it is now."""
        return self.run is not None and without_outputs(self.run.request["job"]) == without_outputs(
            self.workspace.state.draft
        )

    def page(self, template: str, status: int = 200, **context: Any) -> Response:
        """A page, or a part of one."""
        workspace = self.workspace
        state = workspace.state
        # Not by who asks: a form that the page sends itself is answered by a whole page, too.
        whole = template in _WHOLE
        notices = [self.desk.notices.pop(0) for _ in self.desk.notices[:]] if whole else []
        context = {
            "version": f"{state.version}.{secrets.token_hex(4)}",
            "draft": state.draft,
            "job_name": state.name,
            "folder": workspace.folder.name or str(workspace.folder),
            "undoable": workspace.undoable,
            "notices": notices,
            "steps": self._steps(template.removesuffix(".html")) if whole else [],
            "is_whole": whole,
            "made_by": f"tacit {__version__}",
            **context,
        }
        return HTMLResponse(templates().get_template(template).render(context), status)

    def reading_page(self, reading: Reading) -> Response:
        """The page that stands in place of one whose table is still being read."""
        return self.page(
            "reading_page.html",
            reading=reading,
            what="",
            is_tick=False,
            steps=self._steps(self.path),
        )

    def _steps(self, current: str) -> list[dict[str, Any]]:
        """The screens, each with how far it is."""
        job, fault = self.job()
        run = self.run
        draft = self.workspace.state.draft
        have_data = bool(draft.get("data"))
        is_jj = job is not None and isinstance(job.data, JJFile)
        finished = run is not None and run.progress.state == "done"
        done = {
            "data": have_data and not (fault and fault.screen == "data"),
            "table": have_data and (is_jj or bool(draft.get("dimensions"))) and job is not None,
            "rules": job is not None and (is_jj or bool(job.rules)),
            "protect": finished and self.is_current,
            "look": finished and self.is_current,
            "publish": False,
        }
        open_to = {
            "data": True,
            "table": have_data and not is_jj,
            "rules": have_data and not is_jj,
            "protect": have_data,
            "look": have_data,
            "publish": finished,
        }
        steps = []
        for name in SCREENS:
            wrong = fault is not None and fault.screen == name and have_data
            state = "wrong" if wrong else "done" if done[name] else "open"
            if not open_to[name]:
                state = "closed"
            steps.append({"name": name, "state": state, "current": name == current})
        return steps


def without_outputs(draft: Mapping[str, Any]) -> dict[str, Any]:
    """A draft without what does not change a release."""
    return {key: part for key, part in draft.items() if key != "outputs"}


def plain(error: TacitError, workspace: Workspace) -> str:
    """The message of an error, without the path of the folder."""
    message = str(error)
    folder = str(workspace.folder)
    for prefix in (f"{folder}/{workspace.state.name}: ", f"{folder}/"):
        message = message.replace(prefix, "")
    return message


Handler = Callable[[Visit], Response]


def screen(handler: Handler, desk: Desk) -> Callable[[Request], Any]:
    """An endpoint: reads the form, and answers in a thread so that others are served meanwhile."""

    @wraps(handler)
    async def endpoint(request: Request) -> Response:
        form = FormData()
        if request.method == "POST":
            try:
                form = await request.form(max_files=20, max_fields=MAX_FIELDS)
            except ClientDisconnect:
                return HTMLResponse(text("app.too_large"), 413)
        visit = Visit(
            desk,
            request.query_params,
            form,
            request.method,
            request.headers.get("hx-request") == "true",
            _last(request.url.path),
            _last(request.headers.get("hx-current-url", "").partition("?")[0]),
        )
        try:
            return await run_in_threadpool(answered, handler, visit)
        finally:
            await form.close()

    return endpoint


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def answered(handler: Handler, visit: Visit) -> Response:
    """The answer to a visit; what goes wrong is told on the page."""
    try:
        return handler(visit)
    except ChangedElsewhereError:
        visit.tell(text("app.changed_elsewhere"), "wrong")
    except StillReadingError as error:
        if visit.method == "GET" and visit.path in PARTS:
            return visit.page("reading.html", reading=error.reading, what=visit.path, is_tick=False)
        if visit.method == "GET":
            return visit.reading_page(error.reading)
        visit.tell(text("reading.wait"), "wrong")
    except TacitError as error:
        visit.tell(plain(error, visit.workspace), "wrong")
        if visit.method == "GET" and visit.is_part:
            visit.desk.notices.pop()
            return visit.page("wrong_part.html", fault=visit.fault(error))
        if visit.method == "GET":
            return visit.page("wrong.html", 400)
    return visit.back()


@cache
def templates() -> jinja2.Environment:
    """The templates; everything in them is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        t=text,
        has_text=lambda name: name in texts(),
        language=LANGUAGE,
        screens=SCREENS,
        # Nothing kept in the browser, nothing evaluated, no styles in the page.
        htmx=json.dumps(
            {
                "allowEval": False,
                "historyCacheSize": 0,
                "historyEnabled": False,
                "includeIndicatorStyles": False,
                "refreshOnHistoryMiss": True,
                "selfRequestsOnly": True,
            }
        ),
    )
    environment.filters["number"] = number
    environment.filters["brief"] = brief
    environment.filters["size"] = size
    return environment


def number(amount: float | None) -> str:
    r"""A number as people read it, thousands apart by a narrow space.

    >>> number(1234567.0) == "1\u202f234\u202f567", number(0.5), number(None)
    (True, '0.5', '')
    """
    if amount is None or amount != amount:
        return ""
    if amount == int(amount) if abs(amount) < 2**53 else False:
        return f"{int(amount):,}".replace(",", "\u202f")
    return f"{amount:,.12g}".replace(",", "\u202f")


def brief(amount: float | None) -> str:
    r"""A number as the grid shows it, where there is room for few digits.

    >>> brief(9792075.438) == "9\u202f792\u202f075", brief(427.64946), brief(0.012345678)
    (True, '427.6', '0.01235')
    >>> brief(-123456789012.5), brief(1234567890) == number(1234567890)
    ('-1.23457e+11', True)
    """
    if amount is None or amount != amount or abs(amount) >= 1e10:
        return "" if amount is None or amount != amount else f"{amount:.6g}"
    return number(round(amount) if abs(amount) >= 1000 else float(f"{amount:.4g}"))


def size(count: int) -> str:
    """The size of a file.

    >>> size(2_500_000)
    '2.5 MB'
    """
    left = float(count)
    for unit in ("B", "kB", "MB"):
        if left < 1000:
            return f"{left:.3g} {unit}"
        left /= 1000
    return f"{left:.3g} GB"


def refuse_jj(visit: Visit) -> None:
    """Refuse screens that a JJ file has nothing for."""
    if visit.workspace.state.draft.get("data", {}).get("jj"):
        raise InputError(text("app.no_dimensions"))
