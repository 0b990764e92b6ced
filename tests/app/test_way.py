"""The whole way, from a file to a published table, without a browser."""

from __future__ import annotations

from pathlib import Path

from tacit.cli.main import main
from tests.app.conftest import App


def test_from_records_to_the_file_of_the_command_line(firms: App, tmp_path: Path) -> None:
    """The download is the file that the command line writes with the saved job, byte by byte."""
    assert "12" in firms.get("data")
    assert "9</b> cells" in firms.get("table-trees")
    assert "<b>1</b> of 9 cells are sensitive" in firms.get("rules-effect")
    firms.post("protect-start")
    assert firms.wait() == "done"
    assert "Done and verified" in firms.get("protect")
    assert 'aria-rowcount="4"' in firms.get("look")
    assert "cannot deduce" in firms.get("publish")
    page = firms.post("publish", output=["csv", "report"], write="yes")
    assert "Written: firms-published.csv, firms-report.html" in page
    made = {each: firms.client.get(f"download?what={each}").content for each in ("csv", "report")}
    firms.post("save", name="firms.toml")
    written = {"csv": tmp_path / "firms-published.csv", "report": tmp_path / "firms-report.html"}
    assert {name: path.read_bytes() for name, path in written.items()} == made
    for path in written.values():
        path.unlink()
    assert main(["protect", str(tmp_path / "firms.toml"), "--quiet"]) == 0
    assert {name: path.read_bytes() for name, path in written.items()} == made


def test_the_sample_is_two_clicks(app: App) -> None:
    """A first-time visitor gets a finished result without filling in anything."""
    assert "Try it with sample data" in app.get("start")
    assert "Protect the table" in app.post("sample")
    assert app.wait() == "done"
    assert "Look at the table" in app.get("protect-progress")
