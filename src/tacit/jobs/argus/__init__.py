"""Batch files of tau-ARGUS as jobs: each table is made, judged and protected on the one road."""

from tacit.jobs.argus.run import ArgusListener, run_argus

__all__ = ["ArgusListener", "run_argus"]
