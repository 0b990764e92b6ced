"""Progress and Ctrl-C as users meet them: in a separate process, on a terminal and in pipes."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.cli.main import main

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="terminals are others on Windows")

FREQUENT_LINES = (
    "import sys, time\n"
    "from tacit.cli import main, progress\n"
    "progress.PlainLines.__init__.__defaults__ = (0.05, time.monotonic)\n"
    "sys.exit(main.main())\n"
)
"""The command line with a line every moment when piped."""
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PATIENCE = 60.0


class Terminal:
    """A command whose standard error, or all output, is a terminal or a pipe.

    Attributes:
        seen: What it has written there so far, without what colours and moves.
    """

    def __init__(self, *arguments: str | Path, terminal: bool = True):
        command = [sys.executable, *(("-m", "tacit") if terminal else ("-c", FREQUENT_LINES))]
        if terminal:
            import pty

            self._reading, writing = pty.openpty()
        else:
            self._reading, writing = os.pipe()
        self._process = subprocess.Popen(
            [*command, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=writing,
            text=True,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "120", "OMP_NUM_THREADS": "1"},
        )
        os.close(writing)
        self.seen = ""

    def wait_until(self, condition: Callable[[str], object]) -> None:
        """Read until something is seen."""
        end = time.monotonic() + _PATIENCE
        while not condition(self.seen):
            assert time.monotonic() < end, self.seen
            assert self._read(), self.seen

    def _read(self) -> bool:
        ready, _, _ = select.select([self._reading], [], [], 0.1)
        if not ready:
            return True
        try:
            more = os.read(self._reading, 65536)
        except OSError:
            # What a terminal says when nobody is there any more.
            return False
        self.seen += _ESCAPES.sub("", more.decode())
        return bool(more)

    def press_ctrl_c(self) -> None:
        """Send the signal that the keys would send."""
        self._process.send_signal(signal.SIGINT)

    def end(self) -> tuple[int, str]:
        """Wait for the end; exit code and standard output."""
        end = time.monotonic() + _PATIENCE
        while self._read():
            assert time.monotonic() < end, self.seen
        assert self._process.stdout is not None
        out = self._process.stdout.read()
        self._process.stdout.close()
        os.close(self._reading)
        return self._process.wait(_PATIENCE), out


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table on which the search goes on for longer than anybody waits here."""
    path = tmp_path_factory.mktemp("cube") / "cube.jj"
    assert main(["generate", "3d", "--structure", "8-8-8", "--out", str(path), "--quiet"]) == 0
    return path


def test_a_terminal_shows_one_live_line(cube: Path) -> None:
    """Phase, incumbent, bound, gap and time left are drawn, and nothing stays."""
    command = Terminal("protect", cube, "--time-limit", "60")
    command.wait_until(lambda seen: re.search(r"gap \d+\.\d\d%.* s left", seen))
    command.press_ctrl_c()
    code, out = command.end()
    assert code == 0
    assert "status      feasible: stopped by Ctrl-C" in out
    assert "cannot deduce any sensitive cell" in out
    assert re.search(r"suppress: [a-z -]+, best \d+, bound \d+, gap .* s left", command.seen), (
        command.seen
    )
    assert "stopping with what is known so far; press Ctrl-C again" in command.seen
    assert command.seen.rstrip().splitlines()[-1].strip() != "tacit: stopped"


def test_twice_ends_at_once(cube: Path, tmp_path: Path) -> None:
    """The second Ctrl-C leaves no result and no file."""
    out = tmp_path / "result.json"
    command = Terminal("protect", cube, "--time-limit", "60", "--json", out)
    command.wait_until(lambda seen: "best" in seen)
    command.press_ctrl_c()
    command.wait_until(lambda seen: "press Ctrl-C again" in seen)
    command.press_ctrl_c()
    code, _ = command.end()
    # The search may have come to its end between the two.
    assert code in (130, 0)
    assert (code == 0) == out.exists()
    assert ("tacit: stopped" in command.seen) == (code == 130)
    assert [path.name for path in tmp_path.iterdir()] == (["result.json"] if code == 0 else [])


def test_a_pipe_gets_plain_lines(cube: Path) -> None:
    """Lines have neither colours nor cursor movements, and show no figures."""
    command = Terminal("protect", cube, "--time-limit", "60", terminal=False)
    command.wait_until(
        lambda seen: [line for line in seen.splitlines()[:-1] if "nothing safe yet" not in line]
    )
    command.press_ctrl_c()
    code, out = command.end()
    assert code == 0
    assert "status      " in out
    lines = command.seen.splitlines()
    lines.remove("stopping with what is known so far; press Ctrl-C again to stop at once")
    assert len(lines) > 2
    for line in lines:
        told = r"suppress, \d+ s: ([a-z -]+( \d+%)?, )?(nothing safe yet, )?\d+ s left"
        assert re.fullmatch(told, line), line


@pytest.mark.parametrize("terminal", [True, False])
def test_quiet_is_quiet(cube: Path, terminal: bool) -> None:
    """Neither a terminal nor a pipe gets anything."""
    options = ("--algorithm", "hypercube", "--time-limit", "60")
    command = Terminal("protect", cube, *options, "--quiet", terminal=terminal)
    code, out = command.end()
    assert code == 0
    assert "status      feasible" in out
    assert command.seen == ""


def test_compare_stops_with_the_method_that_runs(cube: Path) -> None:
    """Ctrl-C ends the method that runs with its best result; those after it do not run."""
    methods = ("--methods", "suppress,suppress:paths")
    command = Terminal("compare", cube, *methods, "--time-limit", "60")
    command.wait_until(lambda seen: re.search(r"suppress \(1 of 2\): .*gap", seen))
    command.press_ctrl_c()
    code, out = command.end()
    assert code == 0
    assert re.search(r"^suppress +feasible +\d", out, re.MULTILINE), out
    assert re.search(r"^suppress:paths +not run +-", out, re.MULTILINE), out


def test_a_tabulation_ends_in_the_middle_of_a_query(tmp_path: Path) -> None:
    """A half-made table is of no use: Ctrl-C ends it at once, whatever DuckDB does."""
    import duckdb

    records = tmp_path / "records.parquet"
    with duckdb.connect() as duck:
        duck.execute(
            "COPY (SELECT 'f' || hash(i) % 500000 AS firm, 'R' || i % 40 AS region, i % 1000 AS "
            f"turnover FROM range(3000000) AS r(i)) TO '{records}' (FORMAT parquet)"
        )
    job = tmp_path / "job.toml"
    job.write_text(
        '[data]\nmicrodata = "records.parquet"\nvalue = "turnover"\ncontributor = "firm"\n'
        "[dimensions.region]\n"
    )
    out = tmp_path / "table.confidential.csv"
    command = Terminal("tabulate", records, "--config", job, "--out", out)
    command.wait_until(lambda seen: re.search(r"tabulate: numbering codes", seen))
    command.press_ctrl_c()
    pressed = time.monotonic()
    code, printed = command.end()
    assert time.monotonic() - pressed < 5
    assert (code, printed) == (130, "")
    assert "tacit: stopped" in command.seen
    assert not out.exists()
