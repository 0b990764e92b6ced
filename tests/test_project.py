"""The files about the project: they agree with each other and name what there is."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

import tacit

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
CITATION: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text())
WORKFLOW: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
_SUFFIXES = r"(?:py|md|toml|yml|yaml|cff)"


def _name(requirement: str) -> str:
    return re.split(r"[<>=!~\[; ]", requirement, maxsplit=1)[0]


def test_the_citation_is_of_this_version() -> None:
    """What people cite has the version, licence and address of the package."""
    project = PROJECT["project"]
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(CITATION)
    assert str(CITATION["version"]) == tacit.__version__
    assert CITATION["license"] == project["license"]
    assert CITATION["url"] == project["urls"]["Homepage"]
    assert [author["name"] for author in CITATION["authors"]] == [
        author["name"] for author in project["authors"]
    ]


def test_hooks_run_what_make_check_runs() -> None:
    """A commit that the hooks let pass passes `make check`."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    entries = {hook["entry"].removesuffix(" --force-exclude") for hook in hooks}
    recipe = re.search(r"(?m)^check: .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text())
    assert recipe is not None
    commands = {
        line.strip().replace("$(BIN)", ".venv/bin").removesuffix(" .")
        for line in recipe[1].splitlines()
    }
    assert entries == commands


def test_the_workflow_tries_the_oldest_python() -> None:
    """The Python that the package asks for is among those tried, and `make test` is what is run."""
    job = WORKFLOW["jobs"]["test"]
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert oldest in job["strategy"]["matrix"]["python"]
    assert any(step.get("run", "").startswith("make test") for step in job["steps"])
    assert "secrets" not in (ROOT / ".github/workflows/test.yml").read_text()


def test_extras_stay_out_of_the_core() -> None:
    """No extra is a core dependency, and each library is explained on the page about installing."""
    core = {_name(entry) for entry in PROJECT["project"]["dependencies"]}
    extras = PROJECT["project"]["optional-dependencies"]
    page = (ROOT / "docs" / "installing.md").read_text()
    for extra, entries in extras.items():
        assert not core & {_name(entry) for entry in entries}
        assert f"`tacit[{extra}]`" in page
    explained = set(re.findall(r"[\w-]+", " ".join(re.findall(r"(?m)^\| ([^|]+) \|", page))))
    assert core | {_name(entry) for entries in extras.values() for entry in entries} <= explained


def test_the_dev_group_has_the_extra_that_tests_need() -> None:
    """Excel files are tested wherever tests run, with the version that users get."""
    assert set(PROJECT["project"]["optional-dependencies"]["excel"]) <= set(
        PROJECT["dependency-groups"]["dev"]
    )


@pytest.mark.parametrize(
    "name", sorted(set(re.findall(rf"`\.?([\w./-]+\.{_SUFFIXES})`", CONTRIBUTING)))
)
def test_files_that_contributing_names_exist(name: str) -> None:
    """Paths are those of the project, of the package, or of a folder named just before."""
    hidden = ROOT / f".{name}"
    found = [path for path in (*ROOT.glob(f"src/**/{name}"), ROOT / name, hidden) if path.exists()]
    assert found


def test_commands_that_contributing_names_can_be_run() -> None:
    """Test files on command lines exist, and so do the targets of `make`."""
    files = re.findall(r"pytest (tests/\S+\.py)", CONTRIBUTING)
    assert files
    assert all((ROOT / file).is_file() for file in files)
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text()))
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", CONTRIBUTING, re.MULTILINE))
    assert {"wheel-check", "test"} <= named <= targets


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, and the names that it imports from them, with dots."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module or ''}.{alias.name}" for alias in node.names)


def test_no_test_module_imports_another() -> None:
    """What several tests need stands in a module of its own, where it is not run as a test."""
    modules = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    assert Path(__file__).stem in modules
    for path in sorted((ROOT / "tests").rglob("*.py")):
        named = {part for name in imported(path) for part in name.split(".")}
        assert not named & modules, path.relative_to(ROOT)


def test_outcomes_of_methods_are_made_by_the_driver() -> None:
    """No method calls its own result safe or optimal: the driver audits and decides."""
    methods = ROOT / "src" / "tacit" / "methods"
    makers = {
        path.relative_to(methods).as_posix()
        for path in methods.rglob("*.py")
        if re.search(r"\bOutcome\(", path.read_text())
    }
    assert makers == {"engine/driver.py"}


def test_coverage_leaves_compiled_files_out() -> None:
    """Every module with functions for numba is among those that are not marked, and no other."""
    patterns = PROJECT["tool"]["slipcover"]["omit"]
    for path in (ROOT / "src" / "tacit").rglob("*.py"):
        compiled = "tacit.compiling.njit" in imported(path)
        omitted = any(fnmatch(path.as_posix(), pattern) for pattern in patterns)
        assert compiled == omitted, path.relative_to(ROOT)
