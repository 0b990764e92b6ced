"""Batch files of tau-ARGUS as jobs: each table is made, judged and protected on the one road."""

from tacit.jobs.argus.listener import ArgusListener
from tacit.jobs.argus.run import run_argus
from tacit.jobs.argus.translate import translate_argus

__all__ = ["ArgusListener", "run_argus", "translate_argus"]
