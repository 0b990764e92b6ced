"""Data: choose or drop a file, and say what its columns are."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from starlette.datastructures import UploadFile
from starlette.responses import Response

from tacit.app.columns import LISTS, MICRODATA_ROLES, TABLE_ROLES, Look
from tacit.app.screens.written import (
    ENCODINGS,
    KEYS,
    OTHER_COLUMNS,
    fields,
    first_written,
    look_by,
    sent_written,
    written_of,
)
from tacit.app.texts import text
from tacit.app.visits import PARTS, Fault, Handler, Visit
from tacit.app.workspace import Draft, kind_of
from tacit.errors import InputError, TacitError, unwritable
from tacit.io.files import replacing
from tacit.jobs.sections import Section
from tacit.table import Table

_SOURCES = ("microdata", "table", "jj", "database")
_ABOUT_RECORDS = ("unknown", "missing", "unreadable")
_KEPT = {
    False: (*_ABOUT_RECORDS, "keep_empty", "top", "memory_limit", "temp_directory", "engine"),
    True: ("cells",),
}
"""What stays when roles change: of records, and of a finished table."""
_POLICIES = ("refuse", "drop")
NOTES_SHOWN = 10


def show(visit: Visit) -> Response:
    """The file with its columns, or a choice of files."""
    draft = visit.draft
    data = draft.get("data", {})
    source = next((key for key in _SOURCES if key in data), None)
    look, fault, faults = None, visit.job()[1], {}
    path = None
    if source in ("microdata", "table") and isinstance(data[source], str):
        try:
            path = visit.workspace.inside(data[source])
            look = look_by(visit, data[source], written_of(data))
        except TacitError as error:
            fault = visit.fault(error)
    if fault is not None and fault.key and fault.key[-1] in KEYS:
        # Beside the field, where it can be mended.
        faults = {str(fault.key[-1]): fault.message}
    has_file = path is not None and path.is_file()
    written = fields(visit, path, look, faults) if path is not None and has_file else []
    if any(field.fault for field in written):
        fault = None
    return visit.page(
        "data.html",
        source=source,
        data=data,
        look=look,
        has_file=has_file,
        written=written,
        encodings=ENCODINGS,
        roles=roles_of(draft),
        role_names=TABLE_ROLES if source == "table" else MICRODATA_ROLES,
        few_roles=TABLE_ROLES[:7] if source == "table" else MICRODATA_ROLES[:6],
        policies=_POLICIES,
        about_records=[key for key in _ABOUT_RECORDS if not isinstance(data.get(key), dict)],
        files=visit.workspace.files(),
        fault=fault,
    )


def read(visit: Visit) -> Response:
    """Whether the whole file can be read so, in the reader's own words."""
    table: Any = None
    fault: Fault | None = None
    if visit.job()[0] is not None:
        table, fault = visit.table()
    known = isinstance(table, Table)
    return visit.page(
        "data_read.html",
        cells=table.cell_count if known else None,
        total=float(table.value[0]) if known and table.value is not None else None,
        fault=fault,
    )


def progress(visit: Visit) -> Response:
    """How far the reading is; when it is over, the page fetches what it has waited for."""
    what = visit.query.get("what", "")
    reading = visit.desk.tables.reading
    if reading is not None and not reading.is_over:
        return visit.page("reading.html", reading=reading, what=what, is_tick=True)
    if what in PARTS:
        return visit.page("reading_over.html", what=what)
    return Response(headers={"HX-Refresh": "true"})


def stop(visit: Visit) -> Response:
    """Stop reading."""
    visit.desk.tables.stop()
    return visit.back()


def again(visit: Visit) -> Response:
    """Read once more what was stopped."""
    visit.desk.tables.again()
    return visit.back()


def roles_of(draft: Draft) -> dict[str, str]:
    """What the draft says about columns: the role of each that has one."""
    roles = dict.fromkeys(draft.get("dimensions", {}), "code")
    for key, given in draft.get("data", {}).items():
        if key in (*MICRODATA_ROLES, *TABLE_ROLES) and key != "code":
            names = given if isinstance(given, list) else [given]
            roles |= {name: key for name in names if isinstance(name, str)}
    return roles


