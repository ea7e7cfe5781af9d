"""The pure step, the two loops around it, and what they return."""

from allmodes.nva.engine.anneal import anneal
from allmodes.nva.engine.run import Run, Runs
from allmodes.nva.engine.trace import Trace

__all__ = ["Run", "Runs", "Trace", "anneal"]
