"""Protect: method and time, the search as it goes on, and methods side by side."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from tacit.app.picture import progress_picture
from tacit.app.runs import Progress
from tacit.app.screens.rules import entered
from tacit.app.texts import text
from tacit.app.visits import Handler, Visit, number
from tacit.app.workspace import Draft
from tacit.errors import InputError, TacitError
from tacit.methods.registry import DEFAULT_METHOD, METHODS
from tacit.options import Options

OPTIONS: dict[str, dict[str, str]] = {
    "suppress": {"algorithm": "choice", "max_suppressed": "whole"},
    "intervals": {"round_to": "text"},
    "combined": {"round_to": "text"},
    "adjust": {"algorithm": "choice"},
    "round": {"base": "number", "algorithm": "choice"},
}
"""What can be filled in for each method besides time, gap and seed."""
COMMON = {"time_limit": "number", "gap": "number", "seed": "whole"}
INSIDERS = ("", "singletons", "contributors", "none")
WEIGHTS = ("", "unit", "value", "count")


def algorithms(method: str) -> tuple[str, ...]:
    """The algorithms of a method, as users name them."""
    import typing

    hints = typing.get_type_hints(METHODS[method].options())
    return typing.get_args(hints["algorithm"]) if "algorithm" in hints else ()


def method_of(draft: Draft) -> dict[str, Any]:
    """The method of a draft with its options."""
    given = draft.get("method", DEFAULT_METHOD)
    return {"name": given} if isinstance(given, str) else {"name": DEFAULT_METHOD, **given}


def show(visit: Visit) -> Response:
    """Method, time, and how the search goes."""
    draft = visit.draft
    if not draft.get("data"):
        raise InputError(text("app.no_data"))
    method = method_of(draft)
    name = method["name"] if method["name"] in METHODS else DEFAULT_METHOD
    job, fault = visit.job()
    weights = draft.get("weights", "")
    return visit.page(
        "protect.html",
        method=method,
        chosen=name,
        methods=[*METHODS],
        options=OPTIONS[name],
        common=COMMON,
        defaults={"time_limit": Options.time_limit, "gap": Options.gap, "seed": Options.seed},
        algorithms=algorithms(name),
        insiders=INSIDERS,
        weighting=weights.get("by", "") if isinstance(weights, dict) else weights,
        weightings=WEIGHTS,
        fault=fault,
        ready=job is not None,
        is_tick=False,
        **_run_context(visit),
        **_comparison_context(visit),
    )


def choose(visit: Visit) -> Response:
    """Take note of the method and what it is to do; perhaps start."""
    name = visit.sent("name")
    if name not in METHODS:
        raise InputError(text("protect.unknown_method"))

    def edit(draft: Draft) -> None:
        before = method_of(draft)
        method: dict[str, Any] = {"name": name}
        if before["name"] == name:
            shown = {"name", *COMMON, *OPTIONS[name]}
            method |= {key: part for key, part in before.items() if key not in shown}
        for key, kind in {**COMMON, **OPTIONS[name]}.items():
            given = visit.sent(f"option.{key}").strip()
            if given and not (kind == "choice" and given == "auto"):
                method[key] = entered("number" if kind == "text" else kind, given)
        draft["method"] = method
        for key in ("insiders", "coalition"):
            given = visit.sent(key).strip()
            draft.pop(key, None)
            if given and not (key == "coalition" and given == "1"):
                draft[key] = entered("whole" if key == "coalition" else "text", given)
        given = visit.sent("weights")
        before_weights = draft.pop("weights", None)
        if isinstance(before_weights, dict) and before_weights.get("by") == given:
            draft["weights"] = before_weights
        elif given:
            draft["weights"] = given

    visit.change("method", edit)
    if visit.sent("start"):
        return start(visit)
    return visit.go("protect")


def start(visit: Visit) -> Response:
    """Start the search."""
    job, fault = visit.job()
    if job is None:
        raise InputError(fault.message if fault else text("app.no_data"))
    visit.desk.runs.start(visit.workspace.draft)
    return visit.go("protect")


def stop(visit: Visit) -> Response:
    """Stop with the best safe result so far."""
    for run in (visit.run, visit.desk.runs.comparison):
        if run is not None:
            run.stop()
    return visit.go("protect")


def progress(visit: Visit) -> Response:
    """How the search goes; the page asks again while it goes on."""
    context = _run_context(visit)
    return _ticked(visit, "protect_progress.html", "#run", context, context.get("progress"))


def _ticked(
    visit: Visit, template: str, place: str, context: dict[str, Any], progress: Progress | None
) -> Response:
    """What changes while something goes on; when it is over, all that there is about it."""
    goes_on = progress is not None and not progress.is_over
    page = visit.page(template, is_tick=goes_on, **context)
    if not goes_on:
        page.headers["HX-Retarget"] = place
        page.headers["HX-Reswap"] = "innerHTML"
    return page


def _run_context(visit: Visit) -> dict[str, Any]:
    run = visit.run
    if run is None:
        return {"run": None}
    limit = method_of(run.request["job"]).get("time_limit", Options.time_limit)
    summary: dict[str, str] = {}
    if run.progress.state == "done":
        try:
            summary = run.release.papers.summary_rows()
        except TacitError as error:
            run.progress.state, run.progress.message = "failed", str(error)
    progress = run.progress.now()
    return {
        "run": run,
        "progress": progress,
        "seconds": run.seconds(),
        "time_limit": float(limit) if isinstance(limit, int | float) else None,
        "message": progress.message.replace(f"{visit.workspace.folder}/", ""),
        "picture": progress_picture(progress.trace, run.seconds()),
        "figures": _figures(progress),
        "summary": summary,
        "is_current": visit.is_current,
        "asked": method_of(run.request["job"])["name"],
    }


def _figures(progress: Progress) -> dict[str, str]:
    if not progress.trace or progress.best is None:
        return {}
    told = {"best": number(float(f"{progress.best:.6g}"))}
    if progress.bound is not None:
        told["bound"] = number(float(f"{progress.bound:.6g}"))
        told["gap"] = f"{(progress.best - progress.bound) / max(abs(progress.best), 1e-10):.2%}"
    return told


def compare(visit: Visit) -> Response:
    """Run several methods on the table, to see them side by side."""
    chosen = [str(name) for name in visit.form.getlist("method")]
    limit = entered("number", visit.sent("time_limit", "20"))
    if not chosen:
        raise InputError(text("protect.choose_methods"))
    if any(name not in METHODS for name in chosen):
        raise InputError(text("protect.unknown_method"))
    if not isinstance(limit, int | float) or not limit > 0:
        raise InputError(text("protect.bad_time"))
    job, fault = visit.job()
    if job is None:
        raise InputError(fault.message if fault else text("app.no_data"))
    if visit.run is not None and not visit.run.progress.is_over:
        raise InputError(text("compare.busy"))
    visit.desk.runs.start(visit.workspace.draft, methods=chosen, time_limit=float(limit))
    return visit.go("protect")


def compared(visit: Visit) -> Response:
    """Methods side by side, as far as they are."""
    context = _comparison_context(visit)
    return _ticked(visit, "protect_compared.html", "#comparison", context, context.get("compared"))


def _comparison_context(visit: Visit) -> dict[str, Any]:
    run = visit.desk.runs.comparison
    if run is None:
        return {"comparing": None, "compare_methods": [*METHODS], "compare_time": "10"}
    rows: list[dict[str, Any]] = []
    best: list[str] = []
    notes: list[str] = []
    progress = run.progress.now()
    if progress.state == "done":
        try:
            found = run.comparison
        except InputError as error:
            run.progress.state, run.progress.message = "failed", str(error)
            return _comparison_context(visit)
        for row in found.rows:
            measures = row.measures
            rows.append(
                {
                    "label": row.label,
                    "status": row.status,
                    "safe": row.safe,
                    "seconds": row.seconds,
                    "exact": None if measures is None else measures.exact,
                    "loss": None if measures is None else measures.loss,
                    "deviation": None if measures is None else measures.deviation,
                }
            )
        best, notes = found.best(), found.notes()
    return {
        "comparing": run,
        "compare_methods": run.request["methods"],
        "compare_time": f"{run.request['time_limit']:g}",
        "compared": progress,
        "compared_rows": rows,
        "compared_best": best,
        "compared_notes": notes,
        "compared_seconds": run.seconds(),
    }


ROUTES: dict[str, Handler] = {
    "GET protect": show,
    "POST protect": choose,
    "POST protect-start": start,
    "POST protect-stop": stop,
    "GET protect-progress": progress,
    "POST protect-compare": compare,
    "GET protect-compared": compared,
}