def open_file(visit: Visit) -> Response:
    """Open a file of the folder, whatever it is."""
    return _open(visit, visit.sent("name"))


def upload(visit: Visit) -> Response:
    """Take files into the folder, and open the first that can be opened."""
    given = [each for each in visit.form.getlist("file") if isinstance(each, UploadFile)]
    given = [each for each in given if each.filename]
    if not given:
        raise InputError(text("data.no_file"))
    names = [_take(visit, each) for each in given]
    opened = [name for name in names if kind_of(name) in ("job", "batch", "jj", "data")]
    return _open(visit, opened[0] if opened else names[0])


def _take(visit: Visit, given: UploadFile) -> str:
    """Write an uploaded file to the folder under a name that nothing has yet."""
    name = PurePath((given.filename or "").replace("\\", "/")).name.lstrip(".")
    if not name or unwritable(name):
        raise InputError(text("data.bad_name"))
    if kind_of(name) is None:
        raise InputError(text("data.unknown_kind", name=name))
    stem, ending = name.split(".", 1)
    path, count = visit.workspace.inside(name), 1
    while path.exists():
        count += 1
        path = visit.workspace.inside(f"{stem}-{count}.{ending}")
    with replacing(path, confidential=True) as stream:
        # Not by its name: a name in .gz would be compressed once more.
        shutil.copyfileobj(given.file, getattr(stream, "fileobj", None) or stream)
    return path.name


def _open(visit: Visit, name: str) -> Response:
    path = visit.workspace.inside(name)
    if not path.is_file():
        raise InputError("there is no such file; reload the page", path=name)
    kind = kind_of(name)
    if kind == "job":
        given = dict(Section.read(path).given)
        visit.workspace.open(text("done.open", name=name), given, name)
    elif kind == "jj":
        job = f"{path.name.split('.')[0]}.toml"
        draft: Draft = {"data": {"jj": name}, "method": {"name": "suppress", "time_limit": 60}}
        visit.workspace.open(text("done.open", name=name), draft, job)
    elif kind == "batch":
        return _open(visit, _translated(visit, name))
    elif kind == "data":
        draft = drafted(visit, name)
        visit.workspace.open(text("done.open", name=name), draft, f"{path.name.split('.')[0]}.toml")
    else:
        raise InputError(text("data.not_opened", name=name))
    visit.tell(text("data.opened", name=name))
    return visit.go("data")


def _translated(visit: Visit, name: str) -> str:
    """A batch file of tau-ARGUS as a job beside it."""
    from tacit.jobs.argus.listener import ArgusListener
    from tacit.jobs.argus.translate import translate_argus

    told: list[str] = []

    class Notes(ArgusListener):
        """Keeps what users should know."""

        def note(self, text: str) -> None:
            told.append(text)

    path = visit.workspace.inside(name)
    target = visit.workspace.inside(f"{path.stem}-job.toml")
    jobs = translate_argus(path, target, listener=Notes(), within=visit.workspace.folder)
    for note in told[:NOTES_SHOWN]:
        visit.tell(note.replace(f"{visit.workspace.folder}/", ""), "info")
    if len(jobs) > 1:
        visit.tell(text("data.several_jobs", count=len(jobs)), "info")
    return str(jobs[0].relative_to(visit.workspace.folder))


def drafted(visit: Visit, name: str) -> Draft:
    """A first draft of a job about a file."""
    draft: Draft = {"data": {}, "dimensions": {}}
    written = first_written(visit, name)
    try:
        look = look_by(visit, name, written)
    except InputError as error:
        if not error.key or error.key[-1] not in KEYS:
            raise
        # The page asks for what is not known.
        draft["data"] = {"microdata": name, **written}
    else:
        table = look.is_table
        columns = [column.name for column in look.columns]
        _put_roles(draft, name, columns, look.roles(table=table), written, table=table)
    draft["rules"] = []
    draft["method"] = {"name": "suppress", "time_limit": 60}
    return draft


