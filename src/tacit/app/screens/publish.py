"""Publish: the table as readers will see it, files for them, and apart the confidential ones."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path, PurePath
from typing import Any

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from tacit.app.security import SANDBOX
from tacit.app.texts import text
from tacit.app.visits import Handler, Visit
from tacit.app.workspace import Draft
from tacit.errors import InputError
from tacit.jobs import Job, Outputs, job_from_mapping, write_outputs
from tacit.jobs.tables import TABLE
from tacit.release import Release

PUBLIC = {
    "csv": "-published.csv",
    "excel": "-published.xlsx",
    "html": "-published.html",
    "parquet": "-published.parquet",
    "jj": "-published.jj",
    "report": "-report.html",
}
CONFIDENTIAL = {
    "table": "-table.confidential.csv",
    "working_report": "-report.confidential.html",
    "evidence": "-evidence.confidential.json",
    "json": "-result.confidential.json",
}
"""What can be written, with how the name of each file ends."""
_KEYS = ("report", *CONFIDENTIAL)
WHOLE = ("evidence", "json")
"""Files about all linked tables together; of others each table may have its own."""
PREVIEW_CELLS = 20_000


def finished(visit: Visit) -> tuple[Job, Release]:
    """The job that was run, with the presentation as it is now, and what came out."""
    run = visit.run
    if run is None or run.progress.state != "done":
        raise InputError(text("publish.nothing"))
    request = run.request
    return job_from_mapping(request["job"], request["path"]), run.release


def stem(visit: Visit) -> str:
    """What the files are called."""
    return PurePath(visit.workspace.state.name).stem


def show(visit: Visit) -> Response:
    """Preview, files, guarantee."""
    job, release = finished(visit)
    published = release.published
    draft = visit.draft
    return visit.page(
        "publish.html",
        summary=release.summary_rows(),
        guarantee=release.guarantee,
        is_current=visit.is_current,
        public=[key for key in PUBLIC if _fits(key, release)],
        confidential=[key for key in CONFIDENTIAL if key != "table" or release.papers.table],
        endings={**PUBLIC, **CONFIDENTIAL},
        stem=stem(visit),
        outputs=draft.get("outputs", {}),
        chosen=chosen_outputs(draft),
        can_preview=published.cell_count <= PREVIEW_CELLS and bool(published.dimensions),
        tables=job.table_names if len(job.table_names) > 1 else (),
        whole=WHOLE,
        each_table=TABLE in str(draft.get("outputs", {})),
    )


def _fits(key: str, release: Release) -> bool:
    """Whether something can be written of a release."""
    if key == "excel":
        import importlib.util

        if importlib.util.find_spec("xlsxwriter") is None:
            return False
    return key not in ("excel", "html") or bool(release.published.dimensions)


def chosen_outputs(draft: Draft) -> list[str]:
    """Which files the job is to write."""
    outputs = draft.get("outputs", {})
    names = outputs.get("published", [])
    names = [names] if isinstance(names, str) else names
    chosen = [
        key
        for key, end in PUBLIC.items()
        if key != "report" and any(n.endswith(PurePath(end).suffix) for n in names)
    ]
    return [*chosen, *(key for key in _KEYS if key in outputs)]


def choose(visit: Visit) -> Response:
    """Take note of what is to be written and how; write it to the folder if asked."""
    keys = {str(key) for key in visit.form.getlist("output")}
    name = stem(visit)
    if visit.sent("each_table"):
        name += f"-{TABLE}"

    def edit(draft: Draft) -> None:
        before = draft.get("outputs", {})
        kept = {key: before[key] for key in ("marks", "flags", "layout") if key in before}
        outputs: dict[str, Any] = {}
        tables = [f"{name}{end}" for key, end in PUBLIC.items() if key in keys and key != "report"]
        if tables:
            outputs["published"] = tables
        if "report" in keys:
            outputs["report"] = f"{name}{PUBLIC['report']}"
        whole = stem(visit)
        for key, end in CONFIDENTIAL.items():
            if key in keys:
                outputs[key] = f"{whole if key in WHOLE else name}{end}"
        marked = visit.sent("marks").strip()
        if marked and keys & {"csv", "html", "excel"}:
            kept["marks"] = marked
        else:
            kept.pop("marks", None)
        title = visit.sent("title").strip()
        if title and keys & {"html", "excel", "report", "working_report"}:
            kept["title"] = title
        if visit.sent("tell_primary") and tables:
            kept["tell_primary"] = True
        draft.pop("outputs", None)
        if outputs or kept:
            draft["outputs"] = {**outputs, **kept}

    visit.change("outputs", edit)
    if visit.sent("write"):
        _write(visit)
    return visit.go("publish")


def _write(visit: Visit) -> None:
    job, release = finished(visit)
    current, fault = visit.job()
    if current is None:
        raise InputError(fault.message if fault else text("app.no_data"))
    if not current.outputs.files:
        raise InputError(text("publish.choose"))
    inputs = {path.resolve() for path in job.inputs}
    for path in current.outputs.files:
        if path.resolve() in inputs:
            raise InputError("this file is read by the job; it must not be replaced", path=path)
    write_outputs(job, release, current.outputs)
    names = ", ".join(path.name for path in current.outputs.files)
    visit.tell(text("publish.written", names=names))


def download(visit: Visit) -> Response:
    """One file, exactly as the command line writes it."""
    key = visit.query.get("what", "")
    end = {**PUBLIC, **CONFIDENTIAL}.get(key)
    if end is None:
        raise InputError(text("publish.no_such_file"))
    table = visit.query.get("table")
    if table is not None and key in WHOLE:
        raise InputError(text("publish.no_such_file"))
    part = "" if table is None else f"-{TABLE}"
    path, folder = _made(visit, key, f"{stem(visit)}{part}{end}", table)
    return FileResponse(
        path,
        media_type="application/octet-stream",
        filename=path.name,
        background=BackgroundTask(shutil.rmtree, folder, ignore_errors=True),
    )


def _made(visit: Visit, key: str, name: str, table: str | None = None) -> tuple[Path, Path]:
    """A file in a folder of its own, which only its owner can enter.

    Args:
        visit: The visit.
        key: What it is.
        name: Its name; with `{table}` in it for one of linked tables.
        table: The place of that table, counted from 0.
    """
    job, release = finished(visit)
    of_tables = dict(enumerate(job.table_names if len(job.table_names) > 1 else ()))
    if table is not None and (not table.isdecimal() or int(table) not in of_tables):
        raise InputError(text("publish.no_such_file"))
    current, _ = visit.job()
    how = (job if current is None else current).outputs.presentation
    folder = Path(tempfile.mkdtemp(dir=visit.workspace.private))
    path = folder / name
    try:
        if key in PUBLIC and key != "report":
            outputs = Outputs(published=(path,), presentation=how)
        else:
            given: dict[str, Any] = {key: path}
            outputs = Outputs(presentation=how, **given)
        if table is not None:
            outputs = outputs.for_tables([of_tables[int(table)]])
            (path,) = outputs.files
        write_outputs(job, release, outputs)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return path, folder


def preview(visit: Visit) -> Response:
    """The table as a page of its own, as readers will see it; scripts cannot run in it."""
    path, folder = _made(visit, "html", "preview.html")
    content = path.read_bytes()
    shutil.rmtree(folder, ignore_errors=True)
    return _apart(content)


def report(visit: Visit) -> Response:
    """A report in a page of its own."""
    key = visit.query.get("what", "report")
    if key not in ("report", "working_report"):
        raise InputError(text("publish.no_such_file"))
    path, folder = _made(visit, key, f"report{CONFIDENTIAL.get(key, '.html')}")
    content = path.read_bytes()
    shutil.rmtree(folder, ignore_errors=True)
    return _apart(content)


def _apart(content: bytes) -> Response:
    return Response(
        content,
        media_type="text/html; charset=utf-8",
        headers={
            "Content-Security-Policy": f"{SANDBOX}; frame-ancestors 'self'",
            "X-Frame-Options": "SAMEORIGIN",
        },
    )


ROUTES: dict[str, Handler] = {
    "GET publish": show,
    "POST publish": choose,
    "GET download": download,
    "GET preview": preview,
    "GET report": report,
}
