"""The virtual environment that peers live in, apart from the one of tacit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tacit.errors import InputError

PYTAUARGUS_VERSION = "0.6.0"
SWIGLPK_VERSION = "5.0.13"
PEERS_FOLDER = Path(__file__).resolve().parents[2] / ".venv-peers"
GLPK_FOLDER = PEERS_FOLDER.with_name(".venv-glpk")
PYTHON_VARIABLE = "TACIT_PEER_PYTHON"
"""Environment variable: an interpreter with pytauargus to use instead of the own one."""
GLPK_VARIABLE = "TACIT_GLPK_PYTHON"
"""The same for GLPK, an interpreter with swiglpk."""

_VERSIONS = """\
from importlib.metadata import version
from pytauargus import engine_meta
print("pytauargus=" + version("pytauargus"))
for name, value in engine_meta().items():
    print(f"{name}={value}")
"""


class PeerError(InputError):
    """A peer cannot be installed, cannot do what is asked, or broke down."""


def peer_python(folder: Path = PEERS_FOLDER) -> Path:
    """The interpreter of the peers' environment, which is made on the first call.

    Args:
        folder: Where the environment is, or is to be. Not looked at when the environment
            variable `TACIT_PEER_PYTHON` names an interpreter.

    Raises:
        PeerError: The environment cannot be made, for instance without a package index.
    """
    chosen = os.environ.get(PYTHON_VARIABLE)
    return Path(chosen) if chosen else _interpreter(folder, "pytauargus", PYTAUARGUS_VERSION)


def glpk_python(folder: Path = GLPK_FOLDER) -> Path:
    """The same for GLPK, which is under the GPL and so has an environment of its own, too.

    Raises:
        PeerError: The environment cannot be made.
    """
    chosen = os.environ.get(GLPK_VARIABLE)
    return Path(chosen) if chosen else _interpreter(folder, "swiglpk", SWIGLPK_VERSION)


def _interpreter(folder: Path, package: str, version: str) -> Path:
    """The interpreter of an environment with one package, made where it is not there."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    # The stamp is written last, so an installation that was cut short is made anew.
    stamp = folder / f"{package}-{version}"
    if not stamp.exists():
        shutil.rmtree(folder, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(folder)])
        _run([*_pip(python), "install", "--quiet", f"{package}=={version}"])
        stamp.touch()
    return python


def peer_versions(python: Path) -> dict[str, str]:
    """The versions of the peer and of what it is built on, by name."""
    printed = _run([str(python), "-c", _VERSIONS])
    return dict(line.split("=", 1) for line in printed.splitlines())


def _pip(python: Path) -> list[str]:
    return [str(python), "-m", "pip", "--disable-pip-version-check"]


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise PeerError(f"{command[0]} cannot be run: {error.strerror}") from None
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        raise PeerError(f"'{' '.join(command[:4])} ...' failed: {' '.join(last)}")
    return done.stdout
