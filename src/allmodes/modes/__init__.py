"""What is said of modes that were found: how flat they are, what they weigh, and how many may be missing."""

from allmodes.modes import coverage, laplace

__all__ = ["coverage", "laplace"]
