"""From microdata to tables: DuckDB in this process, or Spark where records outgrow one machine."""

from tacit.microdata.file_format import FileFormat, sniff
from tacit.microdata.report import Fault, Finding, MicrodataError, TabulationReport
from tacit.microdata.run import occurring_codes, tabulate

__all__ = [
    "Fault",
    "FileFormat",
    "Finding",
    "MicrodataError",
    "TabulationReport",
    "occurring_codes",
    "sniff",
    "tabulate",
]
