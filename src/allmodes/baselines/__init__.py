"""What annealing is compared with: K independent instances of a classical method, side by side."""

from allmodes.baselines.cma_es import parallel_cma_es
from allmodes.baselines.newton import parallel_newton
from allmodes.baselines.parallel_run import ParallelRun
from allmodes.baselines.sga import parallel_sga

__all__ = ["ParallelRun", "parallel_cma_es", "parallel_newton", "parallel_sga"]
