"""The pure step, the two loops around it, and what they return."""

from allmodes.engine.anneal import anneal
from allmodes.engine.run import Run, Runs
from allmodes.engine.trace import Trace

__all__ = ["Run", "Runs", "Trace", "anneal"]
