"""The application as attackers see it: other pages, other people, other names, other files."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tacit.app.security import HEADERS, Keys
from tacit.app.server import HOST as LOOPBACK
from tacit.app.server import ROUTES, _listening, make_app
from tacit.app.visits import Desk
from tacit.app.workspace import Workspace
from tacit.errors import InputError
from tests.app.conftest import FIRMS, HOST, App

OWN = f"http://{HOST}"


def test_without_the_cookie_nothing_answers(app: App) -> None:
    """Whoever has not entered gets neither pages nor files nor static parts, however asked."""
    stranger = app.stranger(OWN)
    for key in ROUTES:
        method, path = key.split()
        assert stranger.request(method, path).status_code == 403, key
    assert stranger.get("static/app.js").status_code == 403
    stranger.cookies.set("tacit-8765", "guessed")
    assert stranger.get("start").status_code == 403


def test_the_token_works_once(app: App) -> None:
    """A token that was seen in an address is worth nothing once it was used."""
    again = app.stranger().get("enter", params={"token": app.token})
    assert again.status_code == 403
    assert "set-cookie" not in again.headers
    assert app.client.get("enter", params={"token": app.token}).status_code == 200
    assert app.client.get("start").status_code == 200


def test_a_wrong_token_does_not_use_up_the_right_one() -> None:
    """Guessing neither enters nor locks out whoever has the address."""
    keys, others = Keys(), Keys()
    assert keys.exchange("guess") is None
    assert keys.exchange("") is None
    assert keys.exchange(others.token or "") is None
    cookie = keys.exchange(keys.token or "")
    assert keys.fits(cookie)
    assert not others.fits(cookie)


def test_a_look_ahead_does_not_use_up_the_token(tmp_path: Path) -> None:
    """Programs that look at an address before opening it do not spoil it."""
    keys = Keys()
    client = TestClient(
        make_app(Desk(Workspace(tmp_path)), keys, HOST), base_url=f"http://{HOST}/{keys.folder}/"
    )
    token = keys.token
    assert client.head("enter", params={"token": token}).status_code == 200
    assert not client.cookies
    assert client.get("enter", params={"token": token}).status_code == 200
    assert client.cookies


def test_the_cookie_is_for_this_browser_and_these_pages_alone(tmp_path: Path) -> None:
    """Scripts cannot read it, other sites cannot use it, other servers here are not sent it."""
    keys = Keys()
    client = TestClient(
        make_app(Desk(Workspace(tmp_path)), keys, HOST), base_url=f"http://{HOST}/{keys.folder}/"
    )
    cookie = client.get("enter", params={"token": keys.token}).headers["set-cookie"]
    parts = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=strict", f"path=/{keys.folder}/"} <= parts
    assert not any(part.startswith(("max-age", "expires", "domain")) for part in parts)
    assert len(keys.folder) >= 16


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost:8765",
        "127.0.0.1:8765.evil.example",
        "127.0.0.1:87650",
        "[::1]:8765",
    ],
)
def test_other_names_of_the_host_are_refused(app: App, host: str) -> None:
    """A name that an attacker makes resolve to 127.0.0.1 does not get through, with the cookie."""
    for path in ("start", "enter"):
        answer = app.client.get(path, headers={"Host": host})
        assert answer.status_code == 421, path


def test_two_hosts_are_refused(app: App) -> None:
    """A request with two Host headers is refused, whichever is right."""
    request = app.client.build_request("GET", "start")
    headers = [("Host", HOST), ("Host", "evil.example")]
    sent = app.client.get("start", headers=headers)
    assert sent.status_code == 421, request.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:8766"},
        {"Origin": "https://127.0.0.1:8765"},
        {"Origin": OWN, "Sec-Fetch-Site": "cross-site"},
        {"Origin": OWN, "Sec-Fetch-Site": "same-site"},
        {"Origin": OWN, "Sec-Fetch-Site": "none"},
        {"Origin": "", "Sec-Fetch-Site": "same-origin"},
    ],
)
def test_writes_of_other_pages_are_refused(firms: App, headers: dict[str, str]) -> None:
    """A form on another page, or on another port, changes nothing although the cookie is sent."""
    before = firms.desk.workspace.version
    for key in ROUTES:
        method, path = key.split()
        if method == "POST":
            answer = firms.client.post(path, headers=headers, data={"add": "p-percent"})
            assert answer.status_code == 403, key
    assert firms.desk.workspace.version == before


def test_a_write_without_any_origin_is_refused(app: App) -> None:
    """A client that says nothing of where it comes from does not write."""
    client = app.stranger()
    client.cookies = app.client.cookies
    assert client.get("start").status_code == 200
    assert client.post("undo").status_code == 403
    assert client.post("undo", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_reads_of_other_pages_are_refused(app: App, site: str) -> None:
    """Another page cannot even load a picture of ours."""
    assert app.client.get("start", headers={"Sec-Fetch-Site": site}).status_code == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(app: App, method: str) -> None:
    """There is no preflight to answer and nothing to delete."""
    answer = app.client.request(method, "start", headers={"Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == 405
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_every_answer_forbids_what_is_not_needed(firms: App) -> None:
    """Pages, parts, files and refusals all carry the headers, and none is kept by the browser."""
    for path in ("start", "data", "rules", "rules-effect", "job.toml", "static/app.css", "no-such"):
        answer = firms.client.get(path)
        for name, text in HEADERS.items():
            assert answer.headers[name] == text, (path, name)
        assert answer.headers["cache-control"] == "no-store"
    refused = firms.stranger().get("start")
    assert refused.headers["content-security-policy"].startswith("default-src 'self'")


def test_pages_work_under_their_own_policy(firms: App) -> None:
    """No page has scripts or styles within it, which the policy would block."""
    for path in (
        "start",
        "data",
        "table",
        "table-trees",
        "rules",
        "rules-effect",
        "protect",
        "look",
    ):
        page = firms.get(path)
        assert "style=" not in page, path
        assert "<style" not in page, path
        assert "javascript:" not in page, path
        assert " onclick" not in page, path
        for tag in page.split("<script")[1:]:
            assert tag.startswith(' src="static/'), path


def test_codes_with_tags_are_text(app: App) -> None:
    """Codes and names of columns that look like tags or scripts stay text on every screen."""
    bad = "<script>alert(1)</script>"
    app.open("x.csv", f'firm,"{bad}",n\n' + "".join(f'f{i},"{bad}{i % 2}",{i}\n' for i in range(9)))
    app.post("data", source="microdata", role__0="contributor", role__1="code", role__2="value")
    app.post("rules", add="min-frequency")
    for path in ("data", "table", "table-trees", "rules", "rules-effect", "look", "look-window"):
        assert bad not in app.get(path), path


@pytest.mark.parametrize(
    "name",
    [
        "../outside.csv",
        "/etc/passwd",
        "sub/../../outside.csv",
        "..",
        ".",
        "link.csv",
        "linked/outside.csv",
        ".tacit/state.json",
        "a\0.csv",
        "",
    ],
)
def test_files_outside_the_folder_are_not_opened(tmp_path: Path, name: str) -> None:
    """Neither names nor links lead out of the folder, nor into what is private."""
    (tmp_path / "outside.csv").write_text(FIRMS.replace("turnover", "outsidevalue"))
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "link.csv").symlink_to(tmp_path / "outside.csv")
    (folder / "linked").symlink_to(tmp_path)
    app = App(folder)
    page = app.post("open", name=name)
    assert "outsidevalue" not in page
    assert 'class="note wrong"' in page
    assert app.desk.workspace.state.draft == {}
    listed = [file.name for file in app.desk.workspace.files()]
    assert listed == []


def test_a_job_that_reads_or_writes_elsewhere_is_refused(tmp_path: Path) -> None:
    """A job of the folder cannot make the application read or write outside of it."""
    (tmp_path / "outside.csv").write_text(FIRMS)
    folder = tmp_path / "inside"
    folder.mkdir()
    app = App(folder)
    head = '[dimensions.industry]\n[data]\nvalue = "turnover"\nmicrodata = '
    for data in (
        '"../outside.csv"',
        '"../*.csv"',
        '"s3://bucket/x.csv"',
        '"https://x.example/a.csv"',
    ):
        app.open("job.toml", f"{head}{data}\n")
        page = app.get("data")
        assert 'class="note wrong"' in page, data
        assert "Food" not in app.get("table-trees")
        assert app.desk.workspace.state.draft["data"]
        app.open("job.toml", f'{head}{data}\n[[tables]]\ndimensions = ["industry"]\n')
        assert 'class="note wrong"' in app.get("data"), data
        app.post("protect-start")
        assert app.desk.runs.latest is None
    (folder / "in.csv").write_text(FIRMS)
    app.open("job.toml", f'{head}"in.csv"\n[outputs]\npublished = "../written.csv"\n')
    app.post("protect-start")
    assert app.desk.runs.latest is None
    for section in ('file = "../outside.csv"', 'labels = "../outside.csv"'):
        text = (
            f'[data]\nvalue = "turnover"\nmicrodata = "in.csv"\n[dimensions.industry]\n{section}\n'
        )
        app.open("job.toml", text)
        assert "outside the folder" in app.get("table"), section
    app.open("job.toml", f'{head}"in.csv"\n[[rules]]\nrule = "manual"\nmarks = "../outside.csv"\n')
    assert "outside the folder" in app.get("rules")
    with pytest.raises(InputError, match="slash"):
        app.desk.workspace.save_job("../job.toml")


@pytest.mark.parametrize("name", ["../evil.csv", "..\\evil.csv", "/tmp/evil.csv", ".tacit/x.csv"])
def test_an_upload_stays_in_the_folder(tmp_path: Path, name: str) -> None:
    """Whatever an uploaded file is called, it lands in the folder itself."""
    folder = tmp_path / "inside"
    folder.mkdir()
    app = App(folder)
    app.client.post("upload", files={"file": (name, FIRMS)})
    found = list(tmp_path.rglob("*.csv"))
    assert all(path.parent == folder for path in found)
    assert len(found) == 1


def test_an_upload_replaces_nothing(app: App) -> None:
    """A second file of the same name gets another one."""
    (app.folder / "firms.csv").write_text("kept")
    app.client.post("upload", files={"file": ("firms.csv", FIRMS)})
    assert (app.folder / "firms.csv").read_text() == "kept"
    assert (app.folder / "firms-2.csv").read_text() == FIRMS


def test_uploads_are_bounded(tmp_path: Path) -> None:
    """A file that is too large is refused, whether its length is announced or not."""
    app = App(tmp_path, max_upload=2000)
    answer = app.client.post("upload", files={"file": ("x.csv", "a,b\n" + "1,2\n" * 1000)})
    assert answer.status_code == 413

    def endless() -> object:
        yield b"--x\r\nContent-Disposition: form-data; name=file; filename=x.csv\r\n\r\n"
        for _ in range(10):
            yield b"1,2\n" * 1000

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = app.client.post("upload", content=endless(), headers=headers)  # type: ignore[arg-type]
    assert answer.status_code == 413
    assert not list(tmp_path.glob("*.csv"))
    form = app.client.post("rules", data={"add": "x" * 5_000_000})
    assert form.status_code == 413


def test_a_workbook_cannot_end_the_application(app: App) -> None:
    """A small workbook that would fill the memory is told, and everything else goes on."""
    import xlsxwriter

    with xlsxwriter.Workbook(str(app.folder / "far.xlsx")) as book:
        book.add_worksheet("Data").write(1_048_575, 16_383, 1)
    assert "reaches to row 1048576" in app.post("open", name="far.xlsx")
    content = (app.folder / "far.xlsx").read_bytes()
    answer = app.client.post("upload", files={"file": ("far.xlsx", content)})
    assert "reaches to row 1048576" in answer.text


QUERY = "SELECT * FROM read_csv('{}')"


@pytest.mark.parametrize(
    "data", [f'database = "d.duckdb"\nquery = "{QUERY}"', 'microdata = "*.csv"']
)
def test_neither_queries_nor_patterns_lead_out(tmp_path: Path, data: str) -> None:
    """The query of a job, and what a pattern of names finds, stay within the folder."""
    import duckdb

    outside = tmp_path / "outside.csv"
    outside.write_text(FIRMS.replace("Food", "outsidecode"))
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "link.csv").symlink_to(outside)
    duckdb.connect(str(folder / "d.duckdb")).close()
    app = App(folder)
    app.open(
        "job.toml", f'[dimensions.industry]\n[data]\nvalue = "turnover"\n{data.format(outside)}\n'
    )
    for path in ("data", "data-read", "table-trees", "rules-effect"):
        assert "outsidecode" not in app.get(path), path
    assert 'class="note wrong"' in app.get("table-trees")


def test_only_the_owner_can_read_what_is_kept(protected: App) -> None:
    """State, runs and uploads cannot be read by others on the same machine."""
    protected.client.post("upload", files={"file": ("more.csv", FIRMS)})
    private = protected.desk.workspace.private
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    for path in [*private.rglob("*"), protected.folder / "more.csv"]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_private_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    """Nobody prepares a folder, or a link, into which another one's work is written."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / ".tacit").symlink_to(elsewhere)
    with pytest.raises(InputError, match="folder of your own"):
        Workspace(folder)
    assert not any(elsewhere.iterdir())


def test_it_listens_on_the_loopback_interface_alone() -> None:
    """The socket is bound to 127.0.0.1, on a port that nobody chose."""
    with _listening(0) as first, _listening(0) as second:
        assert first.getsockname()[0] == LOOPBACK == "127.0.0.1"
        assert first.getsockname()[1] != second.getsockname()[1]
        with pytest.raises(InputError, match="cannot be used"):
            _listening(first.getsockname()[1])


def test_nothing_is_logged(tmp_path: Path) -> None:
    """The process prints its address, and nothing of what it is asked or of what is opened."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tacit", "app", "--no-browser", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        assert "token=" in address
        with urllib.request.urlopen(address) as answer:
            cookie = answer.headers["Set-Cookie"].split(";")[0]
        base = address.rpartition("/")[0]
        request = urllib.request.Request(f"{base}/look?secret=1234", headers={"Cookie": cookie})
        with urllib.request.urlopen(request) as answer:
            assert answer.status == 200
    finally:
        process.terminate()
        said, errors = process.communicate(timeout=20)
    assert said == ""
    assert "1234" not in errors
    assert errors == ""
