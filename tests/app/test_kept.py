"""Folders that somebody else has made: what comes with them runs nothing and leads nowhere."""

from __future__ import annotations

import hmac
import json
import os
import pickle
import stat
from pathlib import Path
from typing import Any

import pytest

from tacit.app.kept import KEY, keep, load, own_key, state_folder
from tacit.app.worker import RELEASE, REQUEST
from tacit.errors import InputError
from tests.app.conftest import FIRMS, App


class Foreign:
    """Leaves a trace when it is unpickled."""

    def __init__(self, trace: Path):
        self._trace = trace

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self._trace),)


def test_a_planted_result_runs_nothing(protected: App, tmp_path: Path) -> None:
    """A pickle that came with the folder is not loaded, signed by another key or not at all."""
    name = protected.desk.workspace.state.run
    assert name is not None
    kept = protected.folder / ".tacit" / "runs" / name / RELEASE
    genuine = kept.read_bytes()
    trace = tmp_path / "it ran"
    foreign = pickle.dumps(Foreign(trace))
    signed = hmac.new(b"another key", f"{name}/{RELEASE}\0".encode() + foreign, "sha256").digest()
    for planted in (foreign, signed + foreign, genuine[:32] + foreign, b""):
        kept.write_bytes(planted)
        again = App(protected.folder)
        for path in ("protect", "look", "publish", "download?what=csv"):
            answer = again.client.get(path)
            assert answer.status_code in (200, 400), path
            assert "Traceback" not in answer.text
        assert "what was found is no longer there" in again.get("protect")
        again.desk.runs.end()
    assert not trace.exists()
    kept.write_bytes(genuine)
    again = App(protected.folder)
    assert "Done and verified" in again.get("protect")
    again.desk.runs.end()


def test_what_one_run_found_is_not_taken_for_another(tmp_path: Path) -> None:
    """A signature holds for the run and the file that it was made for."""
    here, there = tmp_path / "1" / RELEASE, tmp_path / "2" / RELEASE
    for path in (here, there):
        path.parent.mkdir()
    keep({"found": 1}, here)
    assert load(here) == {"found": 1}
    there.write_bytes(here.read_bytes())
    with pytest.raises(InputError, match="protect the table again"):
        load(there)


def test_links_in_the_private_folder_are_not_followed(tmp_path: Path) -> None:
    """Links that came with the folder neither have files replaced nor folders deleted."""
    precious = tmp_path / "precious"
    (precious / "letters").mkdir(parents=True)
    (precious / "notes.txt").write_text("mine")
    folder = tmp_path / "given"
    (folder / ".tacit").mkdir(parents=True)
    (folder / ".tacit" / "runs").symlink_to(precious)
    for name in ("state.json", "open.html"):
        (folder / ".tacit" / name).symlink_to(precious / "notes.txt")
    app = App(folder)
    app.open("firms.csv", FIRMS)
    app.post("protect-start")
    app.desk.runs.end()
    assert (precious / "notes.txt").read_text() == "mine"
    assert (precious / "letters").is_dir()
    assert len([*precious.iterdir()]) == 2


@pytest.mark.parametrize("name", ["..", "../..", "/", "", "absent", "x\0y", 7, ["a"]])
def test_the_name_of_a_run_may_say_anything(tmp_path: Path, name: object) -> None:
    """The state that came with the folder may name no run, or something that is none."""
    (tmp_path / ".tacit").mkdir()
    (tmp_path / REQUEST).write_text("{}")
    state = {"name": "a.toml", "draft": {}, "version": 1, "history": [], "run": name}
    (tmp_path / ".tacit" / "state.json").write_text(json.dumps(state))
    app = App(tmp_path)
    assert app.desk.runs.latest is None
    assert "Try it with sample data" in app.get("start")


def test_the_key_is_for_its_owner_alone(state: Path) -> None:
    """The key is made once, readable by its owner; one that others can read is replaced."""
    first = own_key()
    path = state_folder() / KEY
    assert path.is_relative_to(state)
    assert own_key() == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    assert own_key() != first
    path.write_bytes(b"short")
    with pytest.raises(InputError, match="delete it"):
        own_key()


def test_a_key_that_cannot_be_kept_is_told(state: Path, tmp_path: Path) -> None:
    """Without a place for the key the application does not start, and says what to do."""
    (state / "tacit").write_text("in the way")
    with pytest.raises(InputError, match="XDG_STATE_HOME"):
        App(tmp_path)
