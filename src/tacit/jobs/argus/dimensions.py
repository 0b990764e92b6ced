"""Dimensions of a table of tau-ARGUS: hierarchies with total, missing values and alignment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from tacit.errors import HierarchyError, InputError, TacitError
from tacit.hierarchy import Hierarchy
from tacit.io.argus.codelists import read_codelist
from tacit.io.argus.hierarchies import aligned, by_levels, flat, read_hrc
from tacit.io.argus.metadata import Metadata, Variable
from tacit.io.argus.paths import Folders


def dimension(
    variable: Variable,
    metadata: Metadata,
    folders: Folders,
    occurring: Iterable[str],
    width: int | None = None,
) -> Hierarchy:
    """The hierarchy of a variable.

    Args:
        variable: The variable.
        metadata: Where it is described.
        folders: Where files are.
        occurring: The codes that occur; not needed where there is a file.
        width: How wide its codes are, where the variable does not say.

    Raises:
        InputError: A file is missing or wrong, or codes do not fit.
    """
    wide = (variable.width if width is None else width) or 0
    find = partial(folders.find, path=metadata.path, line=variable.line, near=metadata.path.parent)
    labels = {} if variable.codelist is None else _labels(variable, find, folders)
    try:
        if variable.hierarchy is not None:
            file = find(variable.hierarchy)
            found = read_hrc(
                file, variable.lead, variable.total, width=wide, missing=variable.missing
            )
        elif variable.levels:
            found = by_levels(occurring, variable.levels, variable.total, missing=variable.missing)
        else:
            found = flat(occurring, variable.total, width=wide, missing=variable.missing)
        # A code list names all codes that there may be, without the blanks that align them.
        texts = {code: labels.get(code.strip()) for code in found.codes}
        return found.with_labels({code: text for code, text in texts.items() if text})
    except InputError:
        raise
    except HierarchyError as error:
        raise InputError(
            f"variable {variable.name}: {error}", path=metadata.path, line=variable.line
        ) from None


def _labels(variable: Variable, find: Callable[[str], Path], folders: Folders) -> dict[str, str]:
    """The labels of codes; a list that is not there takes nothing from a table."""
    assert variable.codelist is not None
    try:
        file = find(variable.codelist)
    except TacitError:
        folders.tell(
            f"the labels of {variable.name} ({variable.codelist}) are not there; its codes are "
            "published without"
        )
        return {}
    return read_codelist(file)


def missing_codes(variable: Variable, hierarchy: Hierarchy, width: int | None = None) -> list[str]:
    """The codes of a hierarchy that stand for missing values."""
    wide = (variable.width if width is None else width) or 0
    lost = {aligned(code, wide) for code in variable.missing} | set(variable.missing)
    return [code for code in hierarchy.codes[1:] if code in lost]
