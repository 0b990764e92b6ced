"""Mistakes in solutions, outputs and what is typed."""

from __future__ import annotations

from collections.abc import Iterator

from .mistake import Mistake


def _solutions() -> Iterator[Mistake]:
    about = "Solutions and evidence"

    def solution(title: str, content: str, printed: str) -> Mistake:
        return Mistake(
            about,
            title,
            "audit table.jj hidden.txt",
            f"tacit: hidden.txt{printed}\n",
            files={"hidden.txt": content},
        )

    yield solution(
        "an empty solution", "", ": the file is empty; write [] where no cell is suppressed"
    )
    yield solution(
        "a solution of another table",
        "0 1 99\n",
        ":1: entry 3 is not a cell of the problem; cells are 0 to 8",
    )
    yield solution(
        "a JSON file that was cut off",
        '{"suppressed": [0, 1',
        ":1: this is not valid JSON: expecting ',' delimiter",
    )
    yield Mistake(
        about,
        "a file that is not evidence",
        "audit table.jj hidden.txt --check-evidence evidence.json",
        "tacit: evidence.json:1: this is not valid JSON: extra data\n",
        files={"evidence.json": "0 1\n"},
    )


def _outputs() -> Iterator[Mistake]:
    about = "Outputs"

    def output(title: str, options: str, printed: str) -> Mistake:
        return Mistake(about, title, f"protect table.jj {options}", f"tacit: {printed}\n")

    yield output(
        "a directory that does not exist",
        "--json none/result.json",
        "none/result.json: the directory of this output does not exist; create it first",
    )
    yield Mistake(
        about,
        "a directory in place of an output",
        "protect table.jj --json folder",
        "tacit: folder: this is a directory; name a file to write\n",
        files={"folder": None},
    )
    yield output(
        "an input in place of an output",
        "--json table.jj",
        "table.jj: this output would replace an input; name another",
    )
    yield output(
        "one file for two outputs",
        "--json result.csv --out result.csv",
        "result.csv: this file is named for two outputs; name another",
    )
    yield output(
        "a full disk",
        "--json /dev/full",
        "/dev/full: the file cannot be written: no space left on device; write it elsewhere",
    )
    yield Mistake(
        about,
        "a file in place of a folder",
        "demo --out firms.csv",
        "tacit: firms.csv: the folder cannot be created: file exists\n",
    )
    yield Mistake(
        about,
        "a report of another kind",
        "compare table.jj --report report.pdf",
        "tacit: report.pdf: the name of the report must end in .html\n",
    )
    yield Mistake(
        about,
        "a generated table of another kind",
        "generate 2d --out table.csv",
        "tacit: table.csv: the name of the output must end in .jj or .jj.gz\n",
    )


def _typed() -> Iterator[Mistake]:
    about = "Arguments"

    def typed(title: str, command: str, printed: str) -> Mistake:
        return Mistake(about, title, command, f"tacit: {printed}\n")

    yield typed(
        "a misspelt command", "protekt", "there is no command 'protekt'; did you mean 'protect'?"
    )
    yield typed(
        "a misspelt option",
        "protect table.jj --time-limt 5",
        "there is no option --time-limt; did you mean '--time-limit'?",
    )
    yield typed("no input", "protect", "INPUT is missing; see tacit protect --help")
    yield typed(
        "an argument too many",
        "info table.jj job.toml",
        "'job.toml' is one argument too many; see tacit info --help",
    )
    yield typed(
        "an option without a value",
        "protect table.jj --json",
        "--json needs a value after it; see tacit protect --help",
    )
    yield typed(
        "no time at all",
        "protect table.jj --time-limit 0",
        "--time-limit: '0' is not a number above 0; see tacit protect --help",
    )
    yield typed(
        "an unknown method",
        "compare table.jj --methods suppress,interval",
        "--methods: there is no method 'interval'; did you mean 'intervals'?",
    )
    yield typed(
        "an unknown algorithm",
        "protect table.jj --algorithm hypercub",
        "--algorithm: there is no algorithm 'hypercub'; did you mean 'hypercube'?",
    )
    yield typed(
        "an algorithm of another method",
        "protect table.jj --method intervals --algorithm hypercube",
        "option 'algorithm' must be one of 'auto', 'benders', 'monolithic'; it is 'hypercube'",
    )
    yield typed(
        "an option without effect",
        "protect table.jj --radius 1,2",
        "--radius has no effect on algorithm auto; leave it out, or choose --algorithm stabilized",
    )
    yield typed(
        "an option given twice",
        "protect table.jj --seed 3 --option seed=2",
        "seed is given by --option and by its own option; leave one out",
    )
    yield typed(
        "one file for several inputs",
        "protect table.jj job.toml --out published.csv",
        "published.csv: this file would be written for every input; put {name} into its name, "
        "which stands for that of each",
    )
    yield typed(
        "a pattern that matches nothing",
        "protect job/*.toml",
        "no file matches job/*.toml; correct the pattern",
    )
    yield typed(
        "options that contradict each other",
        "audit table.jj hidden.txt --save-evidence a.json --check-evidence b.json",
        "--check-evidence: it does not go with --save-evidence: choose one; see tacit audit --help",
    )
    yield typed(
        "an unknown kind of table",
        "generate 4d --out table2.jj",
        "no kind of table is called '4d'; expected 1h2d, 2d or 3d",
    )


def _cells() -> Iterator[Mistake]:
    about = "Cells to explain"

    def cell(title: str, arguments: str, printed: str) -> Mistake:
        return Mistake(about, title, f"explain {arguments}", f"tacit: {printed}\n")

    yield cell(
        "a cell that is not there",
        "table.jj hidden.txt 99",
        "there is no cell 99; cells are numbered 0 to 8",
    )
    yield cell(
        "codes where there are none",
        "table.jj hidden.txt region=N",
        "cell 'region=N': this input has no codes, only numbers; name the cell by a number from 0 "
        "to 8",
    )
    yield cell(
        "a dimension that is misspelt",
        "job.toml hidden.txt regoin=N,size=large --quiet",
        "cell 'regoin=N,size=large': there is no dimension 'regoin'; did you mean 'region'?",
    )
    yield cell(
        "a code that does not occur",
        "job.toml hidden.txt region=N,size=lage --quiet",
        "dimension size has no code 'lage'; did you mean 'large'?",
    )
    yield cell(
        "a code of another dimension",
        "job.toml hidden.txt region=large --quiet",
        "dimension region has no code 'large'; dimension size has it",
    )
    yield cell(
        "neither a number nor codes",
        "job.toml hidden.txt North --quiet",
        "cell 'North' is neither a number nor codes such as region=S,size=small",
    )
    yield cell(
        "a picture whose name does not say what it holds",
        "table.jj hidden.txt 1 --picture circuit.svg",
        "circuit.svg: this holds what readers must not know: its name must say so, as in "
        "circuit.confidential.svg",
    )


def mistakes_in_commands() -> Iterator[Mistake]:
    """All of them."""
    yield from _solutions()
    yield from _outputs()
    yield from _typed()
    yield from _cells()
