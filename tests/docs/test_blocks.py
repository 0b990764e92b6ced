"""Every fenced block of README.md and docs/ runs, or says above itself why it does not."""

from __future__ import annotations

import doctest
import re
import tomllib
from pathlib import Path

import pytest

from tacit.cli.main import main
from tacit.cli.progress import Silence
from tacit.jobs import read_job, read_plan

from .blocks import PAGES, ROOT, TESTED_ELSEWHERE, Block, blocks
from .files import PREPARED

BLOCKS = [block for page in PAGES if page.name not in TESTED_ELSEWHERE for block in blocks(page)]
RUN = [block for block in BLOCKS if not block.why_not_run]
COMMANDS = [block for block in RUN if block.kind == "commands"]
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _steady(printed: str) -> str:
    """What is printed, without times, and without bounds, which depend on when a run ends."""
    kept = re.sub(r"(?m)^( *seconds +)[\d.]+", r"\1(some)", printed)
    kept = re.sub(r"(proven|solver's) bound [\d.]+, gap [\d.]+%", "bound (some)", kept)
    if re.search(r"gap +seconds$", kept, re.MULTILINE):
        kept = re.sub(r"(?m) +[\d.]+% +[\d.]+$", " (some)", kept)
    return kept.strip() + "\n"


def _is_as_said(printed: str, found: str) -> bool:
    return doctest.OutputChecker().check_output(_steady(printed), _steady(found), LOOSELY)


def _run(arguments: tuple[str, ...]) -> int | str | None:
    try:
        return main(arguments)
    except SystemExit as ended:
        return ended.code


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_block_is_run_or_says_why_not(block: Block) -> None:
    """A block of which nobody knows how to run it has `<!-- not run: reason -->` above it."""
    assert block.kind or block.why_not_run


def test_python_blocks_are_doctests() -> None:
    """All doctests of README.md and of the pages are among the tests."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert {"README.md", "docs"} <= set(options["testpaths"])
    assert "--doctest-glob=*.md" in options["addopts"].split()


@pytest.mark.parametrize("block", [block for block in RUN if block.kind == "python"], ids=str)
def test_doctests_end_before_their_fence(block: Block) -> None:
    """The fence is no part of what is expected: an empty line comes before it."""
    last = doctest.DocTestParser().get_examples(block.text)[-1]
    assert block.text.endswith("\n\n") or not last.want


@pytest.mark.parametrize("block", [block for block in RUN if block.kind == "toml"], ids=str)
def test_toml_is_a_job(block: Block, tmp_path: Path) -> None:
    """A file of this text is a job, perhaps together with the rest of one, or a plan."""
    given = tomllib.loads(block.text)
    if "jobs" in given:
        (tmp_path / "jobs").mkdir()
        (tmp_path / "jobs" / "turnover.toml").write_text("")
        (tmp_path / "plan.toml").write_text(block.text)
        assert len(read_plan(tmp_path / "plan.toml").entries) == 1
        return
    rest = "" if "data" in given else '\n[data]\nmicrodata = "firms.csv"\nvalue = "turnover"\n'
    if "dimensions" not in given:
        rest += "\n".join(f"[dimensions.{name}]" for name in given.get("recode", ["region"]))
    for dimension in given.get("dimensions", {}).values():
        if "file" in dimension:
            (tmp_path / dimension["file"]).write_text("child,parent\nN1,N\nN,\n")
    (tmp_path / "job.toml").write_text(block.text + rest)
    job = read_job(tmp_path / "job.toml")
    missing = given.get("data", {}).get("missing")
    # Cells of missing codes are made safe by a rule of their own.
    implied = isinstance(missing, dict) and missing.get("safe", False)
    assert len(job.rules) == len(given.get("rules", ())) + implied


@pytest.mark.parametrize("block", [block for block in RUN if block.kind == "make"], ids=str)
def test_make_knows_the_targets(block: Block) -> None:
    """Each line names a target of the Makefile."""
    targets = re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text())
    named = {line.split()[1] for line in block.text.splitlines()}
    assert named <= set(targets)


@pytest.mark.parametrize("page", sorted({block.page for block in COMMANDS}), ids=lambda p: p.name)
def test_commands_print_what_the_page_says(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All commands of a page, one after the other in one folder, end and print as it says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tacit.cli.progress.PlainLines", Silence)
    if page.name in PREPARED:
        PREPARED[page.name](tmp_path)
    for block in COMMANDS:
        if block.page != page:
            continue
        for command in block.commands():
            capsys.readouterr()
            code = _run(command.words[1:])
            told = capsys.readouterr()
            assert code == block.exit_code, f"{block}: {told.err}"
            if not command.printed:
                continue
            found = (told.out, told.out + told.err, told.err)
            as_said = any(_is_as_said(command.printed, text) for text in found)
            assert as_said, f"{block}:\n{told.out}{told.err}"


def test_pages_tested_elsewhere_are() -> None:
    """The tests that are named compare those pages."""
    for page, test in TESTED_ELSEWHERE.items():
        assert (ROOT / "docs" / page).is_file()
        assert page in (ROOT / test).read_text()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("```python\n>>> 1\n1\n\n```\n", "python"),
        ("```python\nx = 1\n```\n", ""),
        ("```toml\n[data]\n```\n", "toml"),
        ("```\n$ tacit demo\n```\n", "commands"),
        ("```\nmake demo   something\n```\n", "make"),
        ("```\nanything\n```\n", ""),
        ("```yaml\na: 1\n```\n", ""),
    ],
)
def test_kinds_of_blocks(text: str, kind: str, tmp_path: Path) -> None:
    """What nobody knows how to run is of no kind, and has to say why it is there."""
    page = tmp_path / "page.md"
    page.write_text(text)
    assert [block.kind for block in blocks(page)] == [kind]


def test_what_a_page_says_of_its_blocks(tmp_path: Path) -> None:
    """Reasons stand right above a block, exit codes in the paragraph before, outputs below."""
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- not run: a picture -->\n\n```\nx\n```\n\nIt fails (exit code 4):\n\n"
        "```\n$ tacit audit a b\nNOT SAFE\n$ tacit info 'a b'\n```\n"
    )
    first, second = blocks(page)
    assert (first.why_not_run, second.why_not_run) == ("a picture", "")
    assert (first.exit_code, second.exit_code) == (0, 4)
    told = [(command.words, command.printed) for command in second.commands()]
    assert told == [(("tacit", "audit", "a", "b"), "NOT SAFE\n"), (("tacit", "info", "a b"), "")]


def test_an_open_fence_is_an_error(tmp_path: Path) -> None:
    """Everything after it would be taken for code."""
    page = tmp_path / "page.md"
    page.write_text("```\n$ tacit demo\n")
    with pytest.raises(ValueError, match="never closed"):
        list(blocks(page))


def test_other_outputs_are_noticed() -> None:
    """Times and bounds may differ, and nothing else."""
    said = "  objective   12; proven bound 11, gap 8.333%\n  seconds     0.5 with algorithm auto\n"
    assert _is_as_said(said, said.replace("11, gap 8.333", "12, gap 0.000").replace("0.5", "7.1"))
    assert not _is_as_said(said, said.replace("objective   12", "objective   13"))
    assert not _is_as_said(said, said.replace("auto", "paths"))
