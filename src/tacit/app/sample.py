"""A sample: generated firms, and a job that protects a table of them within seconds."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.app.workspace import Draft, Workspace
from tacit.generators.microdata import generate_enterprises
from tacit.io.cells import write_columns

FIRMS = 3000
RECORDS, INDUSTRIES, JOB = "sample-firms.csv", "sample-industries.csv", "sample.toml"


def write(workspace: Workspace) -> tuple[Draft, str]:
    """Write the sample's files, and return its job with the name of the file for it."""
    made = generate_enterprises(FIRMS, 1)
    hierarchy = made.dimensions["industry"]
    parents = [hierarchy.parent_of(code) or "" for code in hierarchy.codes]
    pairs: dict[str, Any] = {"code": np.array(hierarchy.codes), "parent": np.array(parents)}
    # By region, not by district: protected within seconds on any computer.
    records = {**made.records, "region": made.records["region"].astype("<U3")}
    write_columns(records, workspace.inside(RECORDS))
    write_columns(pairs, workspace.inside(INDUSTRIES))
    return {
        "data": {
            "microdata": RECORDS,
            "value": "turnover",
            "contributor": "firm",
            "holding": "holding",
        },
        "dimensions": {
            "industry": {"file": INDUSTRIES, "child": "code"},
            "region": {},
        },
        "rules": [
            {"rule": "min-frequency", "minimum": 3},
            {"rule": "p-percent", "p": 10, "holding": True},
        ],
        "weights": {"by": "value"},
        "method": {"name": "suppress", "time_limit": 20},
    }, JOB
