"""The public names of tacit."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

import tacit


@pytest.mark.parametrize("name", tacit.__all__)
def test_every_public_name_resolves(name: str) -> None:
    """Each promised name can be had from the package."""
    assert getattr(tacit, name) is not None
    assert name in dir(tacit)


def test_every_lazy_name_is_promised() -> None:
    """What is imported on demand and what is promised are the same names."""
    assert {*tacit._HOMES, *tacit._ROOMS, "__version__"} == set(tacit.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelt name is refused as by any module."""
    with pytest.raises(AttributeError, match="no attribute 'Problme'"):
        getattr(tacit, "Problme")  # noqa: B009  (a plain access does not pass the type checker)


def test_public_functions_share_no_name_with_a_room() -> None:
    """A name is either a subpackage or something in one, never both."""
    rooms = {module.name for module in pkgutil.iter_modules(tacit.__path__)}
    public_rooms = {name for name in tacit.__all__ if isinstance(getattr(tacit, name), ModuleType)}
    assert rooms & set(tacit.__all__) == public_rooms
    assert public_rooms == {"examples", "generators", "jobs", "report", "rules"}


def test_importing_the_package_imports_nothing_heavy() -> None:
    """The package itself and its subpackages on demand cost no import of numpy and the like."""
    code = (
        "import sys, tacit\n"
        "heavy = {'numpy', 'scipy', 'numba', 'highspy', 'narwhals', 'rich', 'tacit.app'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert tacit.examples.names() and tacit.generators.generate_by_name\n"
        "assert callable(tacit.audit)\n"
        "import tacit.attack.audit\n"
        "assert callable(tacit.audit)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_protecting_a_jj_file_imports_no_more_than_it_needs() -> None:
    """Neither data frames nor reports nor DuckDB are loaded where a job has none of them."""
    code = (
        "import sys, tacit.jobs\n"
        "spared = {'narwhals', 'duckdb', 'pyscipopt', 'rich', 'tacit.report'}\n"
        "assert not spared & set(sys.modules), spared & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_command_line_does_not_load_the_application() -> None:
    """Neither the package nor the commands import what only `tacit app` needs."""
    code = (
        "import sys, tacit, tacit.jobs, tacit.cli.main\n"
        "from tacit.cli.main import COMMANDS, _command\n"
        "for name in COMMANDS: _command(name)\n"
        "spared = {'tacit.app', 'starlette', 'uvicorn', 'jinja2', 'multipart', 'anyio'}\n"
        "assert not spared & set(sys.modules), spared & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
