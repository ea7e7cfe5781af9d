"""What is reported about modes: how flat they are, how much they weigh, and how many may be missing."""

from allmodes.modes import coverage, laplace

__all__ = ["coverage", "laplace"]
