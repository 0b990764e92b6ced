"""The command line as a whole: commands, exit codes, messages."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tacit.cli.commands import versions
from tacit.cli.interrupts import StoppedAtOnce
from tacit.cli.main import COMMANDS, main
from tacit.errors import SolverError
from tacit.version import __version__

from .conftest import Files


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tacit", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_help_imports_nothing_heavy() -> None:
    """Help appears at once: no command and nothing slow is imported for it."""
    code = (
        "import sys\n"
        "from tacit.cli.main import COMMANDS, main\n"
        "try:\n"
        "    main([*sys.argv[1:], '--help'])\n"
        "except SystemExit as ended:\n"
        "    assert ended.code == 0\n"
        "heavy = {'numpy', 'scipy', 'numba', 'highspy', 'pyscipopt', 'narwhals', 'rich'}\n"
        "heavy |= {'duckdb', 'starlette', 'uvicorn', 'jinja2', 'tacit.app'}\n"
        "heavy &= set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "modules = {name for name in COMMANDS if f'tacit.cli.commands.{name}' in sys.modules}\n"
        "assert modules == set(sys.argv[1:]), modules\n"
    )
    for arguments in ([], ["audit"], ["protect"], ["demo"], ["tabulate"], ["compare"], ["app"]):
        found = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
        )
        assert found.returncode == 0, found.stderr
        assert "usage: tacit" in found.stdout


def test_every_command_has_a_module_with_both_functions() -> None:
    """A line in the table of commands is enough for a command to be found."""
    for name in COMMANDS:
        module = import_module(f"tacit.cli.commands.{name}")
        assert callable(module.add_arguments)
        assert callable(module.run)


def test_a_process_ends_with_the_exit_code_of_its_command(files: Files) -> None:
    """Safe is 0, exposed is 4, and a wrong input is 1 with one message and no traceback."""
    assert _run("audit", files.table, files.safe).returncode == 0
    exposed = _run("audit", files.table, files.exposed)
    assert exposed.returncode == 4
    assert "NOT SAFE" in exposed.stdout
    assert exposed.stderr == ""
    wrong = _run("audit", files.folder / "missing.jj", files.safe)
    assert wrong.returncode == 1
    assert wrong.stdout == ""
    assert wrong.stderr.startswith(f"tacit: {files.folder / 'missing.jj'}: the file cannot be read")
    assert len(wrong.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["protekt"], "there is no command 'protekt'; did you mean 'protect'?"),
        (["info"], "tacit: INPUT is missing; see tacit info --help"),
        (["versions", "--frob"], "there is no option --frob; see tacit versions --help"),
        (["generate", "2d", "--seed", "-1", "--out", "a.jj"], "--seed"),
        (
            ["generate", "2d", "--se", "1", "--out", "a.jj"],
            "no option --se; did you mean '--seed'?",
        ),
        (["protect", "a.jj", "--method", "magic"], "no method 'magic'; known are suppress"),
        (["protect", "a.jj", "--algorithm", "magic"], "no algorithm 'magic'; known are auto"),
        (["protect", "a.jj", "--time-limit", "0"], "'0' is not a number above 0"),
        (["protect", "a.jj", "--gap", "inf"], "'inf' is not a number of at least 0"),
        (["protect", "a.jj", "--seed", "1000000001"], "above the largest seed"),
        (["protect", "a.jj", "--radius", "0.5,x"], "'x' is not a number above 0"),
        (["protect", "a.jj", "--weights", "mine"], "no kind of weights 'mine'"),
        (["info", "a.jj", "b.jj"], "'b.jj' is one argument too many"),
        (["audit", "a.jj", "b.jj", "--jobs", "0"], "not a whole number of at least 1"),
        (["audit", "a.jj", "b.jj", "--cells", "some"], "neither one of sensitive"),
        (["audit", "a.jj", "b.jj", "--attackers", "me"], "unknown attacker 'me'"),
        (["audit", "a.jj", "b.jj", "--tolerance", "nan"], "not a share between 0 and 1"),
        (
            ["audit", "a.jj", "b.jj", "--save-evidence", "c", "--check-evidence", "d"],
            "does not go with --save-evidence: choose one",
        ),
    ],
)
def test_a_wrong_command_line_ends_with_code_1(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The 2 of argparse would say that no safe outcome exists."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 1
    assert message in capsys.readouterr().err


def test_no_command_at_all_gets_help(capsys: pytest.CaptureFixture[str]) -> None:
    """Without arguments the commands are listed on standard error."""
    assert main([]) == 1
    assert "commands:" in capsys.readouterr().err


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """`--version` is one line, `versions` one line a component."""
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"tacit {__version__}\n"
    assert main(["versions"]) == 0
    told = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert told["tacit"] == __version__
    assert list(told) == ["tacit", "python", *versions.PACKAGES, "platform"]
    assert "not installed" not in told.values()


def test_a_missing_package_is_said_to_be_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list of versions is complete also where something is not installed."""
    monkeypatch.setattr(versions, "PACKAGES", ("no-such-package",))
    assert main(["versions"]) == 0
    assert "not installed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (SolverError("the solver failed"), 3, "tacit: the solver failed\n"),
        (KeyboardInterrupt(), 130, "tacit: stopped\n"),
        (StoppedAtOnce(), 130, "tacit: stopped\n"),
    ],
)
def test_errors_become_codes(
    error: BaseException,
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A failed solver and an impatient user end in a line, not in a traceback."""

    def fail(_arguments: Any) -> int:
        raise error

    monkeypatch.setattr(versions, "run", fail)
    assert main(["versions"]) == code
    assert capsys.readouterr().err == message


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break otherwise on Windows")
def test_a_reader_who_goes_away_is_no_error() -> None:
    """`tacit versions | true` says nothing on standard error."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "tacit", "versions"]
    found = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert found.returncode == 128 + signal.SIGPIPE
    assert found.stderr == ""


def test_nothing_outlives_a_command() -> None:
    """A solver that does not end is not waited for; what was printed and the exit code remain."""
    code = (
        "import sys, threading, time\n"
        "from tacit.cli.main import main\n"
        "from tacit.solver import mip\n"
        "endless = lambda: [time.sleep(0.1) for _ in iter(int, 1)]\n"
        "threading.Thread(target=endless).start()\n"
        "mip.solvers_left_behind = lambda: 1\n"
        "sys.argv = ['tacit', 'versions']\n"
        "sys.exit(main())\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert found.returncode == 0, found.stderr
    assert f"tacit {__version__}" in " ".join(found.stdout.split())
