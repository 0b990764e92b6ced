"""Jobs as text: what `read_job` reads."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

WARNING = "# Confidential: readers must not know the parameters of rules."


def job_text(given: Mapping[str, Any], heading: str = WARNING) -> str:
    """A job as a TOML file.

    Args:
        given: What the file is to say, as `tomllib` would read it.
        heading: Comments above everything.

    >>> print(job_text({"data": {"jj": "a.jj"}, "levels": "both"}, "# Small."))
    # Small.
    <BLANKLINE>
    levels = "both"
    <BLANKLINE>
    [data]
    jj = "a.jj"
    <BLANKLINE>
    """
    plain = {key: part for key, part in given.items() if not _is_section(part)}
    sections = [heading]
    if plain:
        sections.append("\n".join(f"{toml_key(k)} = {toml_value(v)}" for k, v in plain.items()))
    for key, part in given.items():
        if key in plain:
            continue
        if isinstance(part, list):
            sections += [toml_section(f"[{toml_key(key)}]", each) for each in part]
        elif key == "dimensions":
            sections += [toml_section(f"{key}.{toml_key(k)}", each) for k, each in part.items()]
        else:
            sections.append(toml_section(toml_key(key), part))
    return "\n\n".join(sections) + "\n"


def _is_section(part: Any) -> bool:
    if isinstance(part, list):
        return bool(part) and all(isinstance(each, Mapping) for each in part)
    return isinstance(part, Mapping)


def toml_section(name: str, given: Mapping[str, Any]) -> str:
    """A table under its name; in brackets once more it is one of an array of tables."""
    return "\n".join(
        [f"[{name}]", *(f"{toml_key(key)} = {toml_value(value)}" for key, value in given.items())]
    )


def toml_key(name: str) -> str:
    """A key, in quotation marks where it needs them."""
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else toml_value(name)


def toml_value(value: Any) -> str:
    """A value as TOML writes it; JSON writes texts in the same way, but for one character.

    >>> toml_value({"a b": [1, 2.5], "c": True})
    '{"a b" = [1, 2.5], c = true}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml_key(k)} = {toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml_value(each) for each in value)}]"
    if isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return repr(value)