def _put_roles(
    draft: Draft,
    name: str,
    columns: list[str],
    roles: Mapping[str, str],
    written: Mapping[str, Any],
    *,
    table: bool,
    several: bool | None = None,
) -> None:
    """Put the roles of columns into a draft; what is said about dimensions stays."""
    before = draft.get("data", {})
    if several is None:
        several = isinstance(before.get("value"), list)
    data: dict[str, Any] = {"table" if table else "microdata": name, **written}
    for column in columns:
        role = roles.get(column, "none")
        if (role in LISTS and table) or (role == "value" and several):
            data.setdefault(role, []).append(column)
        elif role not in ("none", "code"):
            if role in data:
                told = text(
                    "data.role_twice", role=text(f"role.{role}"), one=data[role], two=column
                )
                more = f" {text('data.role_several')}" if role == "value" and not table else ""
                raise InputError(told + more)
            data[role] = column
    if table == ("table" in before):
        data |= {key: before[key] for key in _KEPT[table] if key in before}
    if isinstance(before.get("missing"), dict):
        data["missing"] = before["missing"]
    known = draft.get("dimensions", {})
    codes = [column for column in columns if roles.get(column) == "code"]
    draft["data"] = data
    draft["dimensions"] = {column: known.get(column, {}) for column in codes}
    for linked in draft.get("tables", []):
        if isinstance(linked.get("dimensions"), list):
            linked["dimensions"] = [each for each in linked["dimensions"] if each in codes]
    if "recode" in draft:
        kept = {key: part for key, part in draft["recode"].items() if key in codes}
        draft.pop("recode")
        if kept:
            draft["recode"] = kept


def choose(visit: Visit) -> Response:
    """Take note of what the columns are."""
    data = visit.draft.get("data", {})
    name = data.get("microdata", data.get("table"))
    if not isinstance(name, str):
        raise InputError(text("data.not_one_file"))
    before = written_of(data)
    written = sent_written(visit, before)
    old = _tried(visit, name, before)
    new = old if written == before else _tried(visit, name, written)
    known = roles_of(visit.draft)
    if old is not None and any(key.startswith("role.") for key in visit.form):
        places = enumerate(column.name for column in old.columns)
        known = {column: visit.sent(f"role.{place}", "none") for place, column in places}
    table = visit.sent("source") == "table" and "layout" not in written
    renamed: dict[str, str] = {}
    if new is None:
        columns, roles = [*known], known
    else:
        columns = [column.name for column in new.columns]
        other = any(written.get(key) != before.get(key) for key in OTHER_COLUMNS)
        none_stays = not any(known.get(column, "none") != "none" for column in columns)
        if not known:
            table = new.is_table
            roles = new.roles(table=table)
        elif table != ("table" in data) or (other and none_stays):
            roles = new.roles(table=table)
        elif not other and old is not None and len(old.columns) == len(columns):
            # In another encoding the same columns have other names.
            renamed = {each.name: now for each, now in zip(old.columns, columns, strict=True)}
            roles = {renamed.get(column, column): role for column, role in known.items()}
        else:
            roles = known
            columns = columns if other else [*known]

    def edit(draft: Draft) -> None:
        for part in ("dimensions", "recode"):
            if part in draft:
                draft[part] = {renamed.get(key, key): said for key, said in draft[part].items()}
        sent = any(key.startswith("role.") for key in visit.form) and not table
        several = bool(visit.sent("several")) if sent else None
        _put_roles(draft, name, columns, roles, written, table=table, several=several)
        for key in _ABOUT_RECORDS:
            given = visit.sent(key)
            if not table and given in _POLICIES and not isinstance(data.get(key), dict):
                draft["data"].pop(key, None)
                if given == "drop":
                    draft["data"][key] = given

    visit.change("roles", edit)
    return visit.go("data")


def _tried(visit: Visit, name: str, written: Mapping[str, Any]) -> Look | None:
    """The beginning of a file; None where it cannot be read so, which the page will tell."""
    try:
        return look_by(visit, name, written)
    except InputError:
        return None


ROUTES: dict[str, Handler] = {
    "GET data": show,
    "POST data": choose,
    "GET data-read": read,
    "GET reading": progress,
    "POST reading-stop": stop,
    "POST reading-again": again,
    "POST open": open_file,
    "POST upload": upload,
}
