"""The application without a browser: a client that has entered, on a folder of its own."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tacit.app.security import ENTER, Keys
from tacit.app.server import make_app
from tacit.app.tables import Tables
from tacit.app.visits import Desk
from tacit.app.workspace import Workspace

HOST = "127.0.0.1:8765"
SECONDS_AT_MOST = 120.0

FIRMS = """firm,industry,region,turnover
a,Food,North,900
b,Food,North,20
c,Food,North,11
d,Food,South,80
e,Food,South,75
f,Food,South,60
g,Steel,North,70
h,Steel,North,66
i,Steel,North,58
j,Steel,South,90
k,Steel,South,85
l,Steel,South,77
"""


class App:
    """The application as a browser sees it.

    Attributes:
        client: Sends requests like the application's own page.
        desk: What it has open.
        keys: What opens it.
    """

    def __init__(self, folder: Path, *, max_upload: int = 2**20):
        self.folder = folder
        self.keys = Keys()
        self.desk = Desk(Workspace(folder), Tables(SECONDS_AT_MOST))
        self.asgi = make_app(self.desk, self.keys, HOST, max_upload=max_upload)
        self.token = self.keys.token or ""
        self.client = self.stranger(origin=f"http://{HOST}")
        assert self.client.get(ENTER, params={"token": self.token}).status_code == 200

    def stranger(self, origin: str | None = None, host: str = HOST) -> TestClient:
        """Somebody without a cookie."""
        return TestClient(
            self.asgi,
            base_url=f"http://{host}/{self.keys.folder}/",
            headers={} if origin is None else {"Origin": origin},
        )

    def get(self, path: str) -> str:
        """The text of a page."""
        answer = self.client.get(path)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.text

    def post(self, path: str, **fields: str | list[str]) -> str:
        """Send a form of the current version, and return the page that follows."""
        sent = {"version": str(self.desk.workspace.version), **fields}
        sent = {key.replace("__", "."): each for key, each in sent.items()}
        answer = self.client.post(path, data=sent)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.text

    def open(self, name: str, content: str | bytes) -> str:
        """Put a file into the folder, and open it."""
        data = content.encode() if isinstance(content, str) else content
        (self.folder / name).write_bytes(data)
        return self.post("open", name=name)

    def wait(self) -> str:
        """Wait until the search is over, and return how it ended."""
        run = self.desk.runs.latest
        assert run is not None
        until = time.monotonic() + SECONDS_AT_MOST
        while not run.progress.is_over and time.monotonic() < until:
            time.sleep(0.05)
        return run.progress.state


@pytest.fixture(autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the key of the user lies: not where that of whoever runs the tests does."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder in which the twelve firms are protected already, and the key it was made with."""
    folder, key = tmp_path_factory.mktemp("finished"), tmp_path_factory.mktemp("key")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(key))
        made = App(folder)
        made.open("firms.csv", FIRMS)
        made.post("rules", add="p-percent")
        made.post("protect-start")
        assert made.wait() == "done"
        made.desk.runs.end()
    return folder, key


@pytest.fixture
def protected(finished: tuple[Path, Path], state: Path, tmp_path: Path) -> Iterator[App]:
    """The application started anew where the twelve firms are protected already."""
    folder, key = finished
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    shutil.copytree(key, state, dirs_exist_ok=True)
    made = App(tmp_path)
    yield made
    made.desk.runs.end()
    made.client.close()


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """The application on an empty folder."""
    made = App(tmp_path)
    yield made
    made.desk.runs.end()
    made.client.close()


@pytest.fixture
def firms(app: App) -> App:
    """The application with records of twelve firms, judged by a rule."""
    app.open("firms.csv", FIRMS)
    app.post("rules", add="p-percent")
    return app
