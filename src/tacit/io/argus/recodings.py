"""Recodings of tau-ARGUS (`.grc`): codes to merge, or codes of a hierarchy to fold.

Each line is `new: old1, old2`, or a range `new: first - last` that may be open at one end. A file
that begins with `<TREERECODE>` lists codes of a hierarchy below which nothing is to be shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tacit.errors import InputError, first_few
from tacit.hierarchy import Hierarchy
from tacit.io.argus.batch import split_quoted, unquoted
from tacit.io.argus.hierarchies import aligned
from tacit.io.argus.paths import read_argus_text

MERGED = " (merged)"
"""What stands behind a new code that is also the code of one of its members."""


@dataclass(frozen=True)
class Group:
    """A new code and what it takes the place of, as written: codes and ranges."""

    code: str
    parts: tuple[str, ...]
    line: int


@dataclass(frozen=True, kw_only=True)
class Recoding:
    """A recoding.

    Attributes:
        path: The file.
        groups: What is merged.
        folded: Codes below which nothing is shown, each with its line.
        folds: Whether it folds a hierarchy.
        codelist: The file with the labels of the new codes, if one is named.
    """

    path: Path
    groups: tuple[Group, ...] = ()
    folded: tuple[tuple[str, int], ...] = ()
    folds: bool = False
    codelist: str | None = None

    def merged(self, hierarchy: Hierarchy, width: int) -> dict[str, list[str]]:
        """What to merge in a dimension: each new code with its members, see `tacit.recode`.

        A new code that is also the code of a member has `MERGED` behind it.

        Args:
            hierarchy: The hierarchy of the dimension.
            width: How wide finest codes are.

        Raises:
            InputError: Codes that do not exist, or are in two groups.
        """
        return self._folded(hierarchy) if self.folds else self._grouped(hierarchy, width)

    def _folded(self, hierarchy: Hierarchy) -> dict[str, list[str]]:
        by_text = {code.strip(): code for code in reversed(hierarchy.codes)}
        found: dict[str, list[str]] = {}
        for text, line in self.folded:
            code = by_text.get(text)
            if code is None:
                raise self._fault(f"there is no code {text} to fold", line)
            below = list(hierarchy.children(code))
            if below:
                found[code] = below
        # What lies below a folded code is gone with it.
        gone = {
            code for code in found if any(above in found for above in hierarchy.ancestors(code))
        }
        return {code: below for code, below in found.items() if code not in gone}

    def _grouped(self, hierarchy: Hierarchy, width: int) -> dict[str, list[str]]:
        if hierarchy.depth > 1:
            raise self._fault(
                "codes of a hierarchy are not merged but folded: write <TREERECODE> and the codes "
                "to fold, or give a level",
                self.groups[0].line,
            )
        codes = hierarchy.codes[1:]
        found: dict[str, list[str]] = {}
        taken: dict[str, str] = {}
        for group in self.groups:
            members = [
                code for code in codes if any(_covers(part, code, width) for part in group.parts)
            ]
            if not members:
                raise self._fault(f"none of the codes of {group.code} occurs", group.line)
            twice = [code.strip() for code in members if code in taken]
            if twice:
                raise self._fault(
                    f"codes {first_few(twice)} are in two groups; leave them in one", group.line
                )
            taken |= dict.fromkeys(members, group.code)
            code = aligned(group.code, width)
            if code in codes and code not in taken:
                raise self._fault(
                    f"the new code {group.code} is that of a code that is not merged into it",
                    group.line,
                )
            found.setdefault(f"{code}{MERGED}" if code in codes else code, []).extend(members)
        return found

    def _fault(self, message: str, line: int) -> InputError:
        return InputError(message, path=self.path, line=line)


def _covers(part: str, code: str, width: int) -> bool:
    """Whether a code or range as written covers a code."""
    text = unquoted(part).strip()
    if text == code.strip():
        return True
    if part.strip().startswith('"') or "-" not in text:
        return False
    first, _, last = text.partition("-")
    low, high = _comparable(first, code, width), _comparable(code, code, width)
    above = not first.strip() or _at_most(low, high)
    upper = _comparable(last, code, width)
    return (
        above
        and (not last.strip() or _at_most(high, upper))
        and bool(first.strip() or last.strip())
    )


def _comparable(text: str, code: str, width: int) -> str | int:
    """A number where both it and the code are whole numbers, else text aligned to the right."""
    plain = [each.strip() for each in (text, code)]
    if all(re.fullmatch(r"[0-9]{1,18}", each) for each in plain):
        return int(plain[0])
    return aligned(text, width)


def _at_most(one: str | int, other: str | int) -> bool:
    if isinstance(one, int) and isinstance(other, int):
        return one <= other
    return str(one) <= str(other)


def read_recoding(path: str | Path) -> Recoding:
    """Read a recoding.

    Args:
        path: The file.

    Raises:
        InputError: A line that cannot be understood.
    """
    path = Path(path)
    groups: list[Group] = []
    folded: list[tuple[str, int]] = []
    folds, codelist = False, None
    for line, text in enumerate(read_argus_text(path).split("\n"), start=1):
        stripped = text.strip()
        if not stripped or stripped.startswith("//"):
            continue
        key = re.fullmatch(r"<\s*([A-Za-z]+)\s*>\s*(.*)", stripped)
        if key is not None:
            name = key[1].upper()
            if name == "TREERECODE" and not groups:
                folds = True
            elif name in ("CODELIST", "MISSING"):
                # Which codes are missing values shows in the metadata.
                codelist = unquoted(key[2]) or None if name == "CODELIST" else codelist
            else:
                raise InputError(f"<{name}> is not understood here", path=path, line=line)
        elif folds:
            folded.append((unquoted(stripped).strip(), line))
        else:
            groups.append(_group(stripped, path, line))
    if not groups and not folded:
        raise InputError("there is nothing to recode", path=path)
    return Recoding(
        path=path, groups=tuple(groups), folded=tuple(folded), folds=folds, codelist=codelist
    )


def _group(text: str, path: Path, line: int) -> Group:
    code, parts = _split_once(text)
    listed = tuple(part for part in parts if part.strip())
    if not code or not listed:
        raise InputError(
            "write the new code, a colon and the codes that it takes the place of: 1: 2, 4 - 6",
            path=path,
            line=line,
        )
    return Group(code, listed, line)


def _split_once(text: str) -> tuple[str, Sequence[str]]:
    code, *rest = split_quoted(text, ":")
    return unquoted(code).strip(), split_quoted(":".join(rest), ",")
