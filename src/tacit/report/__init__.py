"""Reports and pictures of releases: free functions, for notebooks and for files.

>>> import tacit
>>> table = tacit.examples.get("002-figure-2.4").table.apply(tacit.PPercent(10))
>>> release = tacit.protect(table, "suppress", time_limit=10)
>>> tacit.report.heat_map(release)
Picture('Which cells are published')
"""

from tacit.report.argus import write_argus_report
from tacit.report.bounds import bounds_over_time
from tacit.report.circuit import circuit_picture
from tacit.report.comparison import ComparedMethod, comparison_report, risk_and_utility
from tacit.report.costs import protection_costs
from tacit.report.document import html_report, write_report
from tacit.report.heat_map import heat_map
from tacit.report.levels import loss_by_level, perturbation_by_level
from tacit.report.picture import Picture
from tacit.report.widths import interval_widths

__all__ = [
    "ComparedMethod",
    "Picture",
    "bounds_over_time",
    "circuit_picture",
    "comparison_report",
    "heat_map",
    "html_report",
    "interval_widths",
    "loss_by_level",
    "perturbation_by_level",
    "protection_costs",
    "risk_and_utility",
    "write_argus_report",
    "write_report",
]
