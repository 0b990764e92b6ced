"""`tacit protect --method round`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.io.jj import read_jj

from .conftest import Files


def _protect(*arguments: str | Path) -> int:
    return main(["protect", *map(str, arguments), "--method", "round", "--quiet"])


def test_values_and_radius_are_written_and_audited(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    """The JSON holds a multiple of the base for every cell, and passes the audit."""
    out = files.folder / "rounded.json"
    assert _protect(files.table, "--option", "base=20", "--json", out) == 0
    assert "guarantee" in capsys.readouterr().out
    members = json.loads(out.read_text())
    assert members["method"] == "round"
    assert members["status"] == "optimal"
    assert members["radius"] == 20
    assert members["audit"]["safe"] is True
    problem = read_jj(files.table)
    values = np.array(members["values"])
    assert (values % 20 == 0).all()
    assert not problem.residual(values).any()
    assert members["objective"] == pytest.approx(
        float(problem.weight @ np.abs(values - problem.value))
    )
    assert main(["audit", str(files.table), str(out)]) == 0


def test_a_base_that_is_too_small_is_explained(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    """No safe outcome is code 2, with a base that would do."""
    assert _protect(files.table, "--option", "base=5") == 2
    told = capsys.readouterr().err
    assert "no safe rounding exists" in told
    assert "take a larger base, such as base=20" in told


def test_random_rounding_is_told_apart(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """What does not add up says so on the screen and in the file."""
    out = files.folder / "rounded.json"
    options = ("--algorithm", "random", "--seed", "4", "--option", "base=200")
    assert _protect(files.table, *options, "--json", out) == 0
    assert "do not add up" in capsys.readouterr().out
    assert "do not add up" in json.loads(out.read_text())["message"]


def test_seeds_of_random_rounding_are_confidential(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two runs differ, the result as JSON tells the seed, and neither screen nor table does."""
    seeds = []
    for name in ("a", "b"):
        out, public = files.folder / f"{name}.json", files.folder / f"{name}.csv"
        options = ("--algorithm", "random", "--option", "base=200", "--json", out, "--out", public)
        assert _protect(files.table, *options) == 0
        seeds.append(json.loads(out.read_text())["seed"])
        told = capsys.readouterr()
        for text in (told.out, told.err, public.read_text()):
            assert str(seeds[-1]) not in text
            assert "seed 1" not in text
    assert seeds[0] != seeds[1]
    assert min(seeds) > 1


def test_random_rounding_that_exposes_cells_asks_for_no_more_time(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where chance gives a cell away, another algorithm helps, and time does not."""
    options = ("--algorithm", "random", "--seed", "1", "--option", "base=5")
    assert _protect(files.table, *options) == 3
    told = capsys.readouterr().err
    assert "ended without a safe rounding\n  rounding at random ignores protection levels" in told
    assert "time" not in told


def test_true_values_with_a_pattern_are_for_suppression(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    """A confidential JJ file is not called a list of suppressed cells."""
    out = files.folder / "y.confidential.jj"
    assert _protect(files.table, "--out", out) == 1
    assert (
        "a JJ file with the true values does not say what method round" in capsys.readouterr().err
    )


def test_weights_are_given_once(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """Weights by --weights and by --option contradict each other, and are refused."""
    command = ["protect", str(files.table), "--method", "adjust", "--weights", "unit", "--quiet"]
    assert main([*command, "--option", "weights=inverse"]) == 1
    assert "weights is given by --option and by --weights" in capsys.readouterr().err


def test_a_release_says_what_holds() -> None:
    """The guarantee of a rounded release speaks of what readers know, and hides random seeds."""
    source = tacit.examples.get("002-figure-2.4").table
    assert source is not None
    table = source.apply(tacit.PPercent(10))
    release = tacit.protect(table, "round", base=50)
    assert "how far from the true ones they may be" in release.guarantee
    assert (release.published.value % 50 == 0).all()
    assert "seed" not in release.summary()
    assert release.papers.summary_rows()["search"].endswith(", seed 1")
    drawn = tacit.protect(table, "round", base=100, algorithm="random", seed=77)
    assert "do not add up" in drawn.guarantee
    assert "77" not in drawn.summary().replace(drawn.guarantee, "")
    secret = tacit.protect(table, "round", base=100, algorithm="random")
    assert secret.papers.outcome.seed > 2**64
    assert str(secret.papers.outcome.seed) not in secret.summary()
