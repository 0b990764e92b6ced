"""Linked tables of a job: `[[tables]]`, several variables, and equations between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import InputError, nearest
from tacit.io.exports import SUFFIXES
from tacit.jobs.hierarchies import Dimension, read_dimension
from tacit.jobs.sections import Section
from tacit.table import Table
from tacit.table.equations import Equation, read_equations
from tacit.table.linking import AGREEMENT_TOLERANCE

if TYPE_CHECKING:
    from tacit.jobs.job import CellFile, Microdata

TABLE = "{table}"
"""In the name of an output: the name of each of the linked tables, one file each."""

OWN_KEYS = ("name", "dimensions", "hierarchies", "variable", "published")
FILE_ONLY = "table"
OVERRIDES = ("value", "shadow", "unknown", "missing", "unreadable", "keep_empty")
"""What a table may say of microdata in place of [data]; who contributes is the same for all."""

_ODD_IN_NAMES = '/\\:*?"<>|{}'


@dataclass(frozen=True, eq=False, kw_only=True)
class LinkedTable:
    """One of the linked tables of a job.

    Attributes:
        name: What to call it.
        variable: What its values are.
        section: Where it stands in the job.
        data: What it is made from.
        dimensions: Its dimensions, each with the hierarchy that it has here.
        shared: Those of them whose hierarchy is the one that the job gives for all tables.
        published: Files for it alone.
    """

    name: str
    variable: str
    section: Section
    data: Microdata | CellFile
    dimensions: Mapping[str, Dimension]
    shared: frozenset[str]
    published: tuple[Path, ...] = ()


@dataclass(frozen=True, eq=False)
class LinkedTables:
    """Several tables that are protected together, linked through the cells that they share.

    Attributes:
        tables: The tables.
        equations: Equations between their variables.
    """

    tables: tuple[LinkedTable, ...]
    equations: tuple[Equation, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(table.name for table in self.tables)

    @property
    def variables(self) -> tuple[str, ...]:
        """The response variables, each once."""
        return tuple(dict.fromkeys(table.variable for table in self.tables))


def has_linked_tables(top: Section) -> bool:
    """Whether a job has several tables, or one of several variables."""
    data = top.given.get("data")
    several = isinstance(data, dict) and isinstance(data.get("value"), list)
    return "tables" in top.given or "equations" in top.given or several


def read_tables(
    top: Section,
    dimensions: Mapping[str, Dimension],
    read_data: Callable[[Section], Microdata | CellFile],
) -> LinkedTables:
    """The linked tables of a job.

    Args:
        top: The job.
        dimensions: The dimensions with the hierarchies that tables have unless they say otherwise.
        read_data: Reads what a table is made from, given [data] with what the table says.
    """
    data = top.section("data")
    if data is None:
        raise top.fault("there is no [data]; it names what to protect")
    sections = top.sections("tables")
    if "tables" in top.given and not sections:
        raise top.fault("there are no tables; write [[tables]] for each", "tables")
    found = [table for each in sections for table in _read_table(each, data, dimensions, read_data)]
    if not sections:
        found = _variables(data, data, "", dimensions, frozenset(dimensions), read_data)
    _refuse_same_names(found)
    linked = LinkedTables(tuple(found))
    try:
        equations = read_equations(top.texts("equations") or [], linked.variables)
    except InputError as error:
        raise top.blame(error) from None
    return LinkedTables(linked.tables, equations)


def _read_table(
    section: Section,
    data: Section,
    dimensions: Mapping[str, Dimension],
    read_data: Callable[[Section], Microdata | CellFile],
) -> list[LinkedTable]:
    own = {key: section.given[key] for key in section.given if key not in OWN_KEYS}
    is_file = FILE_ONLY in own or FILE_ONLY in data.given
    if not is_file:
        section.refuse_unknown((*OWN_KEYS, FILE_ONLY, *OVERRIDES))
    chosen, shared = _dimensions(section, dimensions)
    name = section.text("name") or "-".join(chosen)
    odd = [letter for letter in _ODD_IN_NAMES if letter in name]
    if odd or name.startswith(".") or name != name.strip():
        raise section.fault(
            f"the name of a table stands in names of files: {name!r} cannot be one; leave out "
            f"{odd[0] if odd else 'dots and blanks around it'!r}",
            "name" if "name" in section.given else "dimensions",
        )
    return _variables(section, section.over(data, own), name, chosen, shared, read_data)


def _dimensions(
    section: Section, shared: Mapping[str, Dimension]
) -> tuple[dict[str, Dimension], frozenset[str]]:
    """The dimensions of a table, and which of them have the hierarchy of all tables."""
    own = section.section("hierarchies")
    hierarchies = {} if own is None else own.given
    known = list(dict.fromkeys([*shared, *hierarchies]))
    names = section.texts("dimensions")
    if names is None:
        raise section.fault(
            "nothing says which dimensions the table has; write dimensions = [...] with some of "
            f"{', '.join(known)}"
        )
    found: dict[str, Dimension] = {}
    for place, name in enumerate(names):
        if name not in known:
            raise section.fault(
                f"there is no dimension {name!r}; {nearest(name, known)}", "dimensions", place
            )
        if name in found:
            raise section.fault(f"dimension {name} is named twice", "dimensions", place)
        inner = None if own is None else own.section(name)
        found[name] = shared[name] if inner is None else read_dimension(inner)
    for name in hierarchies:
        if name not in found:
            raise section.fault(
                f"hierarchies names {name}, which is not one of the dimensions of this table",
                "hierarchies",
                name,
            )
    return found, frozenset(name for name in found if name not in hierarchies)


def _variables(
    section: Section,
    data: Section,
    name: str,
    dimensions: Mapping[str, Dimension],
    shared: frozenset[str],
    read_data: Callable[[Section], Microdata | CellFile],
) -> list[LinkedTable]:
    """A table for each value column."""
    values: list[str | None] = [*(data.texts("value") or [])] or [None]
    several = isinstance(data.given.get("value"), list)
    named = section.text("variable") if "variable" in OWN_KEYS and section is not data else None
    if several and named is not None:
        raise section.fault("'variable' is for one value column; leave it out", "variable")
    if len(set(values)) < len(values):
        raise data.fault("'value' names a column twice", "value")
    found = []
    for value in values:
        source = read_data(data if value is None else data.saying(value=value))
        variable = named or value or _DEFAULT[isinstance(data.given.get(FILE_ONLY), str)]
        full = "-".join(filter(None, [name, variable])) if several else name
        published = _published(section, full) if section is not data else ()
        found.append(
            LinkedTable(
                name=full,
                variable=variable,
                section=section,
                data=source,
                dimensions=dimensions,
                shared=shared,
                published=published,
            )
        )
    return found


_DEFAULT = ("records", "value")
"""What values are called that no column is named for: records are counted, cells have a value."""


def _published(section: Section, name: str) -> tuple[Path, ...]:
    names = section.texts("published") or []
    for place, each in enumerate(names):
        if not each.lower().endswith(SUFFIXES):
            raise section.fault(
                f"the name of a published table must end in {', '.join(SUFFIXES)}",
                "published",
                place,
            )
    return tuple(section.file.parent / each.replace(TABLE, name) for each in names)


def _refuse_same_names(tables: Sequence[LinkedTable]) -> None:
    seen: set[str] = set()
    for table in tables:
        if table.name.casefold() in seen:
            raise table.section.fault(
                f"two tables are called {table.name}; give each a 'name' of its own", "name"
            )
        seen.add(table.name.casefold())


def expanded(path: Path, names: Iterable[str]) -> dict[str, Path]:
    """A file for each table, of the name of an output with `{table}` in it."""
    return {name: path.with_name(path.name.replace(TABLE, name)) for name in names}


def link_tables(
    tables: Sequence[tuple[str, str, Table]],
    *,
    totals: Mapping[str, str] | None = None,
    equations: Sequence[Equation] = (),
    tolerance: float = AGREEMENT_TOLERANCE,
) -> Table:
    """One table of several, whether a job or a tau-ARGUS batch file describes them.

    Args:
        tables: The name of each table, what its values are, and the table.
        totals: For some dimensions the code that stands for everything, see `Table.link`.
        equations: Equations between variables.
        tolerance: By which share common cells may differ.
    """
    several = len({variable for _, variable, _ in tables}) > 1
    first, *others = (
        table.named(name, variable if several else "") for name, variable, table in tables
    )
    linked: Table = first
    if others:
        linked = first.link(*others, totals=totals, tolerance=tolerance)
    return linked.replace(equations=tuple(equations)) if equations else linked


def whole_totals(tables: Sequence[tuple[LinkedTable, Table]]) -> dict[str, str]:
    """For each dimension the code that stands for everything.

    It is the total of the hierarchy that the job gives for all tables, where a table has that one:
    a table over a part of the codes may come first.
    """
    found: dict[str, str] = {}
    for linked, table in tables:
        for name in linked.shared:
            found.setdefault(name, table.totals[name])
    return found


def same_source(tables: Sequence[LinkedTable]) -> list[list[LinkedTable]]:
    """Tables that differ by their values only, together: they are tabulated at once."""
    groups: dict[int, list[LinkedTable]] = {}
    for table in tables:
        groups.setdefault(id(table.dimensions), []).append(table)
    return list(groups.values())
