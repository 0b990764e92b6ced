"""Code lists of tau-ARGUS (`.cdl`): the labels of codes, one `code,label` per line."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import InputError
from tacit.io.argus.batch import unquoted
from tacit.io.argus.paths import read_argus_text


def read_codelist(path: str | Path) -> dict[str, str]:
    """The label of each code; codes without the blanks around them.

    Args:
        path: The file.

    Raises:
        InputError: A line without a code, or a code with two labels.
    """
    path = Path(path)
    labels: dict[str, str] = {}
    for line, text in enumerate(read_argus_text(path).split("\n"), start=1):
        if not text.strip():
            continue
        separator = "," if "," in text or ";" not in text else ";"
        code, _, label = text.partition(separator)
        key = unquoted(code).strip()
        if not key:
            raise InputError(
                "there is no code; write the code, a comma and its label", path=path, line=line
            )
        named = unquoted(label).strip()
        if labels.setdefault(key, named) != named:
            raise InputError(f"code {key} has two labels; leave out one", path=path, line=line)
    return labels
