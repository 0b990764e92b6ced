"""Where everybody arrives, and what every screen offers: undo, the job as a file, a sample."""

from __future__ import annotations

from starlette.responses import Response

from tacit.app import sample
from tacit.app.texts import text
from tacit.app.visits import Handler, Visit


def show(visit: Visit) -> Response:
    """Continue, open a file, or try a sample."""
    return visit.page("start.html", files=visit.workspace.files())


def undo(visit: Visit) -> Response:
    """Take back the last change."""
    done = visit.workspace.undo(seen=visit.seen)
    visit.tell(text("app.undone", done=done) if done else text("app.nothing_to_undo"))
    return visit.back()


def try_sample(visit: Visit) -> Response:
    """Write the sample to the folder, and protect it at once."""
    draft, name = sample.write(visit.workspace)
    visit.workspace.open(text("done.sample"), draft, name)
    visit.desk.runs.start(draft)
    return visit.go("protect")


def save(visit: Visit) -> Response:
    """Save the job as a TOML file of the folder."""
    path = visit.workspace.save_job(visit.sent("name").strip())
    visit.tell(text("app.saved", name=path.name))
    return visit.back()


def download(visit: Visit) -> Response:
    """The job as a TOML file."""
    return Response(
        visit.workspace.text(),
        media_type="application/toml",
        headers={"Content-Disposition": 'attachment; filename="job.toml"'},
    )


ROUTES: dict[str, Handler] = {
    "GET start": show,
    "POST undo": undo,
    "POST sample": try_sample,
    "POST save": save,
    "GET job.toml": download,
}
