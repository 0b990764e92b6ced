"""In which line of a TOML file each key stands."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import KeyPath
from tacit.jobs.lines import key_lines

DOCUMENT = '''\
a.b = 1 # [no]
"q.x" = """
[[no]]
y = 1 "" \\"""
"""
[[rules]]
rule = "a"
p = [ 1, # ] }
  { z = 2, w = [ 3,
   4] } ]
[rules.sub."k\\u0041"]
f = 2020-01-01 00:00:00

  [[rules]]
x . y = \'\'\'
]\'\'\'
[ t ]
'quoted # key' = {}
'''


def _paths(entry: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    inside: Any = ()
    if isinstance(entry, dict):
        inside = entry.items()
    elif isinstance(entry, list):
        inside = enumerate(entry)
    for key, part in inside:
        yield (*path, key)
        yield from _paths(part, (*path, key))


def test_every_way_to_write_a_key() -> None:
    """Dotted and quoted keys, arrays of tables, inline tables and long strings are told apart."""
    lines = key_lines(DOCUMENT)
    assert set(lines) == set(_paths(tomllib.loads(DOCUMENT)))
    assert lines["a", "b"] == 1
    assert lines["q.x",] == 2
    assert lines["rules", 0, "p", 1, "w", 1] == 10
    assert lines["rules", 0, "sub", "kA", "f"] == 12
    assert lines["rules", 1] == 14
    assert lines["rules", 1, "x", "y"] == 15
    assert lines["t", "quoted # key"] == 18


def test_line_ends_of_all_systems_count_once() -> None:
    """A file written elsewhere has the same lines."""
    assert key_lines(DOCUMENT.replace("\n", "\r\n")) == key_lines(DOCUMENT)


LONG = ('"""\n[[d]]\ne = 1\n"""', "'''}\n'''")
SCALARS = st.sampled_from(["1", "-2.5e3", "true", '"a # [b]"', "'c]'", "1979-05-27", *LONG])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """TOML in which every key occurs once in the whole text, so that a search finds its line."""
    numbers = itertools.count()

    def key() -> str:
        plain = f"key{next(numbers)}end"
        return draw(st.sampled_from([plain, f'"{plain}"', f"'{plain}'"]))

    def value(depth: int) -> str:
        kind = draw(st.sampled_from(["scalar", "scalar", "array", "inline"])) if depth else "scalar"
        if kind == "array":
            gap = draw(st.sampled_from([" ", "\n", " # , ]\n"]))
            parts = [value(depth - 1) for _ in range(draw(st.integers(0, 3)))]
            return f"[{gap}{f',{gap}'.join(parts)}{gap}]"
        if kind == "inline":
            pairs = [f"{key()} = {value(depth - 1)}" for _ in range(draw(st.integers(0, 3)))]
            return f"{{ {', '.join(pairs)} }}"
        return draw(SCALARS)

    def pairs() -> list[str]:
        written = []
        for _ in range(draw(st.integers(0, 3))):
            name = ".".join(key() for _ in range(draw(st.integers(1, 2))))
            written.append(f"{name} = {value(2)}{draw(st.sampled_from(['', ' # x = 1']))}")
        return written

    lines = pairs()
    for _ in range(draw(st.integers(0, 3))):
        name = key()
        if draw(st.booleans()):
            lines += [f"[{name}]", *pairs()]
        else:
            for _ in range(draw(st.integers(1, 3))):
                lines += ["", f"[[{name}]]", *pairs()]
                if draw(st.booleans()):
                    lines += [f"[{name}.{key()}]", *pairs()]
    return "\n".join(lines)


@given(documents())
def test_random_documents(text: str) -> None:
    """Every path that is there has a line, no other has, and its key stands in that line."""
    lines = key_lines(text)
    assert set(lines) == set(_paths(tomllib.loads(text)))
    written = text.split("\n")
    for path, line in lines.items():
        key = path[-1]
        if isinstance(key, str):
            first = next(n for n, content in enumerate(written, 1) if key in content)
            assert line == first
