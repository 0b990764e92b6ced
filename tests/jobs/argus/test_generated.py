"""Batch files made from the grammar run, or are refused with a line."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError
from tacit.io.argus.batch import COMMANDS
from tests.jobs.argus.small_jobs import METADATA, REGIONS, make_records

VARIABLES = ("region", "nace", "size", "turnover", "staff", "firm", "absent")
FILES = ("firms.asc", "FIRMS.RDA", "region.hrc", "a.hst", "s.grc", "absent.txt", "V:\\x\\firms.asc")

number = st.integers(0, 5) | st.sampled_from([-1, 10, 75, 100, 0.5])
table = st.integers(0, 3)
file = st.sampled_from(FILES).map(lambda name: f'"{name}"')
variable = st.sampled_from(VARIABLES)


def _call(names: list[str], least: int, most: int) -> st.SearchStrategy[str]:
    inside = st.lists(number, min_size=least, max_size=most)
    return st.builds(
        lambda name, given: f"{name}({','.join(map(str, given))})", st.sampled_from(names), inside
    )


rules = st.lists(
    _call(["P", "NK", "FREQ", "REQ", "ZERO", "MIS", "WGT", "MAN"], 0, 4), max_size=4
).map("|".join)
likely_rules = st.sampled_from(
    ["P(10,1)", "NK(2,80)|FREQ(3,20)", "FREQ(5,10)|MIS(1)|ZERO(5)|MAN(10)", "P(0)|P(0)|P(20,2)"]
)
specified = st.builds(
    lambda by, response, rest: "".join(f'"{name}"' for name in by) + f"|{response}|{rest}",
    st.lists(variable, min_size=1, max_size=3),
    st.sampled_from(['"turnover"', "<freq>", '"size"', ""]),
    st.sampled_from(["", "|", '"staff"|', '|"staff",0.5', "|-1", "|-2,0", "|-3"]),
)
likely = st.sampled_from(['"region""size"|"turnover"||', '"nace""size"|<freq>||-2'])
arguments: dict[str, st.SearchStrategy[str]] = {
    "OPENMICRODATA": file,
    "OPENTABLEDATA": file,
    "OPENMETADATA": file,
    "SPECIFYTABLE": specified,
    "SAFETYRULE": rules,
    "READMICRODATA": st.just(""),
    "READTABLE": st.sampled_from(["", "0", "1T", "2"]),
    "RECODE": st.builds(
        lambda t, v, how: f"{t},{v},{how}", table, variable, file | st.sampled_from(["1", "2"])
    ),
    "APRIORI": st.builds(
        lambda f, t, rest: f'{f},{t},"{rest[0]}",{rest[1]},{rest[2]}',
        file,
        table,
        st.tuples(st.sampled_from(",;"), st.integers(0, 1), st.integers(0, 1)),
    ),
    "SUPPRESS": _call(["OPT", "MOD", "GH", "NET", "CTA", "RND", "CKM"], 1, 4),
    "WRITETABLE": st.builds(
        lambda t, f, options, name: f"({t},{f},{options},{name})",
        table,
        st.integers(1, 7),
        st.sampled_from(["", "AS+", "1", "AS+FL+QU-", "ZZ+", "SE+TR+"]),
        st.sampled_from(["out.txt", "..\\out.csv", "firms.asc"]).map(lambda name: f'"{name}"'),
    ),
    "LOGBOOK": st.just('"run.log"'),
    "VERSIONINFO": st.just("version.txt"),
    "SOLVER": st.sampled_from(["FREE", "CPLEX", "x"]),
    "SILENT": st.just(""),
    "ANCO": st.just(""),
    "CLEAR": st.just(""),
    "GOINTERACTIVE": st.just(""),
}
arguments["APRIORY"] = arguments["APRIORI"]
command = st.sampled_from(sorted(arguments)).flatmap(
    lambda name: arguments[name].map(lambda rest: f"<{name}> {rest}")
)
anything = st.lists(command, max_size=12)
sensible = st.builds(
    lambda spec, rule, first, method, last: [
        "<OPENMICRODATA> firms.asc", "<OPENMETADATA> firms.rda", f"<SPECIFYTABLE> {spec}",
        f"<SAFETYRULE> {rule}", "<READMICRODATA>", *first, f"<SUPPRESS> {method}", *last,
    ],
    likely | specified,
    likely_rules | rules,
    st.lists(command, max_size=1),
    _call(["OPT", "MOD", "GH", "CTA"], 1, 4) | st.sampled_from(["OPT(1,1)", "MOD(0,1,1)"]),
    st.lists(command, max_size=2),
)  # fmt: skip


def test_every_command_is_generated() -> None:
    """The grammar of the test has all commands that there are."""
    assert set(arguments) == set(COMMANDS)


def _refused(batch: Path) -> str:
    """Why a batch file is refused; nothing where it runs, or nothing safe was found."""
    try:
        releases = tacit.run_argus(batch, time_limit=0.5)
    except InputError as error:
        return str(error)
    except tacit.NoReleaseError:
        return ""
    assert all(release.papers.audit.safe for release in releases)
    return ""


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(anything | sensible | sensible)
def test_batch_files_run_or_are_refused_with_a_line(lines: list[str]) -> None:
    """No other error than ours, and what is wrong names the batch file and a line."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "home"
        folder.mkdir()
        records = "".join(f"{record.line()}\n" for record in make_records(60))
        contents = {
            "firms.asc": records, "firms.rda": METADATA, "region.hrc": REGIONS,
            "a.hst": "No,1,u\nNo,,p\n", "s.grc": "7: 1 - 3\n",
        }  # fmt: skip
        for file_name, content in contents.items():
            (folder / file_name).write_text(content)
        batch = folder / "job.arb"
        batch.write_text("\n".join(lines) + "\n")
        refused = _refused(batch)
        located = f"{batch}:" in refused or f"({batch.name}, line" in refused
        assert not refused or located or refused == f"{batch}: there are no commands"
        # Nothing is written elsewhere, and inputs stay as they are.
        assert [path.name for path in Path(name).iterdir()] == ["home"]
        assert all((folder / name).read_text() == content for name, content in contents.items())
