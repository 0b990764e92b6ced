"""From microdata to tables: DuckDB in this process, or Spark where records outgrow one machine."""

from tacit.microdata.report import Fault, Finding, MicrodataError, TabulationReport
from tacit.microdata.run import occurring_codes, tabulate

__all__ = [
    "Fault",
    "Finding",
    "MicrodataError",
    "TabulationReport",
    "occurring_codes",
    "tabulate",
]
