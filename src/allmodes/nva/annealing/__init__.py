"""The parts of the algorithms, and the algorithms as assemblies of them."""

from allmodes.nva.annealing.algorithm import Algorithm

__all__ = ["Algorithm"]
