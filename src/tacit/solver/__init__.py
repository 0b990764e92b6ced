"""Persistent models on open solvers: array deltas, warm bases, checked returns."""
